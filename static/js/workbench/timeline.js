// The timeline: one mark a cycle while there is room, columns of cycles when there is not. A slider for every input.

import { h, perFrame, penOf } from "../lib/dom.js";
import { clock, count, plural, short } from "../lib/quantity.js";
import { RESULTS, LETTERS } from "./marks.js";
import { palette } from "./stage/palette.js";
import { follow } from "./store.ts";
import { HEIGHT, POINT, drawBreaks, drawMarks } from "./timeline/marks.js";
/** @import { View } from "./view.js" */

const WIDEST = 30; // a mark, gap included

export class Timeline {
  #width = 0;
  #painted = "";
  #shown = -1;
  #box = null; // where the track is, while nothing moves it: a read after every write would lay the page out again
  #headWidth = "";
  #ruler = null; // measures the text of the tip without a layout

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.head = h("div", { class: "playhead", "aria-hidden": "true" });
    this.tip = h("div", { class: "track-tip", hidden: true, "aria-hidden": "true" });
    this.track = h(
      "div",
      {
        class: "track",
        role: "slider",
        tabindex: "0",
        "aria-label": "Cycle",
        "aria-valuemin": "0",
        "aria-valuemax": "0",
        "aria-valuenow": "0",
      },
      this.canvas,
      this.head,
      this.tip,
    );
    this.strip = h("canvas", { class: "breaks", "aria-hidden": "true", hidden: true });
    this.element = h("div", { class: "timeline" }, this.track, this.strip);
    this.paint = perFrame(() => this.#paint());
    const { playback } = view;
    playback.on("opened", this.paint);
    playback.on("grew", this.paint);
    playback.on("seek", (index) => this.#place(index));
    playback.on("step", ({ index }) => this.#place(index));
    follow(view.store.seen, this.paint);
    addEventListener("podstep:theme", () => {
      this.#painted = "";
      this.paint();
    });
    new ResizeObserver(() => {
      this.#box = null;
      this.paint();
    }).observe(this.track);
    addEventListener("resize", () => {
      this.#box = null;
    });
    this.#listen();
  }

  get #cycles() {
    return this.view.playback.cycles || 0;
  }

  /** The last cycle whose mark shows the outcome; those behind it are all alike. */
  get #known() {
    return Math.min(this.view.seen.last, this.#cycles);
  }

  /** Pixels a cycle takes. */
  get #scale() {
    return this.#last ? Math.min(WIDEST, this.#width / this.#last) : WIDEST;
  }

