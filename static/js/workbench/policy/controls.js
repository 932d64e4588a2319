// The controls of the Policy tab. `form` is what they can do: `{catalogue, framework, editable, settable, open,
// change(what, key, value, words), ask(what, key, value, words), say(text, wrong)}`; `framework` is that of a
// KubeSchedulerConfiguration, `open` which lists of what is not in use are open.

import { h } from "../../lib/dom.js";
import { customForm } from "./forms.js";

export const REFERENCE = "/reference/predicates/";

/** A switch; `bare` shows no label, the row tells what it is for. */
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
      field.value = value;
    },
  });
}

/** A button for a form of arguments; null where nothing can be changed. */
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

export function adder(form, list) {
  const button = argumentButton(form, { list }, "Add one with an argument…");
  return button ? h("div", { class: "policy-add" }, button) : null;
}

/** A name that breaks before its capitals, not in the middle of a word. */
export const byWord = (name) => name.split(/(?<=[a-z0-9])(?=[A-Z])/).map((part, i) => [i ? h("wbr") : null, part]);

/** An argument in short: `zone, rack` or `disk`. */
export function brief(argument) {
  const [kind, body] = Object.entries(argument)[0] ?? ["", {}];
  const of =
    body.labels?.join(", ")
    ?? body.label
    ?? body.shape?.map(({ utilization = 0, score = 0 }) => `${utilization}→${score}`).join(" ")
    ?? "";
  return `${kind}: ${of}${body.presence === false ? " (absent)" : ""}`;
}
