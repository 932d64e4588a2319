// Change many nodes: chosen by labels, by names, or as those that are lit or selected. The effect is previewed, and it
// is one step of Undo.

import { h, fill, icon, announce, debounce, dialog } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { FormField, tellAll, toFirst } from "./fields.js";
import { address, when } from "./when.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const PREVIEW_AFTER = 160;
const NAMES = 48_000; // characters of names that a question may hold; more nodes are chosen by labels or patterns
const SHOWN = 24; // names of chosen nodes

// What can be done: its label, then label, placeholder and suggestions of the first field, and of the second.
const CHANGES = {
  taint: ["Taint", ["Taint", "gpu=yes:NoSchedule", "taints"]],
  untaint: ["Take a taint away", ["Taint", "gpu=yes:NoSchedule", "taints"]],
  label: ["Label", ["Label", "disk", ""], ["Value", "ssd", ""]],
  unlabel: ["Take a label away", ["Label", "disk", ""]],
  cordon: ["Cordon"],
  uncordon: ["Uncordon"],
  allocatable: ["Resize: set allocatable", ["Resource", "cpu", "amounts"], ["Quantity", "8", ""]],
  condition: ["Set a condition", ["Type", "MemoryPressure", "conditions"], ["Status", "True", "statuses"]],
  delete: ["Delete"],
};
const VERB = {
  taint: "Taint",
  untaint: "Untaint",
  label: "Label",
  unlabel: "Unlabel",
  cordon: "Cordon",
  uncordon: "Uncordon",
  allocatable: "Resize",
  condition: "Set on",
  delete: "Delete",
};
const CONDITIONS = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Ready"];

