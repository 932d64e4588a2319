// The mark of one event on its axis: a slider that is dragged, or moved by the arrow keys, to another cycle or second.

import { h } from "../../lib/dom.js";
/** @import { Scale } from "./scale.js" */

const SETTLE = 700; // milliseconds after the last arrow until the event is moved
const PAGE = 10;

export class Handle {
  #timer = 0;
  #value;

  /**
   * `moved(value)` is called once, when it has been put somewhere else; `seen(value)` while it is on its way.
   *
   * @param {Scale} scale
   */
  constructor(scale, row, { seen, moved }) {
    this.scale = scale;
    this.row = row;
    this.seen = seen;
    this.moved = moved;
    this.start = this.#value = scale.of(row);
    this.element = h("div", {
      class: `event-handle ${row.during ? "inside" : ""}`,
      role: "slider",
      tabindex: "-1",
      "data-handle": row.id,
      "aria-label": `When: ${row.words}`,
      "aria-valuemin": "0",
      "aria-valuemax": String(scale.span),
      title: "Drag it, or press ← and →",
    });
    this.track = h("div", { class: "event-track" }, this.element);
    this.#put(this.start, false);
    this.#listen();
  }

  /**
   * @param {number} value
   * @param {boolean} [notify]
   */
  #put(value, notify = true) {
    this.#value = value;
    const { scale, element } = this;
    element.style.setProperty("left", `${(scale.fraction(value) * 100).toFixed(3)}%`);
    element.setAttribute("aria-valuenow", String(value));
    element.setAttribute("aria-valuetext", scale.words(value));
    element.classList.toggle("moving", value !== this.start);
    if (notify) this.seen(value === this.start ? null : value);
  }

  #commit() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#value !== this.start) this.moved(this.#value);
  }

  cancel() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#put(this.start);
  }

  #listen() {
    const { element, scale, track } = this;
    element.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      element.focus();
    });
    element.addEventListener("pointermove", (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      const box = track.getBoundingClientRect();
      this.#put(scale.at((event.clientX - box.left) / box.width));
    });
    element.addEventListener("pointerup", () => this.#commit());
    element.addEventListener("pointercancel", () => this.cancel());
    element.addEventListener("blur", () => {
      if (this.#timer) this.#commit();
    });
    element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const by = (event.shiftKey ? PAGE : 1) * scale.unit;
      const to = {
        ArrowLeft: this.#value - by,
        ArrowRight: this.#value + by,
        PageUp: this.#value + PAGE * scale.unit,
        PageDown: this.#value - PAGE * scale.unit,
        Home: 0,
        End: scale.span,
      }[event.key];
      if (event.key === "Enter") this.#commit();
      else if (event.key === "Escape" && this.#value !== this.start) this.cancel();
      else if (to !== undefined) {
        this.#put(scale.round(to));
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#commit(), SETTLE);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
