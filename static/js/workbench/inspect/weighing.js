// Weights live: a slider for each priority, and at once which node would have won this cycle, the ranking, and where
// the winner flips.

import { h, fill, icon, announce, perFrame, toast } from "../../lib/dom.js";
import { count, ellipsis, plural } from "../../lib/quantity.js";
import { lines } from "./lines.js";
import { termsOf } from "../terms.js";
import { nodeLink } from "./byhand.js";
import { rankedOf } from "./ranked.js";
import { outcome, ranking } from "./weighing/outcome.js";
import { reachOf, showWeight, weightSlider } from "./weighing/slider.js";
import { MOST_WEIGHT, choiceOf, exact, flipsOf, nearest, scalesOf, topOf, totalsWith } from "./weights.js";
/** @import { PrioritiesPart } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const NAME = 24; // characters of a node's name in a row
let opened = false; // kept while the page is: a change of the policy draws the tab again

export class Weighing {
  #weights = []; // as they are tried
  #row = 0; // the priority whose lines are drawn
  #reach = [];
  #winner = -1;
  #rows = [];
  #kept; // how its tables are sorted
  #key = "";

  /** @param {View} view */
  constructor(view, options) {
    this.view = view;
    this.#kept = view.lists.of("priorities");
    this.options = options; // {apply(weights, when, profile)}
    this.paint = perFrame(() => this.#paint());
    this.teaser = h("small", { class: "dim num" });
    this.button = h(
      "button",
      { type: "button", class: "weigh-open", "aria-expanded": "false", onclick: () => this.#open(!opened) },
      icon("right"),
      "Try other weights",
    );
    this.result = h("p", { class: "story weigh-result" });
    this.list = h("ul", { class: "weigh-rows" });
    this.alike = h("details", { class: "weigh-alike" });
    this.figure = h("figure", { class: "weigh-figure" });
    this.ranking = h("div", { class: "weigh-ranking" });
    this.acts = h("div", { class: "weigh-acts" });
    this.body = h(
      "div",
      { class: "weigh-body", hidden: true },
      this.result,
      this.list,
      this.alike,
      this.figure,
      this.ranking,
      this.acts,
    );
    this.element = h(
      "section",
      { class: "weighing", "aria-label": "Weights" },
      h("h3", null, this.button, " ", this.teaser),
      this.body,
    );
  }

  get #names() {
    return this.view.playback.nodes.names;
  }

  /** @param {boolean} open */
  #open(open) {
    opened = open;
    this.button.setAttribute("aria-expanded", String(opened));
    this.body.hidden = !opened;
    if (opened && this.ranked) {
      this.#draw();
      this.#paint();
    }
  }

  /**
   * Show a cycle's ranking; what was tried stays only where it is the same cycle.
   *
   * @param {PrioritiesPart} ranked
   */
  show(ranked) {
    const { index } = this.view.playback;
    this.ranked = ranked;
    this.made = rankedOf(ranked, this.#names);
    this.scales = scalesOf(ranked, this.made, this.#names);
    const key = `${index}/${this.made.rows.map((row) => `${row.name}×${row.weight}`).join()}`;
    this.element.hidden = this.made.rows.length === 0;
    if (this.element.hidden) return;
    if (key !== this.#key) {
      const row = this.made.rows[this.#row];
      if (this.rowName !== row?.name || row?.flat)
        this.#row = Math.max(
          0,
          this.made.rows.findIndex(({ name, flat }) => name === this.rowName && !flat),
          this.made.rows.findIndex(({ flat }) => !flat),
        );
      this.#key = key;
      this.#weights = [...this.scales.weights];
      this.#winner = -1;
      this.#drawn = false;
    }
    this.#tease();
    if (opened !== !this.body.hidden) this.#open(opened);
    else if (opened) {
      this.#draw();
      this.#paint();
    }
  }

  #drawn = false;

  /** The nearest flip of all: what a small change would have done. */
  #tease() {
    if (!exact(this.scales, this.scales.weights)) {
      this.teaser.textContent = "";
      return;
    }
    if (this.teased === this.#key) return;
    this.teased = this.#key;
    const found = this.made.rows
      .filter((row) => !row.flat)
      .flatMap((row) => {
        const flip = nearest(flipsOf(this.scales, this.scales.weights, row.index), row.weight);
        return flip ? [{ row, ...flip, far: Math.abs(flip.weight - row.weight) / Math.max(1, row.weight) }] : [];
      })
      .sort((a, b) => a.far - b.far)[0];
    if (!found) {
      this.teaser.textContent = "no single weight would have changed the choice";
      return;
    }
    const { row } = found;
    const weights = `${count(found.weight)} instead of ${count(row.weight)}`;
    this.teaser.textContent = `${row.label} ${row.short} at ${weights}: ${this.#name(found.winner)} wins`;
  }

  #name(position, most = NAME) {
    return ellipsis(this.#names[this.made.nodes[position]], most);
  }

  // --- the sliders ------------------------------------------------------------------------

  #draw() {
    if (this.#drawn) return;
    this.#drawn = true;
    const scales = this.scales;
    if (!exact(scales, scales.weights)) {
      fill(this.list);
      fill(this.alike);
      fill(this.figure);
      fill(this.ranking);
      fill(this.acts);
      fill(this.result, "The browser cannot add these weights exactly. The engine's own sums are in the matrix below.");
      return;
    }
    this.#rows = this.made.rows.map((row, r) => this.#slider(row, r));
    const { scorer, scorers } = termsOf(this.ranked.release);
    const alike = this.#rows.filter(({ row }) => row.flat);
    fill(
      this.list,
      this.#rows.filter(({ row }) => !row.flat).map(({ element }) => element),
    );
    this.alike.hidden = alike.length === 0;
    fill(
      this.alike,
      h("summary", {
        text:
          `${alike.length === this.#rows.length ? "" : "and "}${plural(alike.length, scorer, scorers)} that `
          + "score every node alike here, so that no weight of theirs matters",
      }),
      h(
        "ul",
        { class: "weigh-rows" },
        alike.map(({ element }) => element),
      ),
    );
    const { mine, canFork } = this.view.settings ?? {};
    const act = (when, name, text, title) =>
      h(
        "button",
        { type: "button", class: "btn", "data-weigh": when, title, onclick: () => this.#apply(when) },
        icon(name),
        text,
      );
    const form = scales.heap ? "KubeSchedulerConfiguration" : "Policy";
    this.reset = h("button", { type: "button", class: "btn quiet", onclick: () => this.#reset(), text: "Reset" });
    this.applies = mine
      ? [
          act(
            "start",
            "check",
            "Apply from the start",
            `Write these weights into the ${form}: the simulation restarts with them`,
          ),
          act(
            "before",
            "here",
            "Apply before this cycle",
            "An operation right before this cycle restarts the scheduler with these weights",
          ),
        ]
      : canFork
        ? [
            act("start", "fork", "Apply in a copy", `A draft of your own with these weights in its ${form}`),
            act(
              "before",
              "here",
              "In a copy, before this cycle",
              "A draft of your own, whose scheduler restarts with these weights right before this cycle",
            ),
          ]
        : [];
    this.note = h("p", {
      class: "dim fine weigh-note",
      text:
        "Applied from the start, earlier pods may be placed differently too. Applied before this cycle, the "
        + `scheduler restarts: it retries all pending pods${
          scales.heap ? "" : ", and its tie-break counter is reset to 0"
        }.`,
    });
    fill(this.acts, this.reset, this.applies, this.applies.length ? this.note : null);
  }

  #slider(row, r) {
    this.#reach[r] = reachOf(flipsOf(this.scales, this.#weights, r), row.weight);
    return weightSlider(row, r, {
      reach: this.#reach[r],
      attempt: (weight) => this.#try(r, weight),
      choose: () => this.#choose(r),
      current: () => this.#weights[r],
    });
  }

  /** @param {number} r */
  #choose(r) {
    if (this.#row === r && this.rowName === this.made.rows[r].name) return;
    this.#row = r;
    this.rowName = this.made.rows[r].name;
    this.paint();
  }

  /**
   * @param {number} r
   * @param {number} weight
   */
  #try(r, weight) {
    const value = Math.min(MOST_WEIGHT, Math.max(0, Math.floor(weight)));
    this.#row = r;
    this.rowName = this.made.rows[r].name;
    this.#weights[r] = value;
    this.paint();
  }

  #reset() {
    this.#weights = [...this.scales.weights];
    this.#paint();
    this.#rows[this.#row]?.range.focus();
  }

  get #changed() {
    return this.#weights.some((weight, r) => weight !== this.scales.weights[r]);
  }

  // --- the outcome -------------------------------------------------------------------

  #paint() {
    if (!this.ranked || this.body.hidden || !this.#rows.length || this.#rows[0].row !== this.made.rows[0]) return;
    const began = performance.now();
    const scales = this.scales;
    if (!exact(scales, this.#weights)) {
      this.result.textContent = "The browser cannot add these weights exactly.";
      return;
    }
    const totals = totalsWith(scales, this.#weights);
    const choice = choiceOf(scales, totals);
    this.now = {
      weights: [...this.#weights],
      node: this.made.nodes[choice.winner],
      best: choice.best,
      ties: choice.ties.map((one) => this.made.nodes[one]),
    };
    const all = this.#rows.map((_, r) => flipsOf(scales, this.#weights, r, totals));
    this.#rows.forEach((one, r) => {
      const weight = this.#weights[r];
      showWeight(one, {
        weight,
        reach: Math.max(this.#reach[r], weight),
        flips: all[r],
        winner: choice.winner,
        drawn: r === this.#row,
        name: (position, most) => this.#name(position, most),
      });
    });
    const asDecided = !this.#changed;
    fill(this.result, outcome(this.#cycle, totals, choice, asDecided));
    this.result.classList.toggle("other", !asDecided && choice.winner !== this.made.at.get(this.ranked.winner));
    fill(this.ranking, ranking(this.#cycle, totals, choice, asDecided));
    this.#figure(all[this.#row], totals, choice);
    this.reset.disabled = !this.#changed;
    for (const button of this.applies)
      button.disabled = !this.#changed || this.#weights.every((weight) => weight === 0);
    if (this.#winner !== choice.winner && this.#winner >= 0)
      announce(`${this.#name(choice.winner, 80)} would win with ${count(choice.best)}.`);
    this.#winner = choice.winner;
    if (window.podstep) window.podstep.weighing = { took: performance.now() - began }; // for the browser tests
  }

  /** The ranked cycle, as outcome.js takes it. */
  get #cycle() {
    const { view, ranked, made, scales } = this;
    const link = (position) => nodeLink(view, made.nodes[position], NAME);
    return { view, ranked, made, scales, link, kept: this.#kept };
  }

  #figure(flips, totals, choice) {
    const r = this.#row;
    const row = this.made.rows[r];
    const reach = Math.max(this.#reach[r], this.#weights[r]);
    const decided = this.made.at.get(this.ranked.winner);
    const selected = this.made.at.get(this.view.node);
    const score = this.scales.scores[r];
    const drawn = [
      ...new Set(
        [
          choice.winner,
          ...flips.filter(({ from }) => from <= reach).map(({ winner }) => winner),
          decided,
          selected,
          ...topOf(this.scales, totals, 3),
        ].filter((one) => one !== undefined),
      ),
    ];
    lines(this.figure, {
      title: `${row.label} ${row.short}`,
      what: row.name,
      weight: this.#weights[r],
      asIs: this.scales.weights[r],
      reach,
      flips,
      series: drawn.map((one) => ({
        id: one,
        node: this.made.nodes[one],
        name: this.#name(one, 80),
        slope: score[one],
        base: totals[one] - this.#weights[r] * score[one],
        wins: flips.some(({ winner }) => winner === one),
      })),
      winner: choice.winner,
      name: (one) => this.#name(one, 80),
      nodeOf: (one) => this.made.nodes[one],
      kept: this.#kept,
      onWeight: (weight) => this.#try(r, weight),
      view: this.view,
    });
  }

  // --- putting it in force ----------------------------------------------------------------

  async #apply(when) {
    const weights = Object.fromEntries(
      this.made.rows.flatMap((row, r) => (this.#weights[r] === row.weight ? [] : [[row.name, this.#weights[r]]])),
    );
    for (const button of this.applies) button.disabled = true;
    try {
      await this.options.apply(weights, when, this.ranked.profile ?? "");
    } catch (error) {
      toast(error.body?.errors?.[0]?.message ?? error.message, { name: "warn", ms: 7000 });
      for (const button of this.applies) button.disabled = false;
    }
  }
}