export class BulkChange {
  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    this.view = view;
    this.edit = edit;
  }

  /** The nodes that are lit or selected, and how they came to be. */
  #marked() {
    const { view } = this;
    const { names } = view.playback.nodes;
    if (view.lit) {
      const lit = [...view.lit.nodes].map((node) => names[node]);
      if (lit.join("\n").length < NAMES) return { label: `Lit: ${view.lit.label}`, names: lit };
    }
    return view.node >= 0 ? { label: `Selected: ${names[view.node]}`, names: [names[view.node]] } : null;
  }

  async open() {
    const { view } = this;
    const { playback } = view;
    const index = playback.wantedCycle ?? playback.wanted;
    const step = await address(playback, index);
    this.step = "";
    this.asked = 0;
    this.answer = null;
    this.marked = this.#marked();
    this.by = this.marked ? "names" : "selector";
    const choice = (name, label, hint) =>
      h(
        "label",
        null,
        h("input", {
          type: "radio",
          name: "bulk-by",
          value: name,
          checked: this.by === name || undefined,
          onchange: () => {
            this.by = name;
            this.#ways();
          },
        }),
        h("span", null, h("b", { text: label }), " ", h("span", { class: "dim", text: hint })),
      );
    this.which = {
      selector: new FormField({
        name: "selector",
        label: "Label selector",
        type: "selector",
        default: "",
        placeholder: "disk in (ssd, nvme), !spot",
        hint: "nothing: every node",
        suggest: "labels",
      }),
      glob: new FormField({
        name: "glob",
        label: "Names",
        type: "names",
        default: "",
        placeholder: "gpu-*, general-0?",
        hint: "* matches any characters, ? a single one",
        suggest: "names",
      }),
    };
    this.what = h(
      "select",
      { class: "field", id: "bulk-what", onchange: () => this.#fit() },
      Object.entries(CHANGES).map(([name, [label]]) => h("option", { value: name, text: String(label) })),
    );
    this.args = h("div", { class: "form-grid" });
    this.problems = h("div", { class: "edit-problems", role: "alert" });
    this.state = h("p", { class: "bulk-state", role: "status" });
    this.named = h("div", { class: "chips" });
    this.shown = h("div", { class: "bulk-diffs" });
    this.draft = debounce(() => this.#preview(), PREVIEW_AFTER);
    this.submit = h(
      "button",
      { type: "submit", class: "btn primary", "data-bulk": true },
      icon("check"),
      h("span", { text: "Change" }),
    );
    this.form = h(
      "form",
      {
        class: "form-fields",
        novalidate: true,
        onsubmit: (event) => {
          event.preventDefault();
          this.#apply(index);
        },
        oninput: () => this.draft(),
        onchange: () => this.draft(),
      },
      h(
        "fieldset",
        { class: "edit-when" },
        h("legend", { text: "Which nodes" }),
        this.marked ? choice("names", this.marked.label, plural(this.marked.names.length, "node")) : null,
        choice("selector", "By labels", "in the syntax of kubectl -l"),
        choice("glob", "By names", "with patterns"),
        h("div", { class: "form-grid bulk-which" }, this.which.selector.element, this.which.glob.element),
      ),
      h(
        "fieldset",
        null,
        h("legend", { text: "What is done" }),
        h(
          "div",
          { class: "form-grid" },
          h("div", { class: "form-field wide" }, h("label", { for: "bulk-what", text: "Change" }), this.what),
        ),
        this.args,
      ),
      when(
        index,
        step,
        "When",
        (chosen) => {
          this.step = chosen;
        },
        "The nodes have this from the start.",
      ),
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
      "Change many nodes",
      h(
        "div",
        { class: "form-body" },
        this.form,
        h(
          "section",
          { class: "form-preview", "aria-label": "What it changes" },
          h("div", { class: "form-preview-head" }, h("h3", { text: "What it changes" })),
          this.state,
          this.named,
          this.shown,
        ),
      ),
    );
    this.box.classList.add("edit-panel", "form-panel");
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#apply(index);
      }
    });
    this.box.addEventListener("close", () => {
      this.draft.cancel();
      this.asked += 1;
    });
    this.which.selector.know({ labels: this.#labels() });
    this.which.glob.know({ names: playback.nodes.names.slice(0, 200) });
    this.#ways();
    this.#fit();
    (this.marked ? this.what : this.which.selector.input).focus();
    await this.#preview();
  }

  /** Labels that several nodes have, and so divide them. */
  #labels() {
    const seen = new Map();
    for (const labels of this.view.playback.nodes.labels ?? [])
      for (const [key, value] of Object.entries(labels)) {
        const text = `${key}=${value}`;
        seen.set(text, (seen.get(text) ?? 0) + 1);
      }
    return [...seen]
      .filter(([, n]) => n > 1)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 100)
      .map(([text]) => text);
  }

  #ways() {
    for (const [name, field] of Object.entries(this.which)) field.element.hidden = name !== this.by;
  }

  /** The fields that the chosen change needs. */
  #fit() {
    const { nodes } = this.view.playback;
    const known = {
      taints: [...new Set((nodes.taints ?? []).flat())].slice(0, 100),
      amounts: ["cpu", "memory", "pods", ...Object.keys(nodes.extended ?? {})],
      conditions: CONDITIONS,
      statuses: ["True", "False", "Unknown"],
    };
    const [, ...rows] = CHANGES[this.what.value];
    this.given = new Map(
      rows.map(([label, placeholder, suggest], i) => [
        i ? "value" : "key",
        new FormField({
          name: i ? "value" : "key",
          label,
          type: "text",
          default: "",
          placeholder,
          hint: "",
          suggest,
          wide: !i,
        }),
      ]),
    );
    for (const field of this.given.values()) field.know(known);
    fill(
      this.args,
      [...this.given.values()].map(({ element }) => element),
    );
  }

  get #wish() {
    const { by, what, given, step } = this;
    const which = by === "names" ? this.marked.names.join("\n") : this.which[by].value;
    return {
      by,
      which,
      what: what.value,
      key: given.get("key")?.value ?? "",
      value: given.get("value")?.value ?? "",
      ...(step ? { step } : {}),
    };
  }

  async #preview() {
    const { playback } = this.view;
    const turn = (this.asked += 1);
    try {
      const answer = await playback.socket.call("nodes.preview", { source: playback.source, ...this.#wish });
      if (turn === this.asked) this.#show(answer);
    } catch (error) {
      if (turn === this.asked && error.code !== "request.superseded")
        fill(this.problems, h("p", { class: "stale-text", text: error.message }));
    }
  }

  get #fields() {
    const fields = new Map(this.given);
    if (this.which[this.by]) fields.set("which", this.which[this.by]);
    return fields;
  }

  #show(answer) {
    this.answer = answer;
    const { nodes, chosen, names, changed, errors, difference } = answer;
    const begun = (/** @type {string} */ name) =>
      name !== "key" || this.pressed || Boolean(this.given.get("key")?.value);
    const general = tellAll(this.#fields, errors, (name) => !begun(name));
    fill(
      this.problems,
      general.map((text) => h("p", { class: "stale-text", text })),
    );
    const wrong = errors.length > 0;
    fill(
      this.state,
      h("b", { text: `${count(chosen)} of ${plural(nodes, "node")}` }),
      " chosen",
      wrong || !chosen
        ? ""
        : changed === chosen
          ? ", all of them change"
          : `, ${count(changed)} change: the others already have it`,
    );
    fill(
      this.named,
      names.slice(0, SHOWN).map((name) => h("code", { class: "chip", text: name })),
      chosen > SHOWN
        ? h("span", { class: "dim", text: `and ${count(chosen - Math.min(SHOWN, names.length))} more` })
        : null,
    );
    const signs = { "+": ["comes", "+"], "-": ["goes", "−"], " ": ["", " "], "…": ["dim", "…"] };
    fill(
      this.shown,
      wrong
        ? null
        : difference.map(({ name, lines }) =>
            h(
              "figure",
              null,
              h("figcaption", { text: name }),
              h(
                "pre",
                { class: "diff", tabindex: "0", "aria-label": `What changes of ${name}` },
                lines.map(([sign, text]) => h("span", { class: signs[sign][0] }, `${signs[sign][1]} ${text}\n`)),
              ),
            ),
          ),
      !wrong && changed > difference.length
        ? h("p", { class: "dim fine", text: `and so on for ${count(changed - difference.length)} more` })
        : null,
      chosen
        ? null
        : h("p", {
            class: "dim fine",
            text: "No node is selected. Labels are those of the nodes; names may contain * and ?.",
          }),
    );
    this.submit.lastElementChild.textContent =
      wrong || !changed ? VERB[this.what.value] : `${VERB[this.what.value]} ${plural(changed, "node")}`;
  }

  /** @param {number} index */
  async #apply(index) {
    if (this.box.hasAttribute("aria-busy")) return;
    this.pressed = true;
    this.draft.cancel();
    await this.#preview();
    const { errors, changed } = this.answer ?? { errors: [{}], changed: 0 };
    if (errors.length || !changed) {
      if (errors.length) toFirst(this.#fields, errors);
      else (this.which[this.by]?.input ?? this.what).focus();
      announce(errors.length ? `Nothing was changed: ${errors[0].message}` : "Nothing would change.");
      return;
    }
    this.box.toggleAttribute("aria-busy", true);
    try {
      const { step } = this;
      const { words } = await this.edit.operate(this.#wish, "bundle.bulk");
      this.edit.added(this.box, `${step ? `After cycle ${count(index)}` : "From the start"}: ${words}.`);
    } catch (error) {
      const found = error.body?.errors ?? [{ message: error.message }];
      fill(
        this.problems,
        found.slice(0, 5).map(({ message }) => h("p", { class: "stale-text", text: message })),
      );
    } finally {
      this.box.toggleAttribute("aria-busy", false);
    }
  }
}
