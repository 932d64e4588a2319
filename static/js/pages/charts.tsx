// The figures of a run, each a chart and a table: the server builds them without colours, here they get the theme's.

import { render } from "preact";
import { useState } from "preact/hooks";
import { Chart, FigureButtons } from "../kit/chart.tsx";
import { Icon } from "../kit/icon.tsx";
import { Table } from "../kit/table.tsx";
import { $, $$ } from "../lib/dom.ts";
import { count } from "../lib/quantity.ts";
import type { KeptLists } from "../lib/tables.ts";
import { token } from "../lib/theme.ts";

type Trace = Record<string, any>;
type Figure = { data: Trace[]; layout: Record<string, any> };
type Rows = { name: string; columns: string[]; rows: string[][] };
export type Shown = { figures: Record<string, Figure>; tables: Rows[] };

const FEW_CYCLES = 8; // with a tick each
const HEIGHT = 270;
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
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "star"]; // never colour alone
const FEW = 12; // a table of so many rows needs no filter
const SYMBOLS_SHOWN = 9; // of each line

export class Charts {
  #figures: Record<string, Figure> = {};
  #tables = new Map<string, Rows>();
  #last = 0;
  #drawn = 0; // how often: a chart tells by it that it is to be drawn again
  #due = new Set<string>(); // figures that are to be drawn
  #drawing: Promise<void> | null = null; // until all of them are
  readonly #cards: Map<string, CardProps>;

  /** `onPoint` receives the cycle that somebody clicked in a chart. */
  constructor(root: HTMLElement, library: string, onPoint: (cycle: number) => void) {
    this.#cards = new Map(
      $$("[data-figure]", root).map((host) => {
        const name = host.dataset.figure ?? "";
        const title = $("h2", host).textContent ?? "";
        this.#tables.set(name, rowsOf(name, $("table", host)));
        host.replaceChildren();
        return [name, { host, name, title, file: `${root.dataset.run}-${name}`, library, onPoint, kept: {} }];
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
    const shown = { figure: this.#figures[name], table: this.#tables.get(name), last: this.#last };
    render(<Card {...card} {...shown} version={(this.#drawn += 1)} />, card.host);
  }
}

/** The numbers of a figure as the server drew them. */
const rowsOf = (name: string, table: HTMLTableElement): Rows => {
  const [columns = [], ...rows] = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent ?? ""));
  return { name, columns, rows };
};

type CardProps = {
  host: HTMLElement;
  name: string;
  title: string;
  /** The name of its picture. */
  file: string;
  library: string;
  kept: KeptLists;
  onPoint: (cycle: number) => void;
  figure?: Figure;
  table?: Rows;
  last?: number;
  version?: number;
};

function Card({ name, title, file, library, kept, onPoint, figure, table, last = 0, version = 0 }: CardProps) {
  const [asTable, setAsTable] = useState(false);
  const drawn = figure?.data.some((trace) => (trace.type === "bar" ? trace.y.some(Boolean) : trace.x.length > 1));
  const label = `${title}, a chart. Its numbers are shown by the button “Show as a table”.`;
  const shown = ({ data, layout }: Figure) => ({ data: tracesOf(data), layout: layoutOf({ data, layout }, last) });
  return (
    <>
      <div class="chart-head">
        <h2 id={`figure-${name}`}>{title}</h2>
        <span class="grow" />
        {figure && drawn ? (
          <span class="pictures">
            <FigureButtons what={title} figure={() => ({ ...shown(figure), title, name: file })} />
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
      {figure && drawn ? (
        <Chart
          library={library}
          label={label}
          class="chart"
          of={String(version)}
          hidden={asTable}
          figure={() => shown(figure)}
          onPoint={({ x }) => {
            if (figure.layout.xaxis?.title?.text === "cycle" && typeof x === "number") onPoint(x);
          }}
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
        {table ? (
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

/** The figure as it is laid out; `last` is where the axis of cycles ends. */
function layoutOf(figure: Figure, last: number) {
  const { title, meta, ...layout } = figure.layout;
  const bars = figure.data.every((trace) => trace.type === "bar"); // lying bars leave room for their words
  if (bars) [layout.xaxis, layout.yaxis] = [layout.yaxis, { automargin: true }];
  return {
    ...layout,
    height: HEIGHT,
    margin: { l: 44, r: bars ? 46 : 12, t: 12, b: 36 },
    dragmode: false,
    font: { family: token("--font"), color: token("--ink"), size: 12 },
    xaxis: axisOf(layout.xaxis, last),
    yaxis: {
      ...axisOf(layout.yaxis, last),
      ...(bars ? { autorange: "reversed", ticks: "outside", ticklen: 6, tickcolor: "rgba(0,0,0,0)" } : {}),
    },
    bargap: 0.5,
    legend: {
      orientation: "h",
      x: 0,
      y: 1.02,
      yanchor: "bottom",
      font: { color: token("--dim"), size: 12 },
      itemclick: "toggle",
    },
    hoverlabel: {
      bgcolor: token("--raise-2"),
      bordercolor: token("--line-strong"),
      font: { color: token("--ink"), family: token("--font") },
    },
  };
}

/** Its traces, in the colours of the theme. */
function tracesOf(data: Trace[]) {
  let other = 0;
  const colour = (series: string) => token(COLOURS[series] ?? OTHERS[other++ % OTHERS.length]);
  return data.map((trace, i) => {
    if (trace.type === "bar") {
      return {
        ...trace,
        orientation: "h",
        x: trace.y,
        y: trace.x,
        marker: { color: trace.x.map(colour) },
        text: trace.y.map((n: number) => count(n)),
        textposition: "outside",
        textfont: { color: token("--ink") },
        cliponaxis: false,
        hoverinfo: "skip",
      };
    }
    const hue = colour(trace.meta?.series ?? trace.name);
    return {
      ...trace,
      name: LABELS[trace.name] ?? trace.name.split("/").pop(),
      mode: "lines+markers",
      line: { ...trace.line, color: hue, width: 1.75 },
      marker: { color: hue, size: 7, symbol: SYMBOLS[i % SYMBOLS.length], maxdisplayed: SYMBOLS_SHOWN + i },
    };
  });
}

function axisOf(axis: any, last: number) {
  const ahead =
    last && axis?.title?.text === "cycle"
      ? { range: [0, last], autorange: false }
      : { range: undefined, autorange: true };
  const whole = ahead.range && last <= FEW_CYCLES ? { tick0: 0, dtick: 1 } : {}; // there is no half of a cycle
  return {
    ...axis,
    ...ahead,
    ...whole,
    fixedrange: true,
    automargin: true,
    gridcolor: token("--line"),
    zerolinecolor: token("--line"),
    linecolor: token("--line-strong"),
    showgrid: Boolean(axis?.title?.text) && axis.title.text !== "cycle",
    separatethousands: true,
    tickfont: { color: token("--dim"), size: 11 },
    title: { ...axis?.title, font: { color: token("--dim"), size: 12 }, standoff: 8 },
  };
}
