// What belongs to a step of a session: a heap as it was, the nodes for a task, each plugin's answer on victims.

import { h } from "../../../lib/dom.js";
import { count, plural, short, trim } from "../../../lib/quantity.js";
import { aboutNode, nodeLink, podLink } from "../byhand.js";
import { held } from "./shares.js";
/** @import { SessionDetail } from "../../../lib/protocol.js" */
/** @import { View } from "../../view.js" */

/**
 * @param {View} view
 * @param {SessionDetail} given
 */
export function detail(view, given) {
  return h(
    "div",
    { class: "session-detail" },
    given.heap ? heap(given.heap) : null,
    given.nodes ? nodes(view, given.nodes) : null,
    given.victims ? victims(view, given.victims) : null,
    given.round ? round(given.round) : null,
    given.operations
      ? h(
          "ol",
          null,
          given.operations.map(([how, task]) => h("li", null, `${how} `, podLink(view, task, { dot: false }))),
        )
      : null,
  );
}

/**
 * The array of a heap by levels: the children of an item are below it.
 *
 * @param {NonNullable<SessionDetail["heap"]>} given
 */
function heap({ size, items, popped }) {
  const levels = [];
  for (let first = 0; first < items.length; first = 2 * first + 1) levels.push(items.slice(first, 2 * first + 1));
  const left = size - items.length;
  return h(
    "div",
    { class: "session-heap" },
    h("p", { class: "dim fine", text: "The heap as it was; an item’s children are on the line below it." }),
    h(
      "ol",
      null,
      levels.map((level) =>
        h(
          "li",
          null,
          level.map((name) => h("span", { class: name === popped ? "pill accent" : "pill", text: short(name) })),
        ),
      ),
    ),
    left > 0 ? h("p", { class: "dim fine", text: `and ${count(left)} more` }) : null,
  );
}

/**
 * @param {View} view
 * @param {NonNullable<SessionDetail["nodes"]>} given
 */
function nodes(
  view,
  { counts: [refused, short_, candidates], refused: reasons, short: lacking, candidates: best, parts, chosen },
) {
  const names = Object.keys(parts);
  return h(
    "div",
    { class: "session-nodes" },
    best.length
      ? h(
          "div",
          { class: "scroll-x" },
          h(
            "table",
            { class: "list tight" },
            h("caption", { class: "sr", text: "Candidates and their scores" }),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                h("th", { scope: "col", text: "candidate" }),
                names.map((name) => h("th", { scope: "col", class: "num", text: name })),
                h("th", { scope: "col", class: "num", text: "score" }),
              ),
            ),
            h(
              "tbody",
              null,
              best.map(([node, score], i) =>
                h(
                  "tr",
                  { class: node === chosen ? "won" : undefined, ...aboutNode(view, node) },
                  h("th", { scope: "row" }, nodeLink(view, node, 26)),
                  names.map((name) => h("td", { class: "num", text: trim(parts[name][i]) })),
                  h("td", { class: "num", text: trim(score) }),
                ),
              ),
            ),
          ),
        )
      : h("p", { text: "No node is a candidate." }),
    candidates > best.length
      ? h("p", { class: "dim fine", text: `and ${plural(candidates - best.length, "more candidate")}` })
      : null,
    lacking.length
      ? h(
          "p",
          null,
          h("b", { text: `${plural(short_, "node")} short of resources: ` }),
          lacking.map((node, i) => [i ? ", " : "", nodeLink(view, node, 26)]),
          short_ > lacking.length ? `, and ${count(short_ - lacking.length)} more` : "",
        )
      : null,
    reasons.length
      ? h(
          "ul",
          { "aria-label": `${plural(refused, "node")} refused by predicates` },
          reasons.map(([why, some, all]) =>
            h(
              "li",
              null,
              `${why}: `,
              some.map((node, i) => [i ? ", " : "", nodeLink(view, node, 26)]),
              all > some.length ? `, and ${count(all - some.length)} more` : "",
            ),
          ),
        )
      : null,
  );
}

/**
 * @param {View} view
 * @param {NonNullable<SessionDetail["victims"]>} given
 */
function victims(view, { what, candidates, count: all, answers, decided }) {
  const pods = (/** @type {string[]} */ keys, /** @type {number} */ size) =>
    size
      ? [
          keys.map((key, i) => [i ? ", " : "", podLink(view, key, { dot: false })]),
          size > keys.length ? `, and ${count(size - keys.length)} more` : "",
        ]
      : h("span", { class: "dim", text: "nobody" });
  return h(
    "div",
    { class: "session-victims scroll-x" },
    h(
      "table",
      { class: "list tight" },
      h("caption", { class: "sr", text: `Victims by tier and plugin (${what})` }),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["tier", "plugin", "accepts"].map((text) => h("th", { scope: "col", text })),
        ),
      ),
      h(
        "tbody",
        null,
        h(
          "tr",
          null,
          h("td", { text: "–" }),
          h("th", { scope: "row", text: "asked about" }),
          h("td", null, pods(candidates, all)),
        ),
        answers.map(([tier, plugin, keys, size]) =>
          h(
            "tr",
            { class: tier === decided ? "won" : undefined },
            h("td", { class: "num", text: count(tier) }),
            h("th", { scope: "row", text: plugin }),
            h("td", null, pods(keys, size)),
          ),
        ),
      ),
    ),
  );
}

/** @param {NonNullable<SessionDetail["round"]>} given */
function round({ queues, after }) {
  const inWords = (/** @type {Record<string, number>} */ amounts) =>
    Object.entries(amounts)
      .map(([name, value]) => `${name} ${held(name, value)}`)
      .join(", ");
  return h(
    "ul",
    null,
    queues.map(([name, weight, deserved, satisfied]) =>
      h(
        "li",
        null,
        h("b", { text: name }),
        ` (weight ${weight}) deserves ${inWords(deserved)}${satisfied ? ", and asks for less" : ""}`,
      ),
    ),
    h("li", { class: "dim", text: `What remains: ${inWords(after)}` }),
  );
}
