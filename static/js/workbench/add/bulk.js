// Change many nodes: chosen by labels, by names, or as those that are lit or selected. The effect is previewed, and it
// is one step of Undo.

import { h, fill, announce } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { FormField, showErrors, toFirst } from "./fields.js";
import { FormPanel, submit } from "./panel.js";
import { address, when } from "./when.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

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

export class BulkChange extends FormPanel {
  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    super();
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
    this.begin();
    this.index = index;
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
    this.state = h("p", { class: "bulk-state", role: "status" });
    this.named = h("div", { class: "chips" });
    this.shown = h("div", { class: "bulk-diffs" });
    this.action = submit("data-bulk", h("span", { text: "Change" }));
    const parts = [
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
    ];
    this.build({
      title: "Change many nodes",
      heading: "What it changes",
      parts,
      buttons: [this.action],
      shown: [this.state, this.named, this.shown],
    });
    this.which.selector.know({ labels: this.#labels() });
    this.which.glob.know({ names: playback.nodes.names.slice(0, 200) });
    this.#ways();
    this.#fit();
    (this.marked ? this.what : this.which.selector.input).focus();
    await this.ask();
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

  request() {
    const { playback } = this.view;
    return playback.socket.call("nodes.preview", { source: playback.source, ...this.#wish });
  }

  get #fields() {
    const fields = new Map(this.given);
    if (this.which[this.by]) fields.set("which", this.which[this.by]);
    return fields;
  }

  show(answer) {
    super.show(answer);
    const { nodes, chosen, names, absent, changed, errors, difference } = answer;
    const begun = (/** @type {string} */ name) =>
      name !== "key" || this.pressed || Boolean(this.given.get("key")?.value);
    const general = showErrors(this.#fields, errors, (name) => !begun(name));
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
      absent.length && !wrong ? `. Not there at this step, so left out: ${absent.slice(0, SHOWN).join(", ")}` : "",
      absent.length > SHOWN && !wrong ? ` and ${count(absent.length - SHOWN)} more` : "",
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
    this.action.lastElementChild.textContent =
      wrong || !changed ? VERB[this.what.value] : `${VERB[this.what.value]} ${plural(changed, "node")}`;
  }

  refused({ errors, changed = 0 }) {
    if (!errors.length && changed) return false;
    if (errors.length) toFirst(this.#fields, errors);
    else (this.which[this.by]?.input ?? this.what).focus();
    announce(errors.length ? `Nothing was changed: ${errors[0].message}` : "Nothing would change.");
    return true;
  }

  async apply() {
    const { step, index } = this;
    const { words } = await this.edit.operate(this.#wish, "bundle.bulk");
    this.edit.added(this.box, `${step ? `After cycle ${count(index)}` : "From the start"}: ${words}.`);
  }
}
