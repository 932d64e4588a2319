// "Next" and back by a unit: a phase, a cycle, an event, a second of virtual time, an operation, a failure.

import { LAST, LAST_PHASE } from "../playback/place.ts";
import { wentThrough } from "../playback/phases.ts";
import type { Playback } from "../playback/playback.ts";
import type { Place } from "../playback/place.ts";
import type { CycleParts } from "../playback/parts.ts";
import type { View } from "../view/view.ts";

/** What there is none of in the whole run: then neither "later" nor "earlier" would be the whole truth. */
const NOWHERE: Partial<Record<string, [holds: (playback: Playback) => boolean, words: string]>> = {
  second: [
    ({ marks, cycles, end }) => !end && !marks.time[cycles],
    "No time passes here: every cycle is in the first second.",
  ],
  operation: [({ marks }) => !marks.operations, "This scenario has no operations."],
  failure: [
    ({ marks }) => !marks.staleCycles && !marks.seek(0, 1, "uep"),
    "No cycle failed: every pod was placed at once.",
  ],
};

/** The units, with what there is none of when there is none: later, and earlier. */
export const UNITS: Record<string, [name: string, later?: string, earlier?: string]> = {
  phase: ["phase", "No later phase: this is the end.", "No earlier phase: this is the start."],
  cycle: ["cycle", "No later cycle: this is the end.", "No earlier cycle: this is the start."],
  event: ["event", "Nothing happens after this.", "Nothing happened before this."],
  second: ["second", "Nothing happens in a later second.", "Nothing happened in an earlier second."],
  operation: ["operation", "No operation follows.", "No operation precedes."],
  failure: ["failure", "No later cycle failed.", "No earlier cycle failed."],
  interesting: ["interesting cycle"],
  break: ["breakpoint"],
};
export const STOPS = new Set(["interesting", "break"]); // units that are run to: see stops.tsx
const SLACK = 0.0006; // seconds: times of marks are rounded to the millisecond
const UNKNOWN = "The rest is still being computed.";

/** Compare positions: a whole step stands after its moments. */
const before = ([index, at]: [index: number, moment?: number], [other, moment]: Position) =>
  index < other || (index === other && (at || Infinity) < (moment || Infinity));

/** 0 is all of a step */
export type Position = [index: number, moment: number];
/** what to go to; null where there is nothing */
export type Found = [index: number, place?: Partial<Place>] | null;

export class Walk {
  playback: Playback;
  #turn = 0; // of the newest wish: what an older one still finds out is not wanted any more

  constructor(view: View) {
    this.playback = view.playback;
  }

  /** Go to the next (direction 1) or previous (-1) of a unit; resolves with a sentence where there is none. */
  async go(unit: string, direction: number, since: number) {
    const { playback } = this;
    const turn = ++this.#turn;
    const at = `${playback.wanted}/${playback.wish.at}`;
    const units = this as unknown as Record<string, (direction: number) => Found | Promise<Found>>;
    const found = await units[`_${unit}`](direction);
    if (turn !== this.#turn || at !== `${playback.wanted}/${playback.wish.at}`) return "";
    if (found) {
      playback.goto(found[0], since, found[1]);
      return "";
    }
    if (!playback.complete && direction > 0) return UNKNOWN;
    const [holds, words] = NOWHERE[unit] ?? [];
    return playback.complete && holds?.(playback) ? words : UNITS[unit][direction > 0 ? 1 : 2];
  }

  /** Where it is walked from: what was asked for last, be it shown already or not. */
  get #here() {
    const { wanted: index, wish } = this.playback;
    const at = wish.at === LAST && index === this.playback.index ? this.playback.at : wish.at;
    return { index, at, phase: wish.phase };
  }

