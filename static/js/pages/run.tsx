// A run: progress over the connection, charts from its figures, any cycle a click away. Reloading changes nothing.

import { useState } from "preact/hooks";
import { Icon } from "../kit/icon.tsx";
import { place } from "../kit/place.ts";
import { $, $$, announce, toast } from "../lib/dom.ts";
import type { RecordedAnswer, Run } from "../lib/protocol.js";
import { age, count, inQueue, plural } from "../lib/quantity.ts";
import { refusalOf } from "../lib/socket.ts";
import { because } from "../workbench/inspect/cacheparts.tsx";
import { percent } from "../workbench/inspect/cachewords.ts";
import { Recorded } from "../workbench/dump/recorded.tsx";
import { Charts, type Shown, type View } from "./charts.tsx";
import { link } from "./link.ts";
import { Outcomes } from "./outcomes.tsx";
import { Placements, type Comparison } from "./placements.tsx";
import { Queries } from "./queries.tsx";
import { RangeBar } from "./range.tsx";

type State = Run["state"];
type Reason = { message: string; count: number; pods: [key: string, cycle: number][] };
/** What is fetched now and then while it runs, and once more at its end. */
type Known = Shown & {
  cycles: number;
  state: State;
  firstUnschedulable: number | null;
  dump: { incomplete: string[]; answers: RecordedAnswer[] };
  recorded: Comparison | null;
  unplaced: Reason[];
};

const ENDED = new Set<State>(["done", "cancelled", "failed"]);
const TONES = { queued: "", done: "pass", cancelled: "fail", failed: "stale", running: "accent", cancelling: "fail" };
const SIGNS: Partial<Record<State, string>> = { done: "check", cancelled: "close", failed: "warn" };
const FIGURES_EVERY = 700; // milliseconds between two fetches of the figures while it runs
const RATE_OVER = 8000; // milliseconds that the rate is measured over
const READING = ["Reading the cluster", "Charts appear with the first cycles."];
const EMPTY = {
  queued: [
    "It starts automatically",
    "All workers are busy or not started yet. You may close this page: the run keeps its position in the queue.",
  ],
  running: READING,
  cancelling: READING,
  cancelled: [
    "Cancelled before its first cycle",
    "Nothing was computed. Start it again from the workbench or the start page.",
  ],
  failed: ["Nothing was computed", "See the message above."],
  done: [
    "There was nothing to schedule",
    "No pod of this cluster is pending: delete a pod's nodeName and run it again.",
  ],
};

const root = $("[data-run]");
const id = root.dataset.run ?? "";
const part = (name: string) => $(`[data-${name}]`, root);
const field = $("input#cycle", root);
const charts = new Charts(root, root.dataset.plotly ?? "", {
  onPoint: (cycle) => {
    field.value = String(cycle);
    field.dataset.touched = "yes";
  },
  onView: look,
});

let view: View = { by: "cycle", span: null };
let run: Run = JSON.parse($("#run", root).textContent);
let known: Known | null = null;
let fetchedAt = -Infinity;
let seen: [time: number, done: number][] = []; // of the last changes, for the rate
let fetching = false;
let timer = 0;
let lost: HTMLElement | undefined;

for (const number of $$("[data-number]", root)) number.textContent = count(Number(number.textContent));

const socket = link();
window.podstep = {
  socket,
  get run() {
    return run;
  },
};
socket.on("run.changed", (changed: Run) => {
  if (changed.run === id) update(changed);
});
socket.on("up", () => {
  lost?.remove();
  lost = undefined;
  socket.call("run.watch", { run: id }).then(update, (error: Error) => toast(error.message, { name: "warn" }));
});
socket.on("down", () => {
  lost ??= toast("Connection lost. The run continues; reconnecting.", { name: "warn", ms: 0 });
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    draw();
    void figures();
  }
});

