// Breakpoints: where Play and "run to the next break" stop, and why. Kept in this browser for each source; a link can
// bring them.

import { KINDS, condition, known, marked, parse, taken, why, words } from "./conditions.ts";
import { MOST } from "./finder.ts";
import { follow } from "../playback/store.ts";
import type { Finder } from "./finder.ts";
import type { View } from "../view/view.ts";

/** a condition, and whether it is on */
export type Breakpoint = { text: string; on: boolean };
/** why there is none */
export type Nowhere = { index?: undefined; reasons?: undefined; none: string };

export const FULL = `There are ${MOST} breakpoints, which is the limit.`;

const STORE = "podstep.breaks";
const SOURCES = 50; // whose breakpoints are kept, the newest
const UNKNOWN = "The rest is still being computed.";

export class Breakpoints {
  list: Breakpoint[] = [];
  at: { index: number; reasons: string[] } = { index: 0, reasons: [] }; // where it stopped last
  source: string;
  #hits: Uint8Array | null = null; // cycles that the marks know to break, as a bitmap
  #hitsKey = "";
  #found: Map<number, Set<string>> = new Map(); // by cycle: conditions that a search or a look at it found to hold

  constructor(
    readonly view: View,
    readonly finder: Finder,
  ) {
    const { draft, scenario, run } = view.playback.source;
    this.source = `${draft ? "draft" : run ? "run" : "scenario"}:${draft ?? run ?? scenario}`;
    this.#recall();
    this.#tell();
    addEventListener("storage", ({ key }) => {
      // another tab has changed them: its list and this one are the same
      if (key !== STORE && key !== null) return;
      this.list = this.#kept();
      this.#changed(false);
    });
    follow(view.store.parts, () => this.#look());
    follow(view.store.step, () => this.#look());
    follow(view.store.scenario, () => {
      this.#found.clear();
      this.#changed(false);
    });
  }

  // ---- the list

  has(text: string) {
    return this.list.some((point) => point.text === text);
  }

  get enabled() {
    return this.list.filter(({ on }) => on).map(({ text }) => text);
  }

  /** Set one; whether there was room. */
  add(text: string) {
    if (!parse(text)) return false;
    const there = this.list.find((point) => point.text === text);
    if (!there && this.list.length >= MOST) return false;
    if (there) there.on = true;
    else this.list.push({ text, on: true });
    this.#changed();
    return true;
  }

  remove(text: string) {
    this.list = this.list.filter((point) => point.text !== text);
    this.#changed();
  }

  toggle(text: string) {
    if (this.has(text)) this.remove(text);
    else return this.add(text);
    return true;
  }

  enable(text: string, on: boolean) {
    for (const point of this.list) if (point.text === text) point.on = on;
    this.#changed();
  }

  clear() {
    this.list = [];
    this.#changed();
  }

  #changed(keep = true) {
    this.#hitsKey = "";
    if (keep) this.#keep();
    this.#look();
    this.#tell();
  }

  #kept() {
    let kept;
    try {
      kept = JSON.parse(localStorage.getItem(STORE) ?? "{}")[this.source] ?? [];
    } catch {
      kept = [];
    }
    return (Array.isArray(kept) ? kept : [])
      .filter((point) => Array.isArray(point) && parse(point[0]))
      .slice(0, MOST)
      .map(([text, on]) => ({ text, on: on === true }));
  }

