// Fields of a form, made from the server's table: what each is, what it suggests, and what is wrong with its value,
// beside it.

import { h, fill, set } from "../../lib/dom.js";
/** @import { FieldProblem } from "../../lib/protocol.js" */

const LISTS = new Set(["labels", "resources", "taints", "tolerations", "ports", "selector", "names"]);
const LONG = 16; // characters of a choice that one column has no room for
let made = 0;

/**
 * The options of a choice; those with a third part are under it as a heading.
 *
 * @param {[name: string, text: string, group?: string][]} rows
 */
function options(rows) {
  const listed = (group) => rows.filter((row) => row[2] === group).map(([value, text]) => h("option", { value, text }));
  const groups = [...new Set(rows.map(([, , group]) => group))];
  return groups.map((label) => (label ? h("optgroup", { label }, listed(label)) : listed(label)));
}

export class FormField {
  /** `row` is a field of the server's table; `value` what stands in it. */
  constructor(row, value = row.default, { hint = row.hint, placeholder = row.placeholder } = {}) {
    this.row = row;
    this.hint = hint;
    const id = `field-${(made += 1)}`;
    const common = { id, "aria-describedby": `${id}-note`, "data-field": row.name };
    const chosen = row.choices ?? (row.suggest === "priorityClasses" ? [["", "none"]] : null);
    this.note = h("small", { class: "field-note", id: `${id}-note`, text: hint });
    this.known = row.suggest && !chosen ? h("datalist", { id: `${id}-known` }) : null;
    this.suggested = [];
    if (row.type === "flag") this.input = h("input", { ...common, type: "checkbox" });
    else if (chosen) this.input = h("select", { ...common, class: "field" }, options(chosen));
    else
      this.input = h("input", {
        ...common,
        class: "field mono",
        autocomplete: "off",
        spellcheck: "false",
        autocapitalize: "off",
        placeholder,
        inputmode: row.type === "integer" ? "numeric" : undefined,
        list: this.known ? `${id}-known` : undefined,
      });
    this.value = value;
    if (this.known) this.input.addEventListener("input", () => this.#offer());
    const label = h("label", { for: id, text: row.label });
    const wide = row.wide || LISTS.has(row.type) || row.choices?.some(([, text]) => text.length > LONG);
    this.element =
      row.type === "flag"
        ? h("div", { class: "form-field flag" }, this.input, label, this.note)
        : h("div", { class: `form-field ${wide ? "wide" : ""}` }, label, this.input, this.known, this.note);
  }

  get value() {
    return "checked" in this.input && this.row.type === "flag" ? String(this.input.checked) : this.input.value;
  }

  set value(text) {
    if ("checked" in this.input && this.row.type === "flag") this.input.checked = text === "true";
    else this.input.value = text ?? "";
  }

  get empty() {
    return this.value === "" || this.value === this.row.default;
  }

  /**
   * What is wrong with it, "" if nothing is.
   *
   * @param {string} message
   */
  showError(message) {
    this.input.setAttribute("aria-invalid", String(Boolean(message)));
    this.note.classList.toggle("stale-text", Boolean(message));
    this.note.textContent = message || this.hint;
  }

  /** What there is to choose from. */
  know(known) {
    const found = known[this.row.suggest];
    if (!found || JSON.stringify(found) === JSON.stringify(this.suggested)) return;
    this.suggested = found;
    if (this.input.tagName === "SELECT") {
      const { value } = this;
      fill(
        this.input,
        h("option", { value: "", text: "none" }),
        found.map(([name, number]) => h("option", { value: name, text: `${name} (${number})` })),
      );
      this.value = found.some(([name]) => name === value) ? value : "";
    } else this.#offer();
  }

  /** Of a list, what could stand after its last comma. */
  #offer() {
    const text = this.input.value;
    const begun = LISTS.has(this.row.type) ? text.slice(0, text.lastIndexOf(",") + 1) : "";
    const there = new Set(begun.split(",").map((part) => part.trim()));
    fill(
      this.known,
      this.suggested
        .filter((one) => !there.has(one))
        .slice(0, 60)
        .map((one) => h("option", { value: begun ? `${begun} ${one}` : one })),
    );
  }

  /** @param {string} text */
  set placeholder(text) {
    if (this.input.tagName === "INPUT") set(this.input, { placeholder: text });
  }
}

/**
 * Show problems `[{field, message}]` at their fields; those that belong to none are returned.
 *
 * @param {Map<string, FormField>} fields
 * @param {FieldProblem[]} problems
 * @param {(name: string, field: FormField) => boolean} [quiet]
 */
export function showErrors(fields, problems, quiet = () => false) {
  const wrong = new Map();
  const general = [];
  for (const { field, message } of problems) {
    if (fields.has(field)) wrong.set(field, wrong.get(field) ?? message);
    else general.push(message);
  }
  for (const [name, field] of fields) field.showError(wrong.has(name) && !quiet(name, field) ? wrong.get(name) : "");
  return general;
}

/** Put the focus on the first field that something is wrong with, opening what hides it. */
export function toFirst(fields, problems) {
  const name = problems.find(({ field }) => fields.has(field))?.field;
  if (name === undefined) return;
  const { input } = fields.get(name);
  for (let at = input.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  input.focus();
}
