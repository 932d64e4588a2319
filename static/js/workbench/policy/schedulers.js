// The schedulers of the SimulationSettings in the Policy tab: each with its delays, and what stands between them.

import { h, icon } from "../../lib/dom.js";
import { span } from "../../lib/quantity.js";
import { releases } from "../../lib/releases.js";
import { ask } from "./forms.js";
/** @import { ListedScheduler, Schedulers } from "../../lib/protocol.js" */
/** @import { PolicyForm } from "./controls.js" */

/** @type {[design: string, label: string, does: string][]} */
const DESIGNS = [
  ["side-by-side", "side by side", "Nothing stands between them: the kubelet settles conflicts."],
  ["node-pools", "node pools", "Each sees the nodes with its labels alone, so every scheduler needs Nodes."],
  ["one-scheduler", "one scheduler", "One process serves all names, with one cache and one queue."],
  ["arbitrated", "with an arbiter", "A binder checks each binding against what is bound by then."],
];
const DEFAULT = "default-scheduler";
const BATCH = "kube-batch";
const NONE = { runs: "", watchDelay: 0, decisionTime: 0, bindDelay: 0, replicas: 1, nodes: {} };

/** @type {[key: "watchDelay" | "decisionTime" | "bindDelay", label: string, hint: string][]} */
const DELAYS = [
  ["watchDelay", "Watch delay", "from a write at the API server until it sees that"],
  ["decisionTime", "Decision time", "that a decision takes; its view is frozen meanwhile"],
  ["bindDelay", "Bind delay", "from the decision until its binding arrives"],
];

/**
 * The list with its controls; `landing`: changes land at a step, where the list has no effect. `alone` is the release
 * that answers where none is listed.
 *
 * @param {PolicyForm} form
 * @param {Schedulers} schedulers
 * @param {boolean} landing
 * @param {string} [alone]
 */
export function schedulersPart(form, { design, listed }, landing, alone = "") {
  const able = form.settable && !landing;
  const unlisted = !listed.some(({ name }) => name === DEFAULT);
  return h(
    "section",
    { class: "policy-part", "aria-labelledby": "policy-schedulers", "data-part": "schedulers" },
    h("h3", { id: "policy-schedulers", tabindex: "-1", text: "Schedulers" }),
    h("p", {
      class: "dim fine",
      text: landing
        ? "Which schedulers there are is settled from the start: choose that changes land at the start."
        : "spec.schedulerName selects the scheduler of a pod. Listed ones run next to each other, "
          + "in the virtual time of kube-scheduler v1.22, each with a view of its own.",
    }),
    h(
      "ul",
      { class: "sched-rows", "aria-label": "Schedulers" },
      unlisted ? row(form, { name: DEFAULT, ...NONE, runs: listed.length ? "" : alone }, able, false) : null,
      listed.map((one) => row(form, one, able, true)),
    ),
    able
      ? h(
          "button",
          {
            type: "button",
            class: "btn small",
            "data-control": "scheduler:add",
            onclick: () => schedulerForm(form, null),
          },
          icon("plus"),
          "Add a scheduler…",
        )
      : null,
    listed.length ? designs(form, design, able) : null,
  );
}

/**
 * @param {PolicyForm} form
 * @param {string} design
 * @param {boolean} able
 */
const designs = (form, design, able) => [
  h(
    "label",
    { class: "policy-setting" },
    h("span", { text: "Between them" }),
    h(
      "select",
      {
        class: "field",
        "data-control": "design",
        "aria-describedby": "policy-design-does",
        disabled: !able || undefined,
        onchange: (event) =>
          form.change("design", "design", event.target.value, `design ${event.target.selectedOptions[0].text}`),
      },
      DESIGNS.map(([value, text]) => h("option", { value, text, selected: value === design || undefined })),
    ),
  ),
  h("p", {
    class: "policy-does dim",
    id: "policy-design-does",
    text: DESIGNS.find(([value]) => value === design)?.[2] ?? "",
  }),
];

/**
 * @param {PolicyForm} form
 * @param {ListedScheduler} one
 * @param {boolean} able
 * @param {boolean} isListed
 */
function row(form, one, able, isListed) {
  const { name, replicas, nodes } = one;
  const notes = [
    runsOf(one),
    ...DELAYS.filter(([key]) => one[key]).map(([key, label]) => `${label.toLowerCase()} ${span(one[key])}`),
    replicas > 1 ? `${replicas} replicas` : "",
    Object.keys(nodes).length ? `nodes ${asLabels(nodes)}` : "",
    isListed && DELAYS.some(([key]) => one[key]) ? "" : "no delays",
  ];
  return h(
    "li",
    { "data-name": name },
    h("div", null, h("b", { text: name }), h("small", { class: "dim", text: notes.filter(Boolean).join(", ") })),
    able
      ? h("button", {
          type: "button",
          class: "btn small",
          "data-control": `scheduler:${name}`,
          "aria-label": `Change ${name}`,
          onclick: () => schedulerForm(form, one, isListed),
          text: "Change…",
        })
      : null,
    able && isListed
      ? h(
          "button",
          {
            type: "button",
            class: "btn quiet square",
            "data-control": `scheduler:remove:${name}`,
            "aria-label": `Remove ${name}`,
            title: `Remove ${name}`,
            onclick: () => form.change("scheduler", name, "", `scheduler ${name} removed`),
          },
          icon("minus"),
        )
      : null,
  );
}

