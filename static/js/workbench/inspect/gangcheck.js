// The resource check of PreFilter: the need, and what each node in turn has left to take off it.

import { h, icon } from "../../lib/dom.js";
import { amount, count } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { aboutNode, nodeLink } from "./nouns.js";
/** @import { View } from "../view.js" */

const list = (amounts) =>
  Object.entries(amounts)
    .map(([resource, value]) => `${resource} ${amount(resource, value)}`)
    .join(", ");

/** @param {View} view */
export function resourceCheck(view, check, kept) {
  if (!check) return null;
  const num = (text, more) => h("th", { scope: "col", class: "num", text, ...more });
  const cell = (/** @type {string} */ resource, /** @type {number} */ value) =>
    h("td", { class: "num", "data-value": value, text: amount(resource, value) });
  const rows = check.nodes.flatMap(({ node, resources }) =>
    resources.map((row, i) =>
      h(
        "tr",
        { class: i ? "again" : undefined, ...aboutNode(view, node) },
        h("th", { scope: "row" }, nodeLink(view, node)),
        h("td", { text: row.resource }),
        h("td", {
          class: "num dim",
          "data-value": row.allocatable - row.requested,
          text: `${amount(row.resource, row.allocatable)} − ${amount(row.resource, row.requested)}`,
        }),
        h("td", {
          class: row.left < 0 ? "num fail-text" : "num",
          "data-value": row.left,
          text: amount(row.resource, row.left),
        }),
        cell(row.resource, row.needBefore),
        h(
          "td",
          { class: "num", "data-value": row.needAfter },
          row.needAfter <= 0 ? h("span", { class: "pass-text", text: "met" }) : amount(row.resource, row.needAfter),
        ),
      ),
    ),
  );
  return h(
    "section",
    { class: "gang-check" },
    h(
      "h4",
      null,
      h("span", { class: `sign ${check.enough ? "pass-text" : "fail-text"}` }, icon(check.enough ? "check" : "cross")),
      `Resource check: ${check.enough ? "enough" : "not enough"}`,
    ),
    h(
      "p",
      { class: "fine" },
      "Needs ",
      h("b", { class: "num", text: list(check.need) }),
      check.enough ? null : [", has a gap of ", h("b", { class: "num fail-text", text: list(check.gap) })],
      ". ",
      h("span", {
        class: "dim",
        text: "A sum over nodes: fragmentation is not considered, nor are taints and affinity.",
      }),
    ),
    tabled(
      h(
        "table",
        { class: "list tight" },
        h("caption", { class: "sr", text: "Resource check by node" }),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["node", "resource"].map((text) => h("th", { scope: "col", text })),
            num("has", { title: "allocatable − requested, without the group’s own members" }),
            num("left"),
            num("need"),
            num("gap", { title: "what is still needed after this node" }),
          ),
        ),
        h("tbody", null, rows),
      ),
      { filter: "Filter nodes of the resource check", kept, name: "check" },
    ),
    check.nodeCount > check.nodes.length
      ? h("p", { class: "dim fine", text: `and ${count(check.nodeCount - check.nodes.length)} more nodes` })
      : null,
  );
}
