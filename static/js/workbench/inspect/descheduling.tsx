// Descheduler: its passes until the shown step, ping-pong, and of the last pass each strategy: the thresholds as lines
// over the nodes' bars, and its candidates in order with the verdict on each.

import type { ComponentChildren } from "preact";
import { Empty } from "../../kit/empty.tsx";
import { Inline } from "../../kit/inline.tsx";
import { More } from "../../kit/more.tsx";
import { Table } from "../../kit/table.tsx";
import type {
  DeschedulerPart,
  DeschedulerPass,
  DeschedulerRun,
  DeschedulerStrategy,
  DeschedulerUtilization,
} from "../../lib/protocol.js";
import { clock, count, plural, trim } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { Before } from "./empty.tsx";
import { aboutNode, linked, nodeLink, podLink } from "../view/nouns.tsx";
import type { Content } from "./panel.tsx";

const PASSES = 5; // in the list before it is unfolded
const OUTCOMES: Record<string, string> = { evicted: "victim", refused: "fail", limited: "fail" }; // a verdict's pill
const CATEGORIES: Record<string, string> = { overutilized: "over", underutilized: "under" };

export function Descheduling({ view, part }: Content<"descheduler">) {
  const { playback } = view;
  if (!("passes" in part)) return <Empty title="No descheduler runs here.">{String(part.why)}</Empty>;
  if (!playback.current && !playback.atEnd) return <Before view={view} />;
  if (!part.last)
    return (
      <Empty title="No pass of the descheduler yet.">
        {`The first one is ${clock(playback.descheduler?.interval ?? 0)} after the start, `
          + "or when the verb Deschedule asks for one."}
      </Empty>
    );
  return (
    <>
      <Passes view={view} part={part} last={part.last} />
      <Worth part={part} />
      <Returns view={view} part={part} />
      <Run view={view} run={part.last} />
    </>
  );
}

const RANGE = "spread of the nodes' requests before the pass, in percentage points";

function Passes({ view, part, last }: { view: View; part: DeschedulerPart; last: DeschedulerRun }) {
  const { passes, passCount, spread } = part;
  const rows = passes.map((one) => <Pass view={view} {...one} />);
  if (spread) rows.push(<Figures name="end" when="" figures={[null, null, null]} spread={spread} />);
  const head = (text: string, kind?: string, title?: string) => (
    <th scope="col" class={kind} title={title}>
      {text}
    </th>
  );
  return (
    <section>
      <h3>
        {plural(passCount, "pass", "passes")}
        <small class="dim">{`descheduler ${last.edition}${last.dryRun ? ", dry run" : ""}`}</small>
        <a class="ref" href="/reference/descheduler/">
          reference
        </a>
      </h3>
      <div class={rows.length > PASSES ? "descheduling-passes long" : "descheduling-passes"} tabIndex={0}>
        <table class="list tight">
          <caption class="sr">Passes of the descheduler, with the cluster as each found it</caption>
          <thead>
            <tr>
              {head("pass")}
              {head("time")}
              {head("evicted", "num")}
              {head("refused", "num", "by a PodDisruptionBudget")}
              {head("violations", "num", "pods that the deschedule strategies found")}
              {head("cpu range", "num", RANGE)}
              {head("memory range", "num", RANGE)}
            </tr>
          </thead>
          <tbody>{rows}</tbody>
        </table>
      </div>
      {passCount > passes.length ? <p class="dim">{`and ${count(passCount - passes.length)} before`}</p> : null}
    </section>
  );
}

function Pass({ view, number, time, cause, evicted, refused, violations, spread }: DeschedulerPass & { view: View }) {
  const { playback } = view;
  const when = (
    <Inline
      act={() => playback.goto(playback.marks.firstAt(time) || playback.last)}
      title={`${cause}; opens the first cycle after it`}
    >
      {clock(time)}
    </Inline>
  );
  return <Figures name={String(number)} when={when} figures={[evicted, refused, violations]} spread={spread} />;
}

type FiguresProps = {
  name: string;
  when: ComponentChildren;
  figures: (number | null)[];
  spread: Record<string, number>;
};

const Figures = ({ name, when, figures, spread }: FiguresProps) => (
  <tr>
    <th scope="row">{name}</th>
    <td class="num">{when}</td>
    {figures.map((value) => (
      <td class="num">{value === null ? "" : trim(value)}</td>
    ))}
    {[spread.cpu, spread.memory].map((value) => (
      <td class="num">{value === undefined ? "" : `${trim(value)}%`}</td>
    ))}
  </tr>
);

/** Whether it helped so far: evictions, and how far the nodes differed before the first pass and after. */
function Worth({ part: { passes, passCount, spread, last, returns } }: { part: DeschedulerPart }) {
  if (passCount !== passes.length || !passes.length) return null; // the first ones are not here
  const evicted = passes.reduce((sum, one) => sum + one.evicted, 0);
  const before = passes[0].spread;
  const latest = passes[passes.length - 1];
  const after = spread ?? (passes.length > 1 ? latest.spread : null);
  const amounts = (to: Record<string, number>) =>
    Object.keys(before)
      .map((name) => `${name} ${trim(before[name])}% → ${trim(to[name] ?? 0)}%`)
      .join(", ");
  return (
    <p class="descheduling-worth">
      <b>{`${plural(evicted, "pod")} ${last?.dryRun ? "would have been evicted (dry run)" : "evicted"} so far.`}</b>
      {after
        ? ` Spread of the nodes' requests: ${amounts(after)} since before the first pass.`
        : " The spread after it is measured at the next pass, or at the end."}
      {latest.evicted ? "" : " The last pass found nothing to evict."}
      {returns.length ? " Some of what was evicted came back:" : ""}
    </p>
  );
}

