// Predicates: the order as a ladder, and every predicate's answer for every node.

import { h, fill } from "../../lib/dom.js";
import { Grid } from "../../lib/grid.js";
import { count, ellipsis, shortReason } from "../../lib/quantity.js";
import { breakButton } from "../breakpanel.js";
import { termsIn } from "../terms.js";
import { condition } from "../conditions.js";
import { before, later } from "./byhand.js";
import { copyButton, filterField, segmented } from "./matrix.js";
import { quirkNotes } from "./quirks.js";
import { CHOICES, Sources, mark, sourceKey } from "./sources.js";
import { spreadSection } from "./spread.js";
import { describeNode } from "../nodewords.js";
import { UNREACHED } from "../verdict.js";
/** @import { Light } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const STATES = { pass: "passed", skip: "not reached", fail: "failed", error: "error" };
const NAME = 24; // characters of a node's name that fit its column
const CLASSES = { pass: "pass", skip: "not-reached", fail: "fail", error: "error" };
const ONLY = [
  ["all", "All"],
  ["feasible", "Fit"],
  ["failed", "Failed"],
];
const RANK = { fail: 0, error: 1, skip: 2, pass: 3 };

export class Predicates {
  #list; // {find, only, from, sort}: where the answers came from is `from`
  #shown = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const list = (this.#list = view.lists.list("predicates", "matrix", { only: "all", from: "any" }));
    view.lists.choice(
      list,
      "matrix",
      "only",
      ONLY.map(([value]) => value),
    );
    view.lists.choice(
      list,
      "matrix",
      "from",
      CHOICES.map(([value]) => value),
    );
    const narrow = (change) => {
      Object.assign(list, change);
      view.lists.changed();
      this.#matrix();
    };
    this.ladder = h("div", { class: "ladder" });
    this.spread = h("div");
    this.what = h("span");
    this.grid = new Grid({
      signal: view.panels.signal,
      kept: list,
      onSort: () => view.lists.changed(),
      onUnknown: () => view.lists.unknown(list, "matrix"),
      label: "Node by predicate",
      className: "matrix",
      onHover: (node) => view.hover(node),
      onSelect: (node, column) => this.#select(node, column),
    });
    this.note = h("small", { class: "dim num", role: "status" });
    this.from = h(
      "select",
      {
        class: "field sources",
        "aria-label": "Nodes by where their answers came from",
        hidden: true,
        onchange: (event) => narrow({ from: event.target.value }),
      },
      CHOICES.map(([value, text]) => h("option", { value, text, selected: value === list.from || undefined })),
    );
    this.key = h("ul", { class: "key" });
    this.section = h(
      "section",
      { class: "matrix-section" },
      h("h3", null, this.what, " ", this.note),
      h(
        "div",
        { class: "matrix-tools" },
        filterField("Filter nodes by name or reason", (find) => narrow({ find }), list),
        segmented("Show", ONLY, list.only, (only) => narrow({ only })),
        this.from,
        copyButton(this.grid),
      ),
      this.grid.element,
      this.key,
    );
    this.element = h("div", { class: "predicates-tab" });
    view.on("hover", (node) => this.grid.hover(node), view.panels);
    view.on(
      "selection",
      () => {
        this.grid.select(view.node);
        if (view.node >= 0 && this.element.isConnected) this.grid.reveal(view.node);
      },
      view.panels,
    );
  }

  /**
   * A failed cell asks why; every other one selects its node.
   *
   * @param {number} node
   * @param {string} [column]
   */
  #select(node, column) {
    const { verdict, pod } = this.view.facts;
    const failed =
      column?.startsWith("p") && ["fail", "error"].includes(verdict?.cell(node, Number(column.slice(1))).state);
    this.view.selectNode(node);
    if (failed) this.view.emit("why", { pod, node });
  }

  update() {
    const { view } = this;
    const light = view.playback.current;
    if (!light) {
      this.#shown = "";
      fill(this.element, before(view));
      return;
    }
    const { filter, rule } = termsIn(view.playback);
    if (view.playback.parts && !light.ladder.length) {
      this.#shown = "";
      fill(
        this.element,
        light.result === "undecided"
          ? later(view, `No ${filter} has run at this moment.`)
          : h(
              "div",
              { class: "empty" },
              h("b", { text: `No ${filter} ran in this cycle.` }),
              h("span", { text: "The attempt ended earlier: see the Story." }),
            ),
      );
      return;
    }
    if (this.#shown !== "matrix") {
      fill(this.element, this.ladder, this.spread, this.section);
      this.#shown = "matrix";
    }
    this.#ladder(light);
    fill(this.spread, spreadSection(view.playback.parts?.predicates?.spread));
    this.what.textContent = `Node × ${rule}`;
    this.grid.label = `Node by ${rule}`;
    this.#legend();
    if (view.facts.verdict) this.#matrix();
    this.section.classList.toggle("waiting", !view.facts.verdict);
  }

  get #sources() {
    return Sources.of(this.view.playback.parts, this.view.playback.nodes.names.length);
  }

  #legend() {
    const sources = this.#sources;
    this.from.hidden = !sources;
    // Until the parts are there nobody knows where answers came from: the filter of a link waits for them.
    if (this.view.playback.parts && !sources && this.#list.from !== "any") {
      this.view.lists.absent(this.#list, "matrix", "from");
      this.from.value = this.#list.from = "any";
      this.view.lists.changed();
    }
    fill(
      this.key,
      h("li", null, h("i", { class: "cell pass" }), "passed"),
      h("li", null, h("i", { class: "cell fail" }), "failed"),
      h("li", null, h("i", { class: "cell not-reached" }), "not reached"),
      h("li", { class: "dim", text: "a failed cell shows the reason" }),
      sources ? sourceKey(sources) : null,
    );
  }

  /** Of a predicate's answers those from the cache, as number and in words. */
  #cached({ h: hits, m, b }) {
    const asked = hits + m + b;
    const words = `${count(hits)} from the cache, ${count(m)} evaluated${b ? `, ${count(b)} beside the cache` : ""}`;
    return h(
      "span",
      { class: "rung-cached num", title: words },
      asked
        ? [
            mark("hit"),
            h("span", { "aria-hidden": "true", text: `${count(hits)}/${count(asked)}` }),
            h("span", { class: "sr", text: words }),
          ]
        : null,
    );
  }

  /** @param {Light} light */
  #ladder(light) {
    const { ladder } = light;
    const sources = this.#sources;
    const all = ladder[0]?.[1] ?? 0;
    const always = light.alwaysCheckAll;
    const ran = ladder.reduce((sum, rung) => sum + rung[1], 0);
    const saved = all * ladder.length - ran;
    const head = h(
      "h3",
      null,
      light.release ? "Filter plugins " : "Order ",
      h("small", {
        class: "dim",
        text: always
          ? "alwaysCheckAllPredicates: every pair is checked"
          : saved > 0
            ? `${count(saved)} of ${count(all * ladder.length)} checks saved`
            : "nothing was removed early",
      }),
    );
    const answers = sources?.totals;
    if (answers)
      head.append(
        h(
          "small",
          { class: "dim num end" },
          mark("hit"),
          ` ${count(answers.h)} of ${count(answers.h + answers.m + answers.b)} from the cache`,
        ),
      );
    this.ladder.classList.toggle("cached", Boolean(sources));
    const rungs = ladder.map(([name, into, out], i) => {
      const part = (/** @type {number} */ n) => `${all ? (n / all) * 100 : 0}%`;
      return h(
        "li",
        { class: into === 0 ? "unreached" : into !== out ? "removes" : undefined },
        h("span", { class: "rung-at num", text: String(i + 1) }),
        h(
          "button",
          {
            type: "button",
            class: "rung-name",
            title: `${name}: sort the matrix by it`,
            onclick: () => this.grid.sort(`p${i}`),
          },
          name,
          this.view.facts.verdict?.unneeded.has(i)
            ? h("small", {
                class: "dim",
                title: "PreFilter answered Skip: the pod does not ask for it",
                text: " skipped",
              })
            : null,
        ),
        h(
          "span",
          { class: "rung-bar", "aria-hidden": "true" },
          h("i", { class: "kept", style: { width: part(out) } }),
          h("i", { class: "gone", style: { width: part(into - out) } }),
        ),
        sources ? this.#cached(sources.counts[i] ?? { h: 0, m: 0, b: 0 }) : null,
        h(
          "span",
          { class: "rung-count num" },
          h("span", { class: "sr", text: "nodes in and out: " }),
          into === out ? count(into) : [`${count(into)} → `, h("b", { text: count(out) })],
        ),
        breakButton(this.view, condition("predicate", name)),
      );
    });
    fill(this.ladder, head, quirkNotes(light, "predicates"), h("ol", null, rungs));
  }

  /** Mark a cell with where its answer came from; a stale one is red, whatever it is. */
  #source(td, sources, node, predicate) {
    const stale = Boolean(sources.stale(node, predicate));
    td.classList.toggle("stale", stale);
    td.classList.toggle("cleared", sources.cleared(node, predicate));
    td.prepend(mark(stale ? "wrong" : sources.kind(node, predicate)));
  }

  /** What stands in the place of the matrix when the filters leave no node. */
  #none() {
    const among = { all: "", feasible: " that fits", failed: " that failed" }[this.#list.only];
    if (this.#list.from !== "any")
      return `No node${among} has answers like these: ${CHOICES.find(([value]) => value === this.#list.from)[1]}.`;
    if (this.#list.find) return `No node${among} and no reason matches ${this.#list.find}.`;
    return this.#list.only === "feasible"
      ? "No node fits this pod."
      : this.#list.only === "failed"
        ? "Every node fits this pod."
        : "There is no node.";
  }

  #matrix() {
    const { view } = this;
    const { verdict, chosen } = view.facts;
    if (!verdict) return;
    const { names } = view.playback.nodes;
    const sources = this.#sources;
    const rows = [];
    let there = 0;
    for (let node = 0; node < names.length; node += 1) {
      if (!view.exists(node)) continue;
      there += 1;
      const fits = verdict.fits(node);
      if (sources && !sources.shows(node, this.#list.from)) continue;
      if (this.#list.only === "feasible" && !fits) continue;
      if (this.#list.only === "failed" && fits) continue;
      if (
        this.#list.find
        && !names[node].toLowerCase().includes(this.#list.find)
        && !verdict.reasonsOf(node).some((reason) => reason.toLowerCase().includes(this.#list.find))
      )
        continue;
      rows.push(node);
    }
    this.note.textContent =
      rows.length === there ? `${count(rows.length)} rows` : `${count(rows.length)} of ${count(there)} rows`;
    const columns = [
      {
        key: "node",
        label: "node",
        title: "Sort by name",
        text: (node) => names[node],
        compare: (a, b) => names[a].localeCompare(names[b], "en", { numeric: true }),
        paint: (td, node) => {
          td.textContent = ellipsis(names[node], node === chosen ? NAME - 2 : NAME);
          if (td.textContent !== names[node]) td.setAttribute("aria-label", names[node]);
          td.title = describeNode(view, node);
          if (node === chosen) td.classList.add("chosen");
        },
      },
      {
        key: "verdict",
        label: "fits",
        title: `Sort by the first failed ${termsIn(view.playback).rule}`,
        vertical: true,
        downFirst: true,
        className: "fits",
        text: (node) => (verdict.fits(node) ? "fits" : verdict.reached(node) ? "failed" : UNREACHED),
        compare: (a, b) => verdict.first[a] - verdict.first[b],
        paint: (td, node) => {
          const [sign, tone, words] = verdict.fits(node)
            ? ["✓", "yes", "fits"]
            : verdict.reached(node)
              ? ["✕", "no", "does not fit"]
              : ["·", "", UNREACHED];
          td.textContent = sign;
          td.className = `fits ${tone}`;
          td.setAttribute("aria-label", words);
        },
      },
      ...verdict.order.map((name, predicate) => ({
        key: `p${predicate}`,
        label: name,
        title: `${name}: sort, failures first`,
        vertical: true,
        compare: (a, b) => RANK[verdict.cell(a, predicate).state] - RANK[verdict.cell(b, predicate).state],
        text: (node) => {
          const { state, reasons } = verdict.cell(node, predicate);
          const words = sources?.words(node, predicate);
          return `${reasons.length ? reasons.join("; ") : STATES[state]}${words ? ` (${words})` : ""}`;
        },
        paint: (td, node) => {
          const { state, reasons } = verdict.cell(node, predicate);
          td.className = `cell ${CLASSES[state]}`;
          const words = sources?.words(node, predicate);
          const summary = `${name}: ${reasons.length ? reasons.join(", ") : STATES[state]}${words ? `; ${words}` : ""}`;
          td.title =
            state === "fail" || state === "error" ? `${summary}. Click to see why, and what would help` : summary;
          td.setAttribute("aria-label", summary);
          if (state === "fail")
            td.textContent = `${shortReason(reasons[0] ?? "no")}${reasons.length > 1 ? ` +${reasons.length - 1}` : ""}`;
          if (state === "error") td.textContent = "error";
          if (words) this.#source(td, sources, node, predicate);
        },
      })),
    ];
    this.grid.hovered = view.hovered;
    this.grid.selected = view.node;
    this.grid.show(columns, rows, this.#none());
  }
}
