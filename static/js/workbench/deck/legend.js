// What the marks of the timeline mean, as far as there are any that may be shown.

import { $, h } from "../../lib/dom.js";
import { write } from "./place.js";
/** @import { View } from "../view.js" */

// Shown once there is one.
const LATER = new Set(["restart", "stale-hit", "quirk", "wait", "group", "group-failed", "descheduling"]);

export class TimelineLegend {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.ahead = h("button", {
      type: "button",
      class: "link",
      "data-reveal": true,
      onclick: () => view.seen.reveal(!view.seen.ahead),
    });
    const label = () => {
      const { ahead } = view.seen;
      this.ahead.setAttribute("aria-pressed", String(ahead));
      write(this.ahead, "Show outcomes ahead");
      this.ahead.title = `${ahead ? "Hide" : "Show"} the outcomes of cycles that were not visited yet (o)`;
    };
    view.seen.on("changed", label);
    label();
    this.element = h(
      "ul",
      { class: "legend", "aria-label": "Marks of the timeline" },
      [
        ["pass", "scheduled"],
        ["fail", "unschedulable"],
        ["victim", "preemption"],
        ["stale", "error"],
        ["stale-hit", "stale cache hit"],
        ["restart", "scheduler restarted"],
        ["quirk", "quirk of v1.11"],
        ["wait", "waiting at Permit"],
        ["group", "PodGroup: new phase"],
        ["group-failed", "PodGroup rejected or timed out"],
        ["descheduling", "descheduler ran; hollow: evicted nothing"],
      ].map(([name, text]) =>
        h(
          "li",
          {
            "data-mark": name,
            hidden: LATER.has(name) || undefined,
          },
          h("i", { class: `mark ${name}` }),
          text,
        ),
      ),
      h("li", { class: "reveal", "data-mark": "ahead" }, h("i", { class: "mark ahead" }), this.ahead),
    );
    for (const emitter of [view.playback, view.seen])
      for (const name of ["grew", "changed"]) emitter.on(name, () => this.#update());
  }

  /** Show what the marks mean that there are, among those that may be shown. */
  #update() {
    const { element: list } = this;
    const { playback, seen } = this.view;
    const { marks } = playback;
    const knows = (/** @type {number} */ index) => index > 0 && seen.knows(index);
    const turns = [...marks.groups].filter(([index]) => knows(index)).flatMap(([, found]) => found);
    const there = {
      restart: marks.restarts.some(knows),
      "stale-hit": knows(marks.seekStale(0, 1)),
      quirk: [...marks.quirks].some(knows),
      wait: knows(marks.seek(0, 1, "w")),
      group: turns.length > 0,
      descheduling: [...marks.passes.keys()].some(knows),
      "group-failed": turns.some(([kind]) => kind !== "phase"),
    };
    for (const [name, shown] of Object.entries(there)) $(`[data-mark="${name}"]`, list).hidden = !shown;
    $("[data-mark=ahead]", list).hidden = playback.complete === true && seen.upto >= playback.cycles;
  }
}
