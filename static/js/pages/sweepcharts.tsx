// The charts of a sweep: one figure over its cells, two of them against each other, and all as parallel coordinates.

import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import { BOTTOM, HEIGHT, LEFT, Plot, RIGHT, TICK, TOP, WIDE, XAxis, YTicks, fine, useWidth } from "../kit/plot.tsx";
import { Select } from "../kit/select.tsx";
import { count } from "../lib/quantity.ts";
import { ticksOf } from "../lib/scale.ts";
import { shown } from "./sweepfigures.ts";
import type { Cell, Figure, Metrics, Sweep } from "./sweepfigures.ts";

const DEEP = HEIGHT - TOP - BOTTOM;
const SPACE = 84; // pixels for a line of parallel coordinates, at least
const ROW = 15; // pixels between two of its labels
const MANY = 100; // cells, beyond which marks are smaller and lines fainter
const NEAR = 24; // pixels from a mark within which it is meant
const STAR = "M0-6L1.6-2H6L2.4.8L3.8 5.2L0 2.6L-3.8 5.2L-2.4.8L-6-2H-1.6Z";
const OTHERS = "var(--g3)";
const BEST = "var(--pass)";

export type ChartsProps = { of: Sweep; cells: Cell[]; figures: Figure[] };

/** Where a cell is drawn, in pixels. */
type Mark = { cell: Cell; x: number; y: number };
type Drawn = { marks: Mark[]; shapes: ComponentChildren };

type PictureProps = ChartsProps & {
  id: string;
  title: string;
  label: string;
  /** What is drawn, as a key. */
  keyed: string;
  draw: (inner: number) => Drawn;
  /** Where a cell is meant from, in pixels. */
  reach?: number;
  /** What is said of a cell beside its values. */
  words: Figure[];
  children?: ComponentChildren;
};

/** A chart in a card; its mark under the pointer says which cell it is, and opens its run. */
function Picture({ id, title, label, keyed, draw, of, reach = NEAR, words, children }: PictureProps) {
  const [width, box] = useWidth();
  const [over, setOver] = useState<Mark | null>(null);
  const inner = Math.max(1, width - LEFT - RIGHT);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the key stands for what is drawn
  const { marks, shapes } = useMemo(() => draw(inner), [inner, keyed, of.done]);
  const look = (event: TargetedPointerEvent<SVGSVGElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    setOver(nearest(marks, event.clientX - left - LEFT, event.clientY - top - TOP, reach));
  };
  return (
    <section class="card chart-card" aria-labelledby={id}>
      <div class="chart-head">
        <h2 id={id}>{title}</h2>
        <span class="dim fine sides">
          <b aria-hidden="true">★</b> no other is better
        </span>
        <span class="grow" />
        {children}
      </div>
      <Plot width={width} box={box} label={`${label}, a chart. Its numbers are in the table above.`}>
        <svg
          width={width}
          height={HEIGHT}
          onPointerMove={look}
          onPointerDown={look}
          onPointerLeave={() => setOver(null)}
          onClick={() => over?.cell.run && location.assign(`/runs/${over.cell.run}/`)}
        >
          <g transform={`translate(${LEFT} ${TOP})`}>
            {shapes}
            {over ? <Said of={over} words={words} inner={inner} /> : null}
          </g>
        </svg>
      </Plot>
    </section>
  );
}

function nearest(marks: Mark[], x: number, y: number, reach: number) {
  let [found, least]: [Mark | null, number] = [null, reach];
  for (const mark of marks) {
    const away = Math.hypot(mark.x - x, mark.y - y);
    if (away < least) [found, least] = [mark, away];
  }
  return found;
}

/** What is known of the cell under the pointer, beside its mark. */
function Said({ of: { cell, x, y }, words, inner }: { of: Mark; words: Figure[]; inner: number }) {
  const values = Object.entries(cell.values).map(([name, value]) => `${name} ${shown(value)}`);
  const measured = words.map((figure) => `${figure.title} ${wordsOf(figure, valueOf(figure, cell))}`);
  const lines = [`cell ${cell.number}`, ...values, ...measured];
  const wide = Math.min(inner, 16 + WIDE * Math.max(...lines.map((line) => line.length)));
  const left = x + wide + 12 > inner ? Math.max(0, x - wide - 8) : x + 8;
  return (
    <g class="values">
      <circle cx={x} cy={y} r={6} fill="none" stroke="var(--accent)" stroke-width="2" />
      <rect x={left} y={4} width={wide} height={lines.length * 17 + 8} rx={5} />
      {lines.map((line, i) => (
        <text x={left + 8} y={20 + i * 17}>
          {line}
        </text>
      ))}
    </g>
  );
}

