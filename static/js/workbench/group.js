// A PodGroup and its workload from a form: the YAML that it adds is seen while one types, and so is what is wrong.

import { h, fill } from "../lib/dom.js";
import { count, plural } from "../lib/quantity.js";
import { DocumentPanel, submit } from "./add/panel.js";
/** @import { Edit } from "./edit.js" */
/** @import { View } from "./view.js" */

export const GROUP = "PodGroup"; // as it is called in "Create…" and in the address of a copy

const RETRY_AFTER = 160;
const TRIES = 20;
const DIALECTS = {
  current: "current Coscheduling",
  classic: "classic Coscheduling, 2021",
  native: "Kubernetes' own",
  "kube-batch": "kube-batch",
};
const WORKLOADS = [
  ["Job", "Job"],
  ["Deployment", "Deployment"],
  ["Pods", "plain pods"],
];

// Sections of the form: its heading, then name, label, placeholder or choices, and a hint.
/** @type {[legend: string, rows: [name: string, label: string, shown: any, hint?: string][]][]} */
const SECTIONS = [
  [
    "The group",
    [
      ["name", "Name", "train"],
      ["namespace", "Namespace", "default"],
      ["minMember", "minMember", "4", "pods that are placed together or not at all"],
      ["scheduleTimeoutSeconds", "scheduleTimeoutSeconds", "plugin's: 60", "how long a member waits at Permit"],
      ["minCpu", "minResources cpu", "not checked"],
      ["minMemory", "minResources memory", "not checked"],
      ["dialect", "Dialect", null, "apiVersion, and how a pod names its group"],
    ],
  ],
  [
    "Its workload",
    [
      ["workload", "Kind", WORKLOADS],
      ["replicas", "Pods", "4"],
      ["cpu", "cpu of a pod", "none"],
      ["memory", "memory of a pod", "none"],
      ["priorityClassName", "Priority class", []],
      ["runSeconds", "Runs for, in seconds", "no end", "podstep/run-seconds of its pods"],
    ],
  ],
];
const NUMBERS = new Set(["minMember", "scheduleTimeoutSeconds", "replicas", "runSeconds"]);

