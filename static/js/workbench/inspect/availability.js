// Over time: how many pods of each workload were desired, ready and pending at each moment of virtual time, and when
// fewest were ready. A moment leads to its step.

import { h, fill, debounce, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { figureButtons, plotly } from "../../lib/plotly.js";
import { clock, count, plural, short, span } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { here, layout, LINES, linesOf, traces } from "./availability/chart.js";
import { momentAt, seenUntil } from "./availability/series.js";
import { sparkline } from "./availability/sparkline.js";
/** @import { OverTime } from "../../lib/protocol.js" */
/** @import { Seen } from "./availability/series.js" */
/** @import { View } from "../view.js" */

const AGAIN = 1500; // milliseconds between two requests while cycles are computed
const ALL = "All workloads";
const LOSSES = /** @type {const} */ (["evicted", "preempted", "refused"]);

/** @param {Seen} one */
const keyOf = ({ kind, key }) => (kind ? `${kind}/${key}` : key);
/** @param {Seen} one */
const nameOf = ({ kind, key }) => (kind ? `${kind} ${short(key)}` : "Pods without a controller");

export class Availability {
  /** @type {OverTime | null | undefined} */
  #data; // undefined: not known yet; null: no time passes
  #asked = { source: "", at: -Infinity, complete: false };
  #drawn = ""; // what the chart shows
  #listed = ""; // what the table shows
  #ready = false; // whether the chart can be clicked
  /** @type {((time: number | null) => void)[]} */
  #follow = []; // what shows the present moment
  #kept;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("availability");
    this.title = h("h3");
    this.note = h("p", { class: "dim num", role: "status" });
    this.key = h("ul", { class: "key" });
    this.chart = h("div", { class: "availability-chart", role: "img" });
    this.moments = h("div", { class: "availability-moments" });
    this.moments.hidden = true;
    this.toggle = h(
      "button",
      { type: "button", class: "btn quiet small", "aria-expanded": "false", onclick: () => this.#asTable() },
      icon("table"),
      h("span", { text: "Show as a table" }),
    );
    this.pictures = h(
      "span",
      { class: "pictures" },
      figureButtons("Workload over time", () => this.#figure(), "small"),
    );
    this.rows = h("div", { class: "availability-rows" });
    this.whole = h(
      "div",
      { class: "availability" },
      h("div", { class: "stale-head" }, this.title, h("span", { class: "grow" }), this.pictures, this.toggle),
      this.note,
      this.key,
      this.chart,
      this.moments,
      this.rows,
    );
    this.element = h("div", { class: "availability-tab" }, this.whole);
    const again = debounce(() => this.element.isConnected && this.update(), AGAIN);
    view.playback.on("grew", again, view.panels);
    for (const [from, name] of /** @type {const} */ ([
      [view, "sub"],
      [view.seen, "changed"],
    ]))
      from.on(name, () => this.element.isConnected && this.update(), view.panels);
    addEventListener("podstep:theme", () => this.#redraw(), view.panels);
    new ResizeObserver(() => this.#redraw()).observe(this.chart);
  }

  update() {
    const { playback } = this.view;
    if (!playback.timed) {
      this.#say("No time passes in this scenario.", STILL);
      return;
    }
    this.#load();
    if (!this.#data) {
      if (this.#data === null) this.#say("Nothing is known over time yet.", "A run's worker stores it when it ends.");
      else this.#say("Computing…", "");
      return;
    }
    if (this.#until === 0) {
      fill(this.element, this.#hidden());
      return;
    }
    if (!this.whole.isConnected) fill(this.element, this.whole);
    this.#list(this.#data);
    this.#show(this.#data);
    for (const follow of this.#follow) follow(playback.time);
  }

  /**
   * @param {string} what
   * @param {string} how
   */
  #say(what, how) {
    fill(this.element, h("div", { class: "empty" }, h("b", { text: what }), how ? h("span", { text: how }) : null));
  }

  /** Before the first cycle all of it lies ahead. */
  #hidden() {
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "What becomes of the workloads lies ahead." }),
      h("span", null, "Press ", h("kbd", { text: "→" }), " or Step to see it as it happens."),
      h("button", { type: "button", class: "btn", onclick: () => this.view.seen.reveal(true) }, "Show outcomes ahead"),
    );
  }

  /** Ask for what is not known yet: while it is computed not too often, and once more at the end. */
  async #load() {
    const { playback } = this.view;
    const { source, at, complete } = this.#asked;
    const now = JSON.stringify(playback.source);
    if (source === now && (complete || (!playback.complete && performance.now() - at < AGAIN))) return;
    this.#asked = { source: now, at: performance.now(), complete: playback.complete === true };
    try {
      this.#data = await playback.ask("availability.get", { source: playback.source });
    } catch (error) {
      this.#asked.complete = false;
      playback.emit("failed", error);
      return;
    }
    if (this.element.isConnected) this.update();
  }

  /** The time up to which outcomes may be shown. */
  get #until() {
    const { playback, seen } = this.view;
    if (seen.last >= playback.cycles) return Infinity;
    return seen.last ? playback.marks.time[seen.last] : 0;
  }

  /** @param {OverTime} data */
  #chosen({ total, workloads }) {
    return workloads.find((one) => keyOf(one) === this.view.sub) ?? total;
  }

  // --- the chart of one workload ---------------------------------------------------------

  /** @param {OverTime} data */
  #show(data) {
    const chosen = this.#chosen(data);
    const one = seenUntil(chosen, this.#until);
    const name = chosen === data.total ? ALL : nameOf(one);
    this.title.textContent = name;
    const ends = Math.min(data.until, this.#until);
    const lost = LOSSES.filter((what) => one[what]).map((what) => `${count(one[what] ?? 0)} ${what}`);
    const calm = this.#until === Infinity ? `the last change at ${clock(data.calmAt)}` : "";
    const words = [
      `fewest ready: ${count(one.fewestReady)} at ${clock(one.fewestAt)}`,
      one.below ? `below desired for ${span(one.below)}` : "never below desired",
      ...lost,
      calm,
      ahead(this.view, this.#until),
    ].filter(Boolean);
    fill(this.note, words.join(" · "));
    fill(
      this.key,
      linesOf(one).map(([line]) => h("li", null, h("i", { class: `line ${line}`, "aria-hidden": "true" }), line)),
    );
    this.chart.setAttribute("aria-label", `${name} over ${clock(ends)}, a chart: ${words.join(", ")}.`);
    const key = `${keyOf(one)}/${data.known}/${data.until}/${this.#until}/${this.chart.clientWidth}`;
    this.#follow = this.#follow.filter((follow) => follow !== this.#cursor);
    this.#follow.push(this.#cursor);
    if (key === this.#drawn || this.chart.hidden || !this.chart.clientWidth) return;
    this.#drawn = key;
    this.#draw(one, ends, key);
  }

  /**
   * @param {Seen} one
   * @param {number} ends
   * @param {string} key
   */
  async #draw(one, ends, key) {
    let Plotly;
    try {
      Plotly = await plotly(this.view.library);
    } catch (error) {
      this.#drawn = "";
      fill(this.note, /** @type {Error} */ (error).message);
      return;
    }
    if (key !== this.#drawn) return;
    const sized = { ...layout(one, ends, this.view.playback.time), width: this.chart.clientWidth };
    Plotly.react(this.chart, traces(one, ends), sized, {
      displayModeBar: false,
      responsive: false,
      scrollZoom: false,
      doubleClick: false,
    });
    if (this.#ready) return;
    this.#ready = true;
    /** @type {any} */ (this.chart).on("plotly_click", ({ points: [point], event }) => {
      if (point) this.#goto(point.x, event?.timeStamp);
    });
  }

  #cursor = (/** @type {number | null} */ now) => {
    if (this.#ready && !this.chart.hidden) window.Plotly.relayout(this.chart, { shapes: here(now) });
  };

  #redraw() {
    if (!this.element.isConnected || !this.#data) return;
    this.#drawn = "";
    this.#listed = "";
    this.update();
  }

  /** The chart as it is drawn, for a file. */
  #figure() {
    const data = /** @type {OverTime} */ (this.#data);
    const one = seenUntil(this.#chosen(data), this.#until);
    const ends = Math.min(data.until, this.#until);
    const drawn = { ...layout(one, ends, null), showlegend: true };
    return { data: traces(one, ends), layout: drawn, title: this.title.textContent, name: "workload-over-time" };
  }

  /**
   * Go to the step that shows a moment: the first that is not before it, or the end.
   *
   * @param {number} time
   * @param {number} [since]
   */
  #goto(time, since) {
    const { playback } = this.view;
    playback.goto(playback.marks.firstAt(time) || playback.last, since);
  }

  #asTable() {
    this.moments.hidden = !this.moments.hidden;
    this.chart.hidden = !this.moments.hidden;
    const shown = !this.moments.hidden;
    this.toggle.setAttribute("aria-expanded", String(shown));
    fill(this.toggle, icon("table"), h("span", { text: shown ? "Show as a chart" : "Show as a table" }));
    this.#redraw();
  }

  /**
   * The moments of a workload as rows, each of which leads to its step.
   *
   * @param {Seen} one
   */
  #tableOf(one) {
    const num = (/** @type {number} */ n) => h("td", { class: "num", text: count(n) });
    const rows = one.moments.map(([at, ...counts]) =>
      h(
        "tr",
        null,
        h(
          "th",
          { scope: "row", "data-value": at },
          inline(
            (event) => this.#goto(at, event.timeStamp),
            { class: "link num", title: "go to this moment" },
            clock(at),
          ),
        ),
        counts.map(num),
      ),
    );
    const head = ["time", ...LINES.map(([name]) => name)].map((text, i) =>
      h("th", { scope: "col", class: i ? "num" : "", text }),
    );
    return tabled(
      h(
        "table",
        { class: "list tight" },
        h("caption", { class: "sr", text: "Each moment at which something changed" }),
        h("thead", null, h("tr", null, head)),
        h("tbody", null, rows),
      ),
      { kept: this.#kept, name: "moments" },
    );
  }

  // --- the table of workloads ------------------------------------------------------------

  /** @param {OverTime} data */
  #list(data) {
    const key = `${data.known}/${data.until}/${this.#until}/${this.view.sub}/${this.moments.hidden}`;
    if (key === this.#listed) return;
    this.#listed = key;
    this.#follow = [];
    const ends = Math.min(data.until, this.#until);
    if (!this.moments.hidden) fill(this.moments, this.#tableOf(seenUntil(this.#chosen(data), this.#until)));
    const rows = [data.total, ...data.workloads].map((one, i) => this.#row(seenUntil(one, this.#until), ends, !i));
    const heads = ["workload", "ready", "pending", "fewest", "below", "evicted"].map((text, i) =>
      h("th", { scope: "col", class: i ? "num" : "", title: MEANT[text], text }),
    );
    fill(
      this.rows,
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "Workloads, those that were below desired longest first" }),
          h("thead", null, h("tr", null, heads)),
          h("tbody", null, rows),
        ),
        {
          head: h("h3", null, "Workloads ", h("small", { class: "dim num", text: count(data.workloads.length) })),
          filter: data.workloads.length > 8 ? "Filter workloads" : "",
          kept: this.#kept,
          name: "workloads",
        },
      ),
      data.leftOut
        ? h("p", { class: "dim fine", text: `and ${plural(data.leftOut, "workload")} that fared better` })
        : null,
    );
  }

  /**
   * @param {Seen} one
   * @param {number} ends
   * @param {boolean} whole whether it is the sum of all
   */
  #row(one, ends, whole) {
    const key = whole ? "" : keyOf(one);
    const picked = this.view.sub === key;
    const ready = h("td", { class: "num" });
    const pending = h("td", { class: "num" });
    const line = sparkline(one, ends);
    this.#follow.push((now) => {
      const [, desired, up, waiting] = momentAt(one.moments, now ?? ends) ?? [0, 0, 0, 0];
      ready.textContent = `${count(up)}/${count(desired)}`;
      ready.dataset.value = String(up);
      ready.classList.toggle("fail-text", up < desired);
      pending.textContent = count(waiting);
      line.stand(now);
    });
    const lost = one.evicted === null ? null : one.evicted + (one.preempted ?? 0);
    const refused = one.refused ? `${count(one.refused)} refused` : "";
    return h(
      "tr",
      { class: picked ? "won" : "" },
      h(
        "th",
        { scope: "row" },
        inline(
          () => this.view.setSub(key),
          { class: "link", "aria-pressed": String(picked) },
          whole ? ALL : nameOf(one),
        ),
        line.element,
      ),
      ready,
      pending,
      h("td", { class: "num", text: count(one.fewestReady), title: `at ${clock(one.fewestAt)}` }),
      h("td", { class: "num", "data-value": one.below, text: one.below ? span(one.below) : "–" }),
      h(
        "td",
        { class: "num", "data-value": lost ?? 0 },
        lost === null ? "–" : count(lost),
        refused ? h("small", { class: "dim", text: refused }) : null,
      ),
    );
  }
}

const STILL =
  "Give it time: node failures, durations and changes of workloads are simulated with time: virtual in "
  + "SimulationSettings, and under v1.37 by themselves.";

/** @type {Record<string, string>} */
const MEANT = {
  ready: "Ready of desired pods at the moment that is shown",
  pending: "Pods without a node at the moment that is shown",
  fewest: "Fewest ready pods since as many as desired were ready for the first time",
  below: "How long fewer pods were ready than desired, since then",
  evicted: "Pods evicted by drains and taints, or preempted",
};

/**
 * What is not shown, in words.
 *
 * @param {View} view
 * @param {number} until
 */
const ahead = (view, until) =>
  until === Infinity ? "" : `shown up to cycle ${count(view.seen.last)}, the last that was on screen`;
