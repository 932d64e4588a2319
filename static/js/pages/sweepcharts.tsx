// The charts of a sweep: one figure over its cells, two of them against each other, and all as parallel coordinates.

import { useState } from "preact/hooks";
import { Chart, look } from "../kit/chart.tsx";
import type { Drawn } from "../kit/chart.tsx";
import { Select } from "../kit/select.tsx";
import { token } from "../lib/theme.ts";
import { shown } from "./sweepfigures.ts";
import type { Cell, Figure, Metrics, Sweep } from "./sweepfigures.ts";

const HEIGHT = 270;
const NARROW = 560; // pixels, below which parallel coordinates show fewer axes
const SPACE = 84; // pixels for an axis, at least
const MANY = 100; // cells, beyond which marks are smaller and lines fainter

export type ChartsProps = { of: Sweep; cells: Cell[]; figures: Figure[]; library: string };

type CardProps = ChartsProps & { id: string; title: string; label: string; keyed: string; draw: (w: number) => Drawn };

/** A chart in a card; a point opens its run. */
function ChartCard({ id, title, label, keyed, draw, library, of, children }: CardProps & { children?: any }) {
  return (
    <section class="card chart-card" aria-labelledby={id}>
      <div class="chart-head">
        <h2 id={id}>{title}</h2>
        <span class="grow" />
        {children}
      </div>
      <Chart
        library={library}
        label={`${label}, a chart. Its numbers are in the table above.`}
        class="chart"
        of={`${keyed}/${of.done}`}
        figure={draw}
        onPoint={({ customdata }) => customdata && location.assign(`/runs/${customdata}/`)}
      />
    </section>
  );
}

const optionsOf = (figures: Figure[]) => figures.map(({ name, title }): [string, string] => [name, title]);

const aboutCell = ({ number, values }: Cell) =>
  [`cell ${number}`, ...Object.entries(values).map(([key, value]) => `${key} ${shown(value)}`)].join("<br>");

const sides = (cells: Cell[], front: number[]): [Cell[], string, string, string][] => [
  [cells.filter(({ number }) => !front.includes(number)), "other cells", "--g3", "circle"],
  [cells.filter(({ number }) => front.includes(number)), "no other is better", "--pass", "star"],
];

