// Edit at this step: an object as YAML as it is there, common changes by one button, and the moment at which the change
// lands.

import { offering } from "../kit/offering.tsx";
import { $, toast } from "../lib/dom.ts";
import { refusalOf, superseded } from "../lib/socket.ts";
import { costs } from "./comments.ts";
import { editPanel } from "./edit/panel.tsx";
import { templateOf } from "./edit/templates.ts";
import { GROUP } from "./group.tsx";
import { follow } from "./store.ts";
import type { Change } from "./edit/change.ts";
import type { Undo } from "./undo.ts";
import type { View } from "./view.ts";

/** What an edit needs of the draft; `fork` goes on in a copy, `onText` opens the YAML. */
export type EditOptions = {
  mine: boolean;
  fork: (wish: Wish) => Promise<void>;
  text: () => Promise<string>;
  change: Change;
  dirty: () => boolean;
  undo: Undo;
  onText: () => void;
};

/** Rewriting of a text, by commands. */
export type Rewriting = "bundle.operate" | "bundle.amend" | "bundle.add" | "bundle.bulk" | "bundle.verb";

/** What to edit: a node or a pod by its index, or any object; or what to create. */
export type Wish = { node?: number; pod?: number; target?: string; create?: string };

const NOTE_MS = 12_000;

export class Edit {
  #busy = false;
  #note: ReturnType<typeof offering> | null = null; // the notice of the last change

  constructor(
    readonly view: View,
    readonly options: EditOptions,
  ) {
    view.on("edit", (wish) => this.open(wish));
    follow(view.store.edits, () => {
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

  /** `Node n1` or `Pod default/web-1` of a wish: a node's or a pod's index, or the target itself. */
  #target({ node = -1, pod = -1, target }: Wish) {
    const { playback } = this.view;
    if (target) return target;
    if (pod >= 0) return `Pod ${playback.pods.keys[pod]}`;
    return node >= 0 ? `Node ${playback.nodes.names[node]}` : "";
  }

  /** Edit what is wished for, or what is selected; `{create: kind}` begins with a template. */
  async open(wish: Wish = {}) {
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
      editPanel(this, "Create an object", { yaml: templateOf(wish.create) });
      return;
    }
    try {
      const { playback } = view;
      const based = await this.options.text();
      const { yaml, revisions, step, start, index } = await playback.socket.call("object.get", {
        source: playback.source,
        target,
        step: String(playback.wantedCycle),
      });
      editPanel(this, `Edit ${target}`, { target, yaml, revisions, step, start: start && index === 0, based });
    } catch (error) {
      if (!superseded(error)) toast(refusalOf(error).message, { name: "warn", ms: 6000 });
    }
  }

  /** Edit what an operation of the history does. */
  async openOperation({ id, words }: { id: string; words: string }) {
    const { playback } = this.view;
    try {
      const based = await this.options.text();
      const { yaml } = await playback.socket.call("operations.get", { source: playback.source, id });
      editPanel(this, `Edit the event: ${words}`, { yaml, id, based });
    } catch (error) {
      toast(refusalOf(error).message, { name: "warn", ms: 6000 });
    }
  }

  // ---- changing

  /**
   * Rewrite the text by `bundle.operate` or another such command, and simulate again at the same step; `based` is the
   * text that the visitor saw.
   *
   * @param wish of that command, without the text
   */
  operate(wish: any, command: Rewriting = "bundle.operate", based?: string) {
    return this.change(
      async (text) => {
        const answer = await this.view.playback.socket.call(command, { text, ...wish });
        return { ...answer, cost: costs(text, answer.text, answer.rewritten) };
      },
      { based },
    );
  }

  /** Put another text in the place of the whole draft. */
  replace(text: string, words: string) {
    return this.change(() => ({ text }), { words, whole: true });
  }

  /** Make an edit; see `Build`. */
  async change(make: Parameters<Change>[0], how: Parameters<Change>[1] = {}) {
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

  async #lead(way: "back" | "forth", done: string) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const words = await this.options.undo[way]();
      if (!words) return;
      toast(`${done}: ${words}.`);
    } catch (error) {
      toast(`It could not be ${way === "back" ? "undone" : "redone"}: ${refusalOf(error).message}`, {
        name: "warn",
        ms: 6000,
      });
    } finally {
      this.#busy = false;
    }
  }

  /** Close the form of what was added and go to the stage, where it shows and where the keys step. */
  added(box: HTMLDialogElement, text: string) {
    box.close();
    $("#main").focus({ preventScroll: true });
    this.notify(text);
  }

  /** A notice with Undo on it; notices are announced. */
  notify(text: string) {
    this.#note = offering(text, [["Undo", () => this.back(), "undo"]], { ms: NOTE_MS });
  }
}
