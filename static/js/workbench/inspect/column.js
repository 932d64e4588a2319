// One node's column of the matrix, and one cell of it worked out: the formula of a priority with the node's numbers.

import { h, fill, icon, debounce } from "../../lib/dom.js";
import { Lru } from "../../lib/lru.js";
import { count, plural } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { capital, termsOf } from "../terms.js";
import { nodeLink } from "./byhand.js";
import { stack } from "./scores.js";
/** @import { PrioritiesPart } from "../../lib/protocol.js" */
/** @import { Ranking } from "./ranked.js" */
/** @import { View } from "../view.js" */

const KEPT = 60; // explanations
const SOON = 60; // ms to wait before asking: who plays passes many cycles
const KINDS = {
  function: "Function: one call scores the whole list of nodes, so there is no map step.",
  map: "Map alone: each node is valued by itself, and the value is the score.",
  "map/reduce": "Map and Reduce: each node is valued by itself, then the values are compared.",
  plugin: "Score and NormalizeScore: each node is scored by itself, then the scores may be brought to one scale.",
  extender: "The extender scores the nodes from 0 to 10, which is brought to 0 to 100.",
};
const STAGES = {
  function: ["Function", "Compared"],
  map: ["Map", ""],
  "map/reduce": ["Map", "Reduce"],
  plugin: ["Score", "NormalizeScore"],
  extender: ["Prioritize", "Scaled"],
};

export class Column {
  #known = new Lru(KEPT);
  #wanted = "";
  #shown = null;
  #reveal = false;
  #terms = termsOf();

