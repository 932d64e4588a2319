// The policy as text beside its controls: what is typed is checked as it is typed, its errors are shown on their line,
// and the controls follow it.

import { h, fill, icon, announce, debounce } from "../../lib/dom.js";
import { Editor, errorList, problemList } from "../../lib/editor.js";
import { plural } from "../../lib/quantity.js";

const CHECK_AFTER = 250;
const PLACEHOLDER = `Nothing is configured:
the defaults run,
as shown below.

Write a Policy or a
KubeSchedulerConfiguration,
or use the controls.`;

export class PolicyText {
  #shown = ""; // what is in force
  #based = null; // the draft's text, as a promise, over which the policy was typed
  #open = false;

  /**
   * `options`: `{check(text), apply(text, based), seen(), changed(), unwritten()}`; `check` returns a PolicyText,
   * `seen` the draft's text that is shown, `unwritten` the text of what runs by default.
   */
  constructor(options) {
    this.options = options;
    this.known = null; // the answer about what is typed, if it differs from what is in force
    this.check = debounce(() => this.#check(), CHECK_AFTER);
    this.editor = new Editor({ label: "Policy as YAML", placeholder: PLACEHOLDER, onInput: () => this.#typed() });
    this.problems = h("div", { class: "edit-problems", role: "status" });
    this.applying = h(
      "button",
      { type: "button", class: "btn primary small", disabled: true, onclick: () => this.apply() },
      icon("check"),
      "Apply the text",
    );
    this.discard = h("button", {
      type: "button",
      class: "btn quiet small",
      hidden: true,
      onclick: () => this.#discard(),
      text: "Discard",
    });
    this.other = h("div", { class: "policy-other" });
    this.bar = h(
      "div",
      { class: "yaml-bar" },
      this.applying,
      this.discard,
      h("span", { class: "grow" }),
      h("kbd", { text: "Ctrl Enter" }),
    );
    this.unwritten = h("pre", {
      class: "policy-pre dim",
      tabindex: "0",
      hidden: true,
      "aria-label": "The defaults as text, which is not written",
    });
    this.body = h(
      "div",
      { class: "policy-text-body" },
      this.bar,
      this.editor.element,
      this.unwritten,
      this.problems,
      this.other,
    );
    this.element = h(
      "details",
      {
        class: "policy-part policy-text",
        ontoggle: (event) => {
          this.#open = event.target.open;
          if (this.#open) {
            this.editor.enrich();
            this.#showUnwritten();
          }
        },
      },
      h("summary", { "data-control": "text" }, h("b", { text: "As text" }), (this.note = h("span", { class: "dim" }))),
      this.body,
    );
    this.editor.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        event.stopPropagation();
        this.apply();
      }
    });
  }

  get text() {
    return this.editor.value;
  }

  get dirty() {
    return this.text !== this.#shown;
  }

  /** Whether what is typed cannot be used, or is not known to be. */
  get wrong() {
    return this.dirty && !(this.known && this.known.text === this.text && !this.known.errors.length);
  }

  /** Show what is in force; what is typed and not applied stays. */
  show(answer, editable) {
    const typed = this.dirty;
    if (answer.text !== this.#shown) {
      this.#shown = answer.text;
      if (!typed) {
        this.editor.value = answer.text;
        this.known = null;
      }
    }
    if (!this.dirty) this.#based = null;
    this.editor.readOnly = !editable;
    this.bar.hidden = !editable;
    this.#mark(this.known ?? answer);
    this.#paint();
  }

  /** Where nothing is written, what that amounts to, to be read and copied. */
  #showUnwritten() {
    if (this.#open && !this.#shown && !this.unwritten.textContent)
      this.unwritten.textContent = this.options.unwritten();
    this.unwritten.hidden = Boolean(this.#shown) || this.dirty || !this.unwritten.textContent;
    this.element.classList.toggle("unwritten", !this.unwritten.hidden);
  }

  /**
   * Put in what a control made of what is typed.
   *
   * @param {string} text
   */
  async take(text) {
    this.#begin();
    this.editor.value = text;
    await this.#check();
  }

  /** Something is typed over what is shown: another tab may change that before it is applied. */
  #begin() {
    this.#based ??= this.options.seen();
    this.#based.catch(() => {}); // reported where it is applied
  }

