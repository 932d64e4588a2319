// Add an event: what happens, to what, and when; errors are shown at their fields.

import { h, fill, icon, announce, dialog } from "../../lib/dom.js";
import { Editor, problemList } from "../../lib/editor.js";
import { plural } from "../../lib/quantity.js";
import { FormField } from "../add/fields.js";
import { TEMPLATES } from "../edit/templates.js";
import { capital } from "../terms.js";
import { asSentence, wishOf } from "../verbs/dialog.js";
import { kindsFor, targetOf } from "./kinds.js";
import { Moment } from "./moment.js";
/** @import { Edit, Rewriting } from "../edit.js" */
/** @import { View } from "../view.js" */
/** @import { EventKind } from "./kinds.js" */

export class EventForm {
  /**
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    this.view = view;
    this.edit = edit;
  }

  open() {
    const { playback } = this.view;
    this.view.emit("hold");
    this.moment = new Moment(playback);
    this.kinds = kindsFor(this.view);
    this.what = new FormField({
      name: "what",
      label: "What happens",
      type: "text",
      default: "cordon",
      hint: "",
      choices: [...this.kinds].map(([name, { title, group }]) => [name, title, group]),
      wide: true,
    });
    this.rest = h("div", { class: "event-rest" });
    this.problems = h("div", { class: "edit-problems", role: "alert" });
    this.form = h(
      "form",
      {
        class: "form-fields",
        novalidate: true,
        onsubmit: (event) => {
          event.preventDefault();
          this.#add();
        },
      },
      h("div", { class: "form-grid" }, this.what.element),
      this.rest,
      this.moment.element,
      this.problems,
      h(
        "div",
        { class: "edit-bar" },
        h("button", { type: "submit", class: "btn primary" }, icon("check"), "Add the event"),
        h("button", { type: "button", class: "btn quiet", onclick: () => this.box.close(), text: "Cancel" }),
        h("kbd", { text: "Ctrl Enter" }),
      ),
    );
    this.box = dialog("Add an event", this.form);
    this.box.classList.add("edit-panel", "event-panel");
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#add();
      }
    });
    this.what.input.addEventListener("change", () => this.#ask());
    this.#ask();
    this.what.input.focus();
  }

  /** @returns {EventKind} */
  get #kind() {
    return this.kinds.get(this.what.value);
  }

  /** Show the fields of what was chosen. */
  async #ask() {
    const kind = this.#kind;
    this.what.hint = kind.verb ? `${capital(kind.verb.help)}.` : "";
    this.what.showError("");
    fill(this.problems);
    this.target = kind.about
      ? new FormField({
          name: "target",
          label: kind.about.label,
          type: "text",
          default: "",
          placeholder: kind.about.placeholder,
          hint: "",
          suggest: "target",
        })
      : null;
    this.fields = new Map(
      (kind.fields ?? []).map(([name, label, placeholder, known, optional = false, value = ""]) => {
        const row = { name, label, type: "text", default: value, placeholder, hint: "", suggest: name, optional };
        const field = new FormField(row);
        field.know({ [name]: known });
        return [name, field];
      }),
    );
    this.editor = kind.create
      ? new Editor({ label: `${kind.create} as YAML`, beside: () => this.edit.options.text() })
      : null;
    if (this.editor) {
      this.editor.value = TEMPLATES[kind.create];
      this.editor.enrich();
    }
    const row = [this.target, ...this.fields.values()].filter(Boolean);
    fill(
      this.rest,
      row.length
        ? h(
            "div",
            { class: "form-grid" },
            row.map(({ element }) => element),
          )
        : null,
      this.editor?.element,
    );
    const { target } = this;
    if (target) {
      target.value = kind.about.selected?.(this.view) ?? "";
      target.know({ target: await kind.about.known(this.view) });
    }
  }

  async #add() {
    if (this.box.hasAttribute("aria-busy")) return;
    for (const field of [this.target, ...this.fields.values()]) field?.showError("");
    fill(this.problems);
    const kind = this.#kind;
    const target = this.target?.value.trim() ?? "";
    if (this.target && !target) {
      this.target.showError(`Choose ${kind.about.kind ? `a ${kind.about.kind.toLowerCase()}` : "an object"}.`);
      this.target.input.focus();
      return;
    }
    const empty = [...this.fields.values()].find((field) => !field.value && !field.row.optional);
    if (empty) {
      empty.showError("This is needed.");
      empty.input.focus();
      return;
    }
    const when = await this.moment.read();
    if (!when) return;
    this.box.toggleAttribute("aria-busy", true);
    try {
      if (kind.yaml) {
        this.box.close();
        this.view.playback.goto(when.index);
        await this.edit.open({ target });
        return;
      }
      const { words } = await this.edit.operate(...(await this.#wish(kind, target, when)));
      this.box.close();
      this.edit.notify(`${capital(words)}.`);
    } catch (error) {
      this.#wrong(error);
    } finally {
      this.box.toggleAttribute("aria-busy", false);
    }
  }

  /**
   * What the server is asked, by which command: of a common change, how the object stands at that moment, and how it
   * shall.
   *
   * @param {EventKind} kind
   * @param {string} typed
   * @param {any} when
   * @returns {Promise<[any, Rewriting]>}
   */
  async #wish(kind, typed, when) {
    const { playback } = this.view;
    const { index, ...moment } = when;
    const value = this.fields.get("value")?.value ?? "";
    if (kind.verb)
      return [wishOf(this.view, kind.verb, { targets: [typed], kind: "", label: "" }, when, value), "bundle.verb"];
    if (kind.create) return [{ action: "create", object: this.editor.value, ...moment }, "bundle.operate"];
    const target = targetOf(kind.about, typed);
    const found = await playback.socket.call("object.get", { source: playback.source, target, step: String(index) });
    const known = { target, base: found.yaml, step: found.step, ...moment };
    if (kind.remove) return [{ action: "delete", ...known }, "bundle.operate"];
    const { object } = await playback.socket.call("object.revise", {
      object: found.yaml,
      what: kind.revise,
      key: this.fields.get("key")?.value ?? "",
      value,
    });
    return [{ action: "patch", object, ...known }, "bundle.operate"];
  }

  /** At the field that it is about. */
  #wrong(error) {
    const { field, errors } = error.body ?? {};
    const text = asSentence(errors?.[0]?.message ?? error.message);
    if (field === "step" || field === "seconds") this.moment.showError(text);
    else if ((error.code === "object.not-found" || field === "target") && this.target) {
      this.target.showError(text);
      this.target.input.focus();
    } else if (field === "value" && this.fields.size) {
      const last = [...this.fields.values()][
        this.fields.has("key") && !/quantity|replicas|condition/i.test(text) ? 0 : this.fields.size - 1
      ];
      last.showError(text);
      last.input.focus();
    } else {
      if (this.editor && errors) this.editor.mark(errors);
      fill(
        this.problems,
        h("p", { class: "stale-text", text: `Nothing was added: ${plural(errors?.length ?? 1, "error")}.` }),
        this.editor && errors ? problemList(errors, this.editor) : h("p", { class: "stale-text", text }),
      );
    }
    announce(`Nothing was added. ${text}`);
  }
}
