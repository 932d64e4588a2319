// Edit at this step: an object as YAML as it is there, common changes by one button, and the moment at which the change
// lands.

import { $, h, fill, icon, dialog, toast } from "../lib/dom.js";
import { Editor, problemList } from "../lib/editor.js";
import { clock, count, plural } from "../lib/quantity.js";
import { costs } from "./comments.js";
import { commonChanges } from "./edit/common.js";
import { landing } from "./edit/landing.js";
import { TEMPLATES, templateChoice } from "./edit/templates.js";
import { GROUP } from "./group.tsx";
/** @import { View } from "./view.js" */

/**
 * Rewriting of a text, by commands.
 *
 * @typedef {"bundle.operate" | "bundle.amend" | "bundle.add" | "bundle.bulk" | "bundle.verb"} Rewriting
 */

const SETTLED = new Set(["Policy", "SimulationSettings"]); // at most one of each; changing it restarts the scheduler

/**
 * What to edit: a node or a pod by its index, or any object; or what to create.
 *
 * @typedef {{ node?: number, pod?: number, target?: string, create?: string }} Wish
 */

const NOTE_MS = 12_000;

export class Edit {
  #busy = false;
  #note = null; // the notice of the last change

  /** @param {View} view */
  constructor(view, options) {
    this.view = view;
    this.options = options; // {mine, fork(wish), text(), change(make, how), dirty(), undo, onText()}
    view.on("edit", (wish) => this.open(wish));
    view.on("edits", () => {
      this.#note?.remove();
      this.#note = null;
    }); // its Undo would lead back from something else
  }

  get label() {
    return this.options.mine ? "Edit at this step" : "Edit in a copy";
  }

  get last() {
    return this.options.undo.last;
  }

