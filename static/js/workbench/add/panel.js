// The dialog of a form whose outcome is seen while one types, and so is what is wrong.

import { h, fill, icon, announce, debounce, dialog } from "../../lib/dom.js";
import { Editor, problemList } from "../../lib/editor.js";
import { count, plural } from "../../lib/quantity.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const ASK_AFTER = 160;
const PROBLEMS = 5;

/** The button that does it. */
export const submit = (/** @type {string} */ attribute, /** @type {any} */ label) =>
  h("button", { type: "submit", class: "btn primary", [attribute]: true }, icon("check"), label);

/** A subclass has `request()`, `show(answer)`, `refused(answer)`, which shows why not, and `apply()`. */
export class FormPanel {
  /** Forget the state of an earlier dialog. */
  begin() {
    this.step = "";
    this.answer = null;
    this.asked = 0;
    this.pressed = false;
    this.problems = h("div", { class: "edit-problems", role: "alert" });
    this.draft = debounce(() => this.ask(), ASK_AFTER);
  }

  /**
   * Open it: the form of `parts` and `buttons`, and beside it what it does, under a heading with `state`.
   *
   * @param {{title: string, heading: string, parts: any[], buttons: any[], shown: any[], state?: any, kind?: string,
   *   fields?: string}} built
   */
  build({ title, heading, parts, buttons, shown, state = null, kind = "form", fields = "form-fields" }) {
    this.form = h(
      "form",
      {
        class: fields,
        novalidate: true,
        onsubmit: (event) => {
          event.preventDefault();
          this.submit();
        },
        oninput: () => this.draft(),
        onchange: () => this.draft(),
      },
      parts,
      this.problems,
      h(
        "div",
        { class: "edit-bar" },
        buttons,
        h("button", { type: "button", class: "btn quiet", onclick: () => this.box.close(), text: "Cancel" }),
        h("kbd", { text: "Ctrl Enter" }),
      ),
    );
    const head = h("div", { class: `${kind}-preview-head` }, h("h3", { text: heading }), state);
    const preview = h("section", { class: `${kind}-preview`, "aria-label": heading }, head, shown);
    this.box = dialog(title, h("div", { class: `${kind}-body` }, this.form, preview));
    this.box.classList.add("edit-panel", `${kind}-panel`);
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.submit();
      }
    });
    this.box.addEventListener("close", () => {
      this.draft.cancel();
      this.asked += 1;
    });
  }

  /** Ask the server for the result of the fields; only the newest answer is shown. */
  async ask() {
    const turn = (this.asked += 1);
    try {
      const answer = await this.request();
      if (turn !== this.asked) return;
      this.show(answer);
    } catch (error) {
      if (turn === this.asked && error.code !== "request.superseded") this.failed(error);
    }
  }

  /** @param {Error} error */
  failed(error) {
    this.say([error]);
  }

  /** @param {{message: string}[]} problems */
  say(problems) {
    fill(
      this.problems,
      problems.map(({ message }) => h("p", { class: "stale-text", text: message })),
    );
  }

  /** Apply the form, unless its latest check failed; show here what the server then refuses. */
  async submit(apply = () => this.apply()) {
    if (this.box.hasAttribute("aria-busy")) return;
    this.pressed = true;
    this.draft.cancel();
    await this.ask();
    if (this.refused(this.answer ?? { errors: [{}] })) return;
    this.box.toggleAttribute("aria-busy", true);
    try {
      await apply();
    } catch (error) {
      this.rejected(error.body?.errors ?? [{ message: error.message }]);
    } finally {
      this.box.toggleAttribute("aria-busy", false);
    }
  }

  /** @param {{message: string}[]} problems */
  rejected(problems) {
    this.say(problems.slice(0, PROBLEMS));
  }

  /** @returns {Promise<any>} */
  async request() {
    throw new Error("not implemented");
  }

  /** @param {any} answer */
  show(answer) {
    this.answer = answer;
  }

  /**
   * @param {any} answer
   * @returns {boolean}
   */
  refused(answer) {
    return answer.errors.length > 0;
  }

  /** @returns {void | Promise<void>} */
  apply() {}
}

/** A form that adds documents, which are previewed. */
export class DocumentPanel extends FormPanel {
  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    super();
    this.view = view;
    this.edit = edit;
  }

  /** @param {number} index the cycle on screen */
  beginAt(index) {
    this.begin();
    this.index = index;
    this.state = h("span", { class: "dim fine", role: "status" });
    this.preview = new Editor({ label: "YAML that is added", readOnly: true });
  }

  /** @param {any} answer */
  refused({ errors }) {
    if (errors.length) announce(`Nothing was added: ${plural(errors.length, "error")}.`);
    return errors.length > 0;
  }

  async apply() {
    const { step, index } = this;
    const { documents, doubts = [] } = this.answer;
    const { words, cost } = await this.edit.operate({ documents, ...(step ? { step } : {}) }, "bundle.add");
    const notes = doubts.map(({ message }) => ` ${message}`).join("");
    this.edit.added(this.box, `${step ? `After cycle ${count(index)}` : "From the start"}: ${words}.${cost}${notes}`);
  }

  rejected(problems) {
    this.preview.mark(problems);
    fill(
      this.problems,
      h("p", { class: "stale-text", text: `Nothing was added: ${plural(problems.length, "error")}.` }),
      problemList(problems, this.preview),
    );
  }
}
