// What the matrices share above them: a segmented choice, the filter, and copying.

import { h } from "../../lib/dom.js";
import { copyButton as button, filterField as field } from "../../lib/tables.js";

/**
 * A segmented choice: `[[value, label]…]`; its `choose(value)` shows another one as chosen without an event, and
 * `label(value, text)` calls one otherwise.
 */
export function segmented(label, options, value, onChange) {
  const choose = (/** @type {string} */ key) => {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.value === key));
  };
  const buttons = options.map(([key, text]) =>
    h("button", {
      type: "button",
      "data-value": key,
      text,
      onclick: () => {
        choose(key);
        onChange(key);
      },
    }),
  );
  choose(value);
  const relabel = (/** @type {string} */ key, /** @type {string} */ text) => {
    const found = buttons.find((one) => one.dataset.value === key);
    if (found) found.textContent = text;
  };
  const element = h("span", { class: "seg", role: "group", "aria-label": label }, buttons);
  return Object.assign(element, { choose, label: relabel });
}

/** `list` keeps what was typed, beyond this field's life. */
export const filterField = (label, onChange, list) =>
  field(label, onChange, {
    placeholder: "Filter nodes",
    value: list.typed,
    typed: (typed) => {
      list.typed = typed;
    },
  });

/** Copy a grid, or what has its text in `tsv()` and its rows in `count`. */
export const copyButton = (grid) => button(() => [grid.tsv(), grid.count]);