  #typed() {
    this.#begin();
    this.#paint();
    if (this.dirty) this.check();
    else this.#discard();
  }

  #discard() {
    this.check.cancel();
    this.editor.value = this.#shown;
    this.#based = null;
    this.known = null;
    fill(this.problems);
    this.#paint();
    this.options.changed();
  }

  async #check() {
    const { text } = this;
    try {
      const answer = await this.options.check(text);
      if (text !== this.text) return;
      this.known = this.dirty ? answer : null;
      this.#mark(answer);
    } catch (error) {
      if (error.code === "request.superseded" || text !== this.text) return;
      fill(this.problems, h("p", { class: "stale-text", text: error.message }));
    }
    this.#paint();
    this.options.changed();
  }

  #mark({ errors, warnings }) {
    this.editor.mark(errors, warnings);
    fill(
      this.problems,
      errorList(errors, this.editor),
      warnings.length ? problemList(warnings, this.editor, "warning") : null,
    );
  }

  #paint() {
    const { dirty } = this;
    this.applying.disabled = !dirty || this.wrong || !this.text.trim();
    this.discard.hidden = !dirty;
    this.note.textContent = dirty
      ? this.wrong
        ? this.known?.errors.length
          ? "not applied, has errors"
          : "checking…"
        : "not applied; the controls show and change it"
      : this.#shown
        ? ""
        : "nothing written: the defaults";
    this.element.classList.toggle("typed", dirty);
    this.#showUnwritten();
  }

  /** Put what is typed in force. */
  async apply() {
    if (this.applying.disabled) return;
    this.applying.disabled = true;
    try {
      const { text } = this;
      await this.options.apply(text, await this.#based);
      this.#shown = text;
      this.#based = null;
      this.known = null;
    } catch (error) {
      const errors = error.body?.errors ?? [{ message: error.message }];
      this.#mark({ errors, warnings: [] });
      announce(`${plural(errors.length, "error")}. Nothing was applied.`);
      if (errors[0].line) this.editor.jump(errors[0].line);
    }
    this.#paint();
  }

  /** The same in the other form, and what is lost by it; `turn` writes it so. */
  form(other, editable, turn, versions) {
    if (!other) {
      fill(this.other);
      return;
    }
    const version = h(
      "select",
      { class: "field", "aria-label": "Version", "data-control": "version" },
      h("option", { value: "", text: "that loses least" }),
      versions.map(([name, releases]) => h("option", { value: name, text: `${name} (Kubernetes ${releases})` })),
    );
    const toConfiguration = other.kind !== "Policy";
    fill(
      this.other,
      h(
        "div",
        { class: "policy-turn" },
        h(
          "button",
          {
            type: "button",
            class: "btn small",
            disabled: !editable || undefined,
            "data-control": "turn",
            onclick: () => turn(other.kind, toConfiguration ? version.value : ""),
          },
          `Write it as a ${other.kind}`,
        ),
        toConfiguration && editable ? version : null,
      ),
      toConfiguration
        ? h("p", { class: "dim fine", text: "It then runs in virtual time, with the framework’s queue and scores." })
        : null,
      h(
        "details",
        null,
        h("summary", { "data-control": "other", text: `Converted to a ${other.kind}` }),
        h("pre", { class: "policy-pre", tabindex: "0", "aria-label": `As a ${other.kind}`, text: other.text }),
      ),
      other.lost.length
        ? h(
            "div",
            { class: "note warning" },
            icon("warn"),
            h(
              "div",
              null,
              h("p", { text: `What a ${other.kind} cannot say:` }),
              h(
                "ul",
                { class: "plain-list" },
                other.lost.map((text) => h("li", { text })),
              ),
            ),
          )
        : h("p", { class: "dim fine", text: "The conversion loses nothing." }),
      other.notes.length
        ? h(
            "ul",
            { class: "plain-list dim fine" },
            other.notes.map((text) => h("li", { text })),
          )
        : null,
    );
  }
}
