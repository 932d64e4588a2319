// The forms for arguments: those of a Policy's own predicates and priorities, and those of plugins.

import { $, h, fill, dialog, icon } from "../../lib/dom.js";
import { CUSTOM, PLUGIN_FIELDS } from "./arguments.js";
/** @import { Field } from "./arguments.js" */
/** @import { Given } from "./controls.tsx" */

/**
 * @param {any} value
 * @param {string} path
 */
const at = (value, path) => path.split(".").reduce((part, key) => part?.[key], value);
export function put(value, path, part) {
  const keys = path.split(".");
  const last = keys.pop();
  let within = value;
  for (const key of keys) {
    within[key] = { ...within[key] };
    within = within[key];
  }
  if (part === undefined) delete within[last];
  else within[last] = part;
}
/** @param {any} value */
export const prune = (value) =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => {
      const kept = part && typeof part === "object" && !Array.isArray(part) ? prune(part) : part;
      return kept && typeof kept === "object" && !Array.isArray(kept) && !Object.keys(kept).length ? [] : [[key, kept]];
    }),
  );

/**
 * A field: `{element, read()}`; `read` answers undefined where nothing is written.
 *
 * @param {Field} field
 * @param {any} value
 * @param {{ inPolicy: boolean }} where
 */
function field([path, type, hint], value, { inPolicy }) {
  const name = path.split(".").at(-1);
  const id = `argument-${path.replaceAll(".", "-")}`;
  const wrap = (control, more = null) =>
    h(
      "div",
      { class: "argument" },
      h("label", { for: id, text: name }),
      control,
      Array.isArray(hint) ? null : h("small", { class: "dim", text: String(hint) }),
      more,
    );
  if (type === "flag") {
    const box = h("input", {
      type: "checkbox",
      role: "switch",
      class: "switch",
      id,
      checked: (value ?? true) ? true : undefined,
    });
    return { element: wrap(box), read: () => box.checked };
  }
  if (type === "choice") {
    const choice = h(
      "select",
      { class: "field", id },
      [hint]
        .flat()
        .map((text) =>
          h("option", { value: text, text: text || "default", selected: text === (value ?? "") || undefined }),
        ),
    );
    return { element: wrap(choice), read: () => choice.value || undefined };
  }
  if (type === "shape") {
    const shape = points(
      value
        ?? (inPolicy
          ? [
              { utilization: 0, score: 10 },
              { utilization: 100, score: 0 },
            ]
          : []),
      id,
    );
    return {
      element: h(
        "fieldset",
        { class: "argument shape" },
        h("legend", { text: name }),
        h("small", { class: "dim", text: String(hint) }),
        shape.element,
      ),
      read: shape.read,
    };
  }
  const input = h("input", {
    class: "field mono",
    id,
    autocomplete: "off",
    spellcheck: "false",
    ...(type === "number" ? { type: "number", step: 1, min: 0 } : {}),
    value: Array.isArray(value) ? value.join(", ") : (value ?? ""),
  });
  return {
    element: wrap(input),
    read: () => {
      const text = input.value.trim();
      if (!text) return inPolicy && type === "labels" ? [] : undefined;
      if (type === "labels") return text.split(/[\s,]+/).filter(Boolean);
      return type === "number" ? Number(text) : text;
    },
  };
}

/** Points of a shape, as rows of two numbers, with the line they make. */
export function points(given, id) {
  const rows = h("ol", { class: "points" });
  const SVG = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 104 44");
  picture.setAttribute("class", "shape-line");
  picture.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "polyline");
  picture.append(line);
  const read = () =>
    [...rows.children].map((row) => ({
      utilization: Number($("input[data-x]", row).value),
      score: Number($("input[data-y]", row).value),
    }));
  const paint = () => {
    const all = read();
    if (all.length)
      line.setAttribute(
        "points",
        [{ utilization: 0, score: all[0].score }, ...all, { utilization: 100, score: all.at(-1).score }]
          .map(({ utilization, score }) => `${2 + utilization},${42 - score * 4}`)
          .join(" "),
      );
    picture.toggleAttribute("hidden", all.length === 0);
  };
  const number = (key, label, max, value) =>
    h("input", {
      type: "number",
      class: "field num",
      min: 0,
      max,
      step: 1,
      value,
      [`data-${key}`]: "",
      "data-key": label,
      "aria-label": label,
      oninput: paint,
    });
  const add = ({ utilization, score }) =>
    rows.append(
      h(
        "li",
        { "data-row": "" },
        number("x", "utilization", 100, utilization),
        h("span", { "aria-hidden": "true", text: "→" }),
        number("y", "score", 10, score),
        h(
          "button",
          {
            type: "button",
            class: "btn quiet square",
            "aria-label": "Remove this point",
            onclick: (event) => {
              event.target.closest("li").remove();
              paint();
            },
          },
          icon("minus"),
        ),
      ),
    );
  given.forEach(add);
  paint();
  return {
    element: h(
      "div",
      { id },
      rows,
      picture,
      h(
        "button",
        {
          type: "button",
          class: "btn small",
          onclick: () => {
            add({ utilization: Math.min(100, (read().at(-1)?.utilization ?? -10) + 10), score: 5 });
            paint();
          },
        },
        icon("plus"),
        "Add a point",
      ),
    ),
    read: () => (rows.children.length ? read() : undefined),
  };
}

