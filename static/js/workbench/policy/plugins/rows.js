// Rows of an argument that is a list: added, removed, and read field by field.

import { $$, h, icon } from "../../../lib/dom.js";

/**
 * A text field of a row; `key` is the field that it is.
 *
 * @param {string} key
 * @param {string | number} value
 * @param {Record<string, string>} [more]
 */
export const textField = (key, value, more = {}) =>
  h("input", {
    class: "field mono",
    autocomplete: "off",
    spellcheck: "false",
    value: value ?? "",
    "data-key": key || undefined,
    inputmode: more.class?.includes("num") ? "numeric" : undefined,
    ...more,
  });

/** @param {any} field */
const typed = (field) => [field.dataset.key, field.value.trim()];

/**
 * `fields(item)` are the controls of a row, each with `data-key`; `read(texts)` makes an item of them. What an item has
 * besides is kept.
 *
 * @template T
 * @param {{
 *   value: T[],
 *   add: string,
 *   remove: string,
 *   fresh: () => T,
 *   fields: (item: T) => (HTMLElement | null)[],
 *   read: (texts: Record<string, string>) => any,
 *   label?: string,
 * }} options
 */
export function rows({ value, add, remove, fresh, fields, read, label }) {
  const list = h("ul", { class: "argument-rows", "aria-label": label });
  /** @type {WeakMap<Element, T>} */
  const items = new WeakMap();
  const append = (/** @type {T} */ item) => {
    const row = h(
      "li",
      { "data-row": "" },
      fields(item),
      h(
        "button",
        { type: "button", class: "btn quiet square", "aria-label": remove, title: remove, onclick: () => row.remove() },
        icon("minus"),
      ),
    );
    items.set(row, item);
    list.append(row);
    return row;
  };
  value.forEach(append);
  return {
    element: h(
      "div",
      { class: "argument-list" },
      list,
      h(
        "button",
        {
          type: "button",
          class: "btn small",
          onclick: () => append(fresh()).querySelector("input, select")?.focus(),
        },
        icon("plus"),
        add,
      ),
    ),
    read: () =>
      [...list.children].map((row) => ({
        ...items.get(row),
        ...read(Object.fromEntries($$("[data-key]", row).map(typed))),
      })),
  };
}
