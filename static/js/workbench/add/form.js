// An object from a form: the YAML that it adds is seen while one types, and so is what is wrong, at its field.

import { h, fill } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";
import { FormField, showErrors, toFirst } from "./fields.js";
import { DocumentPanel, submit } from "./panel.js";
import { address, when } from "./when.js";

const NAMES = 20; // tried until one is free
const FOLDED = new Set(["Where they may run", "More"]); // sections that are closed until they are asked for

export class ObjectForm extends DocumentPanel {
  #forms = null; // the server's table, asked for once

  /** @param {string} kind */
  async open(kind) {
    const { playback } = this.view;
    const index = playback.wantedCycle ?? playback.wanted;
    const [step, forms] = await Promise.all([address(playback, index), this.#table()]);
    const form = forms?.find((row) => row.kind === kind);
    if (!form) return;
    this.beginAt(index);
    this.kind = kind;
    this.fields = new Map(form.fields.map((row) => [row.name, new FormField(row)]));
    this.notes = h("ul", { class: "form-notes fine" });
    const chosen = when(index, step, "When it is created", (at) => {
      this.step = at;
    });
    this.build({
      title: form.title,
      heading: "What it adds",
      parts: [chosen, this.#sections(form.fields)],
      buttons: [submit("data-add", "Add")],
      state: this.state,
      shown: [this.preview.element, this.notes],
    });
    const { input } = this.fields.get("name");
    input.value = input.placeholder;
    input.select();
    this.preview.enrich();
    await this.#named();
  }

  async #table() {
    try {
      return (this.#forms ??= (await this.view.playback.socket.call("forms.list", {})).forms);
    } catch (error) {
      this.view.playback.emit("failed", error);
      return null;
    }
  }

  /** The fields without a section first; a section that most do not need is folded. */
  #sections(rows) {
    const sections = new Map();
    for (const row of rows) {
      if (!sections.has(row.section)) sections.set(row.section, []);
      sections.get(row.section).push(this.fields.get(row.name).element);
    }
    return [...sections].map(([heading, elements]) => {
      const grid = h("div", { class: "form-grid" }, elements);
      if (!heading) return grid;
      return FOLDED.has(heading)
        ? h("details", { class: "form-more" }, h("summary", { text: heading }), grid)
        : h("fieldset", null, h("legend", { text: heading }), grid);
    });
  }

  /** Begin with a name that is free, to be typed over. */
  async #named() {
    const { input } = this.fields.get("name");
    const first = input.value;
    for (let number = 2; number <= NAMES; number += 1) {
      const tried = input.value;
      await this.ask();
      if (
        input.value !== tried
        || !this.answer?.errors.some(({ field, message }) => field === "name" && message.includes("exists already"))
      )
        return;
      input.value = `${first}-${number}`;
      input.select();
    }
  }

  request() {
    const { playback } = this.view;
    return playback.socket.call("form.draft", {
      source: playback.source,
      kind: this.kind,
      fields: Object.fromEntries([...this.fields].map(([name, field]) => [name, field.value])),
      ...(this.step ? { step: this.step } : {}),
    });
  }

  show(answer) {
    super.show(answer);
    for (const field of this.fields.values()) field.know(answer.known);
    // A field that is not begun is not wrong.
    const unnamed = (name, field) => !this.pressed && !field.value && (name === "name" || name === "selector");
    const general = showErrors(this.fields, answer.errors, unnamed);
    fill(
      this.problems,
      general.map((text) => h("p", { class: "stale-text", text })),
    );
    // The last valid preview stays in view until the errors are fixed.
    if (answer.documents && this.preview.value !== answer.documents) this.preview.value = answer.documents;
    this.preview.element.classList.toggle("old", !answer.documents);
    fill(
      this.notes,
      answer.notes.map((text) => h("li", { text })),
    );
    const waiting = answer.errors.every(
      ({ field }) => this.fields.has(field) && unnamed(field, this.fields.get(field)),
    );
    this.state.textContent = !answer.errors.length
      ? plural(answer.count, "document")
      : waiting
        ? "once the required fields are set"
        : plural(answer.errors.length, "error");
  }

  refused(answer) {
    toFirst(this.fields, answer.errors);
    return super.refused(answer);
  }
}
