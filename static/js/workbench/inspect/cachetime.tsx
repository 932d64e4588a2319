// The Cache tab, Over time: hit rate, evaluations and invalidations of every cycle as a chart, and as the table behind
// it.

import { useRef } from "preact/hooks";
import { Chart, FigureButtons, look, type Drawn } from "../../kit/chart.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Pager } from "../../kit/pager.tsx";
import { Table } from "../../kit/table.tsx";
import { count, plural } from "../../lib/quantity.ts";
import { token } from "../../lib/theme.ts";
import { useInTab, useRedraw } from "../view/asking.tsx";
import type { View } from "../view/view.ts";
import { cycleLink, swatch } from "./cacheparts.tsx";
import { rowsOf, series, type Counts, type Point } from "./cacheseries.ts";
import { percent } from "./cachewords.ts";

const HEIGHT = 300;
const MARGIN = { l: 46, r: 10, t: 8, b: 34 };
const SPACED = 1.5; // pixels from a point to the next, at least
const FINE = 120; // points; of fewer each cycle is a step of the line
const ROWS = 25;
const TICKED = 10; // cycles of which each has a tick; nothing stands between two of them
const UNDRAWN = 400; // pixels of a chart's width before it is drawn
const REDRAW_AFTER = 250; // while a timeline grows

export function CacheTime({ view }: { view: View }) {
  const { playback, seen, store, sub } = view;
  const { marks, cycles, complete, index } = playback;
  const { caching } = marks;
  useInTab(store, "cache", store.seen, store.known);
  const redraw = useRedraw();
  const width = useRef(UNDRAWN);
  const asTable = sub === "time/table";
  const known = Math.min(marks.known, seen.last); // the last cycle whose outcome may be shown
  const title = <h3>Hit rate</h3>;
  if (!caching)
    return (
      <div class="cache-time">
        <div class="stale-head">{title}</div>
        <p class="dim fine num" role="status">
          {complete
            ? "No cycle of this run had a cache, or the run was stored before podstep counted the cache’s work. "
              + "Open its scenario, choose a mode in the Policy tab, and run it again."
            : "Computing…"}
        </p>
      </div>
    );
  const pointsIn = (room: number) => series(caching, known, (room - MARGIN.l - MARGIN.r) / SPACED);
  const { per, points } = asTable ? series(caching, known, ROWS) : pointsIn(width.current);
  const stale = points.reduce((sum, point) => sum + point.stale, 0);
  const words = said(points, per, stale, caching.stale.subarray(0, known + 1));
  const drawn = (room = width.current) => {
    if (room !== width.current) redraw(); // the words go by how many points have room
    width.current = room;
    const { per: each, points: some } = pointsIn(room);
    return { data: traces(each, some), layout: layout(cycles) };
  };
  return (
    <div class="cache-time">
      <div class="stale-head">
        {title}
        <span class="grow" />
        <span class="pictures" hidden={asTable}>
          <FigureButtons
            library={view.library}
            what="Hit rate"
            figure={() => ({ ...drawn(), title: "Hit rate of the equivalence cache", name: "cache-over-time" })}
            class="small"
          />
        </span>
        <button
          type="button"
          class="btn quiet small"
          aria-expanded={asTable}
          onClick={() => view.setSub(asTable ? "time" : "time/table")}
        >
          <Icon name="table" />
          <span>{asTable ? "Show as a chart" : "Show as a table"}</span>
        </button>
      </div>
      <p class="dim fine num" role="status">
        {words}
      </p>
      <div>
        <ul class="key" hidden={asTable}>
          {[
            ["rate", per > 1 ? `rate of ${count(per)} cycles` : "rate of a cycle"],
            ["running", "rate of the run so far"],
            ["evaluated", "evaluated per cycle"],
            ["invalidated", "invalidated per cycle"],
            ...(stale ? [["stale", "stale hits"]] : []),
          ].map(([name, text]) => (
            <li>
              {name === "stale" ? swatch("stale") : <i class={`cache-line ${name}`} aria-hidden="true" />}
              {text}
            </li>
          ))}
        </ul>
        <Chart
          library={view.library}
          class="cache-chart"
          label={
            `Hit rate over ${plural(points.at(-1)?.to ?? 0, "cycle")}, a chart: ${words}. `
            + "Its numbers are shown by the button “Show as a table”."
          }
          hidden={asTable}
          of={`${marks.version}/${known}/${cycles}`}
          figure={drawn}
          now={index > 0 ? index : null}
          wait={REDRAW_AFTER}
          onPoint={({ customdata: to }, since) => to && playback.goto(to, since)}
        />
        {asTable ? <Cycles view={view} caching={caching} known={known} /> : null}
      </div>
    </div>
  );
}

function said(points: Point[], per: number, stale: number, hits: Uint32Array) {
  const cycles = hits.reduce((sum: number, n: number) => sum + (n > 0 ? 1 : 0), 0);
  return [
    `${percent(points.at(-1)?.running ?? null)} of all answers came from the cache`,
    stale ? `${plural(stale, "hit")} in ${plural(cycles, "cycle")} ${stale === 1 ? "was" : "were"} stale` : "",
    per > 1 ? `a point is ${count(per)} cycles` : "",
    "click to go there",
  ]
    .filter(Boolean)
    .join(" · ");
}

