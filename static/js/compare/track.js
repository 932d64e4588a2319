// Both timelines over each other: the left run's cycles stand up, the right one's hang down, and where they decide
// differently a diamond is between them. One slider moves both.

import { h, penOf, perFrame } from "../lib/dom.js";
import { token } from "../lib/theme.js";
import { LETTERS, RESULTS } from "../workbench/marks.js";
/** @import { Rows } from "./rows.js" */
/** @import { Side } from "./side.tsx" */

const HEIGHT = 74;
const MIDDLE = HEIGHT / 2;
const GAP = 7; // between the middle and the marks: for the diamonds
const WIDEST = 26; // pixels of a row
const TALL = [0.2, 0.42, 0.68, 0.84, 1, 0.56]; // by result, as on the timeline of the workbench
const tones = () => ["--track", "--pass", "--fail", "--stale", "--victim", "--wait"].map(token);

export class Track {
  #width = 0;
  #row = 0;
  #painted = ""; // of what it is drawn

  /**
   * @param {Rows} rows
   * @param {Side[]} sides
   * @param {(row: number) => void} go
   */
  constructor(rows, sides, go) {
    this.rows = rows;
    this.sides = sides;
    this.go = go;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.head = h("div", { class: "playhead", "aria-hidden": "true" });
    this.element = h(
      "div",
      {
        class: "both-track",
        role: "slider",
        tabindex: "0",
        "aria-label": "Cycle of both runs",
        "aria-valuemin": "0",
        "aria-valuemax": String(rows.count),
        "aria-valuenow": "0",
      },
      this.canvas,
      this.head,
    );
    this.paint = perFrame(() => this.#paint());
    new ResizeObserver(this.paint).observe(this.element);
    addEventListener("podstep:theme", this.paint);
    this.#listen();
  }

  get #scale() {
    return this.rows.count ? Math.min(WIDEST, this.#width / this.rows.count) : WIDEST;
  }

  /** @param {number} row */
  show(row) {
    this.#row = row;
    const pair = this.rows.at(row);
    const words = (/** @type {number} */ at) => {
      const { name, playback } = this.sides[at];
      const index = pair[/** @type {"left" | "right"} */ (name)];
      const letter = LETTERS[playback.marks.result[index] ?? 0];
      return index ? `${name} cycle ${index}${letter ? `, ${RESULTS[letter]}` : ""}` : `${name}: none`;
    };
    const text = row ? `${words(0)}; ${words(1)}` : "before the first cycle";
    this.element.setAttribute("aria-valuenow", String(row));
    this.element.setAttribute(
      "aria-valuetext",
      this.rows.different.includes(row) ? `${text}; decided differently` : text,
    );
    this.#place();
  }

  #place() {
    const scale = this.#scale;
    this.head.style.setProperty("transform", `translateX(${this.#row ? (this.#row - 1) * scale : -4}px)`);
    this.head.style.setProperty("width", `${this.#row ? Math.max(3, scale - (scale > 6 ? 2 : 0)) : 3}px`);
  }

  #paint() {
    const { canvas, rows } = this;
    this.#width = this.element.clientWidth;
    if (!this.#width) return;
    const versions = this.sides.map(({ playback }) => playback.marks.version);
    const key = [this.#width, ...versions, token("--ink")].join("/");
    if (key === this.#painted) return;
    this.#painted = key;
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.round(this.#width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = penOf(canvas);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = tones();
    const scale = this.#scale;
    const wide = Math.max(1, scale - (scale > 6 ? 2 : scale >= 3 ? 1 : 0));
    rows.each((row, pair) => {
      this.sides.forEach(({ name, playback }, at) => {
        const index = pair[/** @type {"left" | "right"} */ (name)];
        if (!index) return;
        const result = index < playback.marks.result.length ? playback.marks.result[index] : 0;
        const tall = TALL[result] * (MIDDLE - GAP - 2);
        pen.fillStyle = colours[result];
        pen.fillRect((row - 1) * scale, at ? MIDDLE + GAP : MIDDLE - GAP - tall, wide, tall);
      });
    });
    this.#diamonds(pen, scale);
    this.#place();
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} scale
   */
  #diamonds(pen, scale) {
    pen.fillStyle = token("--line");
    pen.fillRect(0, MIDDLE - 0.5, Math.min(this.#width, this.rows.count * scale), 1);
    pen.fillStyle = token("--ink");
    const half = GAP - 2;
    let last = -GAP * 2;
    for (const row of this.rows.different) {
      const x = (row - 0.5) * scale - (scale > 6 ? 1 : 0);
      if (x - last < Math.min(half, Math.max(2, scale))) continue; // where they are dense, the first of a place
      last = x;
      pen.beginPath();
      pen.moveTo(x, MIDDLE - half);
      pen.lineTo(x + half, MIDDLE);
      pen.lineTo(x, MIDDLE + half);
      pen.lineTo(x - half, MIDDLE);
      pen.fill();
    }
  }

  #listen() {
    const { element, rows } = this;
    const at = (/** @type {PointerEvent} */ event) => {
      const x = event.clientX - element.getBoundingClientRect().left;
      return Math.max(0, Math.min(rows.count, Math.floor(x / this.#scale) + 1));
    };
    const seek = perFrame((/** @type {number} */ row) => {
      if (row !== this.#row) this.go(row);
    });
    element.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      element.setPointerCapture(event.pointerId);
      this.go(at(event));
    });
    element.addEventListener("pointermove", (event) => {
      if (element.hasPointerCapture(event.pointerId)) seek(at(event));
    });
    element.addEventListener("keydown", (event) => {
      const page = Math.max(10, Math.round(rows.count / 20));
      /** @type {Record<string, number>} */
      const keys = {
        ArrowUp: this.#row + 1,
        ArrowDown: this.#row - 1,
        PageUp: this.#row + page,
        PageDown: this.#row - page,
        Home: 0,
        End: rows.count,
      };
      const to = keys[event.key];
      if (to === undefined || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.go(to);
    });
  }
}
