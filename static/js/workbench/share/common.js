// What the panels of the Share dialog share: a text with a button that copies it, and a field with its name.

import { h, icon, copy, fill } from "../../lib/dom.js";
/** @import { Playback } from "../playback.js" */

/**
 * What the dialog shares: `path()` resolves with the address of an immutable scenario, which it makes of a draft the
 * first time; `link(path)` is the view on screen on such a path.
 *
 * @typedef {{
 *   playback: Playback,
 *   title: string,
 *   bundleUrl: string,
 *   frames: boolean,
 *   path: () => Promise<string>,
 *   token: () => string,
 *   link: (path: string) => string,
 *   query: () => string,
 *   settle: () => Promise<boolean>,
 * }} Shared
 */

/**
 * @param {string} label
 * @param {string} text
 * @param {string} [look]
 */
export function copyRow(label, text, look = "primary") {
  const field = h("input", {
    class: "field",
    readonly: true,
    value: text,
    "aria-label": label,
    onfocus: () => field.select(),
  });
  const button = h(
    "button",
    {
      type: "button",
      class: `btn ${look}`,
      title: `Copy: ${label}`, // no label: it would hide "Copied" from a screen reader
      onclick: async () => {
        fill(button, icon((await copy(field.value)) ? "check" : "warn"), "Copied");
      },
    },
    icon("copy"),
    "Copy",
  );
  return { field, row: h("div", { class: "copy-row" }, field, button) };
}

/**
 * A name above what it names.
 *
 * @param {string} name
 * @param {HTMLElement} body
 */
export const named = (name, body) => h("div", { class: "share-row" }, h("h3", { text: name }), body);

/** @param {string} text */
export const dim = (text) => h("p", { class: "dim", text });

/**
 * A refusal, in words.
 *
 * @param {string} what
 * @param {{ message: string }} error
 */
export const refused = (what, error) =>
  h("p", { class: "note error", role: "alert", text: `${what}: ${error.message}` });
