// A plain table that can be copied with its header, by a button or by Ctrl C within it, and whose columns sort.

import { h, icon, copy, toast } from "./dom.js";

const text = (cell) => (cell?.textContent ?? "").replace(/\s+/g, " ").trim();

/** Header and rows as they stand, tab separated. */
export const tsvOf = (table) => [...table.rows].map((row) => [...row.cells].filter((cell) => !cell.matches(".bar-cell, td:empty")).map(text).join("\t")).join("\n");

/** A table with what it takes around it; `sorts` where its rows stand for themselves. */
export function tabled(table, { sorts = true } = {}) {
  const act = async () => toast(await copy(tsvOf(table)) ? `${table.tBodies[0].rows.length} rows copied` : "The browser refused the clipboard", { name: "copy" });
  table.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "c" || String(getSelection())) return;
    event.preventDefault();
    act();
  });
  if (sorts) for (const head of table.tHead.rows[0].cells) if (text(head)) sortable(table, head);
  return h("div", { class: "tabled" }, h("div", { class: "tabled-tools" }, h("button", { type: "button", class: "btn quiet square", "aria-label": "Copy as tab separated text", title: "Copy as tab separated text (Ctrl C in the table)", "data-copy-tsv": true, onclick: act }, icon("copy"))), table);
}

/** Let a header sort the rows that are there: numbers as numbers, downwards first; a third press brings the order back. */
function sortable(table, head) {
  const given = [...table.tBodies[0].rows];
  const label = text(head);
  const at = head.cellIndex;
  const number = (row) => Number(text(row.cells[at]).replace(/[,%]/g, ""));
  const numeric = given.length > 0 && given.every((row) => !Number.isNaN(number(row)));
  const first = numeric ? "descending" : "ascending";
  const button = h("button", { type: "button", class: "sorter", onclick: () => {
    const was = head.getAttribute("aria-sort");
    const next = !was ? first : was === first ? (first === "ascending" ? "descending" : "ascending") : "";
    for (const other of table.tHead.rows[0].cells) { other.removeAttribute("aria-sort"); const one = other.querySelector(".sorter"); if (one) one.textContent = one.dataset.label; }
    const compare = (a, b) => (numeric ? number(a) - number(b) : text(a.cells[at]).localeCompare(text(b.cells[at]), "en", { numeric: true }));
    const rows = next ? [...given].sort((a, b) => (next === "ascending" ? 1 : -1) * compare(a, b)) : given;
    if (next) { head.setAttribute("aria-sort", next); button.textContent = `${label} ${next === "ascending" ? "↑" : "↓"}`; }
    table.tBodies[0].replaceChildren(...rows);
  }, "data-label": label, text: label });
  head.replaceChildren(button);
}
