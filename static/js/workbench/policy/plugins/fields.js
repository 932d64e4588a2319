// The controls of declared arguments, by their types.

import { h } from "../../../lib/dom.js";
import { points } from "../forms.js";
import { affinityControl, requirementRows } from "./affinity.js";
import { typedDecimal, typedNumber } from "./numbers.js";
import { rows, textField } from "./rows.js";
/** @import { DeclaredArgument } from "../../../lib/protocol.js" */

/** @typedef {{ element: HTMLElement, read: () => any, single?: boolean }} Control `single`: a label names it */

/** @type {Record<string, (argument: DeclaredArgument, value: any, id: string) => Control>} */
const CONTROLS = {
  choice({ choices, default: usual }, value, id) {
    const select = h(
      "select",
      { class: "field", id },
      choices.map((word) =>
        h("option", {
          value: word,
          text: word === usual ? `${word} (default)` : word,
          selected: word === value || undefined,
        }),
      ),
    );
    return { element: select, read: () => select.value, single: true };
  },
  flag(_, value, id) {
    const box = h("input", { type: "checkbox", role: "switch", class: "switch", id, checked: value || undefined });
    return { element: box, read: () => box.checked, single: true };
  },
  integer(_, value, id) {
    const input = h("input", { class: "field num", id, inputmode: "numeric", autocomplete: "off", value: value ?? "" });
    return { element: input, read: () => typedNumber(input.value), single: true };
  },
  names(_, value, id) {
    const input = textField("", (value ?? []).join(", "), { id, placeholder: "none" });
    return {
      element: input,
      read: () => input.value.split(/[\s,]+/).filter(Boolean),
      single: true,
    };
  },
  shape(_, value, id) {
    const start = [
      { utilization: 0, score: 0 },
      { utilization: 100, score: 10 },
    ];
    const control = points(value ?? start, id);
    return { element: control.element, read: control.read };
  },
  resources: ({ most }, value) =>
    rows({
      value: value ?? [],
      add: "Add a resource",
      remove: "Remove this resource",
      fresh: () => ({ name: "", weight: 1 }),
      fields: ({ name, weight = 1 }) => [
        textField("name", name, { "aria-label": "resource", placeholder: "cpu, example.com/gpu" }),
        most === 1 ? null : textField("weight", weight, { "aria-label": "weight", class: "field num" }),
      ],
      read: ({ name, weight = "1" }) => ({ name, weight: typedNumber(weight) }),
    }),
  constraints: (_, value) =>
    rows({
      value: value ?? [],
      add: "Add a constraint",
      remove: "Remove this constraint",
      fresh: () => ({ maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" }),
      fields: ({ maxSkew, topologyKey, whenUnsatisfiable }) => [
        textField("maxSkew", maxSkew, { "aria-label": "maxSkew", class: "field num" }),
        textField("topologyKey", topologyKey, { "aria-label": "topologyKey" }),
        h(
          "select",
          { class: "field", "data-key": "whenUnsatisfiable", "aria-label": "whenUnsatisfiable" },
          ["DoNotSchedule", "ScheduleAnyway"].map((word) =>
            h("option", { value: word, text: word, selected: word === whenUnsatisfiable || undefined }),
          ),
        ),
      ],
      read: ({ maxSkew, ...rest }) => ({ maxSkew: typedNumber(maxSkew), ...rest }),
    }),
  affinity: (_, value) => affinityControl(value),
  text(_, value, id) {
    const input = textField("", value ?? "", { id });
    return { element: input, read: () => input.value.trim(), single: true };
  },
  numbers(_, value, id) {
    const input = textField("", (value ?? []).join(", "), { id, placeholder: "none" });
    return {
      element: input,
      read: () =>
        input.value
          .split(/[\s,]+/)
          .filter(Boolean)
          .map(typedNumber),
      single: true,
    };
  },
  percentages(_, value) {
    const made = rows({
      value: Object.entries(value ?? {}).map(([name, percent]) => ({ name, percent })),
      add: "Add a resource",
      remove: "Remove this resource",
      fresh: () => ({ name: "", percent: 50 }),
      fields: ({ name, percent }) => [
        textField("name", name, { "aria-label": "resource", placeholder: "cpu, memory, pods" }),
        textField("percent", percent, { "aria-label": "percent", class: "field num" }),
        h("span", { class: "dim", text: "%" }),
      ],
      read: ({ name, percent }) => ({ name, percent: typedDecimal(percent) }),
    });
    return {
      element: made.element,
      read: () => Object.fromEntries(made.read().map(({ name, percent }) => [name, percent])),
    };
  },
  selector(_, value) {
    const made = requirementRows([
      ...Object.entries(value?.matchLabels ?? {}).map(([key, one]) => ({ key, operator: "In", values: [one] })),
      ...(value?.matchExpressions ?? []),
    ]);
    const before = JSON.stringify(made.read());
    return {
      element: made.element,
      read: () => {
        const listed = made.read();
        if (JSON.stringify(listed) === before) return value ?? undefined;
        return listed.length ? { matchExpressions: listed } : undefined;
      },
    };
  },
  rows: ({ fields = [] }, value) =>
    rows({
      value: value ?? [],
      add: "Add one",
      remove: "Remove this one",
      fresh: () => ({}),
      fields: (item) =>
        fields.map(([name, type]) =>
          textField(name, item[name], {
            "aria-label": name,
            placeholder: name,
            class: type === "integer" ? "field num" : "field mono",
          }),
        ),
      read: (texts) =>
        Object.fromEntries(
          fields.map(([name, type]) => [
            name,
            type === "integer" ? typedNumber(texts[name]) : texts[name] || undefined,
          ]),
        ),
    }),
};

/**
 * The control of an argument; a type that none is for is written as JSON.
 *
 * @param {DeclaredArgument} argument
 * @param {any} value
 * @param {string} id
 * @returns {Control}
 */
export function controlOf(argument, value, id) {
  const made = CONTROLS[argument.type];
  if (made) return made(argument, value, id);
  const area = h("textarea", { class: "field mono", id, rows: 6, spellcheck: "false" });
  area.value = JSON.stringify(value ?? null, null, 2);
  return {
    element: area,
    read: () => {
      try {
        return JSON.parse(area.value);
      } catch {
        return area.value;
      }
    },
    single: true,
  };
}
