// Running to the next break or to the next cycle worth a look: the search, the stop, and the note with the reason.

import { h, fill, icon, announce, toast } from "../lib/dom.js";
import { count } from "../lib/quantity.js";
/** @import { Breakpoints } from "./breakpoints.js" */
/** @import { Deck } from "./deck.js" */
/** @import { Finder } from "./finder.js" */
/** @import { Interesting } from "./interesting.js" */
/** @import { View } from "./view.js" */

const SHOWN_AFTER = 250; // milliseconds: a search that is over sooner shows nothing
const KINDS = {
  break: { icon: "break", again: "Next break", key: "r" },
  interesting: { icon: "spark", again: "Next", key: "n" },
};

export class Stops {
  #run = 0; // of the newest wish
  #none = null;

  /**
   * @param {HTMLElement} host
   * @param {View} view
   * @param {{ deck: Deck, finder: Finder, breakpoints: Breakpoints, interesting: Interesting }} parts
   */
  constructor(host, view, { deck, finder, breakpoints, interesting }) {
    this.view = view;
    this.deck = deck;
    this.finder = finder;
    this.ways = { break: breakpoints, interesting };
    this.note = h("div", { class: "stop-note", hidden: true });
    this.index = 0; // where the stop of the note is
    host.prepend(this.note);
    view.playback.on("seek", (to) => {
      if (to !== this.index) this.hide();
    });
    view.playback.on("moment", () => {
      if (view.playback.partly) this.hide();
    });
    view.playback.on("opened", () => this.hide());
  }

  /**
   * Go to the nearest break, or cycle worth a look, in a direction.
   *
   * @param {string} kind
   * @param {number} direction
   * @param {number} [since]
   */
  async run(kind, direction, since) {
    const { playback } = this.view;
    if (!playback.nodes) return;
    this.deck.pause();
    const run = ++this.#run;
    const running = (this.view.walking = Symbol(kind)); // for the browser tests: until it is known where it leads
    const from = `${playback.wanted}`;
    const wait = setTimeout(() => {
      if (run === this.#run) this.#searching(kind, direction, 0);
    }, SHOWN_AFTER);
    try {
      const found = await this.ways[kind].next(direction, (index) => {
        if (run === this.#run) this.#searching(kind, direction, index);
      });
      if (run !== this.#run || from !== `${playback.wanted}`) return;
      this.hide();
      this.#none?.remove();
      if (found?.none) this.#none = toast(found.none);
      else if (found) {
        this.stopped(kind, found.index, found.reasons);
        playback.goto(found.index, since);
      }
    } catch (error) {
      this.hide();
      playback.emit("failed", error);
    } finally {
      clearTimeout(wait);
      if (this.view.walking === running) this.view.walking = null;
    }
  }

  /** Say why one stands at a cycle. */
  stopped(kind, index, reasons) {
    const { icon: name, again, key } = KINDS[kind];
    const text = `${kind === "break" ? "stopped: " : ""}${reasons.join("; ") || `cycle ${count(index)}`}`;
    this.index = index;
    this.note.dataset.kind = kind;
    fill(
      this.note,
      icon(name),
      h("span", { class: "stop-text" }, h("b", { class: "num", text: count(index) }), ` ${text}`),
      h("span", { class: "grow" }),
      h(
        "button",
        {
          type: "button",
          class: "btn small",
          title: `${again} (${key})`,
          onclick: (event) => this.run(kind, 1, event.timeStamp),
        },
        again,
        icon("right"),
      ),
      this.#close(),
    );
    this.note.hidden = false;
    this.view.stopped = { index, text }; // the deck announces it together with the cycle
    if (this.view.playback.index === index) announce(`Cycle ${index}, ${text}`, "place");
  }

  /**
   * @param {string} kind
   * @param {number} direction
   * @param {number} index
   */
  #searching(kind, direction, index) {
    this.index = this.view.playback.wanted;
    const place = index ? `: cycle ${count(index)} of ${count(this.view.playback.cycles)}` : "…";
    fill(
      this.note,
      icon("search"),
      h("span", {
        class: "stop-text",
        role: "status",
        text: `searching ${direction > 0 ? "on" : "back"}${place}`,
      }),
      h("span", { class: "grow" }),
      h("button", {
        type: "button",
        class: "btn small",
        text: "Cancel",
        onclick: () => {
          this.finder.cancel();
          this.hide();
        },
      }),
    );
    this.note.hidden = false;
  }

  #close() {
    return h(
      "button",
      {
        type: "button",
        class: "btn quiet square small",
        "aria-label": "Hide why it stopped",
        onclick: () => this.hide(),
      },
      icon("close"),
    );
  }

  /** Take the note away, and give up what is searched. */
  hide() {
    this.finder.cancel();
    this.note.hidden = true;
    this.view.stopped = null;
    this.index = 0;
  }
}