  /** A whole step on or back, if there is one. */
  #step(direction: number, wish?: Partial<Place>): Found {
    const to = this.playback.wanted + direction;
    return to < 0 || to > this.playback.last ? null : [to, to > 0 ? wish : undefined];
  }

  _cycle(direction: number): Found {
    return this.#step(direction);
  }

  _phase(direction: number): Found {
    const { playback } = this;
    const { index, at, phase } = this.#here;
    const light = playback.light(index);
    const phases = light ? wentThrough(light, playback.timed) : [];
    if (phase) {
      const near = phases[phases.indexOf(phase) + direction];
      if (near) return [index, { phase: near }];
    } else if (light) {
      const tried = playback.heavy(index)?.moments?.findIndex(({ kind }) => kind === "attempt") ?? -1;
      const early = at > 0 && at <= tried;
      if (direction > 0 && early) return [index, { phase: phases[0] }];
      if (direction < 0 && !early) return [index, { phase: phases.at(-1) }];
    }
    return this.#step(direction, { phase: direction > 0 ? "queue" : LAST_PHASE });
  }

  async _event(direction: number): Promise<Found> {
    const { index, at } = this.#here;
    if (direction > 0) {
      if (at) {
        const moments = await this.playback.momentsOf(index);
        if (at !== LAST && at < moments.length) return [index, { at: at + 1 }];
      }
      return this.#step(1, { at: 1 });
    }
    if (at > 1) return [index, { at: at - 1 }];
    if (!at && index > 0 && (await this.playback.momentsOf(index)).length) return [index, { at: LAST }];
    return this.#step(-1, { at: LAST });
  }

  async _second(direction: number): Promise<Found> {
    const { playback } = this;
    const here = await this.#settled();
    const now = await this.#time(here);
    if (direction > 0) {
      const found = await this.#first(Math.floor(now + SLACK) + 1);
      return found && before(here, found) ? await this.#wish(found) : null;
    }
    if (!here[0]) return null;
    const same = (await this.#first(Math.floor(now + SLACK))) ?? here;
    const whole = await this.#wish(same);
    if (before([whole[0], whole[1]?.at], here)) return whole;
    const [index, at] = same;
    if (at > 1) return this.#begin((await playback.momentsOf(index))[at - 2].time);
    return index > 1 ? this.#begin(playback.marks.time[index - 1]) : [0];
  }

  /** What to go to for the second that a time is in: something happens in it. */
  async #begin(time: number) {
    return this.#wish((await this.#first(Math.floor(time + SLACK))) as Position);
  }

  /** Where it is walked from, as [index, moment]; 0 is all of the step. */
  async #settled(): Promise<Position> {
    const { index, at } = this.#here;
    return [index, at === LAST ? (await this.playback.momentsOf(index)).length : at];
  }

  /** Virtual seconds of a position. */
  async #time([index, at]: Position) {
    const { playback } = this;
    if (!index) return 0;
    if (!at && index <= playback.cycles) return playback.marks.time[index];
    const moments = await playback.momentsOf(index);
    return at ? moments[at - 1].time : (playback.heavy(index) as CycleParts & { time: number }).time;
  }

  /** The first position at or after a second, or null. */
  async #first(second: number): Promise<Position | null> {
    const { playback } = this;
    if (second <= 0) return [0, 0];
    const index = playback.marks.firstAt(second - SLACK) || (playback.end ? playback.cycles + 1 : 0);
    if (!index) return null;
    const found = (await playback.momentsOf(index)).findIndex(({ time }) => time >= second - SLACK);
    if (found >= 0) return [index, found + 1];
    return index <= playback.cycles || (playback.heavy(index)?.time ?? -1) >= second - SLACK ? [index, 0] : null;
  }

  /** What to go to for a position: a step that begins with its attempt is shown whole. */
  async #wish([index, at]: Position): Promise<[index: number, place?: { at?: number; phase?: string }]> {
    if (!index) return [0];
    const begins = at === 1 && (await this.playback.momentsOf(index))[0].kind === "attempt";
    return !at || begins ? [index] : [index, { at }];
  }

  async _operation(direction: number): Promise<Found> {
    const { playback } = this;
    const { index } = this.#here;
    const found = playback.marks.seekOperation(index, direction);
    if (found) return [found];
    if (direction < 0 || !playback.end || index > playback.cycles) return null;
    const moments = await playback.momentsOf(playback.cycles + 1);
    return moments.some(({ what }) => what === "Operation") ? [playback.cycles + 1] : null;
  }

  _failure(direction: number): Found {
    const { marks, wanted } = this.playback;
    const found = [marks.seekStale(wanted, direction), marks.seek(wanted, direction, "uep")].filter(Boolean);
    if (!found.length) return null;
    return [direction > 0 ? Math.min(...found) : Math.max(...found)];
  }
}
