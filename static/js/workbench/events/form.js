// Add an event: what happens, to what, and when; errors are shown at their fields.

import { h, fill, icon, announce, dialog } from "../../lib/dom.js";
import { Editor, problemList } from "../../lib/editor.js";
import { plural } from "../../lib/quantity.js";
import { releaseOf } from "../../lib/releases.js";
import { FormField } from "../add/fields.js";
import { TEMPLATES } from "../edit/templates.js";
import { KINDS, targetOf } from "./kinds.js";
import { Moment } from "./moment.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const OFFERED = 200;

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
    this.what = new FormField({
      name: "what",
      label: "What happens",
      type: "text",
      default: "cordon",
      hint: "",
      choices: Object.entries(KINDS)
        .filter(([, { timed }]) => !timed || releaseOf(playback.release).hasControllers)
        .map(([name, { title }]) => [name, title]),
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

  get #kind() {
    return KINDS[this.what.value];
  }

  /** Show the fields of what was chosen. */
  async #ask() {
    const kind = this.#kind;
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
      (kind.fields ?? []).map(([name, label, placeholder, known]) => {
        const field = new FormField({ name, label, type: "text", default: "", placeholder, hint: "", suggest: name });
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
    if (this.target) {
      this.target.value = this.#selected(kind.about);
      this.target.know({ target: await this.#known(kind.about) });
    }
  }

  /** @param {{ kind: string }} given */
  #selected({ kind }) {
    const { playback, node, pod } = this.view;
    if (kind === "Node") return playback.nodes.names[node] ?? "";
    return kind === "Pod" ? (playback.pods.keys[pod] ?? "") : "";
  }

  async #known({ kind, kinds }) {
    const { playback } = this.view;
    if (kind === "Node") return playback.nodes.names.slice(0, OFFERED);
    if (kind === "Pod") return playback.pods.keys.slice(0, OFFERED);
    try {
      const listed = await playback.socket.call("objects.list", {
        source: playback.source,
        step: String(playback.wantedCycle),
      });
      return listed.kinds
        .filter(([name]) => !kinds || kinds.includes(name))
        .flatMap(([name, , names]) => names.map((one) => (one === name ? name : `${name} ${one}`)));
    } catch {
      return [];
    }
  }

  async #add() {
    if (this.box.hasAttribute("aria-busy")) return;
    for (const field of [this.target, ...this.fields.values()]) field?.showError("");
    fill(this.problems);
    const kind = this.#kind;
    const target = this.target ? targetOf(kind.about, this.target.value) : "";
    if (this.target && !target) {
      this.target.showError(`Choose ${kind.about.kind ? `a ${kind.about.kind.toLowerCase()}` : "an object"}.`);
      this.target.input.focus();
      return;
    }
    const empty = [...this.fields.values()].find((field) =>
      field.row.name === "value" ? !field.value && this.#kind.revise !== "label" : !field.value,
    );
    if (empty) {
      empty.showError("This is needed.");
      empty.input.focus();
      return;
    }
    const when = await this.moment.read();
    if (!when) return;
    const { index, ...moment } = when;
    this.box.toggleAttribute("aria-busy", true);
    try {
      if (kind.yaml) {
        this.box.close();
        this.view.playback.goto(index);
        await this.edit.open({ target });
        return;
      }
      const wish = await this.#wish(kind, target, index, moment);
      const { words } = await this.edit.operate(wish);
      this.box.close();
      this.edit.notify(`${words[0].toUpperCase()}${words.slice(1)}.`);
    } catch (error) {
      this.#wrong(error);
    } finally {
      this.box.toggleAttribute("aria-busy", false);
    }
  }

  /** What `bundle.operate` is asked: of a common change, how the object stands at that moment, and how it shall. */
  async #wish(kind, target, index, moment) {
    const { playback } = this.view;
    if (kind.create) return { action: "create", object: this.editor.value, ...moment };
    const found = await playback.socket.call("object.get", { source: playback.source, target, step: String(index) });
    if (kind.remove) return { action: "delete", target, base: found.yaml, step: found.step, ...moment };
    const value = kind.atMoment
      ? (moment.seconds ?? String(index ? playback.marks.time[index] : 0))
      : (this.fields.get("value")?.value ?? kind.value ?? "");
    const { object } = await playback.socket.call("object.revise", {
      object: found.yaml,
      what: kind.revise,
      key: this.fields.get("key")?.value ?? "",
      value,
    });
    return { action: "patch", target, object, base: found.yaml, step: found.step, ...moment };
  }

  /** At the field that it is about. */
  #wrong(error) {
    const { field, errors } = error.body ?? {};
    const text = errors?.[0]?.message ?? error.message;
    if (field === "step" || field === "seconds") this.moment.showError(text);
    else if (error.code === "object.not-found" && this.target) {
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
