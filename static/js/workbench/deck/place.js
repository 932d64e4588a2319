// Where one is: the cycle of how many, the moment or phase in it, the scenario's step and the virtual time.

import { h } from "../../lib/dom.js";
import { clock, count } from "../../lib/quantity.js";
/** @import { View } from "../view.js" */

export class Place {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    // Written to, not made anew: they change with every frame of a scrub.
    this.told = {
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
    this.told.room = h("span", { class: "at-index" }, this.told.index, this.told.cycles);
    this.element = h("span", { class: "at" }, this.told.room, this.told.within, this.told.step, this.told.time);
    this.state = h("span", { class: "at-state", role: "status" });
  }

  update() {
    const { playback } = this.view;
    const shown = playback.index === playback.wanted;
    const light = shown ? playback.current : null;
    const time = shown ? playback.time : null;
    const end = playback.end && playback.wanted > playback.cycles;
    const within = !shown ? "" : playback.phase ? playback.phase : playback.at > 0 ? `moment ${playback.at}` : "";
    const { told } = this;
    const of = end ? "" : ` / ${count(playback.cycles ?? 0)}${playback.complete === false ? "…" : ""}`;
    write(told.index, end ? "End" : count(playback.wanted));
    if (told.cycles.data !== of) told.cycles.data = of;
    // What stands beside it must not move with every digit.
    this.told.room.style.setProperty("min-width", `${2 * count(playback.cycles ?? 0).length + 3}ch`);
    show(told.within, within);
    show(told.step, light ? `scenario step ${light.step}` : "");
    show(
      told.time,
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
