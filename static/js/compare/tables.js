// The tables that the server drew get what the workbench's have: sorting, a filter, copying; that of placements also
// two lists of nodes.

import { $, $$, h } from "../lib/dom.js";
import { tabled } from "../lib/tables.js";

export function tables() {
  for (const host of $$("[data-table]")) {
    const table = $("table", host);
    const element = tabled(table, {
      filter: host.dataset.table,
      tools: "nodes" in host.dataset ? nodeLists(table) : null,
    });
    host.replaceChildren(element);
  }
}

/**
 * Narrow to pods that end on one node on the left, and on one on the right.
 *
 * @param {HTMLTableElement} table
 */
function nodeLists(table) {
  const rows = [...table.tBodies[0].rows];
  const names = (/** @type {number} */ column) =>
    [...new Set(rows.map((row) => row.cells[column].textContent ?? ""))].sort((a, b) =>
      a.localeCompare(b, "en", { numeric: true }),
    );
  const list = (/** @type {number} */ column, /** @type {string} */ side) =>
    h(
      "select",
      { class: "field filter", "aria-label": `Node on the ${side}`, onchange: narrow },
      h("option", { value: "", text: `any ${side}` }),
      names(column).map((name) => h("option", { value: name, text: name })),
    );
  const lists = [list(1, "left"), list(2, "right")];
  function narrow() {
    for (const row of rows)
      row.hidden = lists.some(({ value }, at) => Boolean(value) && row.cells[at + 1].textContent !== value);
  }
  return lists;
}
