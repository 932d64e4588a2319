// Why? at a moment inside an attempt: what is known of the pod in flight by then. Its outcome, and what would help,
// belong to a later moment.

import { h, icon } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { termsIn } from "../terms.js";
/** @import { View } from "../view.js" */

const NAMED = 8; // nodes of a reason

/**
 * What is known of `pod`, on `node` or on all nodes; `onWhole` shows the cycle to its end.
 *
 * @param {View} view
 */
export function undecided(view, { node }, onWhole) {
  const { playback, facts } = view;
  const { verdict } = facts;
  const { filter } = termsIn(playback);
  const at = playback.phase ? `at the phase ${playback.phase}` : `at moment ${playback.at}`;
  return [
    h(
      "section",
      { class: "why-about" },
      h(
        "p",
        { class: "why-row" },
        h("span", { class: "pill accent", text: "in flight" }),
        h("span", { class: "dim", text: `cycle ${count(playback.index)}, ${at}` }),
      ),
      h("p", {
        class: "why-summary",
        text: verdict
          ? `${count(verdict.feasible)} of ${plural(verdict.evaluated, "node")} `
            + `${verdict.feasible === 1 ? "passes" : "pass"} every ${filter}. The pod’s result is decided later.`
          : `No ${filter} has run for this pod at this moment.`,
      }),
    ),
    !verdict ? null : node ? one(view, verdict, node) : reasons(view, verdict),
    h(
      "div",
      { class: "why-row" },
      h(
        "button",
        { type: "button", class: "btn", onclick: onWhole },
        icon("step"),
        "Show the whole cycle, and what would help",
      ),
    ),
  ];
}

/** @param {View} view */
function one(view, verdict, name) {
  const node = view.playback.nodeIndex.get(name) ?? -1;
  if (node < 0 || !view.exists(node)) return null;
  return h(
    "section",
    { class: "why-node" },
    h("h3", { text: name }),
    verdict.fits(node)
      ? h("p", { class: "pass-text" }, icon("check"), ` Every ${termsIn(view.playback).filter} passes on ${name}.`)
      : h(
          "ul",
          { class: "why-failures" },
          h(
            "li",
            null,
            h("p", { class: "why-predicate" }, icon("cross"), h("b", { text: verdict.stopper(node) })),
            h(
              "ul",
              null,
              verdict.reasonsOf(node).map((text) => h("li", { text })),
            ),
          ),
        ),
  );
}

/**
 * The reasons, each with its nodes, the most first.
 *
 * @param {View} view
 */
function reasons(view, verdict) {
  const { names } = view.playback.nodes;
  const found = new Map();
  for (let node = 0; node < verdict.count; node += 1) {
    if (verdict.fits(node) || !view.exists(node)) continue;
    for (const text of new Set(verdict.reasonsOf(node))) {
      if (found.has(text)) found.get(text).push(node);
      else found.set(text, [node]);
    }
  }
  if (!found.size) return null;
  return h(
    "section",
    { class: "why-groups" },
    h("h3", { text: "Nodes, by what fails there" }),
    h(
      "ul",
      null,
      [...found]
        .sort(([, a], [, b]) => b.length - a.length)
        .map(([text, nodes]) =>
          h(
            "li",
            null,
            h("span", { class: "why-count num", text: count(nodes.length) }),
            h(
              "div",
              null,
              h("p", { text }),
              h(
                "div",
                { class: "chips" },
                nodes.slice(0, NAMED).map((node) => h("span", { class: "chip", text: names[node] })),
                nodes.length > NAMED
                  ? h("span", { class: "dim fine", text: `and ${count(nodes.length - NAMED)} more` })
                  : null,
              ),
            ),
          ),
        ),
    ),
  );
}
