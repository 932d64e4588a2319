// The moments of the shown step under the timeline: a tick for each, a slider among them, and the sentence about the
// one that is shown.

import { h, fill } from "../lib/dom.js";
import { clock, count, plural, short } from "../lib/quantity.js";
import { sentence } from "./inspect/byhand.js";
/** @import { Sentence } from "../lib/protocol.js" */
/** @import { View } from "./view.js" */

const KINDS = { event: "before the attempt", attempt: "the attempt", consequence: "brought about" };

/**
 * A sentence without its links.
 *
 * @param {Sentence} parts
 */
export const spoken = (parts) =>
  typeof parts === "string"
    ? parts
    : parts.map((part) => (typeof part === "string" ? part : short(Object.values(part)[0]))).join("");

export class Moments {
  #drawn = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { playback } = view;
    this.track = h("div", {
      class: "moment-track",
      role: "slider",
      tabindex: "0",
      "aria-label": "Moment",
      "aria-valuemin": "0",
      "aria-valuemax": "0",
      "aria-valuenow": "0",
    });
    this.text = h("div", { class: "moment-text" });
    this.element = h("div", { class: "moments", hidden: true }, this.track, this.text);
    for (const name of ["opened", "step", "moment", "parts", "grew"]) playback.on(name, () => this.update());
    this.track.addEventListener("pointerdown", (event) => {
      if (!event.button) {
        this.track.setPointerCapture(event.pointerId);
        this.#pick(event);
      }
    });
    this.track.addEventListener("pointermove", (event) => {
      if (this.track.hasPointerCapture(event.pointerId)) this.#pick(event);
    });
    this.track.addEventListener("keydown", (event) => this.#key(event));
  }

  /** There are moments to choose from only where time passes or something comes from outside. */
  get #offered() {
    const { playback } = this.view;
    return Boolean(playback.nodes) && (playback.timed || playback.marks.operations > 0);
  }

  update() {
    const { playback } = this.view;
    this.element.hidden = !this.#offered;
    if (this.element.hidden) return;
    const moments = playback.index > 0 ? playback.moments : [];
    if (!moments) {
      this.element.classList.add("waiting");
      return;
    }
    this.element.classList.remove("waiting");
    const { at } = playback;
    const tried = moments.findIndex(({ kind }) => kind === "attempt");
    const passed = at || (playback.phase ? tried + (playback.reached.over ? 1 : 0) : moments.length);
    const drawn = `${playback.index}/${moments.length}/${passed}`;
    if (drawn !== this.#drawn) {
      this.#drawn = drawn; // a tick of what is still to come only shows that there is something
      fill(
        this.track,
        moments.map(({ kind, what }, i) =>
          h("i", { class: i < passed ? `tick ${kind}${what === "FailedScheduling" ? " failed" : ""}` : "tick" }),
        ),
      );
    }
    [...this.track.children].forEach((tick, i) => {
      tick.classList.toggle("passed", i < passed);
      tick.classList.toggle("now", i === at - 1);
    });
    this.track.setAttribute("aria-valuemax", String(moments.length));
    this.track.setAttribute("aria-valuenow", String(at || moments.length));
    this.track.setAttribute("aria-disabled", String(!moments.length));
    const moment = playback.moment;
    this.track.setAttribute(
      "aria-valuetext",
      moment
        ? `moment ${at} of ${moments.length}, ${clock(moment.time)}: ${spoken(moment.text)}`
        : this.#whole(moments),
    );
    this.text.title = moment ? spoken(moment.text) : "";
    if (moment)
      fill(
        this.text,
        h("span", { class: "num dim", text: `${count(at)} / ${count(moments.length)}` }),
        h("span", { class: "num moment-time", text: clock(moment.time) }),
        h("span", { class: `pill moment-kind ${moment.kind}`, text: KINDS[moment.kind] }),
        sentence(this.view, moment.text),
      );
    else fill(this.text, h("span", { class: "dim", text: this.#whole(moments) }));
  }

  /** The text for a step whose moments have all passed. */
  #whole(moments) {
    const { playback } = this.view;
    if (!playback.index) return "before the first moment";
    if (!moments.length) return "nothing happened since the last cycle";
    if (playback.phase) return `phase ${playback.phase} of the attempt, at ${clock(playback.time ?? 0)}`;
    const [first, last] = [moments[0].time, moments.at(-1).time];
    const when = first === last ? `all at ${clock(first)}` : `from ${clock(first)} to ${clock(last)}`;
    return `${plural(moments.length, "moment")}, ${when}`;
  }

  /**
   * @param {number} at
   * @param {number} since
   */
  #goto(at, since) {
    const { playback } = this.view;
    this.view.emit("hold");
    playback.goto(playback.index, since, { at });
  }

  /** @param {PointerEvent} event */
  #pick(event) {
    const { playback } = this.view;
    const moments = playback.index > 0 ? (playback.moments ?? []) : [];
    if (!moments.length || playback.wanted !== playback.index) return;
    const box = this.track.getBoundingClientRect();
    const at = Math.max(
      1,
      Math.min(moments.length, Math.floor(((event.clientX - box.left) / box.width) * moments.length) + 1),
    );
    if (at !== playback.at) this.#goto(at, event.timeStamp);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { playback } = this.view;
    const moments = playback.index > 0 ? (playback.moments ?? []) : [];
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const at = playback.at || moments.length + 1;
    const to = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      Home: 1,
      End: 0,
      Escape: 0,
    }[event.key];
    if (to === undefined || (event.key === "Escape" && !playback.at)) return;
    event.preventDefault();
    event.stopPropagation();
    if (moments.length && playback.wanted === playback.index)
      this.#goto(to === 0 || to > moments.length ? 0 : Math.max(1, to), event.timeStamp);
  }
}