function traces(per: number, points: Point[]): Drawn["data"] {
  const x = points.map((point) => (point.from + point.to) / 2);
  const to = points.map((point) => point.from);
  const named = points.map(({ from, to: last }) =>
    from === last ? `cycle ${count(from)}` : `cycles ${count(from)} to ${count(last)}`,
  );
  const shape = points.length < FINE ? "hvh" : "linear";
  const line = (name: string, y: (point: Point) => number | null, hue: string, how: object, more: object = {}) => ({
    type: "scatter",
    mode: points.length === 1 ? "markers" : "lines",
    name,
    x,
    y: points.map(y),
    customdata: to,
    text: named,
    hovertemplate: `%{text}: %{y}<extra>${name}</extra>`,
    line: { color: token(hue), width: 1.5, ...how },
    marker: { color: token(hue) },
    connectgaps: false,
    ...more,
  });
  const bad = points.filter((point) => point.stale);
  const each = (point: Point) => point.to - point.from + 1;
  return [
    line(
      per > 1 ? `per ${count(per)} cycles` : "per cycle",
      ({ rate }) => rate,
      "--cache",
      { width: 1, shape },
      { opacity: 0.75 },
    ),
    line("running", ({ running }) => running, "--ink", { width: 2, dash: "solid" }),
    {
      type: "scatter",
      mode: "markers",
      name: "stale hits",
      x: bad.map((point) => point.firstStale),
      y: bad.map(() => 1.09),
      customdata: bad.map((point) => point.firstStale),
      text: bad.map((point) => `${plural(point.stale, "stale hit")}, first in cycle ${count(point.firstStale)}`),
      hovertemplate: "%{text}<extra></extra>",
      marker: { color: token("--stale"), symbol: "triangle-down", size: 9 },
      cliponaxis: false,
      visible: bad.length > 0,
    },
    line(
      "evaluated",
      (point) => point.evaluations / each(point),
      "--used",
      { shape },
      { yaxis: "y2", fill: "tozeroy", fillcolor: token("--track") },
    ),
    line("invalidated", (point) => point.invalidated / each(point), "--cache", { dash: "dot", shape }, { yaxis: "y2" }),
  ];
}

function layout(cycles: number): Drawn["layout"] {
  const { axis: usual, title, plain } = look();
  const axis = { ...usual, separatethousands: true };
  return {
    ...plain,
    height: HEIGHT,
    margin: MARGIN,
    xaxis: {
      ...axis,
      range: [0.5, Math.max(2, cycles + 0.5)],
      showgrid: false,
      anchor: "y2",
      title: title("cycle"),
      tickformat: ",d",
      ...(cycles <= TICKED ? { tick0: 1, dtick: 1 } : { nticks: 6 }),
    },
    yaxis: { ...axis, domain: [0.43, 1], range: [0, 1.12], tickformat: ".0%", tickvals: [0, 0.5, 1] },
    yaxis2: { ...axis, domain: [0, 0.34], rangemode: "tozero", nticks: 4 },
  };
}

/** The table behind it: the page that was turned to, else the one with the shown cycle. */
function Cycles({ view, caching, known }: { view: View; caching: Counts; known: number }) {
  const { playback, lists } = view;
  const { marks, index } = playback;
  const redraw = useRedraw();
  const list = lists.list("cache", "cycles"); // {page}: from 1; 0: the one with the shown cycle
  const shownAt = useRef(index);
  const turn = (page: number) => {
    if (page === list.page) return;
    list.page = page;
    lists.changed();
  };
  if (shownAt.current !== index) turn(0);
  shownAt.current = index;
  const asked = (list.page - 1) * ROWS + 1;
  if (asked > marks.known && playback.complete) {
    view.actions.wrong(`page.cycles=${list.page}`);
    turn(0);
  }
  const from = list.page && asked <= known ? asked : 1 + Math.floor((Math.max(1, index) - 1) / ROWS) * ROWS;
  const rows = rowsOf(caching, known, from, ROWS);
  const num = (value: number | null, text = count(value ?? 0), bad = false) => (
    <td class={bad ? "num stale-text" : "num"} data-value={value ?? ""}>
      {bad ? <Icon name="warn" /> : null}
      {text}
    </td>
  );
  return (
    <div class="cache-rows">
      <Table
        rows={rows.map((row) => (
          <tr
            key={row.index}
            class={row.index === index ? "won" : undefined}
            aria-current={row.index === index ? "step" : undefined}
          >
            <th scope="row">{cycleLink(view, row.index)}</th>
            {num(row.hits)}
            {num(row.evaluations)}
            {num(row.rate, percent(row.rate))}
            {num(row.running, percent(row.running))}
            {num(row.invalidated)}
            {num(row.stale, count(row.stale), row.stale > 0)}
          </tr>
        ))}
        heads={[
          "cycle",
          ...["hits", "evaluated", "rate", "running", "invalidated", "stale"].map((text) => ({ text, class: "num" })),
        ]}
        caption="The cache's work, cycle by cycle"
        title={
          <>
            <h4>Cycle by cycle</h4>
            <Pager
              from={from - 1}
              total={known}
              size={ROWS}
              shown={rows.length}
              what="cycles"
              go={(to) => {
                turn(Math.floor(to / ROWS) + 1);
                redraw();
              }}
            />
          </>
        }
        kept={lists.of("cache")}
        name="cycles"
      />
    </div>
  );
}
