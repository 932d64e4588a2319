// The figures of a run, each a chart and a table: the server builds them without colours, here they get the theme's.

import { render } from "preact";
import { useState } from "preact/hooks";
import { FigureButtons } from "../kit/chart.tsx";
import { Icon } from "../kit/icon.tsx";
import { Bars, Legend, Lines, type Axis, type Line, type Span } from "../kit/plot.tsx";
import { Table } from "../kit/table.tsx";
import { $, $$ } from "../lib/dom.ts";
import { clock, count } from "../lib/quantity.ts";
import type { KeptLists } from "../lib/tables.ts";
import { token } from "../lib/theme.ts";

type Trace = Record<string, any>;
type Figure = { data: Trace[]; layout: Record<string, any> };
type Rows = { name: string; columns: string[]; rows: string[][] };
export type Shown = { figures: Record<string, Figure>; tables: Rows[] };
/** What lies along the charts, and the part of it that is shown: all of it if null. */
export type View = { by: "cycle" | "time"; span: Span | null };

const COLOURS: Record<string, string> = {
  pending: "--wait",
  placed: "--pass",
  unschedulable: "--fail",
  scheduled: "--pass",
  preempting: "--victim",
  error: "--stale",
  desired: "--ink",
  ready: "--pass",
  terminating: "--victim",
  cpu: "--g0",
  memory: "--g3",
  "ephemeral-storage": "--g8",
  pods: "--g5",
};
const OTHERS = ["--g1", "--g2", "--g4", "--g6", "--g7", "--g9"];
// A pod that is gone was placed too: what the number counts is named.
const LABELS: Record<string, string> = { placed: "running" };
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "cross"]; // of a picture: never colour alone
const FEW = 12; // a table of so many rows needs no filter
const SYMBOLS_SHOWN = 9; // of each line
const CYCLES: Axis = { title: "cycle", whole: true, format: count };
const SECONDS: Axis = { title: "virtual time", seconds: true, format: clock };

export class Charts {
  #figures: Record<string, Figure> = {};
  #tables = new Map<string, Rows>();
  #last = 0;
  #view: View = { by: "cycle", span: null };
  #due = new Set<string>(); // figures that are to be drawn
  #drawing: Promise<void> | null = null; // until all of them are
  readonly #cards: Map<string, CardProps>;

  /** `onPoint` receives the cycle that somebody clicked in a chart, `onView` the range that was dragged out. */
  constructor(
    root: HTMLElement,
    library: string,
    { onPoint, onView }: { onPoint: (cycle: number) => void; onView: (view: View) => void },
  ) {
    this.#cards = new Map(
      $$("[data-figure]", root).map((host) => {
        const name = host.dataset.figure ?? "";
        const title = $("h2", host).textContent ?? "";
        this.#tables.set(name, rowsOf(name, $("table", host)));
        host.replaceChildren();
        const file = `${root.dataset.run}-${name}`;
        return [name, { host, name, title, file, library, onPoint, onView, kept: {} }];
      }),
    );
    for (const name of this.#cards.keys()) this.#show(name);
  }

  /** Show figures and their tables; the axis of cycles reaches to the `last` one, expected or done. */
  async show({ figures, tables }: Shown, last: number) {
    this.#figures = figures;
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    this.#last = last;
    await this.#draw([...this.#cards.keys()]);
  }

  /** Lay the charts out by another axis, or show another part of them. */
  look(view: View) {
    this.#view = view;
    void this.#draw([...this.#cards.keys()]);
  }

