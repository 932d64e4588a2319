// Who won a ranking, and how a tie was broken.

import { h } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { nodeLink } from "./byhand.js";
/** @import { Light, PrioritiesPart } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const TIES_LISTED = 12;

/**
 * Who was chosen with which total, and how a tie was broken.
 *
 * @param {View} view
 * @param {Light} light
 * @param {PrioritiesPart} ranked
 */
export function winner(view, light, ranked) {
  const node = ranked.winner ?? light.node;
  const feasible = plural(ranked.nodes.length, "feasible node");
  const open = view.playback.reached.over
    ? "No node was chosen."
    : `${feasible} are ranked; a later phase takes one of them.`;
  return [
    h(
      "p",
      { class: "story" },
      node === null
        ? open
        : [
            nodeLink(view, node),
            " is chosen with ",
            h("strong", { text: count(view.facts.best) }),
            `, the highest total of ${feasible}.`,
          ],
    ),
    ranked.ties.length > 1 ? tie(view, ranked, node) : null,
  ];
}

/** How one of equal nodes is taken where no counter does. */
function choice(release, atRandom) {
  if (atRandom)
    return (
      "With extenders kube-scheduler picks one of those that they scored at random; here it is always the one that "
      + "comes to the root of a heap of the totals."
    );
  if (release)
    return `kube-scheduler ${release} takes the one that comes to the root of a heap of totals: no choice is random.`;
  return (
    "A KubeSchedulerConfiguration’s scheduler picks one of them at random; here it is always the first in the order of "
    + "the nodes."
  );
}

/** The nodes that share the highest total, in the order of their turns. */
function tie(view, { ties, counter, inTurn, release = "", atRandom = false }, node) {
  const place = inTurn ? counter % ties.length : Math.max(0, ties.indexOf(node));
  const from = Math.max(0, Math.min(place - Math.floor(TIES_LISTED / 2), ties.length - TIES_LISTED));
  const listed = ties.slice(from, from + TIES_LISTED);
  return h(
    "div",
    { class: "tie" },
    inTurn
      ? h(
          "p",
          null,
          `${plural(ties.length, "node")} share that total. Equal totals are ordered by node name, `,
          "last first. The round-robin counter stands at ",
          h("strong", { text: count(counter) }),
          ": ",
          h("code", { text: `${count(counter)} mod ${count(ties.length)} = ${count(place)}` }),
          `, so the ${ordinal(place + 1)} of them is taken.`,
        )
      : h("p", null, `${plural(ties.length, "node")} share that total. `, choice(release, atRandom)),
    h(
      "ol",
      { class: "ties", start: from + 1 },
      from > 0 ? h("li", { class: "dim plain", text: "…" }) : null,
      listed.map((one, i) =>
        h(
          "li",
          { class: from + i === place ? "won" : undefined },
          h("span", { class: "dim num", text: String(from + i) }),
          nodeLink(view, one),
        ),
      ),
      from + listed.length < ties.length
        ? h("li", { class: "dim plain", text: `… ${count(ties.length - from - listed.length)} more` })
        : null,
    ),
  );
}

/** @param {number} n */
function ordinal(n) {
  const tail = n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${n}${tail}`;
}