function update(next: Run) {
  if (run.state !== next.state) announce(`The run is ${next.state}.`);
  run = next;
  const now = performance.now();
  if (seen.at(-1)?.[1] !== run.done) seen.push([now, run.done]);
  while (seen.length > 2 && now - seen[0][0] > RATE_OVER) seen.shift();
  const standing = run.state === "queued" ? "queued · " : `${Math.floor(share() * 100)} % · `;
  document.title = `${ENDED.has(run.state) ? "" : standing}${run.title || "Run"} · podstep`;
  draw();
  charts.extend({ ...run });
  void figures();
}

/** Lay the charts out by another axis, or show another part of them, with the outcomes in it. */
function look(next: View) {
  view = next;
  charts.look(view);
  ranged();
  place(<Outcomes run={id} view={view} />, part("outcomes"));
}

/** Draw what says which part of the run the charts show. */
function ranged() {
  show({ range: run.done });
  place(
    <RangeBar run={id} view={view} last={charts.endOf(view.by)} isTimed={charts.isTimed} onView={look} />,
    part("range"),
  );
}

/** Write texts into the parts of these names. */
function say(texts: Record<string, string>) {
  for (const [name, text] of Object.entries(texts)) part(name).textContent = text;
}

/** Show the parts of these names, or hide them. */
function show(parts: Record<string, unknown>) {
  for (const [name, shown] of Object.entries(parts)) if (part(name)) part(name).hidden = !shown;
}

/** Draw what the server drew as it is now. */
function draw() {
  const { state, done, cache, error } = run;
  const ended = ENDED.has(state);
  const sign = SIGNS[state];
  part("state").className = `pill ${TONES[state]}`;
  place([sign ? <Icon name={sign} /> : null, state], part("state"));
  const bar = part("progress");
  $("i", bar).style.setProperty("width", `${share() * 100}%`);
  bar.className = `progress ${lookOf(state)}`;
  bar.setAttribute("aria-valuenow", String(Math.floor(share() * 100)));
  bar.setAttribute("aria-valuetext", words());
  const [most = 0, after = 0] = known?.figures.pods.layout.meta?.peak ?? [];
  part("peak").title = `Most pods at once: ${count(most)}, after cycle ${count(after)}`;
  const [title, text] = EMPTY[state];
  const first = known ? known.firstUnschedulable : Number(root.dataset.first);
  const advice = run.mine ? "Fix the cluster in the workbench or choose other files, and start the run again." : "";
  say({
    "progress-text": words(),
    rate: pace(),
    "running-label": ended ? "running at the end" : "running now",
    peak: `peak ${count(most)}`,
    scheduled: known ? count(scheduled(known)) : "–",
    placed: count(run.placed),
    pending: count(run.pending),
    unschedulable: count(run.unschedulable),
    elapsed: elapsed(),
    seconds: run.seconds ? age(run.seconds) : "–",
    "peak-mib": run.peakMib ? `${count(Math.round(run.peakMib))} MiB` : "–",
    "error-text": error ?? "",
    "error-advice": done ? `The ${plural(done, "cycle")} before it can be opened below.` : advice,
    "open-hint": done ? `1 to ${count(done)}` : "none is computed yet",
    "first-text": `First unschedulable: cycle ${count(first ?? 0)}`,
    "empty-title": title,
    "empty-text": text,
  });
  show({
    "cancel-form": run.mine && (state === "queued" || state === "running"),
    peak: most > run.placed,
    error,
    trace: state === "done",
    exports: state === "done",
    last: done && ended,
    "first-unschedulable": first,
    "open-card": done,
    charts: done,
    empty: !done,
    "cache-card": cache,
    "query-card": done,
    "outcomes-card": done,
  });
  field.max = String(done);
  if (document.activeElement !== field && !field.dataset.touched) field.value = done ? String(done) : "";
  part("last").setAttribute("href", addressOf(done));
  part("first-unschedulable").setAttribute("href", addressOf(first ?? 0));
  if (cache) {
    say({
      "hit-rate": percent(cache.hitRate),
      hits: count(cache.hits),
      evaluations: count(cache.evaluations),
      invalidated: count(cache.invalidated),
      stale: cache.stale ? count(cache.stale) : "none",
    });
    part("stale").classList.toggle("stale-text", cache.stale > 0);
    part("cache-open").setAttribute("href", `${addressOf(done)}?tab=cache&view=time`);
    show({ "cache-causes": cache.causes.length });
    place(<Causes of={cache.causes} />, part("cache-causes"));
  }
  if (!known) return;
  const { dump, unplaced, recorded } = known;
  show({ dump: dump.incomplete.length || dump.answers.length, unplaced: unplaced.length, recorded });
  place(recorded ? <Placements run={id} {...recorded} /> : null, part("recorded-pods"));
  place(<Dump {...dump} />, part("dump-list"));
  place(unplaced.length ? <Unplaced reasons={unplaced} /> : null, part("unplaced-list"));
}