  /**
   * `Node n1` or `Pod default/web-1` of a wish: a node's or a pod's index, or the target itself.
   *
   * @param {Wish} wish
   */
  #target({ node, pod, target }) {
    const { playback } = this.view;
    if (target) return target;
    if (pod >= 0) return `Pod ${playback.pods.keys[pod]}`;
    return node >= 0 ? `Node ${playback.nodes.names[node]}` : "";
  }

  /**
   * Edit what is wished for, or what is selected; `{create: kind}` begins with a template.
   *
   * @param {Wish} [wish]
   */
  async open(wish = {}) {
    const { view } = this;
    const target = wish.create ? "" : this.#target(wish) || this.#target(view);
    if (!wish.create && !target) {
      toast("Select a node or a pod first, or choose an object in Build.", { name: "help" });
      return;
    }
    if (!this.options.mine) {
      await this.options.fork(wish.create ? { create: wish.create } : { target });
      return;
    }
    if (this.options.dirty()) {
      toast("The YAML has changes that are not applied. Apply or discard them first.", { name: "warn", ms: 6000 });
      this.options.onText();
      return;
    }
    view.emit("hold");
    if (wish.create?.startsWith("+")) {
      view.emit("add", wish.create.slice(1));
      return;
    }
    if (wish.create === GROUP) {
      view.emit("group");
      return;
    }
    if (wish.create) {
      this.#show("Create an object", "", TEMPLATES[wish.create] ?? TEMPLATES.Node, []);
      return;
    }
    try {
      const { playback } = view;
      const based = await this.options.text();
      const found = await playback.socket.call("object.get", {
        source: playback.source,
        target,
        step: String(playback.wantedCycle),
      });
      this.#show(`Edit ${target}`, target, found.yaml, found.revisions, found.step, {
        start: found.start && found.index === 0,
        based,
      });
    } catch (error) {
      if (error.code !== "request.superseded") toast(error.message, { name: "warn", ms: 6000 });
    }
  }

  /**
   * Edit what an operation of the history does.
   *
   * @param {{ id: string, words: string }} given
   */
  async openOperation({ id, words }) {
    const { playback } = this.view;
    try {
      const based = await this.options.text();
      const { yaml } = await playback.socket.call("operations.get", { source: playback.source, id });
      this.#show(`Edit the event: ${words}`, "", yaml, [], "", { id, based });
    } catch (error) {
      toast(error.message, { name: "warn", ms: 6000 });
    }
  }

  // ---- the panel

  /**
   * @param {string} heading
   * @param {string} target
   * @param {string} yaml
   * @param {any[]} revisions
   * @param {string} [step]
   * @param {{ id?: string, start?: boolean, based?: string }} [options]
   */
  #show(heading, target, yaml, revisions, step, { id = "", start = false, based } = {}) {
    const { view } = this;
    const index = view.playback.wantedCycle;
    const kind = target.split(" ")[0];
    const node = kind === "Node" ? view.playback.nodeIndex.get(target.slice(5)) : undefined;
    const problems = h("div", { class: "edit-problems", role: "alert" });
    const editor = new Editor({
      label: `${target || "Object"} as YAML`,
      context: id ? "operation" : "",
      beside: () => this.options.text(),
      onInput: () => fill(problems),
    });
    editor.value = yaml;
    const moment = id ? null : landing(view.playback, index, { settled: SETTLED.has(kind), start });
    const apply = h(
      "button",
      { type: "button", class: "btn primary", onclick: () => run() },
      icon("check"),
      id ? "Change the event" : "Apply",
    );
    const drop = target
      ? h(
          "button",
          { type: "button", class: "btn danger", onclick: () => run("delete") },
          icon("cross"),
          `Delete this ${SETTLED.has(kind) ? kind : kind.replace(/(?!^)([A-Z])/g, " $1").toLowerCase()}`,
        )
      : null;
    const box = dialog(
      heading,
      moment?.element ?? null,
      target ? commonChanges(view, revisions, { editor, problems, node }) : id ? null : templateChoice(editor),
      editor.element,
      problems,
      h(
        "div",
        { class: "edit-bar" },
        apply,
        h("button", { type: "button", class: "btn quiet", onclick: () => box.close(), text: "Cancel" }),
        h("kbd", { text: "Ctrl Enter" }),
        h("span", { class: "grow" }),
        drop,
      ),
    );
    box.classList.add("edit-panel");
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run();
      }
    });
    const run = async (action = id ? "edit" : target ? "patch" : "create") => {
      if (this.#busy) return;
      const when = moment ? moment.read() : {};
      if (!when) return;
      const { start: first, ...later } = when;
      const at = step || (await this.#step(index));
      const wish = first
        ? { target, ...(action === "delete" ? {} : { object: editor.value, base: yaml }) }
        : id
          ? { action, id, object: editor.value }
          : {
              action,
              step: at,
              ...later,
              ...(target ? { target, base: yaml } : {}),
              ...(action === "delete" ? {} : { object: editor.value }),
            };
      box.toggleAttribute("aria-busy", true);
      try {
        const answer = await this.operate(wish, first ? "bundle.amend" : "bundle.operate", based);
        box.close();
        this.#notifyChange(answer, index, when, action);
      } catch (error) {
        const errors = error.body?.errors ?? [{ message: error.message }];
        editor.mark(errors);
        fill(
          problems,
          h("p", { class: "stale-text", text: `Nothing was changed: ${plural(errors.length, "error")}.` }),
          problemList(errors, editor),
        );
        if (errors[0].line) editor.jump(errors[0].line);
      } finally {
        box.toggleAttribute("aria-busy", false);
      }
    };
    ($("[data-quick]", box) ?? editor).focus();
    editor.enrich();
  }

  /**
   * The address of a cycle, "1.0" before the first.
   *
   * @param {number} index
   */
  async #step(index) {
    const { playback } = this.view;
    if (!index) return "1.0";
    return (
      playback.light(index)?.step
      ?? (await playback.ask("cycle.get", { source: playback.source, step: String(index), parts: [] })).step
    );
  }

  // ---- changing

  /**
   * Rewrite the text by `bundle.operate` or another such command, and simulate again at the same step; `based` is the
   * text that the visitor saw.
   *
   * @param {any} wish of that command, without the text
   * @param {Rewriting} [command]
   * @param {string} [based]
   */
  operate(wish, command = "bundle.operate", based = undefined) {
    return this.change(
      async (text) => {
        const answer = await this.view.playback.socket.call(command, { text, ...wish });
        return { ...answer, cost: costs(text, answer.text, answer.rewritten) };
      },
      { based },
    );
  }

  /**
   * Put another text in the place of the whole draft.
   *
   * @param {string} text
   * @param {string} words
   */
  replace(text, words) {
    return this.change(() => ({ text }), { words, whole: true });
  }

  /** Make an edit, `make(text)` → `{text, words}`. */
  async change(make, how = {}) {
    if (this.#busy) throw new Error("The previous change is still in progress.");
    this.#busy = true;
    try {
      return await this.options.change(make, how);
    } finally {
      this.#busy = false;
    }
  }

  back() {
    return this.#lead("back", "Undone");
  }

  forth() {
    return this.#lead("forth", "Redone");
  }

  async #lead(way, done) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const words = await this.options.undo[way]();
      if (!words) return;
      toast(`${done}: ${words}.`);
    } catch (error) {
      toast(`It could not be ${way === "back" ? "undone" : "redone"}: ${error.message}`, {
        name: "warn",
        ms: 6000,
      });
    } finally {
      this.#busy = false;
    }
  }

  #notifyChange({ words, cost }, index, { seconds, during, start }, action) {
    if (start) {
      this.notify(`${words[0].toUpperCase()}${words.slice(1)}.${cost}`);
      return;
    }
    const when =
      action === "edit"
        ? ""
        : seconds
          ? `At ${clock(Number(seconds))}: `
          : during
            ? `Inside cycle ${count(index + 1)}: `
            : index
              ? `After cycle ${count(index)}: `
              : "Before the first cycle: ";
    const shows = action === "edit" ? "" : seconds ? this.#showsAt(Number(seconds)) : this.#showsAfter(index);
    this.notify(`${when}${words}.${shows}${cost}`);
  }

  /** @param {number} index */
  #showsAfter(index) {
    const { complete, cycles, end } = this.view.playback;
    if (!complete || cycles > index) return ` It takes effect from cycle ${count(index + 1)}.`;
    return end ? " There is no later cycle: the End shows it." : " There is no later cycle that could show it.";
  }

  /** @param {number} seconds */
  #showsAt(seconds) {
    const { complete, marks, end } = this.view.playback;
    const first = marks.firstAt(seconds);
    if (first) return ` It takes effect from cycle ${count(first)}.`;
    return complete && end ? " There is no later cycle: the End shows it." : "";
  }

  /**
   * Close the form of what was added and go to the stage, where it shows and where the keys step.
   *
   * @param {HTMLDialogElement} box
   * @param {string} text
   */
  added(box, text) {
    box.close();
    $("#main").focus({ preventScroll: true });
    this.notify(text);
  }

  /**
   * A notice with Undo on it; notices are announced.
   *
   * @param {string} text
   */
  notify(text) {
    const note = toast(text, { ms: NOTE_MS });
    this.#note = note;
    note?.append(
      h(
        "button",
        {
          type: "button",
          class: "btn small",
          onclick: () => {
            note.remove();
            this.back();
          },
        },
        icon("undo"),
        "Undo",
      ),
    );
  }
}
