// Desired, ready, pending and terminating pods of a workload over virtual time, as a chart of Plotly.

import { clock, count } from "../../../lib/quantity.ts";
import { look } from "../../../kit/chart.tsx";
import { textSize, token } from "../../../lib/theme.ts";
import type { Seen } from "./series.ts";

const HEIGHT = 260;
const MARGIN = { l: 36, r: 12, t: 10, b: 34 };
const TICKS = 5; // at most, beside the first
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400]; // seconds

/** The lines: name, column of a moment, colour, dash. */
export const LINES = [
  ["desired", 1, "--ink", "dash"],
  ["ready", 2, "--pass", "solid"],
  ["pending", 3, "--wait", "dot"],
  ["terminating", 4, "--fail", "dashdot"],
] as const;

/** The lines of which there is something to see. */
export const linesOf = (one: Seen) =>
  LINES.filter(([name, column]) => ["desired", "ready"].includes(name) || one.moments.some((row) => row[column]));

export function traces(one: Seen, ends: number) {
  const { moments } = one;
  const x = [...moments.map(([at]) => at), ends];
  const when = x.map((at) => clock(at));
  const lines = linesOf(one).map(([name, column, hue, dash]) => ({
    type: "scatter",
    mode: "lines",
    name,
    x,
    y: [...moments.map((moment) => moment[column]), moments.at(-1)?.[column] ?? 0],
    customdata: when,
    hovertemplate: `%{y} ${name}<extra>%{customdata}</extra>`,
    line: { color: token(hue), width: name === "ready" ? 2 : 1.5, dash, shape: "hv" },
    ...(name === "ready" ? { fill: "tozeroy", fillcolor: token("--track") } : {}),
  }));
  return [...lines, fewest(one)];
}

function fewest({ fewestReady, fewestAt, moments }: Seen) {
  return {
    type: "scatter",
    mode: "markers+text",
    name: "fewest ready",
    x: [fewestAt],
    y: [fewestReady],
    customdata: [clock(fewestAt)],
    hovertemplate: `fewest ready: %{y}<extra>%{customdata}</extra>`,
    text: [` ${count(fewestReady)}`],
    textposition: "bottom right",
    textfont: { color: token("--ink"), size: textSize() },
    marker: { color: token("--fail"), symbol: "diamond", size: 9 },
    cliponaxis: false,
    visible: moments.length > 0,
  };
}

export function layout(one: Seen, ends: number) {
  const { axis, title, plain } = look();
  const most = Math.max(1, ...one.moments.flatMap((moment) => moment.slice(1)));
  const ticks = ticksOf(ends);
  return {
    ...plain,
    height: HEIGHT,
    margin: MARGIN,
    xaxis: {
      ...axis,
      range: [0, ends || 1],
      showgrid: false,
      tickvals: ticks,
      ticktext: ticks.map((at) => clock(at)),
      title: title("virtual time"),
    },
    yaxis: { ...axis, range: [0, most * 1.12], tickformat: ",d", nticks: Math.min(6, most + 1) },
  };
}

/** Round times from 0 to the end. */
function ticksOf(ends: number) {
  const least = ends / TICKS;
  const step = STEPS.find((seconds) => seconds >= least) ?? Math.ceil(least / 86_400) * 86_400;
  return ends < 1 ? [0, ends] : Array.from({ length: Math.floor(ends / step) + 1 }, (_, i) => i * step);
}