  /** The last place there is: the end of a run, or its last cycle. */
  get #last() {
    return this.view.playback.last || 0;
  }

  #paint() {
    const width = this.track.clientWidth;
    if (!width) return;
    const { marks } = this.view.playback;
    const key = `${width}/${this.#last}/${marks.version}/${this.#known}`;
    this.#width = width;
    this.track.setAttribute("aria-valuemax", String(this.#last));
    if (key !== this.#painted) {
      this.#painted = key;
      const ratio = Math.min(2, devicePixelRatio || 1);
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(HEIGHT * ratio);
      const pen = penOf(this.canvas);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawMarks(pen, { marks, width, scale: this.#scale, cycles: this.#cycles, known: this.#known, last: this.#last });
      this.#breaks();
    }
    this.#shown = -1;
    this.#place(this.view.playback.wanted);
  }

  /**
   * Where the middle of a cycle is on the track, in pixels.
   *
   * @param {number} index
   */
  middle(index) {
    const scale = this.#last ? Math.min(WIDEST, (this.#width || this.track.clientWidth) / this.#last) : WIDEST;
    return Math.max(0, (index - 0.5) * scale);
  }

  /** Let a strip under the marks point at the cycles that are known to break. */
  set breakpoints(breakpoints) {
    this.breaking = breakpoints;
    const again = perFrame(() => this.#breaks());
    follow(this.view.store.breakpoints, again);
  }

  #breaks() {
    const { breaking, strip } = this;
    strip.hidden = !breaking?.enabled.length;
    if (strip.hidden || !this.#width) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    strip.width = Math.round(this.#width * ratio);
    strip.height = Math.round(POINT * ratio);
    const pen = penOf(strip);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const known = this.#known;
    drawBreaks(pen, breaking.hits, this.#scale, (index) => index <= known || breaking.named(index));
  }

  /** @param {number} index */
  #place(index) {
    if (this.#shown === index || !this.#width) return;
    this.#shown = index;
    const { playback } = this.view;
    const scale = this.#scale;
    const wide = Math.max(3, scale - (scale > 6 ? 2 : 1));
    const x = index === 0 ? -3 : (index - 1) * scale - (scale < 3 ? 1 : 0);
    this.head.style.setProperty("transform", `translateX(${x}px)`);
    const width = `${index === 0 ? 3 : wide}px`;
    if (width !== this.#headWidth) {
      this.#headWidth = width;
      this.head.style.setProperty("width", width);
    }
    this.head.classList.toggle("at-start", index === 0);
    this.track.setAttribute("aria-valuenow", String(index));
    this.track.setAttribute(
      "aria-valuetext",
      index === 0
        ? "before the first cycle"
        : index > this.#cycles
          ? "the end of the run"
          : `cycle ${index} of ${playback.cycles}${this.#result(index)}`,
    );
  }

  /** @param {number} index */
  #result(index) {
    const { marks } = this.view.playback;
    if (index > this.#known) return `, not visited yet${this.breaking?.named(index) ? ", a breakpoint" : ""}`;
    const letter = LETTERS[marks.result[index] ?? 0];
    const stale = marks.caching?.stale[index];
    return [
      letter ? `, ${RESULTS[letter]}` : "",
      marks.restarted(index) ? ", the scheduler was restarted before it" : "",
      stale ? `, ${plural(stale, "stale hit")}` : "",
      marks.quirks.has(index) ? ", changed by a quirk of v1.11" : "",
      ...marks
        .turns(index)
        .slice(0, 4)
        .map((text) => `, PodGroup ${text}`),
      ...(marks.passes.get(index) ?? []).slice(-2).map(({ text }) => `, descheduler: ${text}`),
      this.breaking?.breaks(index) ? ", a breakpoint" : "",
    ].join("");
  }

  get #where() {
    return (this.#box ??= this.track.getBoundingClientRect());
  }

  #indexAt(clientX) {
    return Math.max(0, Math.min(this.#last, Math.floor((clientX - this.#where.left) / this.#scale) + 1));
  }

  #listen() {
    const { playback } = this.view;
    const seek = perFrame((index, since) => {
      if (index !== playback.wanted) playback.goto(index, since);
    });
    this.track.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.#box = null;
      this.track.setPointerCapture(event.pointerId);
      this.#hold(true);
      this.view.emit("hold");
      playback.goto(this.#indexAt(event.clientX), event.timeStamp);
    });
    this.track.addEventListener("pointermove", (event) => {
      const index = this.#indexAt(event.clientX);
      if (this.track.hasPointerCapture(event.pointerId)) seek(index, event.timeStamp);
      this.#showTip(index, event.clientX);
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
      this.track.addEventListener(name, () => this.#hold(false));
    this.track.addEventListener("pointerenter", () => {
      this.#box = null;
    });
    this.track.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
    this.track.addEventListener("keydown", (event) => {
      const page = Math.max(10, Math.round(this.#cycles / 20));
      const to = {
        ArrowLeft: playback.wanted - 1,
        ArrowDown: playback.wanted - 1,
        ArrowRight: playback.onward,
        ArrowUp: playback.wanted + 1,
        PageUp: playback.wanted + page,
        PageDown: playback.wanted - page,
        Home: 0,
        End: this.#last,
      }[event.key];
      if (to === undefined || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.view.emit("hold");
      playback.goto(to, event.timeStamp);
    });
  }

  /** The stage shows what is dragged over without moving anything. */
  #hold(dragging) {
    this.track.classList.toggle("dragging", dragging);
    this.view.scrubbing = dragging;
  }

  #showTip(index, clientX) {
    const { marks, pods } = this.view.playback;
    this.tip.hidden = !this.#last;
    const known = index > 0 && index <= marks.known && index <= this.#known;
    const pod = known ? short(pods.keys[marks.pod[index]] ?? "") : "";
    const time = known && (marks.time[index] || this.view.playback.timed) ? ` · t = ${clock(marks.time[index])}` : "";
    const text =
      index === 0
        ? "start"
        : index > this.#cycles
          ? "end"
          : `${count(index)}${pod ? ` · ${pod}` : ""}${time}${this.#result(index).replaceAll(",", " ·")}`;
    if (this.tip.textContent !== text) this.tip.textContent = text;
    this.#ruler ??= penOf(document.createElement("canvas"));
    this.#ruler.font = `${palette().type}px ${palette().font}`;
    const half = Math.max(60, this.#ruler.measureText(text).width / 2 + 9);
    const { left, width } = this.#where;
    this.tip.style.setProperty(
      "transform",
      `translateX(calc(${Math.max(half, Math.min(width - half, clientX - left))}px - 50%))`,
    );
  }
}
