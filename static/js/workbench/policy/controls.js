// The controls of the Policy tab.

import { h } from "../../lib/dom.js";
import { customForm } from "./forms.js";
/** @import { Argument, Catalogue, Framework } from "../../lib/protocol.js" */

/**
 * What the controls can do: `change` makes a change and reports it, `ask` returns what is wrong with it. `framework`
 * is that of a KubeSchedulerConfiguration, `open` which lists of what is not in use are open.
 *
 * @typedef {{
 *   catalogue: Catalogue,
 *   framework: Framework | null,
 *   editable: boolean,
 *   settable: boolean,
 *   open: { predicates: boolean, priorities: boolean },
 *   change: (what: string, key: string, value: string, words: string) => void,
 *   ask: (what: string, key: string, value: string, words: string) => Promise<string>,
 *   say: (text: string, wrong?: boolean) => void,
 * }} PolicyForm
 */
/** @typedef {{ list: string, name?: string, argument?: Argument, weight?: number }} Given what gets an argument */

export const REFERENCE = "/reference/predicates/";

/**
 * A switch; `bare` shows no label, the row shows what it is for.
 *
 * @param {PolicyForm} form
 * @param {string} control
 * @param {string} label
 * @param {boolean} on
 * @param {(on: boolean) => void} act
 * @param {string} [className]
 * @param {boolean} [bare]
 */
export function toggle(form, control, label, on, act, className = "", bare = false) {
  const box = h("input", {
    type: "checkbox",
    role: "switch",
    class: "switch",
    "data-control": control,
    checked: on || undefined,
    disabled: !form.editable || undefined,
    "aria-label": bare ? label.split(":")[0] : undefined,
    onchange: (event) => act(event.target.checked),
  });
  return bare ? box : h("label", { class: className }, h("span", { text: label }), box);
}

/**
 * @param {PolicyForm} form
 * @param {string} control
 * @param {number} value
 * @param {number} min
 * @param {number} max
 * @param {(value: string) => void} act
 * @param {string} [label]
 */
export function number(form, control, value, min, max, act, label) {
  return h("input", {
    type: "number",
    class: "field weight num",
    inputmode: "numeric",
    min,
    max,
    step: 1,
    value,
    "data-control": control,
    "aria-label": label,
    disabled: !form.editable || undefined,
    onchange: (event) => {
      const field = event.target;
      if (field.checkValidity() && field.value !== "") {
        act(String(Number(field.value)));
        return;
      }
      form.say(`${label ?? "The weight"}: a whole number from ${min} to ${max}.`, true);
      field.value = String(value);
    },
  });
}

/**
 * A button for a form of arguments; null where nothing can be changed.
 *
 * @param {PolicyForm} form
 * @param {Given} given
 * @param {string} text
 */
export function argumentButton(form, given, text) {
  if (!form.editable || form.framework) return null;
  return h("button", {
    type: "button",
    class: "link fine",
    "data-control": `argument:${given.name ?? given.list}`,
    "aria-label": given.name ? `${text.replace("…", "")} ${given.name}` : undefined,
    onclick: () => customForm(given, (name, value) => form.ask("argument", name, value, `${name} with an argument`)),
    text,
  });
}

/**
 * @param {PolicyForm} form
 * @param {string} list
 */
export function adder(form, list) {
  const button = argumentButton(form, { list }, "Add one with an argument…");
  return button ? h("div", { class: "policy-add" }, button) : null;
}

/**
 * What is not in use, folded until it is opened.
 *
 * @param {PolicyForm} form
 * @param {"predicates" | "priorities"} list
 * @param {string} look the classes of the rows
 * @param {HTMLElement[]} rows
 */
export const unused = (form, list, look, rows) =>
  h(
    "details",
    {
      open: form.open[list] || undefined,
      ontoggle: (event) => {
        form.open[list] = event.target.open;
      },
    },
    h("summary", { "data-control": `unused:${list}`, text: `Not in use: ${rows.length}` }),
    h("ul", { class: look }, rows),
  );

/**
 * A name that breaks before its capitals, not in the middle of a word.
 *
 * @param {string} name
 */
export const byWord = (name) => name.split(/(?<=[a-z0-9])(?=[A-Z])/).map((part, i) => [i ? h("wbr") : null, part]);

/**
 * An argument in short: `zone, rack` or `disk`.
 *
 * @param {Argument} argument
 */
export function brief(argument) {
  const [kind, body] = Object.entries(argument)[0] ?? ["", {}];
  const of =
    body.labels?.join(", ")
    ?? body.label
    ?? body.shape?.map(({ utilization = 0, score = 0 }) => `${utilization}→${score}`).join(" ")
    ?? "";
  return `${kind}: ${of}${body.presence === false ? " (absent)" : ""}`;
}