  /** Whether virtual time passes in the run. */
  get isTimed() {
    return timesOf(this.#figures.pods).some(Boolean);
  }

  /** Where the charts end: the last cycle, or the last moment of virtual time. */
  endOf(by: View["by"]) {
    return by === "cycle" ? this.#last : Math.max(0, ...Object.values(this.#figures).map(endOf));
  }

  /** Let the lines of pods end at the counters: they come several times a second, the figures once. */
  extend({ done, total, ...counts }: { done: number; total: number | null } & Record<string, unknown>) {
    const figure = this.#figures.pods;
    if (!figure || !(figure.data[0]?.x.at(-1) < done)) return;
    for (const trace of figure.data) {
      const value = counts[trace.meta?.series];
      if (value === undefined) continue;
      trace.x.push(done);
      trace.y.push(value);
    }
    const times = timesOf(figure);
    times.push(times.at(-1) ?? 0);
    this.#last = Math.max(total ?? 0, done);
    void this.#draw(["pods"]);
  }

  /** Draw figures, one a frame: together they would hold the page for half a second and more. */
  #draw(names: string[]) {
    for (const name of names) this.#due.add(name);
    return (this.#drawing ??= this.#drawDue().finally(() => (this.#drawing = null)));
  }

  async #drawDue() {
    for (const name of this.#due) {
      if (!document.hidden) await new Promise(requestAnimationFrame);
      this.#due.delete(name);
      this.#show(name);
    }
  }

  #show(name: string) {
    const card = this.#cards.get(name);
    if (!card) return;
    const view = this.#view;
    const figure = this.#figures[name];
    const by = figure && isOverTime(figure) ? "time" : view.by;
    const range: Span = (view.by === by && view.span) || [0, this.endOf(by)];
    render(<Card {...card} {...{ figure, by, range }} table={this.#tables.get(name)} />, card.host);
  }
}

/** The numbers of a figure as the server drew them. */
const rowsOf = (name: string, table: HTMLTableElement): Rows => {
  const [columns = [], ...rows] = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent ?? ""));
  return { name, columns, rows };
};

/** The virtual second of each point along a figure by cycles. */
const timesOf = (figure?: Figure): number[] => figure?.layout.meta?.times ?? [];
const isOverTime = ({ layout }: Figure) => layout.xaxis?.title?.text === "virtual seconds";
const endOf = (figure: Figure) => (isOverTime(figure) ? figure.data[0]?.x.at(-1) : timesOf(figure).at(-1)) ?? 0;

type CardProps = {
  host: HTMLElement;
  name: string;
  title: string;
  /** The name of its picture. */
  file: string;
  library: string;
  kept: KeptLists;
  onPoint: (cycle: number) => void;
  onView: (view: View) => void;
  figure?: Figure;
  table?: Rows;
  by?: View["by"];
  range?: Span;
};

function Card({
  name,
  title,
  file,
  library,
  kept,
  onPoint,
  onView,
  figure,
  table,
  by = "cycle",
  range = [0, 0],
}: CardProps) {
  const [asTable, setAsTable] = useState(false);
  const [off, setOff] = useState(new Set<string>());
  const drawn = figure?.data.some((trace) => (trace.type === "bar" ? trace.y.some(Boolean) : trace.x.length > 1));
  const label = `${title}, a chart. Its numbers are shown by the button “Show as a table”.`;
  const lines = figure && drawn ? linesOf(figure, by) : [];
  const bars = figure?.data.find((trace) => trace.type === "bar");
  return (
    <>
      <div class="chart-head">
        <h2 id={`figure-${name}`}>{title}</h2>
        <span class="grow" />
        {figure && drawn ? (
          <span class="pictures">
            <FigureButtons
              what={title}
              library={library}
              figure={() => ({ ...pictureOf(figure), title, name: file })}
            />
          </span>
        ) : null}
        <button
          type="button"
          class="btn quiet"
          aria-expanded={asTable}
          aria-controls={`table-${name}`}
          onClick={() => setAsTable(!asTable)}
        >
          <Icon name="table" />
          <span>{asTable ? "Show as a chart" : "Show as a table"}</span>
        </button>
      </div>
      {lines.length && !bars && !asTable ? (
        <Legend
          lines={lines}
          off={off}
          toggle={(line) => setOff(new Set(off.has(line) ? [...off].filter((one) => one !== line) : [...off, line]))}
        />
      ) : null}
      {figure && drawn && bars ? (
        <Bars
          names={bars.x}
          values={bars.y}
          colours={coloursOf(bars.x).map((one) => `var(${one})`)}
          label={label}
          hidden={asTable}
        />
      ) : figure && drawn ? (
        <Lines
          lines={lines.filter((line) => !off.has(line.name))}
          x={by === "cycle" ? CYCLES : SECONDS}
          y={valuesOf(figure)}
          range={range}
          label={label}
          hidden={asTable}
          onRange={(span) => onView({ by, span })}
          onPoint={(x) => by === "cycle" && onPoint(Math.max(1, Math.round(x)))}
        />
      ) : (
        <div class="chart" role="img" aria-label={label} hidden={asTable} />
      )}
      <div
        class="table-box"
        id={`table-${name}`}
        tabIndex={0}
        role="region"
        aria-label={`${title}, as a table`}
        hidden={!asTable}
      >
        {table && asTable ? (
          <Table
            heads={table.columns}
            caption={title}
            class="list tight num"
            filter={table.rows.length > FEW ? "Filter rows" : ""}
            kept={kept}
            rows={table.rows.map(([first, ...rest]) => (
              <tr key={first}>
                <th scope="row">{first}</th>
                {rest.map((text) => (
                  <td>{text}</td>
                ))}
              </tr>
            ))}
          />
        ) : null}
      </div>
    </>
  );
}

