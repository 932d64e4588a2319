// Comments over the timeline: a flag a step with how many there are, filled where one is unread. A press goes there and
// opens them. Where steps are dense, neighbours share a flag.

import { fill, h, perFrame } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";
import { hereOf } from "./here.js";
/** @import { Timeline } from "../timeline.js" */
/** @import { View } from "../view.js" */
/** @import { Threads } from "./threads.js" */

const APART = 26; // pixels between flags

export class Flags {
  #drawn = "";

  /**
   * @param {View} view
   * @param {Timeline} timeline
   * @param {Threads} threads
   * @param {(threads: string[], index: number) => void} open
   */
  constructor(view, timeline, threads, open) {
    this.view = view;
    this.timeline = timeline;
    this.threads = threads;
    this.open = open;
    this.element = h("div", { class: "comment-flags", role: "group", "aria-label": "Comments by step", hidden: true });
    timeline.element.prepend(this.element);
    this.draw = perFrame(() => this.#draw());
    threads.on("changed", this.draw);
    for (const name of ["opened", "grew"]) view.playback.on(name, this.draw);
    new ResizeObserver(this.draw).observe(timeline.element);
  }

  #draw() {
    const { playback } = this.view;
    if (!playback.nodes) return;
    /** @type {{ x: number, index: number, ids: string[], count: number, fresh: number }[]} */
    const flags = [];
    const placed = this.threads.all
      .filter(({ resolved }) => !resolved)
      .map((thread) => ({ thread, index: this.#indexOf(thread) }))
      .filter(({ index }) => index >= 0 && index <= playback.last)
      .sort((a, b) => a.index - b.index);
    for (const { thread, index } of placed) {
      const x = this.timeline.middle(index);
      const all = [thread, ...thread.replies];
      const fresh = all.filter((one) => this.threads.isNew(one)).length;
      const last = flags.at(-1);
      if (last && x - last.x < APART) {
        last.ids.push(thread.id);
        last.count += all.length;
        last.fresh += fresh;
      } else flags.push({ x, index, ids: [thread.id], count: all.length, fresh });
    }
    const key = JSON.stringify(flags);
    if (key === this.#drawn) return;
    this.#drawn = key;
    this.element.hidden = !flags.length;
    fill(
      this.element,
      flags.map(({ x, index, ids, count, fresh }) =>
        h("button", {
          type: "button",
          class: fresh ? "comment-flag unread" : "comment-flag",
          style: { left: `${x}px` },
          "aria-label": `${plural(count, "comment")} at step ${index}${fresh ? `, ${fresh} new` : ""}`,
          title: `${plural(count, "comment")} at step ${index}`,
          text: String(count),
          onclick: () => this.open(ids, index),
        }),
      ),
    );
  }

  /** @param {import("../../lib/protocol.js").Thread} thread */
  #indexOf(thread) {
    const { playback } = this.view;
    const found = hereOf(playback, thread);
    if (found.index >= 0 || found.words) return found.index;
    if (thread.step === "end") return playback.last;
    return thread.about?.index ?? (/^\d+$/.test(thread.step) ? Number(thread.step) : -1);
  }
}
