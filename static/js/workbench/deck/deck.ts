// Transport: first, back, step, play with a speed, last; where we are; and the timeline under it.

import { announce, toast } from "../../lib/dom.ts";
import { placeWords } from "./words.ts";
import { Timeline } from "./timeline.tsx";
import { STOPS, UNITS, Walk } from "./walk.ts";
import { follow } from "../playback/store.ts";
import type { Breakpoints } from "../breakpoints/breakpoints.ts";
import type { Stops } from "../breakpoints/stops.tsx";
import type { View } from "../view/view.ts";

const UNIT = "podstep.next"; // where the browser keeps what "next" means
// Where the browser keeps that whole cycles were asked for, and the tab which page is stepped by phases.
const BY = "podstep.by";
const BASE = 1100; // milliseconds a step takes at 1×

export class Deck {
  stops: Stops | null = null;
  breakpoints: Breakpoints | null = null;
  onPoints: (() => void) | null = null;
  timeline: Timeline;
  walk: Walk;
  #timer = 0;
  #none: HTMLElement | null = null; // the note that there is none

  constructor(readonly view: View) {
    this.#set({ byPhase: goesByPhase() });
    this.timeline = new Timeline(view);
    this.walk = new Walk(view);
    const { playback, store } = view;
    this.choose(kept() || "failure", { keep: false });
    follow(store.moment, () => this.#announcePlace());
    follow(store.step, ({ index }) => {
      this.#announcePlace();
      if (this.playing) this.#onward(index);
    });
    follow(store.scenario, () => {
      this.pause();
      if (!kept()) this.choose(playback.timed ? "event" : "failure", { keep: false });
    });
    view.actions.hold.on(() => this.pause());
  }

  /** Let it stop at breakpoints, and offer them. */
  listen({ stops, breakpoints, points }: { stops: Stops; breakpoints: Breakpoints; points: { open(): void } }) {
    this.stops = stops;
    this.breakpoints = breakpoints;
    this.onPoints = () => points.open();
    this.timeline.breakpoints = breakpoints;
  }

  #set(now: Partial<import("../playback/store.ts").Transport>) {
    const { transport } = this.view.store;
    transport.value = { ...transport.peek(), ...now };
  }

  get playing() {
    return this.#timer !== 0;
  }

  /** What "next" goes to. */
  get unit() {
    return this.view.store.transport.peek().unit;
  }

  get speed() {
    return this.view.store.transport.peek().speed;
  }

  /** Whether Step goes from phase to phase, as a first example asks. */
  get byPhase() {
    return this.view.store.transport.peek().byPhase;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.#start();
  }

  #start() {
    const { playback } = this.view;
    if (!playback.last) return;
    if (playback.wanted >= playback.last && playback.complete) playback.goto(0);
    this.#timer = -1;
    this.#set({ playing: true });
    this.#next();
  }

  pause() {
    if (!this.playing) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#pace(0);
    this.#set({ playing: false });
  }

  /** Play so many times as fast as one watches at leisure. */
  goAt(speed: number) {
    this.#set({ speed });
    if (this.playing) this.#schedule();
  }

  #schedule() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), BASE / this.speed);
    this.#pace(BASE / this.speed);
  }

  /** Play on, unless a breakpoint holds of the cycle that is shown now. */
  async #onward(index: number) {
    const reasons = this.breakpoints?.enabled.length ? await this.breakpoints.reasons(index).catch(() => []) : [];
    if (!this.playing || this.view.playback.index !== index) return;
    if (!reasons.length) {
      this.#schedule();
      return;
    }
    this.pause();
    this.stops?.stopped("break", index, reasons);
  }

  /** Tell those that count virtual time how many milliseconds the shown cycle lasts; 0: it stands still. */
  #pace(ms: number) {
    this.view.store.pace.value = ms;
  }

  #next() {
    const { playback } = this.view;
    if (playback.onward > playback.last) {
      if (playback.complete) {
        this.pause();
        announce("The end of the timeline.");
      } else this.#schedule();
      return;
    }
    playback.goto(playback.onward);
  }

  /** A step on: by a phase on a first example, else to the rest of the shown cycle or the next one. */
  onward(since: number) {
    this.pause();
    const { playback } = this.view;
    if (this.byPhase) this.#walk("phase", 1, since);
    else if (playback.onward > playback.last && playback.complete === false) void this.#once(playback.onward, since);
    else playback.goto(playback.onward, since);
  }

  /** Go to a cycle that is still to be computed, unless one goes elsewhere meanwhile: the press is not lost. */
  async #once(index: number, since: number) {
    const { playback } = this.view;
    const { wanted, generation } = playback;
    await playback.has(index);
    if (playback.wanted === wanted && playback.generation === generation) playback.goto(index, since);
  }

  /** From now on, and on every later example, step by whole cycles. */
  stepByCycle() {
    this.#set({ byPhase: false });
    try {
      localStorage.setItem(BY, "cycle");
      sessionStorage.removeItem(BY);
    } catch {
      /* for this visit only */
    }
    announce("Step goes from cycle to cycle.");
  }

  /** Go by the unit that was chosen. */
  step(direction: number, since: number) {
    this.#walk(this.unit, direction, since);
  }

  /** Go by phases. */
  phase(direction: number, since: number) {
    this.#walk("phase", direction, since);
  }

  /** Announce whether outcomes ahead are shown. */
  announceAhead() {
    announce(this.view.seen.ahead ? "Outcomes ahead are shown." : "Outcomes ahead are hidden.");
  }

  /** Let "next" go to another unit; the browser remembers. */
  choose(unit: string, { keep = true } = {}) {
    this.#set({ unit: UNITS[unit] ? unit : "failure" });
    if (keep)
      try {
        localStorage.setItem(UNIT, this.unit);
      } catch {
        /* for this visit only */
      }
  }

  async #walk(unit: string, direction: number, since: number) {
    if (!this.view.playback.nodes) return;
    this.pause();
    if (STOPS.has(unit)) {
      this.stops?.run(unit, direction, since);
      return;
    }
    const walking = (this.view.walking = Symbol(unit)); // for the browser tests: until it is known where it leads
    try {
      const none = await this.walk.go(unit, direction, since);
      this.#none?.remove(); // one is enough, however often it is asked
      if (none) this.#none = toast(none) ?? null;
    } catch (error) {
      this.view.playback.failed(error);
    }
    if (this.view.walking === walking) this.view.walking = null;
  }

  /** Announce the current position, unless it is played faster than it can be spoken. */
  #announcePlace() {
    if (this.playing && this.speed > 1) return;
    const text = placeWords(this.view);
    if (text) announce(text, "place");
  }
}

/** Whether this page was opened to be stepped by phases, and nobody has asked for whole cycles. */
function goesByPhase() {
  const asked = new URLSearchParams(location.search).get("by") === "phase";
  try {
    if (localStorage.getItem(BY) === "cycle") return false;
    if (asked) sessionStorage.setItem(BY, location.pathname); // the address is soon rewritten without it
    return asked || sessionStorage.getItem(BY) === location.pathname;
  } catch {
    return asked;
  }
}

/** What "next" stood for when this browser was last here, or "". */
function kept() {
  try {
    return localStorage.getItem(UNIT) ?? "";
  } catch {
    return "";
  }
}
