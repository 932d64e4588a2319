// A PodGroup and its workload from a form: the YAML that it adds is seen while one types, and so is what is wrong.

import { h, fill, icon, announce, debounce, dialog } from "../lib/dom.js";
import { Editor, byLine, problemList } from "../lib/editor.js";
import { count, plural } from "../lib/quantity.js";
/** @import { Edit } from "./edit.js" */
/** @import { View } from "./view.js" */

export const GROUP = "PodGroup"; // as it is called in "Create…" and in the address of a copy

const DRAFT_AFTER = 160;
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

export class Group {
  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    this.view = view;
    this.edit = edit;
    view.on("group", () => this.open());
  }

  async open() {
    const { playback } = this.view;
    const index = playback.wantedCycle;
    const step = index ? await this.#address(index) : "";
    this.fields = new Map();
    this.step = "";
    this.answer = null;
    this.asked = 0;
    this.form = h(
      "form",
      {
        class: "group-form",
        onsubmit: (event) => {
          event.preventDefault();
          this.#add(index);
        },
        oninput: () => this.draft(),
        onchange: () => this.draft(),
      },
      this.#when(index, step),
      SECTIONS.map(([legend, rows]) =>
        h(
          "fieldset",
          null,
          h("legend", { text: legend }),
          h(
            "div",
            { class: "group-grid" },
            rows.map((row) => this.#field(...row)),
          ),
        ),
      ),
      this.#plugin(),
    );
    this.notes = h("ul", { class: "group-notes fine" });
    this.problems = h("div", { class: "edit-problems", role: "alert" });
    this.preview = new Editor({ label: "YAML that is added", readOnly: true });
    this.state = h("span", { class: "dim fine", role: "status" });
    this.submit = h("button", { type: "submit", class: "btn primary", "data-add": true }, icon("check"), "Add");
    this.form.append(
      this.problems,
      h(
        "div",
        { class: "edit-bar" },
        this.submit,
        h("button", { type: "button", class: "btn quiet", onclick: () => this.box.close(), text: "Cancel" }),
        h("kbd", { text: "Ctrl Enter" }),
      ),
    );
    this.box = dialog(
      "A PodGroup and its workload",
      h(
        "div",
        { class: "group-body" },
        this.form,
        h(
          "section",
          { class: "group-preview", "aria-label": "What it adds" },
          h("div", { class: "group-preview-head" }, h("h3", { text: "What it adds" }), this.state),
          this.preview.element,
          this.notes,
        ),
      ),
    );
    this.box.classList.add("edit-panel", "group-panel");
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#add(index);
      }
    });
    this.draft = debounce(() => this.#draft(), DRAFT_AFTER);
    this.fields.get("name").input.focus();
    this.preview.enrich();
    await this.#draft();
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
          setTimeout(done, DRAFT_AFTER);
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
            { class: "field", id, "aria-describedby": `${id}-told` },
            (how ?? []).map(([value, text]) => h("option", { value, text })),
          )
        : h("input", {
            class: "field mono",
            id,
            autocomplete: "off",
            spellcheck: "false",
            placeholder: how,
            inputmode: NUMBERS.has(name) ? "numeric" : undefined,
            "aria-describedby": `${id}-told`,
          });
    const told = h("small", { class: "group-told", id: `${id}-told`, text: hint });
    this.fields.set(name, { input, told, hint });
    return h(
      "div",
      { class: `group-field ${name === "dialect" ? "wide" : ""}` },
      h("label", { for: id, text: label }),
      input,
      told,
    );
  }

  #plugin() {
    this.plugin = h("input", {
      type: "checkbox",
      checked: true,
      id: "group-coscheduling",
      "aria-describedby": "group-plugin-told",
    });
    this.pluginTold = h("small", { class: "group-told", id: "group-plugin-told" });
    return h(
      "div",
      { class: "group-plugin" },
      h("label", { for: "group-coscheduling" }, this.plugin, h("b", { text: "Schedule it with Coscheduling" })),
      this.pluginTold,
    );
  }

  /** Ask the server what the fields come to; only the newest answer is shown. */
  async #draft() {
    const { playback } = this.view;
    const turn = ++this.asked;
    const given = this.answer
      ? Object.fromEntries([...this.fields].map(([name, { input }]) => [name, input.value]))
      : {};
    try {
      const answer = await playback.socket.call("group.draft", {
        source: playback.source,
        fields: { ...given, coscheduling: this.plugin.checked },
        ...(this.step ? { step: this.step } : {}),
      });
      if (turn === this.asked) this.#show(answer);
    } catch (error) {
      if (turn === this.asked && error.code !== "request.superseded")
        fill(this.problems, h("p", { class: "stale-text", text: error.message }));
    }
  }

  #show(answer) {
    const first = !this.answer;
    this.answer = answer;
    this.#choices(answer, first);
    const lacks = answer.dialects.find(([id]) => id === this.fields.get("dialect").input.value)?.[2] ?? [];
    const general = [];
    const wrong = new Map();
    const doubts = new Map(answer.doubts.map(({ field, message }) => [field, message])); // they are allowed
    for (const { field, message } of answer.errors) {
      if (this.fields.has(field)) wrong.set(field, message);
      else general.push(message);
    }
    for (const [name, { input, told, hint }] of this.fields) {
      const message = wrong.get(name) ?? "";
      const shown = message && !(name === "name" && !input.value && !this.pressed);
      input.setAttribute("aria-invalid", String(Boolean(shown)));
      told.classList.toggle("stale-text", Boolean(shown));
      told.classList.toggle("fail-text", !shown && doubts.has(name));
      told.textContent = shown
        ? message
        : (doubts.get(name) ?? (lacks.includes(name) ? "this API group has no such field" : hint));
      input.disabled = lacks.includes(name) && !input.value;
    }
    this.plugin.disabled = answer.coscheduling;
    this.pluginTold.textContent = answer.coscheduling
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

  /** @param {number} index */
  async #add(index) {
    if (this.box.hasAttribute("aria-busy")) return;
    this.pressed = true;
    this.draft.cancel?.();
    await this.#draft();
    const { errors, documents, doubts } = this.answer ?? { errors: [{}], documents: "", doubts: [] };
    if (errors.length) {
      const at = this.fields.get(errors.find(({ field }) => this.fields.has(field))?.field)?.input;
      at?.focus();
      announce(`Nothing was added: ${plural(errors.length, "error")}.`);
      return;
    }
    this.box.toggleAttribute("aria-busy", true);
    try {
      const { step } = this;
      const { words, cost } = await this.edit.operate({ documents, ...(step ? { step } : {}) }, "bundle.add");
      const told = doubts.map(({ message }) => ` ${message}`).join("");
      this.edit.added(this.box, `${step ? `After cycle ${count(index)}` : "From the start"}: ${words}.${cost}${told}`);
    } catch (error) {
      const found = error.body?.errors ?? [{ message: error.message }];
      this.preview.mark(found);
      fill(
        this.problems,
        h("p", { class: "stale-text", text: `Nothing was added: ${plural(found.length, "error")}.` }),
        problemList(byLine(found), this.preview),
      );
    } finally {
      this.box.toggleAttribute("aria-busy", false);
    }
  }
}
