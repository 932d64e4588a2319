// Over the nodes, where several schedulers have views of their own: a lane for each. What it does, how long its
// decisions stay unknown to others, what it believes of the nodes beside what is true; and who noticed.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { BelievedNode, SchedulerLane, Schedulers, ViewsPart } from "../../lib/protocol.js";
import { amount, count, exact, plural, short, span } from "../../lib/quantity.ts";
import { nodeLink, podLink } from "../view/nouns.tsx";
import type { View } from "../view/view.ts";
import { NOTICED, isDouble, viewsOf, wentWrong } from "../view/windows.ts";

const LEAST_ROOM = 400; // pixels of the stage: on a lower one the lanes are folded at first
const LEAST_WIDTH = 480; // and on a narrower one
const DESIGNS: Record<string, string> = {
  "side-by-side": "side by side",
  "node-pools": "node pools",
  "one-scheduler": "one scheduler",
  arbitrated: "with an arbiter",
};

/** The lanes, and what is said instead of what they do. */
type Drawn = { source: unknown; part: ViewsPart | null; state: string; names: string[] };

/** `host` is the stage. */
export function Lanes({ view, host }: { view: View; host: HTMLElement }) {
  const { schedulers, parts, index, atEnd, nodes } = view.playback;
  const details = useRef<HTMLDetailsElement>(null);
  const kept = useRef<Drawn>({ source: null, part: null, state: "", names: [] });
  const offered = Boolean(schedulers?.views);
  useLayoutEffect(() => {
    if (offered && details.current)
      details.current.open = host.clientHeight >= LEAST_ROOM && host.clientWidth >= LEAST_WIDTH;
  }, [offered, host]);
  if (!schedulers || !offered) return null;
  const drawn = kept.current;
  // No step takes a lane away.
  if (drawn.source !== nodes)
    Object.assign(drawn, { source: nodes, part: null, state: "", names: processes(schedulers) });
  const part = viewsOf(view);
  const waits = !part && parts?.views?.why === undefined && index > 0; // what was drawn stays until then
  if (!waits) {
    drawn.part = part;
    drawn.state = index === 0 ? "nothing is decided yet" : atEnd ? "the run is over" : "not decided yet";
  }
  for (const { scheduler } of part?.lanes ?? []) if (!drawn.names.includes(scheduler)) drawn.names.push(scheduler);
  return (
    <details ref={details} class={waits ? "sched waiting" : "sched"}>
      <summary>
        <span class="sched-summary">
          <b>{`${plural(drawn.names.length, "scheduler")}, ${DESIGNS[schedulers.design] ?? schedulers.design}`}</b>
          {drawn.part ? <Badges part={drawn.part} /> : <span class="sched-badges dim">{drawn.state}</span>}
        </span>
      </summary>
      <div class="sched-list" role="group" aria-label="Lanes of the schedulers" tabIndex={0}>
        {drawn.names.map((name) => (
          <Lane key={name} view={view} schedulers={schedulers} name={name} part={drawn.part} />
        ))}
      </div>
      {drawn.part ? <Noticed view={view} part={drawn.part} /> : <p class="sched-noticed" />}
    </details>
  );
}

