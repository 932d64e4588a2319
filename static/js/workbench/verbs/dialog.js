// One verb before it happens: what it will do, in a sentence of the server, its value, and the moment.

import { announce, debounce, dialog, fill, h, icon } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";
import { FormField } from "../add/fields.js";
import { Moment } from "../events/moment.js";
import { capital } from "../terms.js";
import { controlled, verbs } from "./table.js";
/** @import { Verb } from "../../lib/protocol.js" */
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */
/** @import { About } from "./table.js" */

const TYPED = 200; // milliseconds after the last key

/**
 * What the server is asked of a verb at a moment.
 *
 * @param {View} view
 * @param {Verb} verb
 * @param {About} about
 * @param {{ index: number, step?: string, seconds?: string, during?: string }} when
 */
export function wishOf(view, { verb }, { targets }, { index, step, seconds, during }, value = "") {
  return {
    verb,
    targets: targets.join("\n"),
    value,
    at: seconds ?? String(index ? view.playback.marks.time[index] : 0),
    ...(seconds ? { seconds } : { step }),
    ...(during ? { during } : {}),
  };
}

/**
 * An error as a sentence.
 *
 * @param {string} text
 */
export const asSentence = (text) => `${capital(text)}.`.replace(/\.\.$/, ".");

export class VerbDialog {
  #turn = 0;

  /**
   * `whatIf(wish, words)` tries it in a branch.
   *
   * @param {View} view
   * @param {Edit} edit
   * @param {(wish: any, words: string, index: number) => void} whatIf
   */
  constructor(view, edit, whatIf) {
    this.view = view;
    this.edit = edit;
    this.whatIf = whatIf;
    /** @type {Verb} */
    this.verb = verbs()[0];
    /** @type {About} */
    this.about = { kind: "Node", targets: [], label: "" };
  }

  /**
   * @param {Verb} verb
   * @param {About} about
   */
  open(verb, about) {
    this.view.emit("hold");
    this.verb = verb;
    this.about = about;
    const { value } = verb;
    this.moment = new Moment(this.view.playback, null, { timed: verb.timed || controlled(this.view) });
    this.field = value
      ? new FormField({
          name: "value",
          label: value.label,
          type: "text",
          default: value.default,
          placeholder: value.example,
          hint: "",
          wide: true,
        })
      : null;
    this.sentence = h("p", { class: "verb-sentence", role: "status" });
    this.problem = h("p", { class: "stale-text verb-problem", role: "alert" });
    const { mine } = this.edit.options;
    const form = h(
      "form",
      {
        class: "form-fields",
        novalidate: true,
        onsubmit: (event) => {
          event.preventDefault();
          this.#finish(mine);
        },
      },
      this.field ? h("div", { class: "form-grid" }, this.field.element) : null,
      this.sentence,
      this.problem,
      this.moment.element,
      h(
        "div",
        { class: "edit-bar" },
        mine ? h("button", { type: "submit", class: "btn primary", "data-apply": true }, icon("check"), "Apply") : null,
        h(
          "button",
          {
            type: mine ? "button" : "submit",
            class: mine ? "btn" : "btn primary",
            title: "In a branch of this scenario, which is run to its end and compared",
            onclick: mine ? () => this.#finish(false) : undefined,
          },
          icon("fork"),
          "What if…",
        ),
        h("button", { type: "button", class: "btn quiet", onclick: () => this.box.close(), text: "Cancel" }),
        mine ? h("kbd", { text: "Ctrl Enter" }) : null,
      ),
    );
    this.box = dialog(`${verb.title}: ${about.label}`, form);
    this.box.classList.add("edit-panel", "event-panel", "verb-panel");
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#finish(mine);
      }
    });
    const later = debounce(() => this.#preview(), TYPED);
    this.box.addEventListener("input", later);
    this.box.addEventListener("close", () => {
      this.#turn += 1;
      later.cancel();
    });
    if (this.field && value.default) this.field.value = value.default;
    (this.field?.input ?? this.box.querySelector("[type=submit]")).focus();
    this.#preview();
  }

  /** What the server is asked, at the moment that is written; null if it is none. */
  async #wish() {
    /** @type {{ index: number, step?: string, seconds?: string } | null} */
    const when = await this.moment.read();
    return when && { index: when.index, wish: wishOf(this.view, this.verb, this.about, when, this.field?.value) };
  }

  /** Ask what it will do; what is wrong stands at its field. */
  async #preview() {
    const turn = ++this.#turn;
    const empty = this.field && !this.field.value;
    this.field?.showError("");
    fill(this.problem);
    if (empty) {
      fill(this.sentence, h("span", { class: "dim", text: `${this.field.row.label}: write what it is to be.` }));
      return null;
    }
    const found = await this.#wish();
    if (!found || turn !== this.#turn) return null;
    const { playback } = this.view;
    try {
      const step = String(found.index);
      const answer = await playback.socket.call("verb.preview", { source: playback.source, ...found.wish, step });
      if (turn !== this.#turn) return null;
      const [error] = answer.errors;
      const more = answer.operations > 1 ? ` (${plural(answer.operations, "operation")})` : "";
      fill(this.sentence, error ? "" : answer.sentence, more ? h("span", { class: "dim", text: more }) : null);
      this.sentence.classList.remove("old");
      if (error) this.#wrong(error.field, error.message);
      return error ? null : { ...found, words: answer.sentence };
    } catch (error) {
      if (turn === this.#turn && error.code !== "request.superseded") this.#wrong(error.body?.field, error.message);
      return null;
    }
  }

  /**
   * @param {string} field
   * @param {string} text
   */
  #wrong(field, text) {
    const said = asSentence(text);
    fill(this.sentence);
    if (field === "value" && this.field) this.field.showError(said);
    else if (field === "step" || field === "seconds") this.moment.showError(said);
    else fill(this.problem, said);
  }

  /**
   * Write it into the draft, or try it in a branch.
   *
   * @param {boolean} apply
   */
  async #finish(apply) {
    if (this.box.hasAttribute("aria-busy")) return;
    this.box.setAttribute("aria-busy", "true");
    try {
      const found = await this.#preview();
      if (!found) {
        if (this.field && !this.field.value) this.field.showError("This is needed.");
        this.field?.input.focus();
        return;
      }
      const { wish, words, index } = found;
      if (apply) {
        await this.edit.operate(wish, "bundle.verb");
        this.edit.added(this.box, words);
      } else {
        this.box.close();
        this.whatIf(wish, `${this.verb.title.toLowerCase()} ${this.about.label}`, index);
      }
    } catch (error) {
      this.#wrong(error.body?.field, error.message);
      announce(`Nothing was changed. ${error.message}`);
    } finally {
      this.box.removeAttribute("aria-busy");
    }
  }
}