export class Group extends DocumentPanel {
  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    super(view, edit);
    view.on("group", () => this.open());
  }

  async open() {
    const { playback } = this.view;
    const index = playback.wantedCycle;
    const step = index ? await this.#address(index) : "";
    this.beginAt(index);
    this.fields = new Map();
    const sections = SECTIONS.map(([legend, rows]) => {
      const grid = h(
        "div",
        { class: "group-grid" },
        rows.map((row) => this.#field(...row)),
      );
      return h("fieldset", null, h("legend", { text: legend }), grid);
    });
    this.notes = h("ul", { class: "group-notes fine" });
    this.build({
      title: "A PodGroup and its workload",
      heading: "What it adds",
      kind: "group",
      fields: "group-form",
      parts: [this.#when(index, step), sections, this.#plugin()],
      buttons: [submit("data-add", "Add")],
      state: this.state,
      shown: [this.preview.element, this.notes],
    });
    this.fields.get("name").input.focus();
    this.preview.enrich();
    await this.ask();
  }

  /**
   * The major.minor of a cycle. The stage asks for the same one as the page opens, and the newer of two questions wins:
   * then it is there soon.
   *
   * @param {number} index
   */
  async #address(index) {
    const { playback } = this.view;
    for (let tried = 0; tried < TRIES; tried += 1) {
      const known = playback.light(index)?.step;
      if (known) return known;
      try {
        return (await playback.ask("cycle.get", { source: playback.source, step: String(index), parts: [] })).step;
      } catch (error) {
        if (error.code !== "request.superseded") break;
        await new Promise((done) => {
          setTimeout(done, RETRY_AFTER);
        });
      }
    }
    return ""; // offered from the start only
  }

  #when(index, step) {
    if (!index || !step) return h("p", { class: "edit-when dim", text: "It exists from the start." });
    const choice = (value, label, hint) =>
      h(
        "label",
        null,
        h("input", {
          type: "radio",
          name: "group-when",
          checked: value === this.step || undefined,
          onchange: () => {
            this.step = value;
          },
        }),
        h("span", null, h("b", { text: label }), " ", h("span", { class: "dim", text: hint })),
      );
    return h(
      "fieldset",
      { class: "edit-when" },
      h("legend", { text: "When it is created" }),
      choice("", "From the start", "before the first cycle"),
      choice(step, `After cycle ${count(index)}`, "at the step on screen"),
    );
  }

  #field(name, label, how, hint = "") {
    const id = `group-${name}`;
    const input =
      Array.isArray(how) || how === null
        ? h(
            "select",
            { class: "field", id, "aria-describedby": `${id}-note` },
            (how ?? []).map(([value, text]) => h("option", { value, text })),
          )
        : h("input", {
            class: "field mono",
            id,
            autocomplete: "off",
            spellcheck: "false",
            placeholder: how,
            inputmode: NUMBERS.has(name) ? "numeric" : undefined,
            "aria-describedby": `${id}-note`,
          });
    const note = h("small", { class: "group-note", id: `${id}-note`, text: hint });
    this.fields.set(name, { input, note, hint });
    return h(
      "div",
      { class: `group-field ${name === "dialect" ? "wide" : ""}` },
      h("label", { for: id, text: label }),
      input,
      note,
    );
  }

  #plugin() {
    this.plugin = h("input", {
      type: "checkbox",
      checked: true,
      id: "group-coscheduling",
      "aria-describedby": "group-plugin-note",
    });
    this.pluginNote = h("small", { class: "group-note", id: "group-plugin-note" });
    return h(
      "div",
      { class: "group-plugin" },
      h("label", { for: "group-coscheduling" }, this.plugin, h("b", { text: "Schedule it with Coscheduling" })),
      this.pluginNote,
    );
  }

  request() {
    const { playback } = this.view;
    const given = this.answer
      ? Object.fromEntries([...this.fields].map(([name, { input }]) => [name, input.value]))
      : {};
    return playback.socket.call("group.draft", {
      source: playback.source,
      fields: { ...given, coscheduling: this.plugin.checked },
      ...(this.step ? { step: this.step } : {}),
    });
  }

  show(answer) {
    const first = !this.answer;
    super.show(answer);
    this.#choices(answer, first);
    const lacks = answer.dialects.find(([id]) => id === this.fields.get("dialect").input.value)?.[2] ?? [];
    const general = [];
    const wrong = new Map();
    const doubts = new Map(answer.doubts.map(({ field, message }) => [field, message])); // they are allowed
    for (const { field, message } of answer.errors) {
      if (this.fields.has(field)) wrong.set(field, message);
      else general.push(message);
    }
    for (const [name, { input, note, hint }] of this.fields) {
      const message = wrong.get(name) ?? "";
      const shown = message && !(name === "name" && !input.value && !this.pressed);
      input.setAttribute("aria-invalid", String(Boolean(shown)));
      note.classList.toggle("stale-text", Boolean(shown));
      note.classList.toggle("fail-text", !shown && doubts.has(name));
      note.textContent = shown
        ? message
        : (doubts.get(name) ?? (lacks.includes(name) ? "this API group has no such field" : hint));
      input.disabled = lacks.includes(name) && !input.value;
    }
    this.plugin.disabled = answer.coscheduling;
    this.pluginNote.textContent = answer.coscheduling
      ? "The scheduler has the plugin already."
      : this.plugin.checked
        ? ""
        : "Without it no plugin reads the PodGroup: its pods are scheduled individually.";
    fill(
      this.problems,
      general.map((text) => h("p", { class: "stale-text", text })),
    );
    if (this.preview.value !== answer.documents) this.preview.value = answer.documents;
    fill(
      this.notes,
      answer.notes.filter((text) => ![...doubts.values()].includes(text)).map((text) => h("li", { text })),
    );
    this.state.textContent = answer.errors.length
      ? wrong.size === 1 && wrong.has("name") && !this.fields.get("name").input.value
        ? "once it has a name"
        : plural(answer.errors.length, "error")
      : plural(answer.documents.split(/^---$/m).length, "document");
  }

  /** What can be chosen is the server's: the dialects, and the priority classes there are at the step. */
  #choices({ defaults, dialects, priorityClasses, coscheduling }, first) {
    const { input: dialect } = this.fields.get("dialect");
    const { input: priority } = this.fields.get("priorityClassName");
    if (first)
      fill(
        dialect,
        dialects.map(([id, version]) => h("option", { value: id, text: `${version} · ${DIALECTS[id] ?? id}` })),
      );
    const chosen = priority.value;
    fill(
      priority,
      h("option", { value: "", text: "none" }),
      priorityClasses.map(([name, value]) => h("option", { value: name, text: `${name} (${value})` })),
    );
    priority.value = priorityClasses.some(([name]) => name === chosen) ? chosen : "";
    if (!first) return;
    for (const [name, { input }] of this.fields)
      if (!input.value || input.tagName === "SELECT") input.value = defaults[name];
    if (coscheduling) this.plugin.checked = true;
  }

  refused(answer) {
    this.fields.get(answer.errors.find(({ field }) => this.fields.has(field))?.field)?.input.focus();
    return super.refused(answer);
  }
}
