// The form of a sweep: axes that are added to the grid, and how many cells it has, as far as that can be read here.

import { $, $$ } from "../lib/dom.ts";
import { count, plural } from "../lib/quantity.ts";

const text = $("textarea[name=text]");
const LISTED = /^ {0,4}(?:- )?["']?[\w.-]+["']?: *\[([^[\]{}]*)\] *(?:#.*)?$/gm; // axes with their values on one line
const NAMED = /^ {0,4}(?:config|shape|deschedulerPolicy): *(?:\{|$)/m; // axes of objects, which are not counted here
const SAMPLED = /^sample: *\{[^}]*cells: *(\d+)/m;

function say() {
  const grid = text.value;
  const axes = [...grid.matchAll(LISTED)].map(([, values]) => values.split(",").filter((one) => one.trim()).length);
  const cells = axes.reduce((product, values) => product * values, axes.length ? 1 : 0);
  const most = Number(SAMPLED.exec(grid)?.[1] ?? cells);
  const words = `${plural(Math.min(cells, most), "cell")}${most < cells ? ` of ${count(cells)}` : ""}`;
  $("[data-cells]").textContent = cells && !NAMED.test(grid) ? words : "";
}

for (const button of $$("[data-axis]"))
  button.addEventListener("click", () => {
    const line = button.dataset.axis ?? "";
    const sample = text.value.search(/^sample:/m);
    const at = sample < 0 ? text.value.trimEnd().length : text.value.slice(0, sample).trimEnd().length;
    const added = `\n${/^grid:/m.test(text.value) ? "  " : ""}${line}`;
    text.value = `${text.value.slice(0, at)}${added}${text.value.slice(at) || "\n"}`;
    text.focus();
    const open = text.value.indexOf("[", at + 1);
    text.setSelectionRange(open + 1, text.value.indexOf("]", open));
    say();
  });

text.addEventListener("input", say);
say();