const addressOf = (cycle: number) => `/runs/${id}/at/${cycle}/`;

function share() {
  if (run.state === "done") return 1;
  return run.total ? Math.min(run.done / run.total, ENDED.has(run.state) ? 1 : 0.99) : 0;
}

/** Cycles that placed their pod. */
const scheduled = ({ figures }: Known): number => figures.outcomes.data[0]?.y[0] ?? 0;

/** How the bar looks: by the state, and stopped alike whether it was cancelled or interrupted. */
function lookOf(state: State) {
  if (["done", "failed", "queued"].includes(state)) return state;
  return ENDED.has(state) || state === "cancelling" ? "stopped" : "";
}

function words() {
  const { state, done, total } = run;
  const of = total && done <= total ? `${count(done)} of ${count(total)} cycles` : plural(done, "cycle");
  return {
    queued: [inQueue(run.position) || "Waiting for a worker", done ? `after ${plural(done, "cycle")}` : ""]
      .filter(Boolean)
      .join(", "),
    running: `Scheduling: ${of}${total ? `, ${Math.floor(share() * 100)} %` : ""}`,
    cancelling: `Stopping after this slice: ${of}`,
    done: outcome(),
    cancelled: `Cancelled after ${of}`,
    failed: `Failed after ${of}`,
  }[state];
}

/** The result of a finished run. Pods that ended are not lost: they were scheduled and are gone. */
function outcome() {
  if (known?.state !== "done") return `Done: all ${plural(run.done, "cycle")}`;
  const terminating = known.figures.pods.layout.meta?.terminating ?? 0; // pods on nodes that are being deleted
  const cycles = scheduled(known) === run.done ? "" : `${plural(run.done, "cycle")}, `;
  const ended = terminating ? ` · ${count(terminating)} Terminating` : "";
  return `Done: ${cycles}${count(scheduled(known))} scheduled · ${count(run.placed)} running at the end${ended}`;
}

/** How fast it goes and how long it will take, in words. */
function pace() {
  if (ENDED.has(run.state))
    return run.seconds > 0 && run.done ? `${count(Math.round(run.done / run.seconds))} cycles a second` : "";
  const [[from, before], last] = [seen[0], seen[seen.length - 1]];
  const rate = (1000 * (last[1] - before)) / (last[0] - from);
  if (run.state !== "running" || !(rate > 0)) return "";
  const left = run.total && run.total > run.done ? `about ${age(Math.ceil((run.total - run.done) / rate))} left` : "";
  return [`${count(Math.round(rate))} cycles a second`, left].filter(Boolean).join(" · ");
}

function elapsed() {
  const { started, finished } = run;
  const seconds = ((finished ? Date.parse(finished) : Date.now()) - Date.parse(started ?? "")) / 1000;
  if (Number.isNaN(seconds)) return "–";
  return age(Math.max(0, finished ? Math.round(seconds * 10) / 10 : Math.floor(seconds)));
}