function Returns({ view, part: { returns } }: { view: View; part: DeschedulerPart }) {
  if (!returns.length) return null;
  return (
    <section class="descheduling-returns" aria-label="Ping-pong">
      <h4>Ping-pong</h4>
      <ul>
        {returns.map(([workload, node, times]) => (
          <li>
            Pods of <b>{workload}</b> came back to {nodeLink(view, node)}
            {` and were evicted again, ${plural(times, "time")}.`}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Run({ view, run }: { view: View; run: DeschedulerRun }) {
  const title = (
    <h3>
      {`Pass at ${clock(run.time)}`}
      <small class="dim">{`${plural(run.nodeCount, "node")} ready and selected`}</small>
    </h3>
  );
  if (run.skipped)
    return (
      <section>
        {title}
        <p>{`It did nothing: ${run.skipped}.`}</p>
      </section>
    );
  return (
    <>
      {title}
      {run.strategies.map((one) => (
        <Strategy key={`${one.profile}-${one.name}`} view={view} strategy={one} />
      ))}
    </>
  );
}

const pill = (outcome: string, text: string) => <span class={`pill ${OUTCOMES[outcome] ?? ""}`}>{text}</span>;

function Strategy({ view, strategy }: { view: View; strategy: DeschedulerStrategy }) {
  const { name, profile, point, outcomes, stopped, utilization, candidates, candidateCount } = strategy;
  return (
    <section class="descheduling-strategy" aria-label={name}>
      <h4>
        <span>{name}</span>
        <small class="dim">{profile ? `${point} plugin, profile ${profile}` : point}</small>
        {Object.entries(outcomes).map(([outcome, number]) => [" ", pill(outcome, `${count(number)} ${outcome}`)])}
      </h4>
      {stopped ? <p class="dim">{`It ended: ${stopped}.`}</p> : null}
      {utilization ? <Utilization view={view} part={utilization} /> : null}
      {candidates.length ? (
        <Table
          rows={candidates.map(([pod, node, outcome, reason], place) => (
            <tr key={pod}>
              <td class="num dim">{place + 1}</td>
              <th scope="row">
                {podLink(view, pod, { dot: false })} on {nodeLink(view, node)}
              </th>
              <td class="descheduling-why">
                {pill(outcome, outcome)} {linked(view, reason)}
              </td>
            </tr>
          ))}
          heads={[{ text: "#", class: "num" }, "pod", "verdict"]}
          caption={`Candidates of ${name} in order`}
          filter="Filter candidates"
          kept={view.lists.of("descheduler")}
          name={`${profile}-${name}`}
        />
      ) : (
        <p class="dim">No pod was a candidate.</p>
      )}
      <More of={candidateCount} shown={candidates.length} class="dim" />
    </section>
  );
}

function Utilization({ view, part: { low, high, nodes, counts } }: { view: View; part: DeschedulerUtilization }) {
  const names = [...new Set([...Object.keys(low), ...Object.keys(high)])];
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const limits = names.flatMap((name) => [
    name in low ? `${name} low ${trim(low[name])}%` : "",
    name in high ? `${name} high ${trim(high[name])}%` : "",
  ]);
  return (
    <div class="descheduling-nodes">
      <p class="dim descheduling-legend">
        {limits.filter(Boolean).map((text) => (
          <span>{text}</span>
        ))}
        {Object.entries(counts).map(([category, number]) => (
          <span class={`descheduling-${CATEGORIES[category] ?? "fair"}`}>{`${count(number)} ${category}`}</span>
        ))}
      </p>
      <table class="descheduling-bars">
        <caption class="sr">Nodes as the strategy saw them, in percent of their capacity</caption>
        <thead>
          <tr>
            {["node", ...names].map((name) => (
              <th scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nodes.map(([node, category, usage, cordoned]) => (
            <tr key={node} {...aboutNode(view, node)}>
              <th scope="row">
                {nodeLink(view, node)}
                {cordoned ? <small class="dim"> cordoned</small> : null}
              </th>
              {names.map((name) => (
                <UsageBar usage={usage[name] ?? 0} low={low[name]} high={high[name]} category={category} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {all > nodes.length ? <p class="dim">{`and ${plural(all - nodes.length, "node")} more`}</p> : null}
    </div>
  );
}

type UsageBarProps = { usage: number; low: number | undefined; high: number | undefined; category: string };

/** A usage in percent with the thresholds as lines. */
function UsageBar({ usage, low, high, category }: UsageBarProps) {
  const line = (at: number | undefined, kind: string) =>
    at === undefined ? null : <i class={kind} style={{ left: `${Math.min(at, 100)}%` }} />;
  const width = `${Math.min(Math.max(usage, 0), 100)}%`;
  return (
    <td>
      <span class="descheduling-bar">
        <i class={`used ${CATEGORIES[category] ?? "fair"}`} style={{ width }} />
        {line(low, "low")}
        {line(high, "high")}
      </span>
      <span class="num">{`${trim(usage)}%`}</span>
    </td>
  );
}