const wordsOf = ({ words }: Figure, value: number | null) => (value === null ? "–" : words(value));
const optionsOf = (figures: Figure[]) => figures.map(({ name, title }): [string, string] => [name, title]);
const valueOf = (figure: Figure, cell: Cell) => figure.of(cell.metrics as Metrics);
const axisOf = ({ title, words }: Figure) => ({ title, whole: words === count, format: words });

/** The marks of the front, and of the other cells. */
const sides = (marks: Mark[], front: number[]) => {
  const best = new Set(front);
  return [marks.filter(({ cell }) => !best.has(cell.number)), marks.filter(({ cell }) => best.has(cell.number))];
};

/** One figure of every cell, in the order of its values. */
export function Bars(props: ChartsProps) {
  const { cells, figures, of } = props;
  const [name, choose] = useState("");
  const figure = figures.find((one) => one.name === name) ?? figures[0];
  const draw = (inner: number) => {
    const ordered = cells.filter((cell) => valueOf(figure, cell) !== null);
    ordered.sort((a, b) => (valueOf(figure, b) ?? 0) - (valueOf(figure, a) ?? 0));
    const most = Math.max(0, ...ordered.map((cell) => valueOf(figure, cell) ?? 0)) || 1;
    const at = (value: number) => DEEP * (1 - value / most);
    const step = inner / Math.max(1, ordered.length);
    const marks = ordered.map((cell, i) => ({ cell, x: (i + 0.5) * step, y: at(valueOf(figure, cell) ?? 0) }));
    const thick = Math.max(1, Math.min(60, step * 0.85));
    const shapes = (
      <>
        <YTicks ticks={ticksOf(0, most, DEEP / TICK[1], axisOf(figure))} {...{ inner, at }} words={figure.words} />
        {sides(marks, of.front).map((listed, side) => (
          <path
            key={side}
            d={listed.map(({ x, y }) => `M${fine(x)} ${DEEP}V${fine(y)}`).join("")}
            stroke={side ? BEST : OTHERS}
            stroke-width={thick}
          />
        ))}
        <Under inner={inner} title="cells, the greatest first" />
      </>
    );
    return { marks, shapes };
  };
  return (
    <Picture
      {...props}
      id="bars-title"
      title="One figure of every cell"
      label={`${figure.title} of every cell`}
      keyed={figure.name}
      draw={draw}
      reach={HEIGHT}
      words={[figure]}
    >
      <Select aria-label="Figure of the bars" value={figure.name} options={optionsOf(figures)} onChange={choose} />
    </Picture>
  );
}

/** A line under a chart, and what goes along it. */
const Under = ({ inner, title }: { inner: number; title: string }) => (
  <g transform={`translate(0 ${DEEP})`}>
    <path class="axis" d={`M0 0H${inner}`} />
    <text class="title" x={inner / 2} y={20} text-anchor="middle">
      {title}
    </text>
  </g>
);