/** Ask in a dialog; `run()` puts it in force and returns what is wrong, or "". */
export function ask(title, parts, label, run, more = null) {
  const problem = h("p", { class: "stale-text", role: "alert" });
  const box = dialog(
    title,
    h(
      "form",
      {
        class: "argument-form",
        onsubmit: async (event) => {
          event.preventDefault();
          fill(problem);
          const wrong = await run();
          if (wrong) problem.textContent = wrong;
          else box.close();
        },
      },
      parts,
      problem,
      h(
        "div",
        { class: "edit-bar" },
        h("button", { class: "btn primary" }, icon("check"), label),
        h("button", { type: "button", class: "btn quiet", onclick: () => box.close(), text: "Cancel" }),
        h("span", { class: "grow" }),
        more?.(() => box.close()) ?? null,
      ),
    ),
  );
  box.classList.add("argument-dialog");
  $("input:not([type=checkbox]), select, textarea", box)?.focus();
  return box;
}

/**
 * The form of a predicate or priority with an argument, a new one or that of `name`. `change(name, value)` returns what
 * is wrong, or "".
 *
 * @param {Given} given
 * @param {(name: string, value: string) => Promise<string>} change
 */
export function customForm({ name, argument, weight, list }, change) {
  const known = argument ? CUSTOM.find(({ kind }) => kind in argument) : null;
  const offered = known ? [known] : CUSTOM.filter((one) => !list || one.list === list);
  const kind = h(
    "select",
    { class: "field", id: "argument-kind", disabled: known ? true : undefined, onchange: () => draw() },
    offered.map((one) => h("option", { value: one.kind, text: one.label })),
  );
  const called = h("input", {
    class: "field mono",
    id: "argument-name",
    autocomplete: "off",
    spellcheck: "false",
    readonly: known ? true : undefined,
    required: true,
    maxlength: 60,
  });
  const weighs = h("input", {
    class: "field num",
    id: "argument-weight",
    type: "number",
    min: 1,
    step: 1,
    value: weight ?? 1,
    required: true,
  });
  const weighed = h("div", { class: "argument" }, h("label", { for: "argument-weight", text: "weight" }), weighs);
  const body = h("div", { class: "arguments" });
  let fields = [];
  const row = () => CUSTOM.find((one) => one.kind === kind.value);
  const draw = () => {
    called.value = name || row().name;
    weighed.hidden = row().list !== "priorities";
    fields = row().fields.map((one) => [
      one[0],
      field(one, argument ? at(argument[row().kind], one[0]) : undefined, { inPolicy: true }),
    ]);
    fill(
      body,
      fields.map(([, { element }]) => element),
    );
  };
  draw();
  ask(
    known ? `Arguments of ${name}` : "Add one with an argument",
    [
      h("div", { class: "argument" }, h("label", { for: "argument-kind", text: "kind" }), kind),
      h(
        "div",
        { class: "argument" },
        h("label", { for: "argument-name", text: "name" }),
        called,
        known
          ? null
          : h("small", {
              class: "dim",
              text: "Under a name that the static order does not have, v1.11 never evaluates a predicate.",
            }),
      ),
      body,
      weighed,
    ],
    known ? "Change" : "Add",
    () => {
      const given = Object.fromEntries(fields.map(([path, { read }]) => [path, read()]));
      return change(
        called.value.trim(),
        JSON.stringify({
          list: row().list,
          argument: { [row().kind]: given },
          ...(row().list === "priorities" ? { weight: Number(weighs.value) } : {}),
        }),
      );
    },
  );
}

/** The arguments of a plugin; `change(value)` answers what is wrong, or "". */
export function pluginForm(plugin, written, change) {
  const listed = PLUGIN_FIELDS[plugin];
  const fields = (listed ?? []).map(
    (one) => /** @type {const} */ ([one[0], field(one, at(written ?? {}, one[0]), { inPolicy: false })]),
  );
  const json = h("textarea", {
    class: "field mono",
    rows: 8,
    spellcheck: "false",
    "aria-label": `Arguments of ${plugin} as JSON`,
  });
  json.value = JSON.stringify(written ?? {}, null, 2);
  const fallback = listed ? null : h("div", { class: "argument" }, h("span", { class: "dim", text: "as JSON" }), json);
  ask(
    `Arguments of ${plugin}`,
    [fields.map(([, { element }]) => element), fallback],
    "Change",
    () => {
      if (!listed) return change(json.value.trim());
      const made = structuredClone(written ?? {});
      for (const [path, { read }] of fields) put(made, path, read());
      const kept = prune(made);
      if (kept.scoringStrategy?.requestedToCapacityRatio && !kept.scoringStrategy.resources)
        kept.scoringStrategy.resources = ["cpu", "memory"].map((name) => ({ name, weight: 1 }));
      return change(
        Object.keys(kept).some((key) => key !== "apiVersion" && key !== "kind") ? JSON.stringify(kept) : "",
      );
    },
    written
      ? (close) =>
          h("button", {
            type: "button",
            class: "btn danger",
            onclick: async () => {
              await change("");
              close();
            },
            text: "Take them away",
          })
      : null,
  );
}
