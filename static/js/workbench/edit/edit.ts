// Changes of the draft, each with a notice that can undo it.

import { offering } from "../../kit/offering.tsx";
import { $, toast } from "../../lib/dom.ts";
import { refusalOf } from "../../lib/socket.ts";
import { costs } from "../draft/comments.ts";
import { follow } from "../playback/store.ts";
import type { Change } from "../draft/change.ts";
import type { Undo } from "./undo.ts";
import type { EditWish } from "../view/actions.ts";
import type { View } from "../view/view.ts";

/** What an edit needs of the draft; `fork` goes on in a copy, `onText` opens the YAML. */
export type EditOptions = {
  mine: boolean;
  fork: (wish: EditWish) => Promise<void>;
  text: () => Promise<string>;
  change: Change;
  dirty: () => boolean;
  undo: Undo;
  onText: () => void;
};

/** Rewriting of a text, by commands. */
export type Rewriting = "bundle.operate" | "bundle.amend" | "bundle.add" | "bundle.bulk" | "bundle.verb";

const NOTE_MS = 12_000;

export class Edit {
  #busy = false;
  #note: ReturnType<typeof offering> | null = null; // the notice of the last change

  constructor(
    readonly view: View,
    readonly options: EditOptions,
  ) {
    follow(view.store.edits, () => {
      this.#note?.remove();
      this.#note = null;
    }); // its Undo would lead back from something else
  }

  get last() {
    return this.options.undo.last;
  }

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