/** Two figures of every cell. */
export function Scatter(props: ChartsProps) {
  const { cells, figures, of } = props;
  const [x, setX] = useState("");
  const [y, setY] = useState("");
  const named = (name: string, place: number) => figures.find((one) => one.name === name) ?? figures[place];
  const [across, up] = [named(x, 0), named(y, figures.length > 2 ? 2 : 1)];
  const draw = (inner: number) => {
    const there = cells.filter((cell) => valueOf(across, cell) !== null && valueOf(up, cell) !== null);
    const [[left, right], [low, high]] = [across, up].map((figure) => spanOf(figure, there));
    const [atX, atY] = [
      (value: number) => ((value - left) / (right - left)) * inner,
      (value: number) => DEEP * (1 - (value - low) / (high - low)),
    ];
    const marks = there.map((cell) => ({
      cell,
      x: atX(valueOf(across, cell) ?? 0),
      y: atY(valueOf(up, cell) ?? 0),
    }));
    const [others, best] = sides(marks, of.front);
    const shapes = (
      <>
        <YTicks ticks={ticksOf(low, high, DEEP / TICK[1], axisOf(up))} inner={inner} at={atY} words={up.words} />
        <XAxis axis={axisOf(across)} from={left} to={right} inner={inner} place={atX} />
        <path
          d={others.map((mark) => `M${fine(mark.x)} ${fine(mark.y)}h0`).join("")}
          stroke={OTHERS}
          stroke-width={cells.length > MANY ? 6 : 10}
          stroke-linecap="round"
        />
        {best.map((mark) => (
          <path key={mark.cell.number} transform={`translate(${fine(mark.x)} ${fine(mark.y)})`} d={STAR} fill={BEST} />
        ))}
      </>
    );
    return { marks, shapes };
  };
  return (
    <Picture
      {...props}
      id="scatter-title"
      title="Two figures of every cell"
      label={`${up.title} over ${across.title} of every cell`}
      keyed={`${across.name}/${up.name}`}
      draw={draw}
      words={[up, across]}
    >
      <Select aria-label="Figure upward" value={up.name} options={optionsOf(figures)} onChange={setY} />
      <span class="dim">over</span>
      <Select aria-label="Figure across" value={across.name} options={optionsOf(figures)} onChange={setX} />
    </Picture>
  );
}

/** From below the least value to above the greatest. */
function spanOf(figure: Figure, cells: Cell[]): [number, number] {
  const values = cells.map((cell) => valueOf(figure, cell) ?? 0);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const beside = (most - least) * 0.05 || 1;
  return [least - beside, most + beside];
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
  const draw = (inner: number) => {
    const wide = inner + LEFT - 8; // from the left edge on: there are no words beside the first line
    const most = Math.max(2, Math.floor(wide / SPACE));
    const drawn = lines.length > most ? [...lines.slice(0, most - 1), lines[lines.length - 1]] : lines;
    const across = (place: number) => 8 - LEFT + (place * (wide - SPACE * 0.6)) / Math.max(1, drawn.length - 1);
    const down = (share: number) => DEEP * (1 - share);
    const marks = cells.flatMap((cell) =>
      drawn.flatMap(({ at }, place) => {
        const share = at(cell);
        return share === null ? [] : [{ cell, x: across(place), y: down(share) }];
      }),
    );
    const shapes = (
      <>
        {drawn.map(({ title }, place) => (
          <g key={title} transform={`translate(${fine(across(place))} 0)`}>
            <path class="axis" d={`M0 0V${DEEP}`} />
            <Wrapped text={title} />
          </g>
        ))}
        {sides(marks, of.front).map((listed, side) => (
          <path
            key={side}
            d={throughOf(listed)}
            fill="none"
            stroke={side ? BEST : OTHERS}
            stroke-width={side ? 2 : 1}
            opacity={side ? 1 : cells.length > MANY ? 0.15 : 0.5}
          />
        ))}
        {drawn.map(({ title, ticks }, place) => (
          <g key={title} class="over-lines" transform={`translate(${fine(across(place) + 4)} 4)`}>
            {thinned(ticks).map(([share, text]) => (
              <text key={text} y={fine(down(share))}>
                {text.length > 10 ? `${text.slice(0, 9)}…` : text}
              </text>
            ))}
          </g>
        ))}
      </>
    );
    return { marks, shapes };
  };
  return (
    <Picture
      {...props}
      id="parallel-title"
      title="Values and figures of every cell"
      label="Every cell as a line through its values and figures, parallel coordinates"
      keyed={`parallel/${lines.length}`}
      draw={draw}
      words={figures}
    />
  );
}

/** The lines through the marks of each cell, which follow each other. */
const throughOf = (marks: Mark[]) =>
  marks.map(({ cell, x, y }, i) => `${cell === marks[i - 1]?.cell ? "L" : "M"}${fine(x)} ${fine(y)}`).join("");

/** As many of the labels as have room. */
function thinned(ticks: [number, string][]) {
  const every = Math.ceil(ticks.length / Math.floor(DEEP / ROW));
  return ticks.filter((_, i) => i % every === 0);
}

/** A title under a line, in short lines. */
const Wrapped = ({ text }: { text: string }) => (
  <text y={DEEP + 2} text-anchor="start">
    {text
      .replaceAll(".", ". ")
      .split(" ")
      .slice(0, 3)
      .map((word) => (
        <tspan key={word} x={0} dy="13">
          {word}
        </tspan>
      ))}
  </text>
);
