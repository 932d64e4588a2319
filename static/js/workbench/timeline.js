// The timeline: one mark a cycle while there is room, columns of cycles when there is not. A slider for every input.

import { h, perFrame } from "../lib/dom.js";
import { clock, count, plural, short } from "../lib/quantity.js";
import { token } from "../lib/theme.js";
import { RESULTS, LETTERS } from "./marks.js";
import { palette } from "./stage/palette.js";

const HEIGHT = 44;
const WIDEST = 30; // a mark, gap included
const NARROWEST = 3; // below it marks share a column
const TALL = [0, 0.42, 0.68, 0.84, 1, 0.56]; // by result: never colour alone
const KINDS = TALL.length;
const COLUMN = 2;
const FLAG = 8; // height and width of a pennant
const GEM = 4; // half a diamond that stands for a quirk
const FINISH = 4; // a square of the flag at the end
const POINT = 7; // height of what points at a cycle that breaks
const SIGN = 9; // width of the sign over a cycle with stale hits

export class Timeline {
  #width = 0;
  #painted = "";
  #shown = -1;
  #box = null; // where the track is, while nothing moves it: a read after every write would lay the page out anew
  #headWidth = "";
  #ruler = null; // measures what the tip says without a layout

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
    view.seen.on("changed", this.paint);
    addEventListener("podstep:theme", () => {
      this.#painted = "";
      this.#colours = null;
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

  /** The last cycle whose mark says what became of it; those behind it are all alike. */
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

  #colours = null;
  #palette() {
    this.#colours ??= [
      token("--track"),
      token("--pass"),
      token("--fail"),
      token("--stale"),
      token("--victim"),
      token("--wait"),
    ];
    return this.#colours;
  }