const LEGEND = { showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" } };
const valueOf = (figure: Figure, cell: Cell) => figure.of(cell.metrics as Metrics);

/** One figure of every cell, in the order of its values. */
export function Bars(props: ChartsProps) {
  const { cells, figures, of } = props;
  const [name, choose] = useState("");
  const figure = figures.find((one) => one.name === name) ?? figures[0];
  const draw = () => {
    const { axis, title, plain: layout } = look();
    const ordered = [...cells].sort((a, b) => (valueOf(figure, b) ?? 0) - (valueOf(figure, a) ?? 0));
    const places = new Map(ordered.map(({ number }, place) => [number, place + 1]));
    return {
      data: sides(ordered, of.front).map(([listed, words, colour]) => ({
        type: "bar",
        name: words,
        x: listed.map(({ number }) => places.get(number)),
        y: listed.map((cell) => valueOf(figure, cell)),
        customdata: listed.map(({ run }) => run),
        text: listed.map((cell) => `${aboutCell(cell)}<br>${figure.title} ${figure.words(valueOf(figure, cell) ?? 0)}`),
        textposition: "none",
        hovertemplate: "%{text}<extra></extra>",
        marker: { color: token(colour) },
      })),
      layout: {
        ...layout,
        ...LEGEND,
        height: HEIGHT,
        margin: { l: 60, r: 16, t: 12, b: 44 },
        bargap: 0.15,
        xaxis: { ...axis, title: title("cells, the greatest first") },
        yaxis: { ...axis, title: title(figure.title) },
      },
    };
  };
  return (
    <ChartCard
      {...props}
      id="bars-title"
      title="One figure of every cell"
      label={`${figure.title} of every cell`}
      keyed={figure.name}
      draw={draw}
    >
      <Select aria-label="Figure of the bars" value={figure.name} options={optionsOf(figures)} onChange={choose} />
    </ChartCard>
  );
}

/** Two figures of every cell. */
export function Scatter(props: ChartsProps) {
  const { cells, figures, of } = props;
  const [x, setX] = useState("");
  const [y, setY] = useState("");
  const named = (name: string, place: number) => figures.find((one) => one.name === name) ?? figures[place];
  const [across, up] = [named(x, 0), named(y, figures.length > 2 ? 2 : 1)];
  const draw = () => {
    const { axis, title, plain: layout } = look();
    return {
      data: sides(cells, of.front).map(([listed, words, colour, symbol]) => ({
        type: "scatter",
        mode: "markers",
        name: words,
        x: listed.map((cell) => valueOf(across, cell)),
        y: listed.map((cell) => valueOf(up, cell)),
        customdata: listed.map(({ run }) => run),
        text: listed.map(aboutCell),
        hovertemplate: "%{text}<extra></extra>",
        marker: { color: token(colour), symbol, size: cells.length > MANY ? 6 : 10 },
      })),
      layout: {
        ...layout,
        ...LEGEND,
        height: HEIGHT,
        margin: { l: 60, r: 16, t: 12, b: 44 },
        xaxis: { ...axis, title: title(across.title) },
        yaxis: { ...axis, title: title(up.title) },
      },
    };
  };
  return (
    <ChartCard
      {...props}
      id="scatter-title"
      title="Two figures of every cell"
      label={`${up.title} over ${across.title} of every cell`}
      keyed={`${across.name}/${up.name}`}
      draw={draw}
    >
      <Select aria-label="Figure upward" value={up.name} options={optionsOf(figures)} onChange={setY} />
      <span class="dim">over</span>
      <Select aria-label="Figure across" value={across.name} options={optionsOf(figures)} onChange={setX} />
    </ChartCard>
  );
}

/** A line of parallel coordinates: its title, where a cell crosses it, and what is written at its ends. */
type Line = { title: string; at: (cell: Cell) => number | null; ticks: [number, string][] };

function linesOf(of: Sweep, cells: Cell[], figures: Figure[]): Line[] {
  const axes = of.axes
    .filter(({ values }) => values.length > 1)
    .map(({ name, values }) => ({
      title: name,
      at: (cell: Cell) => values.indexOf(cell.values[name]) / (values.length - 1),
      ticks: values.map((value, place): [number, string] => [place / (values.length - 1), shown(value)]),
    }));
  const measured = figures.map((figure) => {
    const values = cells.map((cell) => valueOf(figure, cell)).filter((value) => value !== null);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return {
      title: figure.title,
      at: (cell: Cell) => {
        const value = valueOf(figure, cell);
        return value === null ? null : (value - least) / (most - least || 1);
      },
      ticks: [
        [0, figure.words(least)],
        [1, figure.words(most)],
      ] as [number, string][],
    };
  });
  return [...axes, ...measured];
}

/** Every cell as a line through its values and its figures. */
export function Parallel(props: ChartsProps) {
  const { cells, figures, of } = props;
  const lines = linesOf(of, cells, figures);
  const draw = (width: number) => {
    const { plain: layout } = look();
    const most = Math.max(2, Math.floor(width / (width < NARROW ? SPACE : SPACE * 1.1)));
    const drawn = lines.length > most ? [...lines.slice(0, most - 1), lines[lines.length - 1]] : lines;
    const font = { color: token("--dim"), size: 12 };
    return {
      data: sides(cells, of.front).map(([listed, words, colour]) => ({
        type: "scatter",
        mode: "lines",
        name: words,
        x: listed.flatMap(() => [...drawn.keys(), null]),
        y: listed.flatMap((cell) => [...drawn.map(({ at }) => at(cell)), null]),
        customdata: listed.flatMap(({ run }) => [...drawn.map(() => run), null]),
        text: listed.flatMap((cell) => [...drawn.map(() => aboutCell(cell)), ""]),
        hovertemplate: "%{text}<extra></extra>",
        opacity: words === "other cells" ? (cells.length > MANY ? 0.15 : 0.5) : 1,
        line: { color: token(colour), width: words === "other cells" ? 1 : 2 },
      })),
      layout: {
        ...layout,
        ...LEGEND,
        height: HEIGHT,
        margin: { l: 40, r: 40, t: 12, b: 60 },
        xaxis: {
          fixedrange: true,
          range: [-0.35, drawn.length - 0.65],
          tickvals: [...drawn.keys()],
          ticktext: drawn.map(({ title }) => wrapped(title)),
          tickangle: 0,
          tickfont: font,
          gridcolor: token("--line-strong"),
          zeroline: false,
        },
        yaxis: { visible: false, fixedrange: true, range: [-0.06, 1.06] },
        annotations: drawn.flatMap(({ ticks }, x) =>
          ticks.map(([y, text]) => ({
            x,
            y,
            text,
            showarrow: false,
            xanchor: "left",
            xshift: 3,
            font,
            bgcolor: token("--panel"),
          })),
        ),
      },
    };
  };
  return (
    <ChartCard
      {...props}
      id="parallel-title"
      title="Values and figures of every cell"
      label="Every cell as a line through its values and figures, parallel coordinates"
      keyed={`parallel/${lines.length}`}
      draw={draw}
    />
  );
}

/** A title of an axis in short lines. */
const wrapped = (title: string) => title.replaceAll(/[ .]/g, (mark) => (mark === " " ? "<br>" : ".<br>"));