  /** @param {View} view */
  constructor(view, pick) {
    this.view = view;
    this.pick = pick;
    this.kept = {}; // how its table is sorted
    this.ask = debounce(() => this.#fetch(), SOON);
    this.bars = h("section", { class: "column-of" });
    this.formula = h("section", { class: "formula", "aria-live": "polite" });
    this.element = h("div", { class: "score-detail" }, this.formula, this.bars);
  }

  /**
   * Show what a node got, and how priority `picked` (-1 for none) scored it.
   *
   * @param {PrioritiesPart} ranked
   * @param {Ranking} made
   */
  show(ranked, made, picked) {
    const { view } = this;
    const chosen = ranked.winner ?? made.nodes[made.order[0]];
    const asked = view.node >= 0 && made.at.has(view.node) ? view.node : chosen;
    this.#bars(ranked, made, asked, picked);
    const row = made.rows[picked];
    const { column, scorers } = (this.#terms = termsOf(ranked.release));
    if (!row) {
      this.#wanted = "";
      fill(
        this.formula,
        made.rows.length
          ? h("p", {
              class: "dim fine",
              text: `Choose a ${column} here or in the matrix to see how its score was computed.`,
            })
          : h("p", {
              class: "dim fine",
              text: ranked.release
                ? `The profile enables no ${scorers}.`
                : `The policy names no ${scorers}, so every feasible node gets the total 1.`,
            }),
      );
      return;
    }
    const { index } = view.playback;
    this.#shown = { row, name: view.playback.nodes.names[asked] };
    this.#wanted = `${index}/${asked}/${picked}`;
    const known = this.#known.get(this.#wanted);
    if (known) this.#formula(known);
    else {
      this.formula.classList.add("waiting");
      this.ask();
    }
  }

  /** Scroll to the formula once it is there, if it cannot be seen: a priority was chosen for it. */
  reveal() {
    this.#reveal = true;
    if (!this.formula.classList.contains("waiting")) this.#scroll();
  }

  #scroll() {
    if (!this.#reveal) return;
    this.#reveal = false;
    this.formula.scrollIntoView({ block: "nearest" });
  }

  async #fetch() {
    const wanted = this.#wanted;
    if (!wanted || this.#known.has(wanted)) return;
    const { playback } = this.view;
    const [cycle, node, priority] = wanted.split("/").map(Number);
    try {
      const answer = await playback.socket.call("scores.explain", { source: playback.source, cycle, node, priority });
      this.#known.set(wanted, answer);
      if (wanted === this.#wanted) this.#formula(answer);
    } catch (error) {
      if (error.code === "request.superseded" || wanted !== this.#wanted) return;
      this.formula.classList.remove("waiting");
      fill(this.formula, h("p", { class: "stale-text", text: `This could not be computed: ${error.message}` }));
    }
  }

  // --- the node's column ------------------------------------------------------------------

  /**
   * @param {PrioritiesPart} ranked
   * @param {Ranking} made
   */
  #bars(ranked, made, node, picked) {
    const { view } = this;
    const { names } = view.playback.nodes;
    const { column, filters } = termsOf(ranked.release);
    const i = made.at.get(node);
    const total = made.totals[i];
    const behind = made.best - total;
    const missing = view.node >= 0 && view.node !== node ? names[view.node] : "";
    const same = made.rows.filter((row) => row.flat);
    const common = same.reduce((sum, row) => sum + row.score[i] * row.weight, 0);
    const varied = made.rows.length - same.length;
    const below = behind ? `${count(behind)} behind the best` : "equal to the best";
    const place = node === ranked.winner ? "chosen" : below;
    fill(
      this.bars,
      h(
        "h3",
        null,
        h("span", null, `N${made.number[i]} `, nodeLink(view, node)),
        h("small", {
          class: "dim num",
          text: `rank ${count(made.rank[i])} of ${count(made.nodes.length)}, ${place}`,
        }),
      ),
      missing
        ? h(
            "p",
            { class: "fine" },
            nodeLink(view, missing),
            ` has no scores, because it did not pass the ${filters}. `,
            h("button", { type: "button", class: "link", onclick: () => view.setTab("predicates"), text: "See which" }),
          )
        : null,
      varied ? h("div", { "aria-hidden": "true" }, stack(made, i)) : null,
      made.rows.length
        ? tabled(
            h(
              "table",
              { class: "list tight contributions" },
              h("caption", { class: "sr", text: `What each ${column} adds to the total of ${names[node]}` }),
              h(
                "thead",
                null,
                h(
                  "tr",
                  null,
                  [column, "kind", "score", "× weight", "adds"].map((text, n) =>
                    h("th", { scope: "col", class: n > 1 ? "num" : undefined, text }),
                  ),
                ),
              ),
              h(
                "tbody",
                null,
                made.rows.map((row) => this.#contribution(row, i, picked)),
              ),
              h(
                "tfoot",
                null,
                h(
                  "tr",
                  null,
                  h("th", { scope: "row", colspan: "4", text: "Combine, their sum" }),
                  h("td", { class: "num" }, h("b", { text: count(total) })),
                ),
              ),
            ),
            { head: h("h4", { text: `What each ${column} adds` }), kept: this.kept, name: "adds" },
          )
        : null,
      same.length
        ? h("p", {
            class: "dim fine",
            text: alike(same, common, varied ? total - common : null, termsOf(ranked.release)),
          })
        : null,
    );
  }

  #contribution(row, i, picked) {
    return h(
      "tr",
      { class: `${row.flat ? "same" : ""} ${row.index === picked ? "picked" : ""}`.trim() || undefined },
      h(
        "th",
        { scope: "row" },
        h("button", {
          type: "button",
          class: "link",
          "aria-pressed": String(row.index === picked),
          "data-priority": row.index,
          title: "How the score was computed",
          onclick: () => this.pick(row.index),
          text: `${row.label} ${row.short}`,
        }),
        row.flat ? h("small", { class: "dim", text: " same for all" }) : null,
      ),
      h("td", { class: "dim", text: row.kind }),
      h("td", { class: "num", text: String(row.score[i]) }),
      h("td", { class: "num dim", text: `× ${count(row.weight)}` }),
      h("td", { class: "num" }, h("b", { text: count(row.score[i] * row.weight) })),
    );
  }

  // --- a cell worked out ------------------------------------------------------------------

  #formula(answer) {
    const { row, name } = this.#shown;
    const [first, second] = STAGES[answer.kind];
    const { all, reference, column } = this.#terms;
    const [low, high] = answer.range;
    this.formula.classList.remove("waiting");
    fill(
      this.formula,
      h(
        "h3",
        null,
        `${row.label} ${answer.name} `,
        h("small", { class: "dim", text: `on ${name}` }),
        " ",
        h(
          "a",
          {
            class: "ref",
            href: `${reference}#${encodeURIComponent(answer.reference ?? all)}`,
            target: "_blank",
            rel: "noopener",
            title: `${answer.reference ?? capital(all)} in the reference`,
          },
          "Reference",
          h("span", { class: "sr", text: ` of ${answer.name}, opens another page` }),
        ),
      ),
      h("p", { text: answer.prefers }),
      h("p", { class: "dim fine", text: KINDS[answer.kind] }),
      steps(first, answer.value, answer.map === null ? null : `${first.toLowerCase()} gave ${count(answer.map)}`),
      second ? steps(second, answer.scale, `score ${answer.score}`) : null,
      steps(
        "Weight",
        [
          {
            of: "adds",
            formula: "score × weight",
            numbers: `${answer.score} × ${count(answer.weight)}`,
            exact: "",
            value: count(answer.weighted),
          },
        ],
        share(answer.weighted, answer.total),
      ),
      h(
        "p",
        { class: low === high ? "dim" : undefined },
        low === high
          ? [icon("warn"), ` Every feasible node scored ${low} here, so this ${column} did not tell them apart.`]
          : `The feasible nodes scored ${low} to ${high} here.`,
      ),
    );
    this.#scroll();
  }
}

function share(points, total) {
  if (!total) return "";
  const part = (points / total) * 100;
  return `${part > 0 && part < 0.1 ? "less than 0.1" : Number(part.toFixed(1))} % of the total ${count(total)}`;
}

/** The lines of one stage: what, in words, with numbers, and what it gives. */
function steps(stage, lines, result) {
  return h(
    "section",
    { class: "stage-of" },
    h("h4", null, stage, result ? h("small", { class: "dim num", text: ` ${result}` }) : null),
    h(
      "ol",
      null,
      lines.map((line) =>
        h(
          "li",
          null,
          h("span", { class: "of", text: line.of }),
          h("span", { class: "words dim", text: line.formula }),
          h(
            "span",
            { class: "sum num" },
            line.numbers ? h("code", { text: line.numbers }) : null,
            ...between(line),
            h("b", { text: line.value }),
          ),
        ),
      ),
    ),
  );
}

/** Which rules gave every node the same; `others` is the rest, which the bar shows, null where there is no bar. */
function alike(rows, each, others, { scorer, scorers }) {
  const names = rows.map((row) => row.short).join(", ");
  const bar = others === null ? "" : `; the bar shows the other ${count(others)}`;
  return (
    `${plural(rows.length, scorer, scorers)} could not tell the nodes apart: ${names}. `
    + `${rows.length > 1 ? "They give" : "It gives"} every feasible node ${count(each)}${bar}.`
  );
}

/**
 * What leads from the numbers to the value: the sum itself where an integer division within it truncates; else the
 * exact result.
 */
function between({ numbers, exact }) {
  const part = exact.includes(" ");
  const gives = part || !(exact || /[<>≤≥]/.test(numbers)) ? "= " : "→ ";
  return [exact ? ` ${part ? "→" : "="} ${exact} ` : " ", h("span", { "aria-hidden": "true", text: gives })];
}
