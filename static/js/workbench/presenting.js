// Presentation mode: the stage in large type, under it what happens in the words of the story, and beside it the tab of
// Inspect that is open, unless that is the story itself. It is part of the address, and works alone or in a room.

import { h, announce, fill, focusedNow, icon } from "../lib/dom.js";
import { sentence } from "./inspect/byhand.js";
import { spoken } from "./moments.js";
/** @import { Layout } from "./layout.js" */
/** @import { View } from "./view.js" */

const EVERYWHERE = "story"; // the tab that the caption stands for
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
    this.beside = h("select", {
      class: "field caption-beside",
      "aria-label": "Beside the stage",
      title: "What is shown beside the stage (1 to 9)",
      onchange: (event) => view.setTab(event.target.value),
    });
    this.element = h(
      "section",
      { class: "caption", "aria-label": "Caption", hidden: true },
      this.text,
      this.beside,
      this.leave,
    );
    stage.querySelector("[data-deck]").before(this.element);
    view.on("shown", () => this.#show());
    view.on("tab", () => this.#divide());
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
    this.#divide();
    this.#update();
    if (this.view.tab !== EVERYWHERE) this.view.emit("relist"); // its rows are as high as their text
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

  /** Give the open tab its place beside the stage, or the stage all of it. */
  #divide() {
    document.body.classList.toggle("evidence", this.on && this.view.tab !== EVERYWHERE);
    this.#choices();
    this.layout.refit();
  }

  /** The tabs that Inspect offers at this step; the story is under the stage as it is. */
  #choices() {
    if (!this.on) return;
    const offered = this.stage.ownerDocument.querySelectorAll("#region-inspect [role=tab]:not([hidden])");
    const rows = [...offered].map((tab) => [
      tab.getAttribute("data-tab"),
      tab.getAttribute("data-tab") === EVERYWHERE ? "Stage alone" : tab.querySelector("span").textContent,
    ]);
    const offer = rows.flat().join("|");
    if (this.beside.dataset.offer !== offer) {
      this.beside.dataset.offer = offer;
      fill(
        this.beside,
        rows.map(([value, text]) => h("option", { value, text })),
      );
    }
    this.beside.value = this.view.tab;
  }

  /** Show what happens in what is shown; the deck announces it to screen readers. */
  #update() {
    if (!this.on) return;
    this.#choices();
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