  #paint() {
    const width = this.track.clientWidth;
    if (!width) return;
    const { marks } = this.view.playback;
    const key = `${width}/${this.#last}/${marks.version}/${this.#known}`;
    this.#width = width;
    this.track.setAttribute("aria-valuemax", this.#last);
    if (key !== this.#painted) {
      this.#painted = key;
      const ratio = Math.min(2, devicePixelRatio || 1);
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(HEIGHT * ratio);
      const pen = this.canvas.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (this.#scale >= NARROWEST) this.#single(pen, marks);
      else this.#columns(pen, marks);
      this.#flags(pen, marks);
      if (marks.staleCycles) this.#stale(pen, marks);
      if (marks.quirks.size) this.#quirks(pen, marks);
      if (marks.groups.size) this.#groups(pen, marks);
      if (this.#last > this.#cycles) this.#finish(pen);
      this.#breaks();
    }
    this.#shown = -1;
    this.#place(this.view.playback.wanted);
  }

  /** Let a strip under the marks point at the cycles that are known to break. */
  set breakpoints(breakpoints) {
    this.breaking = breakpoints;
    const again = perFrame(() => this.#breaks());
    for (const name of ["changed", "marks"]) breakpoints.on(name, again);
  }

  #breaks() {
    const { breaking, strip } = this;
    strip.hidden = !breaking?.enabled.length;
    if (strip.hidden || !this.#width) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    strip.width = Math.round(this.#width * ratio);
    strip.height = Math.round(POINT * ratio);
    const pen = strip.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = token("--accent");
    const { hits } = breaking;
    const known = this.#known;
    let last = -POINT * 2;
    for (let i = 1; i < hits.length; i += 1) {
      if (!hits[i] || !(i <= known || breaking.named(i))) continue;
      const x = (i - 0.5) * this.#scale - (this.#scale > 6 ? 1 : 0);
      if (x - last < Math.min(POINT, Math.max(2, this.#scale))) continue; // where they are dense, the first of a place
      last = x;
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x + POINT * 0.6, POINT);
      pen.lineTo(x - POINT * 0.6, POINT);
      pen.fill();
    }
  }

  #single(pen, marks) {
    const colours = this.#palette();
    const gap = this.#scale > 6 ? 2 : 1;
    for (let i = 1; i <= this.#cycles; i += 1) {
      const result = i <= this.#known && i < marks.result.length ? marks.result[i] : 0;
      const tall = Math.round((result ? TALL[result] : 0.2) * (HEIGHT - 4));
      pen.fillStyle = colours[result];
      pen.beginPath();
      pen.roundRect((i - 1) * this.#scale, HEIGHT - tall, Math.max(1, this.#scale - gap), tall, [
        Math.min(2, this.#scale / 4),
        Math.min(2, this.#scale / 4),
        0,
        0,
      ]);
      pen.fill();
    }
  }

  /** A flag stands where the scheduler was restarted; the tallest mark leaves its pennant free. */
  #flags(pen, marks) {
    pen.fillStyle = token("--ink");
    let last = -FLAG;
    for (const index of marks.restarts) {
      if (index > this.#known) break;
      const x = Math.round((index - 1) * this.#scale);
      if (x - last < 2) continue; // one flag a place: more could not be told apart
      last = x;
      pen.fillRect(x, 0, 1.5, HEIGHT);
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x + FLAG, FLAG / 2);
      pen.lineTo(x, FLAG);
      pen.fill();
    }
  }

  /** A chequered flag stands at the end of a run. */
  #finish(pen) {
    const x = Math.min(this.#width - FINISH * 4 - 2, Math.round(this.#cycles * this.#scale) + 1);
    pen.fillStyle = token("--ink");
    pen.fillRect(x, 2, 1.5, HEIGHT - 2);
    for (let row = 0; row < 3; row += 1) {
      for (let column = 0; column < 4; column += 1)
        if ((row + column) % 2 === 0) pen.fillRect(x + 1.5 + column * FINISH, 2 + row * FINISH, FINISH, FINISH);
    }
  }

  /** A sign hangs over every cycle with stale hits of the cache; where they are dense, over the first of a place. */
  #stale(pen, marks) {
    const { stale } = marks.caching;
    pen.fillStyle = token("--stale");
    pen.strokeStyle = token("--panel");
    pen.lineWidth = 1.5;
    let last = -SIGN;
    for (let i = 1; i <= this.#known && i < stale.length; i += 1) {
      if (!stale[i]) continue;
      const x = (i - 0.5) * this.#scale - (this.#scale > 6 ? 1 : 0);
      if (x - last < Math.min(SIGN - 2, Math.max(4, this.#scale))) continue;
      last = x;
      pen.beginPath();
      pen.moveTo(x - SIGN / 2, 0);
      pen.lineTo(x + SIGN / 2, 0);
      pen.lineTo(x, SIGN - 1);
      pen.closePath();
      pen.stroke();
      pen.fill();
    }
  }

  /** A diamond, under what hangs from the top, marks a cycle that a quirk changed. */
  #quirks(pen, marks) {
    pen.fillStyle = token("--ink");
    pen.strokeStyle = token("--panel");
    pen.lineWidth = 1.5;
    const y = SIGN + GEM + 1;
    for (const index of marks.quirks) {
      if (index > this.#known) continue;
      const x = (index - 0.5) * this.#scale - (this.#scale > 6 ? 1 : 0);
      pen.beginPath();
      pen.moveTo(x, y - GEM);
      pen.lineTo(x + GEM, y);
      pen.lineTo(x, y + GEM);
      pen.lineTo(x - GEM, y);
      pen.closePath();
      pen.stroke();
      pen.fill();
    }
  }

  /**
   * A ring marks a cycle in which a PodGroup changes its phase; a cross in it, that members were rejected or timed out.
   */
  #groups(pen, marks) {
    pen.lineWidth = 1.5;
    let last = -GEM * 3;
    for (const index of [...marks.groups.keys()].sort((a, b) => a - b)) {
      if (index > this.#known) break;
      const x = (index - 0.5) * this.#scale - (this.#scale > 6 ? 1 : 0);
      if (x - last < Math.min(GEM * 2, Math.max(3, this.#scale))) continue;
      last = x;
      const y = HEIGHT - GEM - 3;
      pen.fillStyle = token("--panel");
      pen.strokeStyle = token("--ink");
      pen.beginPath();
      pen.arc(x, y, GEM, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
      if (marks.groups.get(index).every(([kind]) => kind === "phase")) continue;
      const arm = GEM * 0.5;
      pen.beginPath();
      pen.moveTo(x - arm, y - arm);
      pen.lineTo(x + arm, y + arm);
      pen.moveTo(x + arm, y - arm);
      pen.lineTo(x - arm, y + arm);
      pen.stroke();
    }
  }

  /** Each column shows the scheduled share low, and what else happened as high as its kind, as strong as its share. */
  #columns(pen, marks) {
    const colours = this.#palette();
    const columns = Math.max(1, Math.floor((this.#cycles * this.#scale) / COLUMN));
    const tally = new Uint32Array(columns * KINDS);
    const cycles = this.#cycles;
    const known = this.#known;
    for (let i = 1; i <= cycles; i += 1) {
      const column = Math.min(columns - 1, Math.floor(((i - 1) * columns) / cycles));
      tally[column * KINDS + (i <= known && i < marks.result.length ? marks.result[i] : 0)] += 1;
    }
    for (let column = 0; column < columns; column += 1) {
      const at = column * KINDS;
      const all = tally[at] + tally[at + 1] + tally[at + 2] + tally[at + 3] + tally[at + 4] + tally[at + 5];
      if (!all) continue;
      for (const result of [4, 3, 2, 5]) {
        if (!tally[at + result]) continue;
        const tall = TALL[result] * (HEIGHT - 4);
        pen.globalAlpha = 0.35 + 0.65 * Math.sqrt(tally[at + result] / all);
        pen.fillStyle = colours[result];
        pen.fillRect(column * COLUMN, HEIGHT - tall, COLUMN, tall);
      }
      pen.globalAlpha = 1;
      const low = tally[at + 1] ? TALL[1] * Math.max(0.25, tally[at + 1] / all) : tally[at] === all ? 0.15 : 0;
      pen.fillStyle = colours[tally[at + 1] ? 1 : 0];
      pen.fillRect(column * COLUMN, HEIGHT - low * (HEIGHT - 4), COLUMN, low * (HEIGHT - 4));
    }
  }

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
    this.track.setAttribute("aria-valuenow", index);
    this.track.setAttribute(
      "aria-valuetext",
      index === 0
        ? "before the first cycle"
        : index > this.#cycles
          ? "the end of the run"
          : `cycle ${index} of ${playback.cycles}${this.#result(index)}`,
    );
  }

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
      this.#tell(index, event.clientX);
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
        ArrowRight: playback.wanted + 1,
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

  #tell(index, clientX) {
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
    this.#ruler ??= document.createElement("canvas").getContext("2d");
    this.#ruler.font = `${palette().type}px ${palette().font}`;
    const half = Math.max(60, this.#ruler.measureText(text).width / 2 + 9);
    const { left, width } = this.#where;
    this.tip.style.setProperty(
      "transform",
      `translateX(calc(${Math.max(half, Math.min(width - half, clientX - left))}px - 50%))`,
    );
  }
}
