// The figures of a run: the server builds them without colours, here they get those of the theme.

import { $, $$, h, fill } from "../lib/dom.js";
import { h as component } from "preact";
import { FigureButtons } from "../kit/chart.tsx";
import { nodesOf } from "../kit/node.tsx";
import { plotly } from "../lib/plotly.js";
import { count } from "../lib/quantity.js";
import { keeping, tabled } from "../lib/tables.js";
import { token } from "../lib/theme.js";

const HEIGHT = 270;
const COLOURS = {
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
const LABELS = { placed: "running" }; // a pod that is gone was placed too: name what the number counts
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "star"]; // never colour alone
const FEW = 12; // a table of so many rows needs no filter
const SYMBOLS_SHOWN = 9; // of each line

export class Charts {
  #figures = null;
  #due = new Set(); // charts that are to be drawn
  #drawing = null; // until all of them are
  #kept = {}; // how each table is sorted and filtered, also when its numbers are loaded again

  /** `onPoint` receives the cycle that somebody clicked in a chart. */
  constructor(root, library, onPoint) {
    this.root = root;
    this.library = library;
    this.onPoint = onPoint;
    addEventListener("podstep:theme", () => this.#figures && window.Plotly && this.#draw());
    for (const card of $$("[data-figure]", root)) this.#toggle(card);
  }

  /** Show figures and their tables; the axis of cycles reaches to the `last` one, expected or done. */
  async show({ figures, tables }, last) {
    this.#figures = figures;
    this.last = last;
    for (const table of tables) this.#table(table);
    await plotly(this.library);
    await this.#draw();
  }

  /** Let the lines of pods end at the counters: they come several times a second, the figures once. */
  extend({ done, total, ...counts }) {
    const figure = this.#figures?.pods;
    if (!figure || !window.Plotly || !(figure.data[0]?.x.at(-1) < done)) return;
    for (const trace of figure.data) {
      const value = counts[trace.meta?.series];
      if (value === undefined) continue;
      trace.x.push(done);
      trace.y.push(value);
    }
    this.last = Math.max(total ?? 0, done);
    this.#draw(["pods"]);
  }

  /** Draw charts, one a frame: together they would hold the page for half a second and more. */
  #draw(names = Object.keys(this.#figures)) {
    for (const name of names) this.#due.add(name);
    return (this.#drawing ??= this.#drawDue().finally(() => (this.#drawing = null)));
  }

  async #drawDue() {
    for (const name of this.#due) {
      if (!document.hidden) await new Promise(requestAnimationFrame);
      this.#due.delete(name);
      if (this.#figures[name]) this.#chart(name, this.#figures[name]);
    }
  }

  /** Draw a chart, as soon as there is something to draw, and offer it as a file. */
  #chart(name, figure) {
    const host = $(`[data-figure="${CSS.escape(name)}"] [data-chart]`, this.root);
    if (!host || host.closest("[data-as-table]")) return;
    // Until then it shows that it waits.
    if (!figure.data.some((trace) => (trace.type === "bar" ? trace.y.some(Boolean) : trace.x.length > 1))) return;
    const own = this.#layout(figure);
    window.Plotly.react(host, this.#traces(figure.data), own, {
      displayModeBar: false,
      responsive: true,
      scrollZoom: false,
      doubleClick: false,
    });
    if (!host.dataset.drawn)
      /** @type {any} */ (host).on("plotly_click", ({ points }) => {
        const ofCycles = figure.layout.xaxis?.title?.text === "cycle";
        if (ofCycles && typeof points[0]?.x === "number") this.onPoint(points[0].x);
      });
    host.dataset.drawn = "yes";
    $("[data-pictures]", host.closest("[data-figure]")).hidden = false;
  }

  #layout(figure) {
    const { title, meta, ...layout } = figure.layout;
    const bars = figure.data.every((trace) => trace.type === "bar"); // lying bars leave room for their words
    if (bars) [layout.xaxis, layout.yaxis] = [layout.yaxis, { automargin: true }];
    return {
      ...layout,
      height: HEIGHT,
      margin: { l: 44, r: bars ? 46 : 12, t: 12, b: 36 },
      dragmode: false,
      font: { family: token("--font"), color: token("--ink"), size: 12 },
      xaxis: this.#axis(layout.xaxis),
      yaxis: {
        ...this.#axis(layout.yaxis),
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

  #traces(data) {
    let other = 0;
    const colour = (series) => token(COLOURS[series] ?? OTHERS[other++ % OTHERS.length]);
    return data.map((trace, i) => {
      if (trace.type === "bar") {
        return {
          ...trace,
          orientation: "h",
          x: trace.y,
          y: trace.x,
          marker: { color: trace.x.map(colour) },
          text: trace.y.map((n) => count(n)),
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

  #axis(axis) {
    const ahead =
      this.last && axis?.title?.text === "cycle"
        ? { range: [0, this.last], autorange: false }
        : { range: undefined, autorange: true };
    return {
      ...axis,
      ...ahead,
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

  #table({ name, columns, rows }) {
    const card = $(`[data-figure="${CSS.escape(name)}"]`, this.root);
    if (!card) return;
    const box = $(".table-box", card);
    const { scrollTop } = box;
    const table = h(
      "table",
      { class: "list tight num" },
      h("caption", { class: "sr", text: $("h2", card).textContent }),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          columns.map((text) => h("th", { scope: "col", text })),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            row.map((text, i) => (i === 0 ? h("th", { scope: "row", text }) : h("td", { text }))),
          ),
        ),
      ),
    );
    keeping(box, () =>
      fill(box, tabled(table, { name, kept: this.#kept, filter: rows.length > FEW ? "Filter rows" : "" })),
    );
    box.scrollTop = scrollTop;
  }

  #toggle(card) {
    const { figure: name } = card.dataset;
    const title = $("h2", card).textContent;
    const shownNow = () => {
      const figure = this.#figures[name];
      const layout = this.#layout(figure);
      return { data: this.#traces(figure.data), layout, title, name: `${this.root.dataset.run}-${name}` };
    };
    $("[data-pictures]", card).append(...nodesOf(component(FigureButtons, { what: title, figure: shownNow })));
    const button = $("[data-toggle-table]", card);
    button.addEventListener("click", () => {
      const shown = card.toggleAttribute("data-as-table");
      button.setAttribute("aria-expanded", String(shown));
      $("span", button).textContent = shown ? "Show as a chart" : "Show as a table";
      $(".table-box", card).hidden = !shown;
      $("[data-chart]", card).hidden = shown;
      if (!shown && this.#figures && window.Plotly)
        this.#chart(card.dataset.figure, this.#figures[card.dataset.figure]);
    });
  }
}
