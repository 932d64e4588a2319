// Both runs, stepped together: transport, the track, and what each decided, with the rule that made the difference.

import { h as component, render } from "preact";
import { $, $$, announce, fill, h, icon, targetOf, typing } from "../lib/dom.js";
import { count, plural, short } from "../lib/quantity.js";
import { Segmented } from "../kit/segmented.tsx";
import { termsOf } from "../workbench/terms.js";
import { Elsewhere } from "./elsewhere.js";
import { decidingRule, stoppedBy } from "./rule.js";
import { Rows } from "./rows.js";
import { Side } from "./side.js";
import { Track } from "./track.js";
/** @import { Comparison } from "../lib/protocol.js" */
/** @import { Tab } from "./side.js" */

/** @type {[Tab, "filterTab" | "scoreTab"][]} */
const TABS = [
  ["predicates", "filterTab"],
  ["priorities", "scoreTab"],
];

/**
 * What the tabs are called; where the sides' releases have different words, by both.
 *
 * @param {string[]} releases
 * @returns {[Tab, string][]}
 */
const labels = (releases) =>
  TABS.map(([tab, term]) => [tab, [...new Set(releases.map((one) => termsOf(one)[term]))].sort().join(" / ")]);

export class Stepper {
  row = 0;
  /** @type {Tab} */
  tab = "predicates";
  #chosen = false; // whether somebody chose a tab: else it follows the rule that decided

  /**
   * @param {HTMLElement} host
   * @param {Comparison} found
   */
  constructor(host, found) {
    this.found = found;
    this.rows = new Rows(found);
    const changed = () => this.#changed();
    this.sides = /** @type {const} */ (["left", "right"]).map((name) => new Side(name, found[name], changed));
    this.elsewhere = new Elsewhere(/** @type {any} */ (this.sides));
    this.moved = h("details", { class: "both-elsewhere" });
    this.track = new Track(this.rows, this.sides, (row) => this.goto(row));
    this.place = h("output", { class: "num both-place" });
    this.verdict = h("p", { class: "both-rule", role: "status" });
    this.tabs = h("span");
    this.options = labels([""]);
    this.#drawTabs();
    for (const side of this.sides)
      side.onTab = (tab) => {
        if (tab in { predicates: 1, priorities: 1 } && tab !== this.tab) this.#setTab(/** @type {Tab} */ (tab));
      };
    this.columns = h(
      "div",
      { class: "both-columns" },
      this.sides.map(({ element }) => element),
    );
    const head = h("div", { class: "both-head" }, this.verdict, this.tabs);
    fill(host, this.#transport(), this.track.element, head, this.columns, this.moved);
    host.hidden = false;
    this.host = host;
    this.#keys();
  }

  #transport() {
    const button = (
      /** @type {string} */ name,
      /** @type {string} */ label,
      /** @type {() => void} */ act,
      /** @type {string} */ text = "",
    ) =>
      h(
        "button",
        { type: "button", class: text ? "btn" : "btn square", "aria-label": label, title: label, onclick: act },
        icon(name),
        text ? h("span", { text }) : null,
      );
    const many = this.rows.different.length;
    return h(
      "div",
      { class: "both-transport", role: "group", "aria-label": "Transport" },
      button("first", "To the start (Home)", () => this.goto(0)),
      button("back", "Both one cycle back (←)", () => this.goto(this.row - 1)),
      button("step", "Both one cycle on (→)", () => this.goto(this.row + 1)),
      button("last", "To the end (End)", () => this.goto(this.rows.count)),
      this.place,
      h("span", { class: "grow" }),
      many
        ? [
            h("span", {
              class: "dim",
              text: `${plural(many, "different decision")}${this.found.moreDifferences ? " and more" : ""}`,
            }),
            button("left", "Previous different decision (Shift N)", () => this.seek(-1), "Previous"),
            button("spot", "First different decision", () => this.goto(this.rows.different[0]), "First"),
            button("right", "Next different decision (N)", () => this.seek(1), "Next"),
          ]
        : h("span", { class: "dim", text: "Every decision is the same" }),
    );
  }

  /**
   * Open both runs, and show a row, else the first difference.
   *
   * @param {number} row
   * @param {string} tab
   */
  async open(row, tab) {
    this.track.paint();
    if (tab in { predicates: 1, priorities: 1 }) {
      this.#chosen = true;
      this.#setTab(/** @type {Tab} */ (tab));
    }
    await Promise.allSettled(this.sides.map((side) => side.open()));
    this.options = labels(this.sides.map(({ playback }) => playback.release));
    this.#drawTabs();
    this.goto(row || this.rows.different[0] || 0);
  }

