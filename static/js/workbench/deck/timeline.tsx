// The timeline: one mark a cycle while there is room, columns of cycles when there is not. A slider for every input.

import { createRef, render, type ComponentChild } from "preact";
import { penOf, perFrame } from "../../lib/dom.ts";
import { clock, count, plural, short } from "../../lib/quantity.ts";
import type { Breakpoints } from "../breakpoints/breakpoints.ts";
import { LETTERS, RESULTS } from "../playback/marks.ts";
import { palette } from "../stage/palette.ts";
import { follow } from "../playback/store.ts";
import { HEIGHT, POINT, drawBreaks, drawMarks } from "./marks.ts";
import { Ticks } from "./ticks.tsx";
import type { View } from "../view/view.ts";

const WIDEST = 30; // a mark, gap included
const LEAST_TIP = 60; // pixels: half of a tip that tells little

export class Timeline {
  readonly element = document.createElement("div");
  readonly #track = createRef<HTMLDivElement>();
  readonly #canvas = createRef<HTMLCanvasElement>();
  readonly #strip = createRef<HTMLCanvasElement>();
  readonly #ruler = penOf(document.createElement("canvas")); // measures the text of the tip without a layout
  #breaking: Breakpoints | null = null;
  #width = 0;
  #painted = "";
  #at = 0;
  #ticks: ComponentChild = null; // the same from step to step: they are not compared again
  #tip: { text: string; x: number } | null = null;
  #box: DOMRect | null = null; // where the track is, until it moves: a read after a write lays the page out again