const Badge = ({ tone, children }: { tone: string; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

function Badges({ part: { windows, windowsCount, outcomes } }: { part: ViewsPart }) {
  const double = windows.filter(isDouble).length;
  const wrong = outcomes.filter(wentWrong);
  const [first] = wrong;
  return (
    <span class="sched-badges">
      {double ? (
        <Badge tone="ill">{`${plural(double, "node")} double-booked`}</Badge>
      ) : windowsCount ? (
        <Badge tone="belief">{`views of ${plural(windowsCount, "node")} differ`}</Badge>
      ) : null}
      {first ? (
        <Badge tone="ill">
          {`${short(first.pod)}: ${first.reason || NOTICED[first.noticed]}${others(wrong.length - 1)}`}
        </Badge>
      ) : windowsCount ? null : (
        <span class="dim">every scheduler’s view is current</span>
      )}
    </span>
  );
}

const others = (more: number) => (more > 0 ? ` and ${count(more)} more` : "");

type LaneProps = { view: View; schedulers: Schedulers; name: string; part: ViewsPart | null };

function Lane({ view, schedulers, name, part }: LaneProps) {
  const now = name === part?.scheduler;
  const lane = part?.lanes.find(({ scheduler }) => scheduler === name);
  const listed = schedulers.listed.find((one) => one.name === name.replace(/ #\d+$/, ""));
  const late = listed?.watchDelay ?? 0;
  return (
    <section class={now ? "sched-lane now" : "sched-lane"} aria-label={`Lane of ${name}`}>
      <h4 class="sched-who" title={`${name}${listed ? `: ${delays(listed)}` : ": not listed, no delays"}`}>
        <b class={now ? "now" : ""}>{name}</b>
        {lane?.runs && lane.runs !== name ? <small class="dim">{`${lane.runs}, `}</small> : null}
        <small class="dim num">{late ? `sees ${span(late)} late` : "sees at once"}</small>
      </h4>
      {part ? (
        <>
          <div class="sched-does">
            {lane ? <Does view={view} lane={lane} now={now} part={part} /> : <span class="dim">idle</span>}
          </div>
          {lane ? <Track lane={lane} now={now} part={part} /> : <div class="sched-track" />}
          <div class="sched-believes">{lane ? <Believes view={view} lane={lane} /> : null}</div>
        </>
      ) : null}
    </section>
  );
}

type Doing = { lane: SchedulerLane; now: boolean; part: ViewsPart };

function Does({ view, lane, now, part }: Doing & { view: View }) {
  const [first] = lane.inFlight;
  return (
    <>
      {now ? (
        <Decides view={view} lane={lane} part={part} />
      ) : lane.deciding !== null ? (
        <>
          <span class="pill">deciding</span>
          {lane.pod ? podLink(view, lane.pod) : "a session"}
          {lane.until === null ? "" : ` until ${exact(lane.until)}`}
        </>
      ) : (
        <span class="dim">{lane.pending ? `waits, ${plural(lane.pending, "pod")} pending` : "idle"}</span>
      )}
      {first ? (
        <span
          class="sched-flight"
          title={lane.inFlight.map(({ pod, node, lands }) => `${short(pod)} on ${node}, ${when(lands)}`).join("\n")}
        >
          <span class="dim">{now ? "; also binding " : "; binding "}</span>
          {podLink(view, first.pod)}
          {` → ${first.node}, ${when(first.lands)}${others(lane.inFlightCount - 1)}`}
        </span>
      ) : null}
    </>
  );
}

/** What the scheduler has decided that has this cycle. */
function Decides({ view, lane, part }: { view: View; lane: SchedulerLane; part: ViewsPart }) {
  const [placed] = part.placements;
  return (
    <>
      <span class="pill accent">decides</span>
      {placed ? (
        <>
          {podLink(view, placed[0])}
          {" → "}
          {nodeLink(view, placed[1])}
          {`${others(part.placementsCount - 1)}, ${when(part.lands)}`}
        </>
      ) : (
        <>
          {lane.pod ? podLink(view, lane.pod) : null}
          <span class="dim"> finds no node</span>
        </>
      )}
    </>
  );
}

function Believes({ view, lane: { nodes, nodesCount } }: { view: View; lane: SchedulerLane }) {
  const [worst] = [...nodes].sort((a, b) => overstated(b) - overstated(a));
  if (!worst) return <span class="dim">its view is current</span>;
  return (
    <>
      {"believes "}
      {nodeLink(view, worst.node)}
      <span
        class={overstated(worst) > 0 ? "stale-text" : ""}
        title={nodes.map((one) => `${one.node}: ${why(one)}`).join("\n")}
      >
        {` has ${free(worst.believed)} free, ${free(worst.true)} is`}
      </span>
      {nodesCount > 1 ? <span class="dim">{` (and ${plural(nodesCount - 1, "node")} more)`}</span> : null}
    </>
  );
}

function Noticed({ view, part: { outcomes } }: { view: View; part: ViewsPart }) {
  const wrong = outcomes.filter(wentWrong);
  const unnoticed = outcomes.length - wrong.length;
  const [first] = wrong;
  return (
    <p class={first ? "sched-noticed wrong" : "sched-noticed"}>
      <b>Who noticed </b>
      {first ? (
        <>
          {podLink(view, first.pod)}
          {" on "}
          {nodeLink(view, first.node)}
          <span class="stale-text">{` ${NOTICED[first.noticed]}${first.reason ? `: ${first.reason}` : ""}`}</span>
          {others(wrong.length - 1)}
        </>
      ) : null}
      {unnoticed ? (
        `${first ? "; " : ""}nobody, of ${plural(unnoticed, "pod")} beside pods that its scheduler did not count`
      ) : first ? null : (
        <span class="dim">nothing since the step before</span>
      )}
      {outcomes.length ? (
        <>
          {" "}
          <button type="button" class="link fine" onClick={() => view.setTab("views")}>
            all
          </button>
        </>
      ) : null}
    </p>
  );
}

/** The processes of the list, by the names of their lanes. */
function processes({ design, listed }: Schedulers) {
  if (design === "one-scheduler") return listed.slice(0, 1).map(({ name }) => name);
  return listed.flatMap(({ name, replicas }) =>
    replicas > 1 ? Array.from({ length: replicas }, (_, i) => `${name} #${i + 1}`) : [name],
  );
}

type Delays = { watchDelay: number; decisionTime: number; bindDelay: number };
const delays = ({ watchDelay, decisionTime, bindDelay }: Delays) =>
  `watch delay ${span(watchDelay)}, decision time ${span(decisionTime)}, bind delay ${span(bindDelay)}`;

const when = (lands: number | null) => (lands === null ? "held at Permit" : `bound at ${exact(lands)}`);

const free = (amounts: Record<string, number>) => `${amount("cpu", amounts.cpu ?? 0)} CPU`;

/** By how many millicores a scheduler takes more for free than is. */
const overstated = ({ believed, true: truly }: BelievedNode) => (believed.cpu ?? 0) - (truly.cpu ?? 0);

const why = ({ unseen, assumed, gone }: BelievedNode) =>
  [
    unseen.length ? `does not count ${unseen.map(short).join(", ")}` : "",
    assumed.length ? `alone knows of ${assumed.map(short).join(", ")}` : "",
    gone.length ? `still counts ${gone.map(short).join(", ")}` : "",
  ]
    .filter(Boolean)
    .join("; ");

/** The virtual time that the tracks show: from the oldest view to the last scheduler's hearing of the last decision. */
function scaleOf({ lanes, decided, lands }: ViewsPart) {
  const late = Math.max(0, ...lanes.map(({ watchDelay }) => watchDelay));
  const flights = lanes.flatMap(({ inFlight }) => inFlight);
  const ends = [lands, ...flights.map((one) => one.lands)].map((at) => (at === null ? decided : at + late));
  return [
    Math.min(decided, ...lanes.map(({ asOf }) => asOf), ...flights.map((one) => one.decided ?? 0)),
    Math.max(decided, ...ends, ...lanes.map(({ until }) => until ?? 0)),
  ] as const;
}

/** A lane's time: what it has not received, what it decides and has on its way, and how long others will not know. */
function Track({ lane, now, part }: Doing) {
  const { decided } = part;
  const [from, to] = scaleOf(part);
  const length = to - from;
  if (!length) return <div class="sched-track" />;
  const late = Math.max(0, ...part.lanes.filter((one) => one !== lane).map(({ watchDelay }) => watchDelay));
  const share = (time: number) => `${(100 * time) / length}%`;
  const piece = (name: string, start: number, end: number) =>
    end > start ? <i class={name} style={{ left: share(start - from), width: share(end - start) }} /> : null;
  const since = now ? part.began : lane.deciding;
  const own: [number | null, number | null][] = now && part.placementsCount ? [[decided, part.lands]] : [];
  const flights = [...lane.inFlight.map((one): [number | null, number | null] => [one.decided, one.lands]), ...own].map(
    ([start, lands]) => [start ?? 0, lands ?? decided] as const,
  );
  const unknown = flights.length
    ? `decisions unknown to others from ${exact(Math.min(...flights.map(([start]) => start)))} to `
      + `${exact(Math.max(...flights.map(([, lands]) => lands)) + late)}`
    : "no decision is on its way";
  return (
    <div
      class="sched-track"
      role="img"
      aria-label={`Sees ${exact(lane.asOf)}; ${unknown}`}
      title={
        `now ${exact(decided)}; sees ${exact(lane.asOf)}; ${unknown}\n`
        + "hatched: not seen yet; outlined: deciding; filled: on its way to the API server; red: unseen by others"
      }
    >
      {piece("late", lane.asOf, decided)}
      {flights.map(([start, lands]) => piece("window", start, lands + late))}
      {since === null ? null : piece("deciding", since, now ? decided : (lane.until ?? decided))}
      {flights.map(([start, lands]) => piece("flight", start, lands))}
      <i class="here" style={{ left: share(decided - from) }} />
    </div>
  );
}
