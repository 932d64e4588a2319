// The form of a plugin's arguments: a field for each that is declared, with its default, and errors at their fields.

import { h, fill } from "../../../lib/dom.js";
import { plural } from "../../../lib/quantity.js";
import { ask, prune, put } from "../forms.js";
import { controlOf } from "./fields.js";
import { applies, inForce, isWritten, lastName, shown, valueAt } from "./values.js";
/** @import { DeclaredArgument } from "../../../lib/protocol.js" */
/** @import { Arguments } from "./values.js" */
/** @import { Refusal } from "../controls.tsx" */

/** @typedef {ReturnType<typeof argumentField>} ArgumentField */

/** @typedef {{ name: string, arguments: DeclaredArgument[] }} Declared a plugin with its arguments */

/**
 * `change(value)` puts the arguments in force, as JSON or "" for the defaults, and returns what is wrong.
 *
 * @param {Declared} row
 * @param {Arguments} given
 * @param {(value: string) => Promise<Refusal | null>} change
 */
export function argumentsForm(row, given, change) {
  const fields = row.arguments.map((one) => argumentField(one, given, () => settle()));
  const settle = () => {
    const now = collect(row.arguments, fields, given);
    for (const field of fields) field.element.hidden = !applies(row.arguments, field.argument, now);
  };
  settle();
  ask(
    `Arguments of ${row.name}`,
    h(
      "div",
      { class: "arguments" },
      fields.map(({ element }) => element),
    ),
    "Change",
    async () => {
      const now = collect(row.arguments, fields, given);
      const known = Object.keys(now).some((key) => key !== "apiVersion" && key !== "kind");
      return refused(fields, await change(known ? JSON.stringify(now) : ""));
    },
    Object.keys(given).length
      ? (close) =>
          h("button", {
            type: "button",
            class: "btn danger",
            onclick: async () => {
              await change("");
              close();
            },
            text: "Reset to defaults",
          })
      : null,
  );
}

/**
 * @param {DeclaredArgument} argument
 * @param {Arguments} given
 * @param {() => void} settle
 */
function argumentField(argument, given, settle) {
  const id = `argument-${argument.path.replaceAll(".", "-")}`;
  const control = controlOf(argument, inForce(argument, given), id);
  const problem = h("p", { class: "stale-text field-error", role: "alert", id: `${id}-wrong` });
  const usual = shown(argument, argument.default);
  const element = h(
    control.single ? "div" : "fieldset",
    { class: "argument", "data-path": argument.path, onchange: settle },
    control.single
      ? h("label", { for: id, text: argument.label ?? lastName(argument) })
      : h("legend", { text: argument.label ?? lastName(argument) }),
    h("small", { class: "dim", text: [argument.text, usual ? `default: ${usual}` : ""].filter(Boolean).join("; ") }),
    control.element,
    problem,
  );
  const written = isWritten(argument, given);
  const before = JSON.stringify(control.read());
  /** What is to be written: nothing where a default is left as it is. */
  const read = () => {
    const value = control.read();
    const text = JSON.stringify(value);
    if (!written && text === before && argument.default !== null) return undefined;
    return text === JSON.stringify(argument.default) ? undefined : value;
  };
  return { argument, element, problem, read };
}

/**
 * The arguments as the form has them: a choice is written where anything beside it is, as v1.37 has no default for it
 * there.
 *
 * @param {DeclaredArgument[]} all
 * @param {ArgumentField[]} fields
 * @param {Arguments} given
 */
function collect(all, fields, given) {
  const made = structuredClone(given);
  for (const { argument, read } of fields) put(made, argument.path, read());
  for (const { argument } of fields) if (!applies(all, argument, made)) put(made, argument.path, undefined);
  const kept = prune(made);
  for (const argument of all) {
    const within = argument.path.split(".").slice(0, -1).join(".");
    if (argument.type === "choice" && within && valueAt(kept, within) && !isWritten(argument, kept))
      put(kept, argument.path, argument.default);
  }
  return kept;
}

/**
 * Show what is wrong at its fields; the text beside the buttons, "" if nothing is wrong.
 *
 * @param {ArgumentField[]} fields
 * @param {Refusal | null} refusal
 */
function refused(fields, refusal) {
  for (const { element, problem } of fields) {
    fill(problem);
    for (const input of element.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  }
  if (!refusal) return "";
  const { errors } = refusal;
  if (!errors.length) return refusal.message;
  const elsewhere = errors.filter((error) => !mark(fields, error));
  fields
    .find(({ problem }) => problem.textContent)
    ?.element.querySelector("[aria-invalid]")
    ?.focus();
  return elsewhere[0]?.message ?? `Nothing was changed: ${plural(errors.length, "error")}.`;
}

/**
 * A path within a field, to be put before what is wrong there: `row 2, weight `.
 *
 * @param {string} within
 */
const inWords = (within) => {
  const words = within
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? `row ${Number(part) + 1},` : part));
  return words.length ? `${words.join(" ").replace(/,$/, ":")} ` : "";
};

/**
 * Show an error at its field; whether there is one.
 *
 * @param {ArgumentField[]} fields
 * @param {{ path: string, message: string }} error
 */
function mark(fields, { path, message }) {
  const field =
    fields.find(
      ({ argument }) =>
        path === argument.path || (path.startsWith(argument.path) && /^[.[]/.test(path.slice(argument.path.length))),
    ) ?? fields.find(({ argument }) => argument.path.startsWith(`${path}.`));
  if (!field) return false;
  const within = path.startsWith(field.argument.path) ? path.slice(field.argument.path.length) : "";
  field.problem.textContent += `${inWords(within)}${message}. `;
  const [, place, key] = /^\[(\d+)\]\.(\w+)$/.exec(within) ?? [];
  const row = place === undefined ? field.element : field.element.querySelectorAll("[data-row]")[Number(place)];
  const input = row?.querySelector(key ? `[data-key="${CSS.escape(key)}"]` : "input, select");
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", field.problem.id);
  return true;
}