/** The tokens of series, the same for the same name in all charts. */
function coloursOf(names: string[]) {
  let other = 0;
  return names.map((name) => COLOURS[name] ?? OTHERS[other++ % OTHERS.length]);
}

const seriesOf = (trace: Trace): string => trace.meta?.series ?? trace.name;
const labelOf = (trace: Trace): string => LABELS[trace.name] ?? trace.name.split("/").pop();

/** The lines of a figure along cycles or virtual time. */
function linesOf(figure: Figure, by: View["by"]): Line[] {
  const colours = coloursOf(figure.data.map(seriesOf));
  const times = timesOf(figure);
  return figure.data.map((trace, i) => ({
    name: labelOf(trace),
    colour: `var(${colours[i]})`,
    symbol: i,
    x: by === "time" && !isOverTime(figure) ? times : trace.x,
    y: trace.y,
    stepped: trace.line?.shape === "hv",
  }));
}

/** How the values of a figure are written. */
const valuesOf = ({ layout }: Figure): Axis =>
  layout.yaxis?.tickformat?.endsWith("%")
    ? { title: "", format: (share) => `${Math.round(share * 1000) / 10} %` }
    : { title: "", whole: true, format: count };

/** The figure as Plotly makes a picture of it, in the colours of the theme. */
function pictureOf({ data, layout: { title: _, meta: __, ...layout } }: Figure) {
  const colours = coloursOf(data.map(seriesOf)).map(token);
  const bars = data.every((trace) => trace.type === "bar");
  if (bars) [layout.xaxis, layout.yaxis] = [layout.yaxis, { automargin: true, autorange: "reversed" }];
  const traces = data.map((trace, i) => (bars ? barsOf(trace) : lineOf(trace, colours[i], i)));
  const axes = { xaxis: axisOf(layout.xaxis), yaxis: axisOf(layout.yaxis) };
  return {
    data: traces,
    layout: { ...layout, ...axes, font: { family: token("--font"), color: token("--ink"), size: 12 } },
  };
}

const barsOf = (trace: Trace) => ({
  ...trace,
  orientation: "h",
  x: trace.y,
  y: trace.x,
  marker: { color: coloursOf(trace.x).map(token) },
  text: trace.y.map(count),
  textposition: "outside",
  textfont: { color: token("--ink") },
  cliponaxis: false,
});

const lineOf = (trace: Trace, color: string, i: number) => ({
  ...trace,
  name: labelOf(trace),
  mode: "lines+markers",
  line: { ...trace.line, color, width: 1.75 },
  marker: { color, size: 7, symbol: SYMBOLS[i % SYMBOLS.length], maxdisplayed: SYMBOLS_SHOWN + i },
});

const axisOf = (axis: any) => ({
  ...axis,
  automargin: true,
  gridcolor: token("--line"),
  zerolinecolor: token("--line"),
  linecolor: token("--line-strong"),
  separatethousands: true,
  tickfont: { color: token("--dim"), size: 11 },
  title: { ...axis?.title, font: { color: token("--dim"), size: 12 }, standoff: 8 },
});