/** @param {{ name: string, runs: string }} of */
const isBatch = ({ name, runs }) => (runs || name) === BATCH;

/** The release of a scheduler that names none: the one in whose virtual time they run. */
const shared = () => releases().find(({ timed }) => timed).name;

/** @param {{ name: string, runs: string }} of */
const runsOf = (of) => (isBatch(of) ? BATCH : `kube-scheduler ${of.runs || shared()}`);

/** What a scheduler can run, with the value of each: the newest release comes first, after the one of the rest. */
const runnable = () => {
  const others = releases().filter(({ timed }) => !timed);
  const named = others.map(({ name }) => [name, `kube-scheduler ${name}`]).reverse();
  return [["", `kube-scheduler ${shared()}`], ...named, [BATCH, BATCH]];
};

/** @param {Record<string, string>} nodes */
const asLabels = (nodes) =>
  Object.entries(nodes)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");

/**
 * `key=value, …` as an object; null where it cannot be read.
 *
 * @param {string} text
 */
function labelsIn(text) {
  const pairs = text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean)
    .map((one) => one.split("=").map((part) => part.trim()));
  return pairs.every((pair) => pair.length === 2 && pair[0]) ? Object.fromEntries(pairs) : null;
}

/**
 * The form of a new scheduler, or of one that is there.
 *
 * @param {PolicyForm} form
 * @param {ListedScheduler | null} given
 * @param {boolean} [isListed]
 */
function schedulerForm(form, given, isListed = false) {
  const now = given ?? { name: "", ...NONE };
  const field = (
    /** @type {string} */ id,
    /** @type {string} */ label,
    /** @type {any} */ control,
    hint = "",
    unit = "",
  ) => {
    control.id = `scheduler-${id}`;
    control.setAttribute("aria-describedby", `scheduler-${id}-about`);
    return h(
      "div",
      { class: "argument" },
      h("label", { for: control.id, text: label }),
      unit ? h("span", { class: "with-unit" }, control, h("span", { class: "dim", text: unit })) : control,
      h("small", { class: "dim", id: `scheduler-${id}-about`, text: hint }),
    );
  };
  const input = (/** @type {string | number} */ value, /** @type {object} */ more = {}) =>
    h("input", { class: "field mono", autocomplete: "off", spellcheck: "false", value, ...more });
  const name = input(now.name, { required: true, maxlength: 253 });
  const runs = h(
    "select",
    { class: "field" },
    runnable().map(([value, text]) => h("option", { value, text, selected: text === runsOf(now) || undefined })),
  );
  runs.addEventListener("change", () => {
    if (runs.value === BATCH) name.value = BATCH;
    else if (name.value === BATCH) name.value = "";
  });
  const delays = DELAYS.map(([key, label, hint]) => ({
    key,
    label,
    hint,
    control: input(now[key], { inputmode: "decimal", class: "field num" }),
  }));
  const replicas = input(now.replicas, { inputmode: "numeric", class: "field num" });
  const nodes = input(asLabels(now.nodes), { placeholder: "pool=batch" });
  ask(
    given ? `Scheduler ${given.name}` : "Add a scheduler",
    [
      field("name", "Name", name, "what its pods have in spec.schedulerName"),
      field("runs", "Runs", runs, "Coscheduling is a plugin of v1.22, in the profile of this name."),
      delays.map(({ key, label, hint, control }) => field(key, label, control, hint, "seconds")),
      field("replicas", "Replicas", replicas, "processes of this name without leader election, at most 8"),
      field("nodes", "Nodes", nodes, "labels of the nodes that it sees, as key=value; with node pools alone"),
    ],
    given ? "Change" : "Add",
    async () => {
      const entry = { name: name.value.trim() };
      if (runs.value && entry.name !== BATCH) entry.runs = runs.value;
      for (const { key, label, control } of delays) {
        const value = control.value.trim().replace(",", ".");
        if (value !== "" && !/^-?\d+(\.\d+)?$/.test(value)) return `${label}: seconds, such as 0.5, not ${value}.`;
        entry[key] = Number(value || 0);
      }
      if (!/^\d{1,4}$/.test(replicas.value.trim())) return "Replicas: a whole number from 1 to 8.";
      entry.replicas = Number(replicas.value);
      const labels = labelsIn(nodes.value);
      if (!labels) return "Nodes: labels as key=value, with a comma between them.";
      entry.nodes = labels;
      const words = `scheduler ${entry.name} ${given ? "changed" : "added"}`;
      return form.ask("scheduler", isListed ? now.name : "", JSON.stringify(entry), words);
    },
  );
}
