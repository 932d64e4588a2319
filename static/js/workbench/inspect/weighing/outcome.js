// The outcome of other weights: who would win, and the ranking. `cycle` is the ranked cycle: `{view, ranked, made,
// scales, link(position), kept}`.

import { h, icon } from "../../../lib/dom.js";
import { count, plural } from "../../../lib/quantity.js";
import { tabled } from "../../../lib/tables.js";
import { aboutNode } from "../byhand.js";
import { rankOf, topOf } from "../weights.js";
/** @import { PrioritiesPart } from "../../../lib/protocol.js" */
/** @import { Ranking } from "../ranked.js" */
/** @import { View } from "../../view.js" */

/** @typedef {{ view: View, ranked: PrioritiesPart, made: Ranking, scales: any, link: any, kept?: any }} Ranked */

const LISTED = 6; // nodes of the ranking

/**
 * Who would win with the weights that are tried, in words; `asDecided`: they are those in force.
 *
 * @param {Ranked} cycle
 * @param {ArrayLike<number>} totals
 * @param {any} choice
 * @param {boolean} asDecided
 */
export function outcome({ ranked, made, scales, link }, totals, choice, asDecided) {
  const decided = made.at.get(ranked.winner);
  const { inTurn, counter, heap } = scales;
  const many = choice.ties.length;
  const turn = `the counter, ${count(counter)} mod ${count(many)} = ${count(counter % many)}, takes it`;
  const first = heap ? "it comes to the root of the heap" : "it is the first of them";
  const tie = many > 1 ? `, as ${plural(many, "node")} have: ${inTurn ? turn : first}` : "";
  const sum = ` with ${count(choice.best)}${tie}`;
  if (asDecided) return ["As decided: ", link(choice.winner), `${sum}. Move a weight.`];
  if (choice.winner === decided) return ["Still ", link(choice.winner), `,${sum}.`];
  return [
    link(choice.winner),
    ` would have won${sum}; `,
    ...(decided === undefined
      ? ["nothing was chosen."]
      : [link(decided), ` would have ${count(totals[decided])}, rank ${count(rankOf(totals, decided))}.`]),
  ];
}

/** The best nodes with the weights that are tried, as a table. */
export function ranking({ view, made, scales, link, kept }, totals, choice, asDecided) {
  const top = topOf(scales, totals, LISTED);
  if (!top.includes(choice.winner)) top.splice(0, 1, choice.winner); // of very many equal ones the one that is taken
  const { rank } = made;
  const move = (was, is) =>
    was === is
      ? h("span", { class: "dim", text: "–" })
      : h("span", {
          class: was > is ? "pass-text" : "fail-text",
          text: `${was > is ? "↑" : "↓"} from ${count(was)}`,
        });
  return [
    tabled(
      h(
        "table",
        { class: "list tight" },
        h("caption", { class: "sr", text: "The best nodes with these weights" }),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col", class: "num", text: "rank" }),
            h("th", { scope: "col", text: "node" }),
            h("th", { scope: "col", class: "num", text: "sum" }),
            h("th", { scope: "col", class: "num", text: "moved" }),
          ),
        ),
        h(
          "tbody",
          null,
          top.map((one) => {
            const now = rankOf(totals, one);
            return h(
              "tr",
              { class: one === choice.winner ? "won" : undefined, ...aboutNode(view, made.nodes[one]) },
              h("td", { class: "num", text: count(now) }),
              h(
                "th",
                { scope: "row" },
                link(one),
                one === choice.winner
                  ? h("span", { class: "pill accent" }, icon("check"), asDecided ? "chosen" : "would win")
                  : null,
              ),
              h("td", { class: "num", text: count(totals[one]) }),
              h("td", { class: "num", "data-value": rank[one] - now }, move(rank[one], now)),
            );
          }),
        ),
      ),
      { head: h("h4", { text: "Ranking with these weights" }), kept: kept, name: "ranking" },
    ),
    scales.size > top.length
      ? h("p", { class: "dim fine", text: `and ${plural(scales.size - top.length, "more node")} behind` })
      : null,
  ];
}
