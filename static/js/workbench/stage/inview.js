// Keeps the node of the shown cycle in view, until somebody looks elsewhere on purpose; then one click leads back.

import { h, icon, passFocus } from "../../lib/dom.js";
/** @import { View } from "../view.js" */

const KEYS = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "]);
const INTENDED = 700; // milliseconds in which scrolling is what somebody did

export class InView {
  #picture = null; // {inView(node), reveal(node)}: cards, overview or table
  #held = false;
  #intended = -Infinity; // until when scrolling is somebody's doing

  /**
   * `body` is what scrolls, or what scrolls is in it.
   *
   * @param {View} view
   */
  constructor(view, body) {
    this.view = view;
    this.body = body;
    this.name = h("span");
    this.button = h(
      "button",
      { type: "button", class: "btn small show-node", hidden: true, onclick: () => this.#back() },
      icon("stage"),
      this.name,
    );
    const intend = () => {
      this.#intended = performance.now() + INTENDED;
    };
    for (const name of ["wheel", "touchmove"]) body.addEventListener(name, intend, { passive: true });
    body.addEventListener("keydown", (event) => {
      if (KEYS.has(event.key)) intend();
    });
    body.addEventListener("pointerdown", (event) => {
      if (event.target === body || event.target.matches(".grid-scroll")) this.#intended = Infinity;
    }); // its scroll bar
    addEventListener("pointerup", () => {
      if (this.#intended === Infinity) intend();
    });
    body.addEventListener(
      "scroll",
      () => {
        if (performance.now() <= this.#intended) this.moved();
        else this.update();
      },
      { passive: true, capture: true },
    );
  }

  /** The node that the cycle chose or nominated, as far as it has come; -1 for none. */
  get node() {
    const { facts } = this.view;
    return facts.chosen >= 0 ? facts.chosen : facts.nominated;
  }

  /** Another picture is on screen, null for none: nobody has looked elsewhere in it. */
  take(picture) {
    this.#picture = picture;
    this.#held = false;
    if (!picture) this.#offer(false);
  }

  /** Somebody has scrolled, moved or zoomed the picture. */
  moved() {
    if (this.node >= 0) this.#held = !this.#picture?.inView(this.node);
    this.update();
  }

  /** A step is drawn: show its node. */
  follow() {
    if (this.node >= 0 && !this.#held) this.#picture?.reveal(this.node);
    this.update();
  }

  #back() {
    this.#held = false;
    this.follow();
  }

  #offer(away) {
    if (!away) passFocus(this.button, this.body);
    this.button.hidden = !away;
  }

  /** Offer the way back to the node where it is not in view. */
  update() {
    const { node } = this;
    const away = node >= 0 && this.#picture !== null && !this.#picture.inView(node);
    this.#offer(away);
    if (away) this.name.textContent = `Show ${this.view.playback.nodes.names[node]}`;
  }
}
