// What the two matrices share: the row of tools above them and filtering by text and verdict.

import { h, icon, copy, toast, debounce } from "../../lib/dom.js";

/** A segmented choice: `[[value, label]…]`; its `choose(value)` shows another one as chosen and tells nobody. */
export function segmented(label, options, value, onChange) {
  const choose = (key) => { for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.value === key)); };
  const buttons = options.map(([key, text]) => h("button", { type: "button", "data-value": key, text, onclick: () => { choose(key); onChange(key); } }));
  choose(value);
  return Object.assign(h("span", { class: "seg", role: "group", "aria-label": label }, buttons), { choose });
}

export function filterField(label, onChange) {
  const change = debounce(() => onChange(input.value.trim().toLowerCase()), 90);
  const input = h("input", { type: "search", class: "field filter", placeholder: "Filter nodes", "aria-label": label, "data-filter": true, oninput: change });
  return input;
}

export function copyButton(grid) {
  return h("button", { type: "button", class: "btn quiet square", "aria-label": "Copy as tab separated text", title: "Copy as tab separated text (Ctrl C in the table)", "data-copy-tsv": true, onclick: async () => {
    toast(await copy(grid.tsv()) ? `${grid.count} rows copied` : "The browser refused the clipboard", { name: "copy" });
  } }, icon("copy"));
}