  constructor(private readonly view: View) {
    this.element.className = "timeline";
    this.#draw();
    const { store } = view;
    const paint = perFrame(() => this.#paint());
    const again = () => {
      this.#painted = "";
      paint();
    };
    const moved = () => (this.#box = null);
    follow([store.scenario, store.known, store.seen], paint);
    follow([store.wanted, store.step], ({ index }) => this.#place(index));
    addEventListener("podstep:theme", again);
    addEventListener("resize", moved);
    new ResizeObserver(() => {
      moved();
      paint();
    }).observe(this.#track.current as HTMLElement);
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
    return this.#last
      ? Math.min(WIDEST, (this.#width || (this.#track.current?.clientWidth ?? 0)) / this.#last)
      : WIDEST;
  }

  /** The last place there is: the end of a run, or its last cycle. */
  get #last() {
    return this.view.playback.last || 0;
  }

  /** Where the middle of a cycle is on the track, in pixels. */
  middle(index: number) {
    return Math.max(0, (index - 0.5) * this.#scale);
  }

  /** Let a strip under the marks point at the cycles that are known to break. */
  set breakpoints(breakpoints: Breakpoints) {
    this.#breaking = breakpoints;
    follow(
      this.view.store.breakpoints,
      perFrame(() => this.#breaks()),
    );
  }

  #paint() {
    const width = this.#track.current?.clientWidth;
    if (!width) return;
    const { marks, wanted } = this.view.playback;
    const [cycles, known, last] = [this.#cycles, this.#known, this.#last];
    const key = `${width}/${last}/${marks.version}/${known}`;
    this.#width = width;
    if (key !== this.#painted) {
      this.#painted = key;
      const scale = this.#scale;
      drawMarks(penFor(this.#canvas.current, width, HEIGHT), { marks, width, scale, cycles, known, last });
      this.#breaks();
      this.#ticks = <Ticks marks={marks} scale={scale} />;
    }
    this.#at = wanted;
    this.#draw();
  }

  #breaks() {
    const breaking = this.#breaking;
    const strip = this.#strip.current;
    if (!strip) return;
    strip.hidden = !breaking?.enabled.length;
    if (!breaking || strip.hidden || !this.#width) return;
    const known = this.#known;
    const shown = (index: number) => index <= known || breaking.named(index);
    drawBreaks(penFor(strip, this.#width, POINT), breaking.hits, this.#scale, shown);
  }

  #place(index: number) {
    if (this.#at === index || !this.#width) return;
    this.#at = index;
    this.#draw();
  }

  /** Draw the frame of the marks, and what stands on them. */
  #draw() {
    const [at, tip, scale] = [this.#at, this.#tip, this.#scale];
    const x = at === 0 ? -3 : (at - 1) * scale - (scale < 3 ? 1 : 0);
    const wide = at === 0 ? 3 : Math.max(3, scale - (scale > 6 ? 2 : 1));
    const release = () => this.#hold(false);
    render(
      <>
        <div
          ref={this.#track}
          class={this.view.scrubbing ? "track dragging" : "track"}
          role="slider"
          tabIndex={0}
          aria-label="Cycle"
          aria-valuemin={0}
          aria-valuemax={this.#last}
          aria-valuenow={at}
          aria-valuetext={this.#words(at)}
          onPointerDown={this.#press}
          onPointerMove={this.#move}
          onPointerUp={release}
          onPointerCancel={release}
          onLostPointerCapture={release}
          onPointerEnter={() => (this.#box = null)}
          onPointerLeave={() => this.#show(null)}
          onKeyDown={this.#key}
        >
          <canvas ref={this.#canvas} aria-hidden="true" />
          <div
            class={at === 0 ? "playhead at-start" : "playhead"}
            aria-hidden="true"
            style={{ transform: `translateX(${x}px)`, width: `${wide}px` }}
          />
          <div
            class="track-tip"
            aria-hidden="true"
            hidden={!tip}
            style={{ transform: `translateX(calc(${tip?.x ?? 0}px - 50%))` }}
          >
            {tip?.text}
          </div>
          {this.#ticks}
        </div>
        <canvas ref={this.#strip} class="breaks" aria-hidden="true" hidden />
      </>,
      this.element,
    );
  }

  #words(index: number) {
    if (index === 0) return "before the first cycle";
    if (index > this.#cycles) return "the end of the run";
    return `cycle ${index} of ${this.#cycles}${this.#result(index)}`;
  }

  #result(index: number) {
    const { marks } = this.view.playback;
    if (index > this.#known) return `, not visited yet${this.#breaking?.named(index) ? ", a breakpoint" : ""}`;
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
      ...(marks.kueue.get(index) ?? []).slice(-2).map(({ text }) => `, Kueue: ${text}`),
      this.#breaking?.breaks(index) ? ", a breakpoint" : "",
    ].join("");
  }

  get #where() {
    return (this.#box ??= (this.#track.current as HTMLElement).getBoundingClientRect());
  }

  #indexAt(clientX: number) {
    return Math.max(0, Math.min(this.#last, Math.floor((clientX - this.#where.left) / this.#scale) + 1));
  }

  /** The stage shows what is dragged over without moving anything. */
  #hold(dragging: boolean) {
    this.view.scrubbing = dragging;
    this.#draw();
  }

  #press = (event: PointerEvent) => {
    if (event.button) return;
    this.#box = null;
    this.#track.current?.setPointerCapture(event.pointerId);
    this.#hold(true);
    this.view.actions.hold();
    this.view.playback.goto(this.#indexAt(event.clientX), event.timeStamp);
  };

  #seek = perFrame((index: number, since: number) => {
    const { playback } = this.view;
    if (index !== playback.wanted) playback.goto(index, since);
  });

  #move = ({ clientX, pointerId, timeStamp }: PointerEvent) => {
    const index = this.#indexAt(clientX);
    if (this.#track.current?.hasPointerCapture(pointerId)) this.#seek(index, timeStamp);
    this.#show(this.#last ? [index, clientX] : null);
  };

  #key = (event: KeyboardEvent) => {
    const { playback } = this.view;
    const { wanted } = playback;
    const page = Math.max(10, Math.round(this.#cycles / 20));
    const moves: Record<string, number> = {
      ArrowLeft: wanted - 1,
      ArrowDown: wanted - 1,
      ArrowRight: playback.onward,
      ArrowUp: wanted + 1,
      PageUp: wanted + page,
      PageDown: wanted - page,
      Home: 0,
      End: this.#last,
    };
    const to = moves[event.key];
    if (to === undefined || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.view.actions.hold();
    playback.goto(to, event.timeStamp);
  };

  /** Show the cycle under the pointer, if any. */
  #show(pointed: [index: number, clientX: number] | null) {
    this.#tip = pointed && this.#tipOf(...pointed);
    this.#draw();
  }

  #tipOf(index: number, clientX: number) {
    const { marks, pods, timed } = this.view.playback;
    const known = index > 0 && index <= marks.known && index <= this.#known;
    const pod = known ? short(pods.keys[marks.pod[index]] ?? "") : "";
    const time = known && (marks.time[index] || timed) ? ` · t = ${clock(marks.time[index])}` : "";
    const text =
      index === 0
        ? "start"
        : index > this.#cycles
          ? "end"
          : `cycle ${count(index)}${pod ? ` · ${pod}` : ""}${time}${this.#result(index).replaceAll(",", " ·")}`;
    const { type, font } = palette();
    this.#ruler.font = `${type}px ${font}`;
    const half = Math.max(LEAST_TIP, this.#ruler.measureText(text).width / 2 + 9);
    const { left, width } = this.#where;
    return { text, x: Math.max(half, Math.min(width - half, clientX - left)) };
  }
}

/** A canvas of that size in pixels of the page, and what draws on it. */
function penFor(canvas: HTMLCanvasElement | null, width: number, height: number) {
  if (!canvas) throw new Error("There is no canvas to draw on.");
  const ratio = Math.min(2, devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = penOf(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}
