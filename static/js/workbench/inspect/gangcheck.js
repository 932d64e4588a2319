// The resource check of PreFilter: the need, and what each node in turn has left to take off it.

import { h, icon } from "../../lib/dom.js";
import { amount, count } from "../../lib/quantity.js";
import { nodeLink } from "./nouns.js";

const list = (amounts) => Object.entries(amounts).map(([resource, value]) => `${resource} ${amount(resource, value)}`).join(", ");

export function resourceCheck(view, check) {
  if (!check) return null;
  const num = (text, more) => h("th", { scope: "col", class: "num", text, ...more });
  const cell = (resource, value) => h("td", { class: "num", text: amount(resource, value) });
  const rows = check.nodes.flatMap(({ node, resources }) => resources.map((row, i) => h("tr", null,
    i ? null : h("th", { scope: "rowgroup", rowspan: String(resources.length) }, nodeLink(view, node)), h("td", { text: row.resource }),
    h("td", { class: "num dim", text: `${amount(row.resource, row.allocatable)} − ${amount(row.resource, row.requested)}` }),
    h("td", { class: row.left < 0 ? "num fail-text" : "num", text: amount(row.resource, row.left) }), cell(row.resource, row.needBefore),
    h("td", { class: "num" }, row.needAfter <= 0 ? h("span", { class: "pass-text", text: "met" }) : amount(row.resource, row.needAfter)))));
  return h("section", { class: "gang-check" },
    h("h4", null, h("span", { class: `sign ${check.enough ? "pass-text" : "fail-text"}` }, icon(check.enough ? "check" : "cross")), `Resource check: ${check.enough ? "enough" : "not enough"}`),
    h("p", { class: "fine" }, "Needs ", h("b", { class: "num", text: list(check.need) }), check.enough ? null : [", has a gap of ", h("b", { class: "num fail-text", text: list(check.gap) })], ". ", h("span", { class: "dim", text: "A sum over nodes: fragmentation is not considered, nor are taints and affinity." })),
    h("div", { class: "scroll-x", role: "region", tabindex: "0", "aria-label": "Resource check by node" }, h("table", { class: "list tight" },
      h("thead", null, h("tr", null, ["node", "resource"].map((text) => h("th", { scope: "col", text })), num("has", { title: "allocatable − requested, without the group’s own members" }), num("left"), num("need"), num("gap", { title: "what is still needed after this node" }))), h("tbody", null, rows))),
    check.nodeCount > check.nodes.length ? h("p", { class: "dim fine", text: `and ${count(check.nodeCount - check.nodes.length)} more nodes` }) : null);
}
