// On the deck's timeline, a small mark at the foot of every cycle before or inside which something comes from outside.

import { $, h, fill, perFrame } from "../../lib/dom.js";
/** @import { View } from "../view.js" */

const SHOWN = 400; // more could not be distinguished
const WIDEST = 30; // pixels of a cycle, as the timeline draws it

export class Ticks {
  #drawn = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "event-ticks", "aria-hidden": "true" });
    this.legend = h("li", null, h("i", { class: "mark outside" }), "event from outside");
    this.draw = perFrame(() => this.#draw());
    const { playback } = view;
    for (const name of ["opened", "grew"]) playback.on(name, this.draw);
    this.watch = new ResizeObserver(this.draw);
  }

  #draw() {
    const track = document.querySelector("[data-deck] .track");
    if (!track) return;
    if (this.element.parentElement !== track) {
      track.append(this.element);
      this.watch.observe(track);
    }
    const { playback } = this.view;
    const width = track.clientWidth;
    const key = `${width}/${playback.last}/${playback.marks.version}`;
    if (!width || !playback.last || key === this.#drawn) return;
    this.#drawn = key;
    const scale = Math.min(WIDEST, width / playback.last);
    const marks = [];
    let before = -Infinity;
    for (
      let index = playback.marks.seekOperation(0, 1);
      index && marks.length < SHOWN;
      index = playback.marks.seekOperation(index, 1)
    ) {
      const x = (index - 1) * scale;
      if (x - before < 3) continue;
      before = x;
      marks.push(h("i", { style: { left: `${x.toFixed(1)}px` } }));
    }
    fill(this.element, marks);
    const legend = $(".legend", track.closest("[data-deck]"));
    if (legend && this.legend.parentElement !== legend) legend.append(this.legend);
    this.legend.hidden = !marks.length;
  }
}
