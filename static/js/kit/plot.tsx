// Lines and bars as SVG. They are drawn in milliseconds: no library has to be read first, which takes a second.

import type { ComponentChildren, Ref, TargetedPointerEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { nearest, pointsOf, ticksOf } from "../lib/scale.ts";
import { count } from "../lib/quantity.ts";

export type Line = { name: string; colour: string; symbol: number; x: number[]; y: number[]; stepped?: boolean };
export type Axis = { title: string; whole?: boolean; seconds?: boolean; format: (value: number) => string };
export type Span = [from: number, to: number];

export const HEIGHT = 240;
export const [LEFT, RIGHT, TOP, BOTTOM] = [52, 12, 8, 38];
export const TICK = [90, 44]; // pixels between two ticks of x and y, at least
const SYMBOLS_SHOWN = 9; // of each line
const DRAGGED = 5; // pixels from which on a press is a drag
export const WIDE = 7.2; // pixels of a character, nearly
const SYMBOLS = [
  "M0-4A4 4 0 1 1 0 4A4 4 0 1 1 0-4Z",
  "M-3.5-3.5H3.5V3.5H-3.5Z",
  "M0-5L5 0L0 5L-5 0Z",
  "M0-5L4.5 3.5H-4.5Z",
  "M-4-4L4 4M4-4L-4 4",
  "M0-5V5M-5 0H5",
];

/** The sign of a series, as in its legend: never colour alone. */
export const Sign = ({ colour, symbol }: { colour: string; symbol: number }) => (
  <path d={SYMBOLS[symbol % SYMBOLS.length]} fill={colour} stroke={colour} stroke-width="1.6" />
);

type PlotProps = {
  width: number;
  box: Ref<HTMLDivElement>;
  label: string;
  hidden?: boolean;
  children: ComponentChildren;
};

/** The box of a picture, which is drawn once its width is known. */
export const Plot = ({ width, box, label, hidden, children }: PlotProps) => (
  <div
    class="chart plot"
    role="img"
    aria-label={label}
    hidden={hidden}
    data-drawn={width ? "yes" : undefined}
    ref={box}
  >
    {width ? children : null}
  </div>
);

type LinesProps = {
  lines: Line[];
  x: Axis;
  y: Axis;
  label: string;
  /** What of x is shown. */
  range: Span;
  hidden?: boolean;
  /** A range was dragged out, or all is to be shown again. */
  onRange?: (range: Span | null) => void;
  onPoint?: (x: number) => void;
};

/** Lines over one axis: hovering reads values, dragging chooses a range, two clicks show all. */
export function Lines({ lines, x, y, label, range, hidden = false, onRange, onPoint }: LinesProps) {
  const [width, box] = useWidth();
  const [over, setOver] = useState<number | null>(null);
  const pressed = useRef<number | null>(null);
  const inner = Math.max(1, width - LEFT - RIGHT);
  const [from, to] = range[1] > range[0] ? range : [range[0], range[0] + 1];
  const most = topOf(lines, from, to);
  const ticks = ticksOf(0, most, HEIGHT / TICK[1], y);
  const top = Math.max(most, ticks[ticks.length - 1]) || 1;
  const place = (at: number, value: number): [number, number] => [
    ((at - from) / (to - from)) * inner,
    (1 - value / top) * (HEIGHT - TOP - BOTTOM),
  ];
  const valueAt = (pixel: number) => from + (Math.max(0, Math.min(inner, pixel)) / inner) * (to - from);
  const pixelOf = (event: TargetedPointerEvent<SVGSVGElement>) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT;
  const released = (event: TargetedPointerEvent<SVGSVGElement>) => {
    const began = pressed.current;
    pressed.current = null;
    if (began === null) return;
    const ended = pixelOf(event);
    if (Math.abs(ended - began) < DRAGGED) onPoint?.(valueAt(ended));
    else onRange?.([valueAt(Math.min(began, ended)), valueAt(Math.max(began, ended))]);
    setOver(null);
  };
  const dragged = pressed.current !== null && over !== null ? [pressed.current, over].sort((a, b) => a - b) : null;
  return (
    <Plot width={width} box={box} label={label} hidden={hidden}>
      <svg
        width={width}
        height={HEIGHT}
        onPointerDown={(event) => {
          if (event.button || !onRange) return;
          pressed.current = pixelOf(event);
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => setOver(pixelOf(event))}
        onPointerUp={released}
        onPointerCancel={() => (pressed.current = null)}
        onPointerLeave={() => setOver(null)}
        onDblClick={() => onRange?.(null)}
      >
        <g transform={`translate(${LEFT} ${TOP})`}>
          <YTicks ticks={ticks} inner={inner} at={(value) => place(from, value)[1]} words={y.format} />
          <XAxis axis={x} from={from} to={to} inner={inner} place={(at) => place(at, 0)[0]} />
          {lines.map((line) => (
            <Path key={line.name} line={line} points={pointsOf(line.x, line.y, inner, place)} inner={inner} />
          ))}
          {dragged ? (
            <svg width={inner} height={HEIGHT - TOP - BOTTOM} class="plot-lines">
              <rect class="dragged" x={dragged[0]} width={dragged[1] - dragged[0]} y={0} height={HEIGHT} />
            </svg>
          ) : null}
          {over !== null && !dragged && over >= 0 && over <= inner ? (
            <Values lines={lines} x={x} y={y} at={valueAt(over)} inner={inner} place={place} />
          ) : null}
        </g>
      </svg>
    </Plot>
  );
}

type YTicksProps = {
  ticks: number[];
  inner: number;
  at: (value: number) => number;
  words: (value: number) => string;
};

/** The lines and the words of a vertical axis. */
export const YTicks = ({ ticks, inner, at, words }: YTicksProps) => (
  <>
    {ticks.map((value) => (
      <g key={value} transform={`translate(0 ${fine(at(value))})`}>
        <path class="grid" d={`M0 0H${inner}`} />
        <text x={-8} y={4} text-anchor="end">
          {words(value)}
        </text>
      </g>
    ))}
  </>
);

/** The largest value that is shown, also where a line enters the range. */
function topOf(lines: Line[], from: number, to: number) {
  let most = 0;
  for (const { x, y } of lines) {
    for (let i = 0; i < x.length; i += 1) {
      const isSeen = (x[i] >= from && x[i] <= to) || (x[i] < from && x[i + 1] > from);
      if (isSeen && y[i] > most) most = y[i];
    }
  }
  return most;
}

type XAxisProps = { axis: Axis; from: number; to: number; inner: number; place: (x: number) => number };

export function XAxis({ axis, from, to, inner, place }: XAxisProps) {
  const low = HEIGHT - TOP - BOTTOM;
  return (
    <g transform={`translate(0 ${low})`}>
      <path class="axis" d={`M0 0H${inner}`} />
      {ticksOf(from, to, inner / TICK[0], axis).map((value) => (
        <g key={value} transform={`translate(${place(value)} 0)`}>
          <path class="axis" d="M0 0V4" />
          <text y={17} text-anchor={place(value) > inner - 24 ? "end" : "middle"}>
            {axis.format(value)}
          </text>
        </g>
      ))}
      <text class="title" x={inner / 2} y={33} text-anchor="middle">
        {axis.title}
      </text>
    </g>
  );
}

/** A line, which ends at the edges; its marks there are whole. */
function Path({ line, points, inner }: { line: Line; points: [number, number][]; inner: number }) {
  const path = points.map(
    ([x, y], i) => `${i ? (line.stepped ? `H${fine(x)}V` : `L${fine(x)} `) : `M${fine(x)} `}${fine(y)}`,
  );
  const every = Math.max(1, Math.ceil(points.length / SYMBOLS_SHOWN));
  const marked = points.filter(
    ([x], i) => x >= 0 && x <= inner && (i % every === (line.symbol * 2) % every || i === points.length - 1),
  );
  return (
    <g class="trace">
      <svg width={inner} height={HEIGHT - TOP - BOTTOM} class="plot-lines">
        <path d={path.join("")} fill="none" stroke={line.colour} stroke-width="1.75" stroke-linejoin="round" />
      </svg>
      {marked.map(([x, y]) => (
        <g transform={`translate(${fine(x)} ${fine(y)})`}>
          <Sign colour={line.colour} symbol={line.symbol} />
        </g>
      ))}
    </g>
  );
}

export const fine = (pixels: number) => Math.round(pixels * 10) / 10;

type ValuesProps = Pick<LinesProps, "lines" | "x" | "y"> & {
  at: number;
  inner: number;
  place: (x: number, y: number) => [number, number];
};

/** What the lines are at a moment, beside a mark there. */
function Values({ lines, x, y, at, inner, place }: ValuesProps) {
  const first = lines.find((line) => line.x.length);
  if (!first) return null;
  const there = first.x[nearest(first.x, at)];
  const rows = lines.map((line) => `${line.name}  ${y.format(line.y[indexAt(line, there)] ?? 0)}`);
  const words = [`${x.title} ${x.format(there)}`, ...rows];
  const wide = 16 + WIDE * Math.max(...words.map((text) => text.length));
  const [mark] = place(there, 0);
  const left = mark + wide + 12 > inner ? mark - wide - 8 : mark + 8;
  return (
    <g class="values">
      <path class="mark" d={`M${mark} 0V${HEIGHT - TOP - BOTTOM}`} />
      <rect x={left} y={4} width={wide} height={words.length * 17 + 8} rx={5} />
      {words.map((text, i) => (
        <text x={left + 8} y={20 + i * 17}>
          {text}
        </text>
      ))}
    </g>
  );
}

/** Where a line has its value of a moment: a stepped one holds until the next. */
const indexAt = ({ x, stepped }: Line, at: number) => {
  const i = nearest(x, at);
  return stepped && x[i] > at && i ? i - 1 : i;
};

type BarsProps = { names: string[]; values: number[]; colours: string[]; label: string; hidden?: boolean };
const [BAR, GAP, BESIDE] = [22, 40, 64];

/** Lying bars, each with its name and its number. */
export function Bars({ names, values, colours, label, hidden = false }: BarsProps) {
  const [width, box] = useWidth();
  const left = 12 + WIDE * Math.max(1, ...names.map((name) => name.length));
  const inner = Math.max(1, width - left - BESIDE);
  const most = Math.max(1, ...values);
  return (
    <Plot width={width} box={box} label={label} hidden={hidden}>
      <svg width={width} height={Math.max(HEIGHT, names.length * GAP)}>
        <g class="trace">
          {names.map((name, i) => (
            <g key={name} transform={`translate(${left} ${10 + i * GAP})`}>
              <text x={-8} y={BAR / 2 + 4} text-anchor="end">
                {name}
              </text>
              <rect width={(values[i] / most) * inner} height={BAR} rx={2} fill={colours[i]} />
              <text class="bar" x={(values[i] / most) * inner + 6} y={BAR / 2 + 4}>
                {count(values[i])}
              </text>
            </g>
          ))}
        </g>
      </svg>
    </Plot>
  );
}

type LegendProps = { lines: Line[]; off: Set<string>; toggle: (name: string) => void };

/** The names of lines; each is a button that hides or shows its line. */
export const Legend = ({ lines, off, toggle }: LegendProps) => (
  <span class="legend" role="group" aria-label="Lines that are shown">
    {lines.map(({ name, colour, symbol }) => (
      <button key={name} type="button" aria-pressed={!off.has(name)} onClick={() => toggle(name)}>
        <svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true">
          <Sign colour={colour} symbol={symbol} />
        </svg>
        {name}
      </button>
    ))}
  </span>
);

/** The width of an element as it is laid out, 0 while it is hidden. */
export function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) => setWidth(Math.floor(contentRect.width)));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [width, box] as const;
}
