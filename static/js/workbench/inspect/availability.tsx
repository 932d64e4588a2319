// Over time: how many pods of each workload were desired, ready and pending at each moment of virtual time, and when
// fewest were ready. A moment leads to its step.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Chart, FigureButtons } from "../../kit/chart.tsx";
import { Empty } from "../../kit/empty.tsx";
import { Heading } from "../../kit/heading.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Inline } from "../../kit/inline.tsx";
import { Table } from "../../kit/table.tsx";
import { debounce } from "../../lib/dom.ts";
import type { OverTime } from "../../lib/protocol.js";
import { clock, count, plural, short, span } from "../../lib/quantity.ts";
import { useAnswer, useInTab } from "../view/asking.tsx";
import type { View } from "../view/view.ts";
import { layout, LINES, linesOf, traces } from "./availability/chart.ts";
import { momentAt, seenUntil, type Seen } from "./availability/series.ts";
import { lineOf, sparkline } from "./availability/sparkline.tsx";
import { follow } from "../playback/store.ts";

const AGAIN = 1500; // milliseconds between two requests while cycles are computed
const FILTERED = 8; // workloads and more have a filter
const LOSSES = ["evicted", "preempted", "refused"] as const;
const MEANT: Record<string, string> = {
  ready: "Ready of desired pods at the moment that is shown",
  pending: "Pods without a node at the moment that is shown",
  fewest: "Fewest ready pods since as many as desired were ready for the first time",
  below: "How long fewer pods were ready than desired, since then",
  evicted: "Pods evicted by drains and taints, or preempted",
};

const keyOf = ({ kind, key }: Seen) => (kind ? `${kind}/${key}` : key);
const nameOf = ({ kind, key }: Seen) => (kind ? `${kind} ${short(key)}` : "Pods without a controller");

export function Availability({ view }: { view: View }) {
  const { playback, seen, store } = view;
  useInTab(store, "availability", store.subs, store.seen);
  const answer = useOverTime(view);
  if (!playback.timed)
    return (
      <Empty title="No time passes in this scenario.">
        Give it time: node failures, durations and changes of workloads are simulated with time: virtual in
        SimulationSettings, and under v1.37 by themselves.
      </Empty>
    );
  if (!answer?.value)
    return answer && !answer.error ? (
      <Empty title="Nothing is known over time yet.">A run's worker stores it when it ends.</Empty>
    ) : (
      <Empty title="Computing…" />
    );
  // The time up to which outcomes may be shown; before the first cycle all of it lies ahead.
  const until = seen.last >= playback.cycles ? Infinity : seen.last ? playback.marks.time[seen.last] : 0;
  if (until === 0)
    return (
      <Empty title="Readiness of the workloads is shown for the cycles that you have visited.">
        <span>
          Press <kbd>→</kbd> or Step to see it as it happens.
        </span>
        <button type="button" class="btn" onClick={() => seen.reveal(true)}>
          Show outcomes ahead
        </button>
      </Empty>
    );
  return <Workloads view={view} data={answer.value} until={until} />;
}

/** What is known: asked for while it is computed not too often, and once more at the end. */
function useOverTime(view: View) {
  const { playback } = view;
  const [asked, setAsked] = useState(0);
  useLayoutEffect(() => {
    const again = debounce(() => setAsked((n) => n + 1), AGAIN);
    const end = follow(playback.store.known, again);
    return () => {
      again.cancel();
      end();
    };
  }, [playback]);
  const { timed, complete, source } = playback;
  return useAnswer<OverTime | null>(timed ? (complete ? "complete" : `growing ${asked}`) : "", async () => {
    try {
      return await playback.ask("availability.get", { source });
    } catch (error) {
      playback.failed(error);
      throw error;
    }
  });
}

type WorkloadsProps = { view: View; data: OverTime; until: number };