  /** @param {number} row */
  goto(row) {
    this.row = Math.max(0, Math.min(this.rows.count, row));
    const pair = this.rows.at(this.row);
    const passed = this.rows.upTo(this.row);
    for (const side of this.sides) {
      const name = side.name;
      if (side.playback.nodes) side.goto(passed[name], !this.row || pair[name] > 0);
    }
    this.place.textContent = `${count(this.row)} of ${count(this.rows.count)}`;
    this.track.show(this.row);
    this.#changed();
    this.onMove?.();
  }

  /** @type {(() => void) | null} */
  onMove = null;

  /** @param {1 | -1} direction */
  seek(direction) {
    const row = this.rows.seek(this.row, direction);
    if (row) this.goto(row);
    else announce(direction > 0 ? "There is no further different decision." : "There is none before.");
  }

  #drawTabs() {
    const onChange = (/** @type {string} */ tab) => {
      this.#chosen = true;
      this.#setTab(/** @type {Tab} */ (tab));
    };
    render(component(Segmented, { label: "Matrix", options: this.options, value: this.tab, onChange }), this.tabs);
  }

  /** @param {Tab} tab */
  #setTab(tab) {
    this.tab = tab;
    this.#drawTabs();
    for (const side of this.sides) side.setTab(tab);
    this.onMove?.();
  }

  /** Mark on both stages the pods that are on different nodes at this row, and list them. */
  #compareStages() {
    const passed = this.rows.upTo(this.row);
    if (!this.sides.every(({ name, playback }) => playback.nodes && playback.index === passed[name])) return;
    const { elsewhere } = this;
    elsewhere.update();
    this.sides.forEach(({ stage }, at) => stage.update(elsewhere.flags[at]));
    this.moved.hidden = !elsewhere.count;
    const rest = elsewhere.count - elsewhere.listed.length;
    fill(
      this.moved,
      h("summary", { text: `${plural(elsewhere.count, "pod")} elsewhere at this step` }),
      h(
        "ul",
        { class: "needs" },
        elsewhere.listed.map(([pod, left, right]) =>
          h("li", null, h("b", { text: short(pod) }), `: ${left} on the left, ${right} on the right`),
        ),
        rest ? h("li", { class: "dim", text: `and ${count(rest)} more` }) : null,
      ),
    );
  }

  #changed() {
    this.track.paint();
    this.#compareStages();
    const different = this.rows.different.includes(this.row);
    const { left, right } = this.rows.at(this.row);
    const ready = this.sides.every(
      ({ name, playback }) => playback.index === this.rows.at(this.row)[name] && playback.parts,
    );
    const first = this.row > 0 && left === right && left === this.found.first?.index;
    const rule = first
      ? this.found.first.rule
      : different && ready
        ? decidingRule(this.sides[0].view, this.sides[1].view)
        : null;
    fill(
      this.verdict,
      !this.row
        ? ""
        : !different
          ? "Both decide the same here."
          : !left || !right
            ? "Only one of the runs has this cycle."
            : rule
              ? ["Decided differently by ", h("code", { text: rule }), "."]
              : ready
                ? "Decided differently by no single rule: the queue, a tie, the clusters or the nodes evaluated."
                : "Decided differently.",
    );
    this.host.classList.toggle("is-different", different);
    for (const side of this.sides) side.rule = rule ?? "";
    if (rule && ready && !this.#chosen) {
      // A plugin of v1.37 may both filter and score: a rule that stopped no node is one that scored it.
      const tab = stoppedBy(this.sides[0].view, this.sides[1].view) === rule ? "predicates" : "priorities";
      if (tab !== this.tab) {
        this.#setTab(tab);
        return;
      }
    }
    for (const side of this.sides) side.mark();
    for (const row of $$("[data-pair]")) row.classList.toggle("is-selected", row.dataset.pair === `${left}/${right}`);
  }

  /** The page's keys, as in the workbench; a matrix that has the focus keeps its own. */
  #keys() {
    addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || typing(event) || $("dialog[open]")) return;
      if (targetOf(event).closest?.("table, select, [role=radiogroup]")) return;
      const act = {
        ArrowRight: () => this.goto(this.row + 1),
        ArrowLeft: () => this.goto(this.row - 1),
        n: () => this.seek(1),
        N: () => this.seek(-1),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }
}
