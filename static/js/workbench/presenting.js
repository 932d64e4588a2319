// Presentation mode: the stage alone in large type, and under it what happens, in the words of the story. It is part of
// the address, and works alone or in a room.

import { h, announce, fill, focusedNow, icon } from "../lib/dom.js";
import { sentence } from "./inspect/byhand.js";
import { spoken } from "./moments.js";
/** @import { Layout } from "./layout.js" */
/** @import { View } from "./view.js" */

const SENTENCES = 2; // the last ones: why, and what came of it

export class Presenting {
  #drawn = "";
  /** @type {HTMLElement | null} */
  #from = null; // what had the focus before

  /**
   * @param {HTMLElement} stage
   * @param {View} view
   * @param {Layout} layout
   */
  constructor(stage, view, layout) {
    this.stage = stage;
    this.view = view;
    this.layout = layout;
    this.text = h("div", { class: "caption-text" });
    this.leave = h(
      "button",
      {
        type: "button",
        class: "btn quiet square",
        "aria-label": "Leave presentation mode",
        title: "Leave presentation mode (Esc)",
        onclick: () => this.toggle(false),
      },
      icon("close"),
    );
    this.element = h("section", { class: "caption", "aria-label": "Caption", hidden: true }, this.text, this.leave);
    stage.querySelector("[data-deck]").before(this.element);
    view.on("shown", () => this.#show());
    for (const name of ["opened", "step", "moment", "parts"]) view.playback.on(name, () => this.#update());
  }

  get on() {
    return this.view.shown.present === "1";
  }

  /** Enter or leave it. */
  toggle(on = !this.on) {
    this.view.setShown({ present: on ? "1" : "" });
  }

  #show() {
    const { body } = document;
    if (body.classList.contains("presenting") === this.on) return;
    body.classList.toggle("presenting", this.on);
    this.element.hidden = !this.on;
    this.#update();
    this.layout.refit();
    if (this.on) {
      this.#from = focusedNow();
      if (this.layout.single) this.layout.show("stage");
      if (!this.#from?.checkVisibility?.()) this.stage.focus({ preventScroll: true });
      announce("Presentation mode. Page Down steps, Escape leaves.");
    } else {
      if (!focusedNow()?.checkVisibility?.() || focusedNow() === document.body)
        (this.#from?.isConnected ? this.#from : this.stage).focus({ preventScroll: true });
      announce("Presentation mode is over.");
    }
  }

  /** Show what happens in what is shown; the deck announces it to screen readers. */
  #update() {
    if (!this.on) return;
    const sentences = this.#sentences();
    const drawn = sentences.map(spoken).join("\n");
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    fill(
      this.text,
      sentences.map((parts) => sentence(this.view, parts)),
    );
    // Where there is no room for all, what came of it is what counts.
    while (this.text.childElementCount > 1 && this.text.scrollHeight > this.text.clientHeight + 2)
      this.text.firstElementChild.remove();
    this.text.scrollTop = 0;
  }

  /** @returns {import("../lib/protocol.js").Sentence[]} */
  #sentences() {
    const { playback } = this.view;
    if (!playback.nodes) return [];
    if (playback.moment) return [playback.moment.text];
    if (playback.atEnd) return (playback.parts?.story ?? []).slice(-SENTENCES);
    const light = playback.current;
    if (!light) return [`${playback.title || "Before the first cycle"}. Page Down steps.`];
    const all = light.story.filter(
      (parts) => !(parts.length === 1 && typeof parts[0] === "object" && parts[0].strong !== undefined),
    );
    return all.slice(-SENTENCES);
  }
}
