// Node affinity as rows of requirements: terms of which one must hold, and those that are preferred by weight.

import { h, icon } from "../../../lib/dom.js";
import { typedNumber } from "./numbers.js";
import { rows, textField } from "./rows.js";

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** @param {any} value */
export function affinityControl(value) {
  const required = terms("Add a required term", value?.[REQUIRED]?.nodeSelectorTerms ?? [], requirements);
  const preferred = terms("Add a preferred term", value?.[PREFERRED] ?? [], weighed);
  return {
    element: h(
      "div",
      { class: "argument-list" },
      h("p", { class: "dim fine", text: "Required: one term must hold, with all its requirements." }),
      required.element,
      h("p", { class: "dim fine", text: "Preferred: a node scores the weight, 1 to 100, of each term that holds." }),
      preferred.element,
    ),
    read: () => {
      const [must, may] = [required.read(), preferred.read()];
      const made = { ...value, [REQUIRED]: undefined, [PREFERRED]: undefined };
      if (must.length) made[REQUIRED] = { ...value?.[REQUIRED], nodeSelectorTerms: must };
      if (may.length) made[PREFERRED] = may;
      return must.length || may.length ? made : undefined;
    },
  };
}

/**
 * @param {string} add
 * @param {any[]} given
 * @param {(item: any) => { element: HTMLElement, read: () => any }} make
 */
function terms(add, given, make) {
  const list = h("div", { class: "argument-terms" });
  const made = new Map();
  const append = (/** @type {any} */ item) => {
    const term = make(item);
    const box = h(
      "div",
      { class: "argument-term" },
      term.element,
      h(
        "button",
        {
          type: "button",
          class: "btn quiet small",
          onclick: () => {
            made.delete(box);
            box.remove();
          },
        },
        icon("minus"),
        "Remove the term",
      ),
    );
    made.set(box, term);
    list.append(box);
    return box;
  };
  given.forEach(append);
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
          onclick: () => append(null).querySelector("input, select")?.focus(),
        },
        icon("plus"),
        add,
      ),
    ),
    read: () => [...made.values()].map(({ read }) => read()),
  };
}

/** @param {any} term */
function requirements(term) {
  const list = requirementRows(term?.matchExpressions ?? (term ? [] : [{ key: "", operator: "In", values: [] }]));
  return { element: list.element, read: () => ({ ...term, matchExpressions: list.read() }) };
}

/**
 * Requirements on labels, a row each.
 *
 * @param {{ key: string, operator: string, values?: string[] }[]} value
 */
export const requirementRows = (value) =>
  rows({
    value,
    add: "Add a requirement",
    remove: "Remove this requirement",
    fresh: () => ({ key: "", operator: "In", values: [] }),
    fields: ({ key, operator, values = [] }) => [
      textField("key", key, { "aria-label": "label key", placeholder: "disk" }),
      h(
        "select",
        { class: "field", "data-key": "operator", "aria-label": "operator" },
        OPERATORS.map((word) => h("option", { value: word, text: word, selected: word === operator || undefined })),
      ),
      textField("values", values.join(", "), { "aria-label": "values", placeholder: "ssd, nvme" }),
    ],
    read: ({ values, ...rest }) => {
      const listed = values.split(/[\s,]+/).filter(Boolean);
      return { ...rest, values: listed.length ? listed : undefined };
    },
  });

/** @param {any} item */
function weighed(item) {
  const inner = requirements(item?.preference ?? null);
  const weight = textField("weight", item?.weight ?? 1, { "aria-label": "weight", class: "field num" });
  return {
    element: h("div", { class: "argument-list" }, h("label", { class: "with-unit" }, "weight ", weight), inner.element),
    read: () => ({ ...item, weight: typedNumber(weight.value), preference: inner.read() }),
  };
}
