// The form of a scheduler of the SimulationSettings.

import { h } from "../../lib/dom.js";
import { releases } from "../../lib/releases.js";
import { ask } from "./forms.js";
/** @import { ListedScheduler } from "../../lib/protocol.js" */
/** @import { PolicyForm } from "./controls.tsx" */

const BATCH = "kube-batch";
export const NONE = { runs: "", watchDelay: 0, decisionTime: 0, bindDelay: 0, replicas: 1, nodes: {} };

/** @type {[key: "watchDelay" | "decisionTime" | "bindDelay", label: string, hint: string][]} */
export const DELAYS = [
  ["watchDelay", "Watch delay", "from a write at the API server until it sees that"],
  ["decisionTime", "Decision time", "that a decision takes; its view is frozen meanwhile"],
  ["bindDelay", "Bind delay", "from the decision until its binding arrives"],
];

/** @param {{ name: string, runs: string }} of */
const isBatch = ({ name, runs }) => (runs || name) === BATCH;

/** The release of a scheduler that names none: the one in whose virtual time they run. */
const shared = () => releases().find(({ timed }) => timed).name;

/** @param {{ name: string, runs: string }} of */
export const runsOf = (of) => (isBatch(of) ? BATCH : `kube-scheduler ${of.runs || shared()}`);

/** What a scheduler can run, with the value of each: the newest release comes first, after the one of the rest. */
const runnable = () => {
  const others = releases().filter(({ timed }) => !timed);
  const named = others.map(({ name }) => [name, `kube-scheduler ${name}`]).reverse();
  return [["", `kube-scheduler ${shared()}`], ...named, [BATCH, BATCH]];
};

/** @param {Record<string, string>} nodes */
export const asLabels = (nodes) =>
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
export function schedulerForm(form, given, isListed = false) {
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
