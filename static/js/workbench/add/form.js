// An object from a form: the YAML that it adds is seen while one types, and so is what is wrong, at its field.

import { h, fill, icon, announce, debounce, dialog } from "../../lib/dom.js";
import { Editor, byLine, problemList } from "../../lib/editor.js";
import { count, plural } from "../../lib/quantity.js";
import { FormField, tellAll, toFirst } from "./fields.js";
import { address, when } from "./when.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const DRAFT_AFTER = 160;
const NAMES = 20; // tried until one is free
const FOLDED = new Set(["Where they may run", "More"]); // sections that are closed until they are asked for

export class ObjectForm {
  #forms = null; // the server's table, asked for once

  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    this.view = view;
    this.edit = edit;
  }

  /** @param {string} kind */
  async open(kind) {
    const { playback } = this.view;
    const index = playback.wantedCycle ?? playback.wanted;
    const [step, forms] = await Promise.all([address(playback, index), this.#table()]);
    const form = forms?.find((row) => row.kind === kind);
    if (!form) return;
    this.kind = kind;
    this.step = "";
    this.answer = null;
    this.asked = 0;
    this.pressed = false;
    this.fields = new Map(form.fields.map((row) => [row.name, new FormField(row)]));
    this.problems = h("div", { class: "edit-problems", role: "alert" });
    this.notes = h("ul", { class: "form-notes fine" });
    this.state = h("span", { class: "dim fine", role: "status" });
    this.preview = new Editor({ label: "YAML that is added", readOnly: true });
    this.draft = debounce(() => this.#draft(), DRAFT_AFTER);
    const submit = h("button", { type: "submit", class: "btn primary", "data-add": true }, icon("check"), "Add");
    this.form = h(
      "form",
      {
        class: "form-fields",
        novalidate: true,
        onsubmit: (event) => {
          event.preventDefault();
          this.#add(index);
        },
        oninput: () => this.draft(),
        onchange: () => this.draft(),
      },
      when(index, step, "When it is created", (chosen) => {
        this.step = chosen;
      }),
      this.#sections(form.fields),
      this.problems,
      h(
        "div",
        { class: "edit-bar" },
        submit,
        h("button", { type: "button", class: "btn quiet", onclick: () => this.box.close(), text: "Cancel" }),
        h("kbd", { text: "Ctrl Enter" }),
      ),
    );
    this.box = dialog(
      form.title,
      h(
        "div",
        { class: "form-body" },
        this.form,
        h(
          "section",
          { class: "form-preview", "aria-label": "What it adds" },
          h("div", { class: "form-preview-head" }, h("h3", { text: "What it adds" }), this.state),
          this.preview.element,
          this.notes,
        ),
      ),
    );
    this.box.classList.add("edit-panel", "form-panel");
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#add(index);
      }
    });
    this.box.addEventListener("close", () => {
      this.draft.cancel();
      this.asked += 1;
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
      await this.#draft();
      if (
        input.value !== tried
        || !this.answer?.errors.some(({ field, message }) => field === "name" && message.includes("exists already"))
      )
        return;
      input.value = `${first}-${number}`;
      input.select();
    }
  }

  /** Ask the server what the fields come to; only the newest answer is shown. */
  async #draft() {
    const { playback } = this.view;
    const turn = (this.asked += 1);
    const fields = Object.fromEntries([...this.fields].map(([name, field]) => [name, field.value]));
    try {
      const answer = await playback.socket.call("form.draft", {
        source: playback.source,
        kind: this.kind,
        fields,
        ...(this.step ? { step: this.step } : {}),
      });
      if (turn === this.asked) this.#show(answer);
    } catch (error) {
      if (turn === this.asked && error.code !== "request.superseded")
        fill(this.problems, h("p", { class: "stale-text", text: error.message }));
    }
  }

  #show(answer) {
    this.answer = answer;
    for (const field of this.fields.values()) field.know(answer.known);
    // A field that is not begun is not wrong.
    const unnamed = (name, field) => !this.pressed && !field.value && (name === "name" || name === "selector");
    const general = tellAll(this.fields, answer.errors, unnamed);
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

  /** @param {number} index */
  async #add(index) {
    if (this.box.hasAttribute("aria-busy")) return;
    this.pressed = true;
    this.draft.cancel();
    await this.#draft();
    const { errors, documents } = this.answer ?? { errors: [{}], documents: "" };
    if (errors.length) {
      toFirst(this.fields, errors);
      announce(`Nothing was added: ${plural(errors.length, "error")}.`);
      return;
    }
    this.box.toggleAttribute("aria-busy", true);
    try {
      const { step } = this;
      const { words, cost } = await this.edit.operate({ documents, ...(step ? { step } : {}) }, "bundle.add");
      this.edit.added(this.box, `${step ? `After cycle ${count(index)}` : "From the start"}: ${words}.${cost}`);
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
