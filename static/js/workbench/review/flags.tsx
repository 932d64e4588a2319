// Comments over the timeline: a flag a step with how many there are, filled where one is unread. A press goes there and
// opens them. Where steps are dense, neighbours share a flag.

import { render } from "preact";
import { h, perFrame } from "../../lib/dom.ts";
import type { Thread } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import type { Timeline } from "../deck/timeline.tsx";
import type { View } from "../view/view.ts";
import { hereOf } from "./here.ts";
import type { Threads } from "./threads.ts";
import { follow } from "../playback/store.ts";

const APART = 26; // pixels between flags

export class Flags {
  readonly element = h("div", {
    class: "comment-flags",
    role: "group",
    "aria-label": "Comments by step",
    hidden: true,
  });

  constructor(
    private readonly view: View,
    private readonly timeline: Timeline,
    private readonly threads: Threads,
    private readonly open: (threads: string[], index: number) => void,
  ) {
    timeline.element.prepend(this.element);
    const draw = perFrame(() => this.#draw());
    follow([threads.version, view.store.scenario, view.store.known], draw);
    new ResizeObserver(draw).observe(timeline.element);
  }

  #draw() {
    const { threads, view, timeline } = this;
    const { playback } = view;
    if (!playback.nodes) return;
    const flags: { x: number; index: number; ids: string[]; count: number; fresh: number }[] = [];
    const placed = threads.all
      .filter(({ resolved }) => !resolved)
      .map((thread) => ({ thread, index: this.#indexOf(thread) }))
      .filter(({ index }) => index >= 0 && index <= playback.last)
      .sort((a, b) => a.index - b.index);
    for (const { thread, index } of placed) {
      const x = timeline.middle(index);
      const all = [thread, ...thread.replies];
      const fresh = all.filter((one) => threads.isNew(one)).length;
      const last = flags.at(-1);
      if (last && x - last.x < APART) {
        last.ids.push(thread.id);
        last.count += all.length;
        last.fresh += fresh;
      } else flags.push({ x, index, ids: [thread.id], count: all.length, fresh });
    }
    this.element.hidden = !flags.length;
    render(
      flags.map(({ x, index, ids, count, fresh }) => (
        <button
          key={index}
          type="button"
          class={fresh ? "comment-flag unread" : "comment-flag"}
          style={{ left: `${x}px` }}
          aria-label={`${plural(count, "comment")} at step ${index}${fresh ? `, ${fresh} new` : ""}`}
          title={`${plural(count, "comment")} at step ${index}`}
          onClick={() => this.open(ids, index)}
        >
          {count}
        </button>
      )),
      this.element,
    );
  }

  #indexOf(thread: Thread) {
    const { playback } = this.view;
    const found = hereOf(playback, thread);
    if (found.index >= 0 || found.words) return found.index;
    if (thread.step === "end") return playback.last;
    return thread.about?.index ?? (/^\d+$/.test(thread.step) ? Number(thread.step) : -1);
  }
}