function Workloads({ view, data, until }: WorkloadsProps) {
  const { playback, seen, sub } = view;
  const [asTable, setAsTable] = useState(false);
  const ends = Math.min(data.until, until);
  const all = useMemo(
    () =>
      [data.total, ...data.workloads].map((whole) => {
        const one = seenUntil(whole, until);
        return { one, key: whole === data.total ? "" : keyOf(one), line: lineOf(one, ends) };
      }),
    [data, until, ends],
  );
  const { one, key } = all.find((row) => row.key === sub) ?? all[0];
  const name = key ? nameOf(one) : "All workloads";
  const words = [
    `fewest ready: ${count(one.fewestReady)} at ${clock(one.fewestAt)}`,
    one.below ? `below desired for ${span(one.below)}` : "never below desired",
    ...LOSSES.filter((what) => one[what]).map((what) => `${count(one[what] ?? 0)} ${what}`),
    until === Infinity
      ? `the last change at ${clock(data.calmAt)}`
      : `shown up to cycle ${count(seen.last)}, the last that was on screen`,
  ];
  const drawn = () => ({ data: traces(one, ends), layout: layout(one, ends) });
  // The first step that is not before a moment shows it, or the end.
  const goto = (time: number, since?: number) => playback.goto(playback.marks.firstAt(time) || playback.last, since);
  return (
    <div class="availability">
      <div class="stale-head">
        <h3>{name}</h3>
        <span class="grow" />
        <span class="pictures">
          <FigureButtons
            library={view.library}
            what="Workload over time"
            figure={() => ({ ...drawn(), title: name, name: "workload-over-time" })}
            class="small"
          />
        </span>
        <button type="button" class="btn quiet small" aria-expanded={asTable} onClick={() => setAsTable(!asTable)}>
          <Icon name="table" />
          <span>{asTable ? "Show as a chart" : "Show as a table"}</span>
        </button>
      </div>
      <p class="dim num" role="status">
        {words.join(" · ")}
      </p>
      <ul class="key">
        {linesOf(one).map(([line]) => (
          <li>
            <i class={`line ${line}`} aria-hidden="true" />
            {line}
          </li>
        ))}
      </ul>
      <Chart
        library={view.library}
        class="availability-chart"
        label={`${name} over ${clock(ends)}, a chart: ${words.join(", ")}.`}
        hidden={asTable}
        of={`${key}/${data.known}/${data.until}/${until}`}
        figure={drawn}
        now={playback.time}
        onPoint={({ x }, since) => goto(x, since)}
      />
      {asTable ? (
        <div class="availability-moments">
          <Moments view={view} one={one} goto={goto} />
        </div>
      ) : null}
      <div class="availability-rows">
        <Table
          rows={all.map((row) => rowOf(view, row, playback.time, ends))}
          heads={["workload", "ready", "pending", "fewest", "below", "evicted"].map((text, i) => ({
            text,
            class: i ? "num" : "",
            title: MEANT[text],
          }))}
          caption="Workloads, those that were below desired longest first"
          title={<Heading text="Workloads" count={data.workloads.length} />}
          filter={data.workloads.length > FILTERED ? "Filter workloads" : ""}
          kept={view.lists.of("availability")}
          name="workloads"
        />
        {data.leftOut ? <p class="dim fine">{`and ${plural(data.leftOut, "workload")} that fared better`}</p> : null}
      </div>
    </div>
  );
}

/** The moments of a workload as rows, each of which leads to its step. */
const Moments = ({ view, one, goto }: { view: View; one: Seen; goto: (time: number, since?: number) => void }) => (
  <Table
    rows={one.moments.map(([at, ...counts]) => (
      <tr key={at}>
        <th scope="row" data-value={at}>
          <Inline act={(event) => goto(at, event.timeStamp)} class="link num" title="go to this moment">
            {clock(at)}
          </Inline>
        </th>
        {counts.map((n) => (
          <td class="num">{count(n)}</td>
        ))}
      </tr>
    ))}
    heads={["time", ...LINES.map(([name]) => name)].map((text, i) => ({ text, class: i ? "num" : "" }))}
    caption="Each moment at which something changed"
    kept={view.lists.of("availability")}
    name="moments"
  />
);

type Shown = { one: Seen; key: string; line: ReturnType<typeof lineOf> };

function rowOf(view: View, { one, key, line }: Shown, now: number | null, ends: number) {
  const picked = view.sub === key;
  const [, desired, ready, pending] = momentAt(one.moments, now ?? ends) ?? [0, 0, 0, 0];
  const lost = one.evicted === null ? null : one.evicted + (one.preempted ?? 0);
  return (
    <tr key={key} class={picked ? "won" : ""}>
      <th scope="row">
        <Inline act={() => view.setSub(key)} aria-pressed={picked}>
          {key ? nameOf(one) : "All workloads"}
        </Inline>
        {sparkline(line, now)}
      </th>
      <td class={ready < desired ? "num fail-text" : "num"} data-value={ready}>
        {`${count(ready)}/${count(desired)}`}
      </td>
      <td class="num">{count(pending)}</td>
      <td class="num" title={`at ${clock(one.fewestAt)}`}>
        {count(one.fewestReady)}
      </td>
      <td class="num" data-value={one.below}>
        {one.below ? span(one.below) : "–"}
      </td>
      <td class="num" data-value={lost ?? 0}>
        {lost === null ? "–" : count(lost)}
        {one.refused ? <small class="dim">{`${count(one.refused)} refused`}</small> : null}
      </td>
    </tr>
  );
}