  #recall() {
    this.list = this.#kept();
    const linked = new URLSearchParams(location.search).getAll("break").filter(parse);
    for (const text of linked) if (!this.has(text) && this.list.length < MOST) this.list.push({ text, on: true });
    if (linked.length) this.#keep();
  }

  #keep() {
    try {
      const all = JSON.parse(localStorage.getItem(STORE) ?? "{}");
      delete all[this.source]; // the newest stands last
      if (this.list.length) all[this.source] = this.list.map(({ text, on }) => [text, on]);
      localStorage.setItem(STORE, JSON.stringify(Object.fromEntries(Object.entries(all).slice(-SOURCES))));
    } catch {
      /* for this visit only */
    }
  }

  /** The part of a link that brings them. */
  get link() {
    return this.enabled
      .map(
        (text) =>
          `break=${encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%40", "@")}`,
      )
      .join("&");
  }

  // ---- where they hold

  /** Whether a cycle breaks, as far as it is known here. */
  breaks(index: number) {
    return index > 0 && this.hits[index] === 1;
  }

  /** Whether a cycle breaks because it was named: that reveals nothing of its outcome. */
  named(index: number) {
    return this.enabled.includes(condition("cycle", String(index)));
  }

  /** The cycles that are known to break, 1 each. */
  get hits() {
    const { marks } = this.view.playback;
    const key = `${marks.version}/${marks.known}/${this.#found.size}/${this.list.length}`;
    if (key !== this.#hitsKey || !this.#hits) {
      this.#hitsKey = key;
      const hits = new Uint8Array(marks.known + 2);
      this.#hits = hits;
      const facts = known(this.view.playback);
      for (const text of this.enabled) {
        const { kind, about, within } = taken(text);
        const row = KINDS[kind];
        if (row.marked) for (let i = 1; i <= marks.known; i += 1) if (row.marked(facts, i, about, within)) hits[i] = 1;
        for (const [i, texts] of this.#found) if (texts.has(text)) hits[i] = 1;
      }
    }
    return this.#hits;
  }

  /** How many cycles are known where one holds, among those whose outcome may be shown. */
  count(text: string) {
    const { marks } = this.view.playback;
    const last = Math.min(marks.known, this.view.seen.last);
    const facts = known(this.view.playback);
    const { kind, about, within } = taken(text);
    const cycles = new Set(
      [...this.#found].filter(([index, texts]) => index <= last && texts.has(text)).map(([index]) => index),
    );
    const row = KINDS[kind];
    if (row.marked) for (let i = 1; i <= last; i += 1) if (row.marked(facts, i, about, within)) cycles.add(i);
    return cycles.size;
  }

  /** Take note of what holds of the cycle that is shown. */
  #look() {
    const { playback } = this.view;
    const { index } = playback;
    if (!playback.nodes || !playback.light(index)) return;
    for (const { text } of this.list)
      if (!this.#found.get(index)?.has(text) && why(text, this.view, index)) this.#note(index, text);
  }

  #note(index: number, text: string) {
    if (!this.#found.has(index)) this.#found.set(index, new Set());
    this.#found.get(index)?.add(text);
    this.#hitsKey = "";
    this.#tell();
  }

  #tell() {
    this.view.store.breakpoints.value = [...this.list];
  }

  /**
   * Why one stops at a cycle that is loaded, a text for each breakpoint that holds; waits for what only the matrices
   * show.
   */
  async reasons(index: number): Promise<string[]> {
    const { playback } = this.view;
    const { enabled } = this;
    if (!enabled.length || index < 1 || index > playback.cycles) return [];
    if (enabled.some((text) => KINDS[taken(text).kind].heavy)) await playback.momentsOf(index);
    return enabled.map((text) => why(text, this.view, index) ?? "").filter(Boolean);
  }

  // ---- running

  /**
   * The nearest cycle that breaks, after (direction 1) or before (-1) the current one: `{index, reasons}`, or `{none}`
   * in words; null once it is given up.
   */
  async next(
    direction: number,
    onProgress?: (index: number) => void,
  ): Promise<{ index: number; reasons: string[]; none?: undefined } | Nowhere | null> {
    const { playback } = this.view;
    const { enabled } = this;
    if (!enabled.length) return { none: this.list.length ? "Every breakpoint is off." : "No breakpoint is set." };
    const from = playback.wanted;
    const near = this.#near(from, direction);
    const computing = direction > 0 && !playback.complete && !near;
    const asked = computing
      ? enabled
      : enabled.filter((text) => {
          const row = KINDS[taken(text).kind];
          return row.asks || !row.marked;
        });
    const to = near ? near - direction : undefined;
    if (
      asked.length
      && (near
        ? (near - direction - from) * direction > 0
        : direction > 0
          ? from < playback.cycles || computing
          : from > 1)
    ) {
      const found = await this.finder.find({ from, direction, conditions: asked, to }, onProgress);
      if (!found) return null;
      if (found.index) {
        for (const [place] of found.why) this.#note(found.index, asked[place]);
        return { index: found.index, reasons: found.why.map(([, text]) => text.replaceAll("default/", "")) };
      }
    }
    if (near) return { index: near, reasons: this.#recorded(near) };
    return {
      none:
        computing && !playback.complete
          ? UNKNOWN
          : direction > 0
            ? "No later cycle breaks."
            : "No earlier cycle breaks.",
    };
  }

  #near(from: number, direction: number) {
    const { hits } = this;
    for (
      let i = direction > 0 ? from + 1 : Math.min(from - 1, hits.length - 1);
      i >= 1 && i < hits.length;
      i += direction
    )
      if (hits[i]) return i;
    return 0;
  }

  /** What the marks record about a cycle that is not loaded yet. */
  #recorded(index: number) {
    const facts = known(this.view.playback);
    return this.enabled
      .filter((text) => marked(text, facts, index) || this.#found.get(index)?.has(text))
      .map((text) => why(text, this.view, index) || words(text));
  }
}