/** What the dump lacks, and what its cluster recorded about pending pods beside the answers of the run. */
const Dump = ({ incomplete, answers }: Known["dump"]) => (
  <>
    {incomplete.map((text) => (
      <li key={text}>
        <b>Incomplete:</b>
        {` ${text}`}
      </li>
    ))}
    {answers.map((answer) => (
      <li key={answer.pod}>
        <span class="mono">{answer.pod}</span> <Recorded answer={answer} />
      </li>
    ))}
  </>
);

/** Why answers of the cache were stale. */
const Causes = ({ of }: { of: [cause: string, hits: number][] }) =>
  of.map(([cause, hits]) => (
    <li key={cause}>
      <b class="num stale-text">{count(hits)}</b>
      <span>{because(cause)}</span>
    </li>
  ));

const shapeOf = ({ message }: Reason) => message.replace(/\d+(–\d+)?/g, "#"); // numbers move during a run

/** The pods that wait after a failed try, by reason; what is open stays open while the run goes on. */
function Unplaced({ reasons }: { reasons: Reason[] }) {
  const [opened] = useState(shapeOf(reasons[0]));
  return reasons.map((reason) => (
    <details key={shapeOf(reason)} open={shapeOf(reason) === opened}>
      <summary>
        <b class="num">{count(reason.count)}</b> <span class="unplaced-message">{reason.message}</span>
      </summary>
      <ul>
        {reason.pods.map(([key, cycle]) => (
          <li key={key}>
            <a class="mono" href={`${addressOf(cycle)}?pod=${encodeURIComponent(key).replaceAll("%2F", "/")}`}>
              {key}
            </a>
          </li>
        ))}
        {reason.count > reason.pods.length ? (
          <li class="dim">{`and ${count(reason.count - reason.pods.length)} more`}</li>
        ) : null}
      </ul>
    </details>
  ));
}

/** Fetch and draw the figures: at most once a second while it runs, and once more at the end. */
async function figures() {
  clearTimeout(timer);
  const current = () => known?.cycles === run.done && known.state === run.state;
  if (!run.done || fetching || document.hidden || current()) return;
  const wait = ENDED.has(run.state) ? 0 : fetchedAt + FIGURES_EVERY - performance.now();
  if (wait > 0) {
    timer = setTimeout(figures, wait);
    return;
  }
  fetching = true;
  try {
    const answer = await fetch(root.dataset.figures ?? "", { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    const next: Known = await answer.json();
    [known, fetchedAt] = [next, performance.now()];
    draw();
    await charts.show(next, ENDED.has(next.state) ? next.cycles : Math.max(run.total ?? 0, run.done));
    ranged();
  } catch {
    fetchedAt = performance.now() + 2000; // the tables stand; a little later again
  } finally {
    fetching = false;
  }
  if (!current()) timer = setTimeout(figures, Math.max(FIGURES_EVERY, fetchedAt - performance.now()));
}

part("cancel-form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = part("cancel");
  button.setAttribute("aria-disabled", "true");
  try {
    update(await socket.call("run.cancel", { run: id }));
    toast(
      run.state === "cancelled" ? "The run is cancelled." : "Stopping: the worker finishes its current slice first.",
    );
    $("h1", root).tabIndex = -1;
    $("h1", root).focus();
  } catch (error) {
    toast(refusalOf(error).message, { name: "warn" });
  }
  button.removeAttribute("aria-disabled");
});

field.addEventListener("input", () => {
  field.dataset.touched = "yes";
});
part("open-cycle").addEventListener("submit", (event) => {
  event.preventDefault();
  const cycle = Number(field.value);
  if (Number.isInteger(cycle) && cycle >= 1 && cycle <= run.done) {
    location.assign(addressOf(cycle));
    return;
  }
  toast(run.done ? `This run has cycles 1 to ${count(run.done)}.` : "No cycle is computed yet.", { name: "warn" });
  field.focus();
});

place(<Outcomes run={id} view={view} />, part("outcomes"));
place(<Queries run={id} questions={JSON.parse($("#questions", root).textContent)} />, part("queries"));
setInterval(() => document.hidden || say({ elapsed: elapsed() }), 1000);
update(run);
