// Views: with several schedulers, a lane for each. What it believes of the nodes beside what is true, what it has
// decided and nobody else can see yet, and who noticed the decisions that were made on an old view.

import { Empty } from "../../kit/empty.tsx";
import type { BelievedNode, SchedulerLane, ViewOutcome, ViewsPart } from "../../lib/protocol.js";
import { amount, count, exact, plural } from "../../lib/quantity.ts";
import { NOTICED } from "../view/windows.ts";
import type { View } from "../view/view.ts";
import { Before, Later } from "./empty.tsx";
import { nodeLink, podLink } from "../view/nouns.tsx";
import type { Content } from "./panel.tsx";

export function Views({ view, part }: Content<"views">) {
  if (!view.playback.current) return <Before view={view} />;
  if (!("lanes" in part)) return <None view={view} why={String(part.why)} />;
  return (
    <>
      {head(part)}
      {part.lanes.map((lane) => (
        <Lane key={lane.scheduler} view={view} lane={lane} now={lane.scheduler === part.scheduler} />
      ))}
      {outcomes(view, part)}
    </>
  );
}

function None({ view, why }: { view: View; why: string }) {
  if (view.playback.current?.result === "undecided") return <Later view={view} title={why} />;
  return (
    <Empty title="There is one view here.">
      <span>{why}</span>
      <span>A list of schedulers with delays in the SimulationSettings gives each its own.</span>
    </Empty>
  );
}

function head(part: ViewsPart) {
  const lands = part.lands === null ? "It sends no binding now." : `It reaches the API server at ${exact(part.lands)}.`;
  return (
    <header>
      <h3>
        {part.scheduler}
        <small class="dim num">{`decides at ${exact(part.decided)}`}</small>
      </h3>
      <p>{`It sees the cluster as of ${exact(part.asOf)}; it began at ${exact(part.began)}. ${lands}`}</p>
    </header>
  );
}

function Lane({ view, lane, now }: { view: View; lane: SchedulerLane; now: boolean }) {
  const doing = now
    ? "decides at this step"
    : lane.deciding === null
      ? "decides nothing now"
      : `has been deciding since ${exact(lane.deciding)}`;
  return (
    <section class={now ? "views-lane now" : "views-lane"} aria-label={`View of ${lane.scheduler}`}>
      <h4>
        {lane.scheduler}
        {lane.runs && lane.runs !== lane.scheduler ? <small class="dim">{lane.runs}</small> : null}
        <small class="dim">{doing}</small>
        <small class="dim num">{`sees ${exact(lane.asOf)}`}</small>
        {lane.unheard ? <small class="dim">{`${plural(lane.unheard, "write")} on the way to it`}</small> : null}
      </h4>
      {flights(view, lane)}
      {beliefs(view, lane)}
    </section>
  );
}

function flights(view: View, lane: SchedulerLane) {
  if (!lane.inFlightCount) return null;
  const more = lane.inFlightCount - lane.inFlight.length;
  return (
    <ul aria-label="Decided, and not visible to others yet">
      {lane.inFlight.map(({ pod, node, decided, lands }) => (
        <li>
          <span class="pill">in flight</span> {podLink(view, pod)} on {nodeLink(view, node)}
          {`: decided at ${exact(decided)}, `}
          {lands === null ? "waits at Permit" : `bound at ${exact(lands)}`}
        </li>
      ))}
      {more ? <li class="dim">{`and ${count(more)} more`}</li> : null}
    </ul>
  );
}

function beliefs(view: View, lane: SchedulerLane) {
  if (!lane.nodes.length) return <p class="dim">Its view of the nodes is current.</p>;
  const more = lane.nodesCount - lane.nodes.length;
  return (
    <>
      <div class="views-beliefs">
        {lane.nodes.map((node) => [
          nodeLink(view, node.node),
          <span class="num">{`takes ${free(node.believed)} for free, ${free(node.true)} is`}</span>,
          <span class="views-why dim">{why(node)}</span>,
        ])}
      </div>
      {more ? <p class="dim">{`and ${plural(more, "node")} more`}</p> : null}
    </>
  );
}

function outcomes(view: View, part: ViewsPart) {
  if (!part.outcomes.length) return null;
  return (
    <section class="views-outcomes" aria-label="Who noticed">
      <h4>
        Who noticed<small class="dim">since the step before</small>
      </h4>
      <ul>{part.outcomes.map((one) => outcome(view, one))}</ul>
    </section>
  );
}

function outcome(view: View, one: ViewOutcome) {
  const missed = one.unseen.length ? `, without ${one.unseen.map(brief).join(", ")}` : "";
  return (
    <li class={one.noticed === "nobody" ? "" : "refused"}>
      {podLink(view, one.pod)} on {nodeLink(view, one.node)}
      {`, decided by ${one.scheduler} at ${exact(one.decided)}${missed}: `}
      <b>{`${NOTICED[one.noticed]}${one.reason ? ` (${one.reason})` : ""}`}</b>
      {` at ${exact(one.known)}`}
    </li>
  );
}
const brief = (key: string) => key.replace(/^default\//, "");

const free = (amounts: Record<string, number>) => `${amount("cpu", amounts.cpu ?? 0)} CPU`;

function why(node: BelievedNode) {
  const notes = [
    node.unseen.length ? `does not count ${node.unseen.map(brief).join(", ")}` : "",
    node.assumed.length ? `alone knows of ${node.assumed.map(brief).join(", ")}` : "",
    node.gone.length ? `still counts ${node.gone.map(brief).join(", ")}` : "",
  ];
  return notes.filter(Boolean).join("; ");
}
