// The Cache tab, Over time: hit rate, evaluations and invalidations of every cycle as a chart, and as the table behind
// it.

import { $, h, fill, icon, debounce, focusedNow } from "../../lib/dom.js";
import { h as component } from "preact";
import { FigureButtons } from "../../kit/chart.tsx";
import { nodesOf } from "../../kit/node.tsx";
import { plotly } from "../../lib/plotly.js";
import { count, plural } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { textSize, token } from "../../lib/theme.js";
import { rowsOf, series } from "./cacheseries.js";
import { cycleLink, pager, refocus, swatch } from "./cachebyhand.js";
import { percent } from "./cachewords.js";
/** @import { View } from "../view.js" */

const HEIGHT = 300;
const MARGIN = { l: 46, r: 10, t: 8, b: 34 };
const ROWS = 25;
const TICKED = 10; // cycles of which each has a tick; nothing stands between two of them
const REDRAW_AFTER = 250; // while a timeline grows

export class CacheTime {
  #drawn = "";
  #width = 0;
  #list; // {page}: of the table, from 1; 0: the one with the shown cycle
  #ready = false;
  #shownAt = -1; // the cycle of the rows
  #kept; // how the table is sorted

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("cache");
    this.#list = view.lists.list("cache", "cycles");
    this.note = h("p", { class: "dim fine num", role: "status" });
    this.chart = h("div", { class: "cache-chart", role: "img" });
    this.table = h("div", { class: "cache-rows" });
    this.toggle = h(
      "button",
      {
        type: "button",
        class: "btn quiet small",
        "aria-expanded": "false",
        onclick: () => view.setSub(this.table.hidden ? "time/table" : "time"),
      },
      icon("table"),
      h("span", { text: "Show as a table" }),
    );
    this.pictures = h(
      "span",
      { class: "pictures" },
      nodesOf(component(FigureButtons, { what: "Hit rate", figure: () => this.#figure(), class: "small" })),
    );
    this.pictures.hidden = true;
    this.key = h("ul", { class: "key" });
    this.body = h("div", null, this.key, this.chart, this.table);
    this.element = h(
      "div",
      { class: "cache-time" },
      h(
        "div",
        { class: "stale-head" },
        h("h3", { text: "Hit rate" }),
        h("span", { class: "grow" }),
        this.pictures,
        this.toggle,
      ),
      this.note,
      this.body,
    );
    this.table.hidden = true;
    this.later = debounce(() => {
      if (this.element.isConnected) this.#draw();
    }, REDRAW_AFTER);
    this.cursor = debounce(() => this.#cursor(), 60);
    view.seen.on(
      "changed",
      () => {
        if (this.element.isConnected) this.update();
      },
      view.panels,
    );
    addEventListener(
      "podstep:theme",
      () => {
        this.#drawn = "";
        if (this.element.isConnected) this.#draw();
      },
      view.panels,
    );
    new ResizeObserver(() => {
      if (this.chart.clientWidth && this.chart.clientWidth !== this.#width) this.later();
    }).observe(this.chart);
  }

  update() {
    const { marks } = this.view.playback;
    if (!marks.cached) {
      fill(
        this.note,
        this.view.playback.complete
          ? "No cycle of this run had a cache, or the run was stored before podstep counted the cache’s work. "
              + "Open its scenario, choose a mode in the Policy tab, and run it again."
          : "Computing…",
      );
      this.#hide(true);
      return;
    }
    this.#hide(false);
    this.#asTable(this.view.sub === "time/table");
    if (!this.table.hidden) {
      if (this.#shownAt >= 0 && this.#shownAt !== this.view.playback.index) this.#turn(0);
      this.#shownAt = this.view.playback.index;
      this.#rows();
      const { per, points } = series(marks.caching, this.#known, ROWS);
      this.#say(per, points);
    }
    if (!this.#drawn) this.#draw();
    else if (`${marks.version}/${this.#known}` !== this.#drawn.split("/").slice(0, 2).join("/")) this.later();
    else this.cursor();
  }

  /** The last cycle whose outcome may be shown. */
  get #known() {
    return Math.min(this.view.playback.marks.known, this.view.seen.last);
  }

  #hide(hidden) {
    this.body.hidden = hidden;
    this.toggle.hidden = hidden;
    this.#offer();
  }

  /** Offer files of the chart while it is what is seen. */
  #offer() {
    this.pictures.hidden = !this.#ready || this.body.hidden || this.chart.hidden;
  }

  async #draw() {
    const { view } = this;
    const { marks, cycles } = view.playback;
    const width = this.chart.clientWidth;
    if (!width || !marks.cached || this.chart.hidden) return;
    const key = `${marks.version}/${this.#known}/${width}/${cycles}`;
    if (key === this.#drawn) {
      this.cursor();
      return;
    }
    this.#drawn = key;
    this.#width = width;
    const { per, points } = series(marks.caching, this.#known, (width - MARGIN.l - MARGIN.r) / 1.5);
    this.#say(per, points);
    let Plotly;
    try {
      Plotly = await plotly(view.library);
    } catch (error) {
      this.#drawn = "";
      fill(this.note, error.message);
      return;
    }
    if (key !== this.#drawn) return;
    Plotly.react(this.chart, this.#traces(per, points), this.#layout(cycles), {
      displayModeBar: false,
      responsive: false,
      scrollZoom: false,
      doubleClick: false,
    });
    if (!this.#ready) {
      this.#ready = true;
      this.#offer();
      /** @type {any} */ (this.chart).on("plotly_click", ({ points: [point], event }) => {
        const to = point?.customdata;
        if (to) view.playback.goto(to, event?.timeStamp);
      });
    }
  }

  #say(per, points) {
    const last = points.at(-1);
    const stale = points.reduce((sum, point) => sum + point.stale, 0);
    const { stale: hits } = this.view.playback.marks.caching;
    const staleCycles = hits.subarray(0, this.#known + 1).reduce((sum, n) => sum + (n > 0 ? 1 : 0), 0);
    const parts = [
      `${percent(last?.running ?? null)} of all answers came from the cache`,
      stale ? `${plural(stale, "hit")} in ${plural(staleCycles, "cycle")} ${stale === 1 ? "was" : "were"} stale` : "",
      per > 1 ? `a point is ${count(per)} cycles` : "",
      "click to go there",
    ];
    const text = parts.filter(Boolean).join(" · ");
    fill(this.note, text);
    fill(
      this.key,
      [
        ["rate", per > 1 ? `rate of ${count(per)} cycles` : "rate of a cycle"],
        ["running", "rate of the run so far"],
        ["evaluated", "evaluated per cycle"],
        ["invalidated", "invalidated per cycle"],
        ...(stale ? [["stale", "stale hits"]] : []),
      ].map(([name, words]) =>
        h(
          "li",
          null,
          name === "stale" ? swatch("stale") : h("i", { class: `cache-line ${name}`, "aria-hidden": "true" }),
          words,
        ),
      ),
    );
    this.chart.setAttribute(
      "aria-label",
      `Hit rate over ${plural(last?.to ?? 0, "cycle")}, a chart: ${text}. `
        + "Its numbers are shown by the button “Show as a table”.",
    );
  }

  #traces(per, points) {
    const x = points.map((point) => (point.from + point.to) / 2);
    const to = points.map((point) => point.from);
    const named = points.map(({ from, to: last }) =>
      from === last ? `cycle ${count(from)}` : `cycles ${count(from)} to ${count(last)}`,
    );
    const line = (name, y, hue, more) => ({
      type: "scatter",
      mode: points.length === 1 ? "markers" : "lines",
      name,
      x,
      y,
      customdata: to,
      text: named,
      hovertemplate: `%{text}: %{y}<extra>${name}</extra>`,
      line: { color: hue, width: 1.5, ...more?.line },
      marker: { color: hue },
      connectgaps: false,
      ...more?.trace,
    });
    const bad = points.filter((point) => point.stale);
    return [
      line(
        per > 1 ? `per ${count(per)} cycles` : "per cycle",
        points.map((point) => point.rate),
        token("--cache"),
        { line: { width: 1, shape: points.length < 120 ? "hvh" : "linear" }, trace: { opacity: 0.75 } },
      ),
      line(
        "running",
        points.map((point) => point.running),
        token("--ink"),
        { line: { width: 2, dash: "solid" } },
      ),
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
        points.map((point) => point.evaluations / (point.to - point.from + 1)),
        token("--used"),
        {
          line: { shape: points.length < 120 ? "hvh" : "linear" },
          trace: { yaxis: "y2", fill: "tozeroy", fillcolor: token("--track") },
        },
      ),
      line(
        "invalidated",
        points.map((point) => point.invalidated / (point.to - point.from + 1)),
        token("--cache"),
        { line: { dash: "dot", shape: points.length < 120 ? "hvh" : "linear" }, trace: { yaxis: "y2" } },
      ),
    ];
  }

  /** @param {number} cycles */
  #layout(cycles) {
    const axis = {
      fixedrange: true,
      gridcolor: token("--line"),
      zerolinecolor: token("--line"),
      linecolor: token("--line-strong"),
      tickfont: { color: token("--dim"), size: textSize() },
      separatethousands: true,
    };
    const title = (/** @type {string} */ text) => ({
      text,
      font: { color: token("--dim"), size: textSize() },
      standoff: 4,
    });
    return {
      width: this.#width,
      height: HEIGHT,
      margin: MARGIN,
      dragmode: false,
      hovermode: "closest",
      hoverdistance: -1,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: token("--font"), color: token("--ink"), size: textSize() },
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
      showlegend: false,
      hoverlabel: {
        bgcolor: token("--raise-2"),
        bordercolor: token("--line-strong"),
        font: { color: token("--ink"), family: token("--font"), size: textSize() },
      },
      shapes: this.#here(),
    };
  }

  /** The chart as it is drawn, for a file. */
  #figure() {
    const { playback } = this.view;
    const { points, per } = series(playback.marks.caching, this.#known, (this.#width - MARGIN.l - MARGIN.r) / 1.5);
    const layout = { ...this.#layout(playback.cycles), showlegend: true };
    return {
      data: this.#traces(per, points),
      layout,
      title: "Hit rate of the equivalence cache",
      name: "cache-over-time",
    };
  }

  #here() {
    const { index } = this.view.playback;
    return index > 0
      ? [
          {
            type: "line",
            xref: "x",
            yref: "paper",
            x0: index,
            x1: index,
            y0: 0,
            y1: 1,
            line: { color: token("--accent"), width: 1.5 },
          },
        ]
      : [];
  }

  #cursor() {
    if (this.#ready && this.element.isConnected && !this.chart.hidden)
      window.Plotly.relayout(this.chart, { shapes: this.#here() });
  }

  // --- the table behind it ---------------------------------------------------------------

  #asTable(shown) {
    if (shown !== this.table.hidden) return;
    this.table.hidden = !shown;
    this.chart.hidden = shown;
    this.key.hidden = shown;
    this.#offer();
    this.toggle.setAttribute("aria-expanded", String(shown));
    $("span", this.toggle).textContent = shown ? "Show as a chart" : "Show as a table";
    if (!shown) this.#turn(0);
    if (!shown) this.#draw();
  }

  #turn(page) {
    if (page === this.#list.page) return;
    this.#list.page = page;
    this.view.lists.changed();
  }

  #rows() {
    const { view } = this;
    const { playback } = view;
    const { marks, index } = playback;
    const asked = (this.#list.page - 1) * ROWS + 1;
    if (asked > marks.known && playback.complete) {
      view.emit("wrong", `page.cycles=${this.#list.page}`);
      this.#turn(0);
    }
    const from =
      this.#list.page && asked <= this.#known ? asked : 1 + Math.floor((Math.max(1, index) - 1) / ROWS) * ROWS;
    const rows = rowsOf(marks.caching, this.#known, from, ROWS);
    const num = (
      /** @type {number} */ value,
      /** @type {string} */ text = count(value),
      /** @type {boolean} */ bad = false,
    ) =>
      h("td", { class: `num${bad ? " stale-text" : ""}`, "data-value": value ?? "" }, bad ? icon("warn") : null, text);
    const pages = pager(
      { from: from - 1, total: this.#known, size: ROWS, shown: rows.length, what: "cycles" },
      (to) => {
        const turned = focusedNow()?.dataset.turn;
        this.#turn(Math.floor(to / ROWS) + 1);
        this.#rows();
        refocus(this.table, turned);
      },
    );
    fill(
      this.table,
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "The cache's work, cycle by cycle" }),
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              h("th", { scope: "col", text: "cycle" }),
              ["hits", "evaluated", "rate", "running", "invalidated", "stale"].map((text) =>
                h("th", { scope: "col", class: "num", text }),
              ),
            ),
          ),
          h(
            "tbody",
            null,
            rows.map((row) =>
              h(
                "tr",
                {
                  class: row.index === index ? "won" : undefined,
                  "aria-current": row.index === index ? "step" : undefined,
                },
                h("th", { scope: "row" }, cycleLink(view, row.index)),
                num(row.hits),
                num(row.evaluations),
                num(row.rate, percent(row.rate)),
                num(row.running, percent(row.running)),
                num(row.invalidated),
                num(row.stale, count(row.stale), row.stale > 0),
              ),
            ),
          ),
        ),
        { head: [h("h4", { text: "Cycle by cycle" }), pages], kept: this.#kept, name: "cycles" },
      ),
    );
  }
}
