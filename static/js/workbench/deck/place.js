// Where one is: the cycle of how many, the moment or phase in it, the scenario's step and the virtual time.

import { h } from "../../lib/dom.js";
import { clock, count } from "../../lib/quantity.js";
/** @import { View } from "../view.js" */

export class Place {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    // Written to, not made again: they change with every frame of a scrub.
    this.parts = {
      index: h("b"),
      cycles: document.createTextNode(""),
      within: h("span", { class: "at-within", hidden: true }),
      time: h("span", { class: "at-time", hidden: true }),
      step: h("span", {
        class: "at-step",
        hidden: true,
        title: "The scenario's step (it advances with every change from outside), and the attempt within it",
      }),
    };
    this.parts.room = h("span", { class: "at-index" }, this.parts.index, this.parts.cycles);
    this.element = h("span", { class: "at" }, this.parts.room, this.parts.within, this.parts.step, this.parts.time);
    this.state = h("span", { class: "at-state", role: "status" });
  }

  update() {
    const { playback } = this.view;
    const shown = playback.index === playback.wanted;
    const light = shown ? playback.current : null;
    const time = shown ? playback.time : null;
    const end = playback.end && playback.wanted > playback.cycles;
    const within = !shown ? "" : playback.phase ? playback.phase : playback.at > 0 ? `moment ${playback.at}` : "";
    const { parts } = this;
    const of = end ? "" : ` / ${count(playback.cycles ?? 0)}${playback.complete === false ? "…" : ""}`;
    write(parts.index, end ? "End" : count(playback.wanted));
    if (parts.cycles.data !== of) parts.cycles.data = of;
    // What stands beside it must not move with every digit.
    this.parts.room.style.setProperty("min-width", `${2 * count(playback.cycles ?? 0).length + 3}ch`);
    show(parts.within, within);
    show(parts.step, light ? `scenario step ${light.step}` : "");
    show(
      parts.time,
      time === null ? "" : `t = ${clock(time)}`,
      time === null ? "" : `virtual time: ${time} seconds since the start`,
    );
    write(this.state, playback.complete === false ? "computing…" : "");
  }
}

/**
 * Change a text that is not this one already.
 *
 * @param {HTMLElement} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Show a text, or nothing.
 *
 * @param {HTMLElement} element
 * @param {string} text
 * @param {string} [title]
 */
function show(element, text, title = "") {
  element.hidden = !text;
  if (!text) return;
  write(element, text);
  if (title && element.title !== title) element.title = title;
}
