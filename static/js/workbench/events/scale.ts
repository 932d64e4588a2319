// The axis that events stand on: cycles, or in a run with a clock seconds of virtual time.

import { clock, count } from "../../lib/quantity.ts";
import type { Operation } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";

const FINE = [0.1, 0.5, 1, 5, 10, 60]; // seconds of one press of an arrow
const PRESSES = 400; // about so many lead from one end to the other

/** When something happens. */
export type Landing = Pick<Operation, "after" | "seconds">;

export class Scale {
  timed: boolean;
  span: number;
  unit: number;
  constructor(
    readonly playback: Playback,
    rows: Landing[],
  ) {
    this.timed = Boolean(playback.timed);
    if (!this.timed) {
      this.span = Math.max(1, playback.cycles ?? 0);
      this.unit = 1;
      return;
    }
    const cycles = Math.min(playback.cycles ?? 0, playback.marks.known);
    const last = cycles ? playback.marks.time[cycles] : 0;
    this.span = Math.max(10, Math.ceil(1.05 * rows.reduce((most, { seconds }) => Math.max(most, seconds ?? 0), last)));
    this.unit = FINE.find((unit) => this.span / unit <= PRESSES) ?? 60;
  }

  /** Where a row stands; one that has not landed stands at the end. */
  of({ after, seconds }: Landing) {
    if (!this.timed) return after ?? this.span;
    if (seconds !== null && seconds !== undefined) return seconds;
    const { marks } = this.playback;
    return after === null ? this.span : (marks.time[Math.min(after + 1, marks.known)] ?? 0);
  }

  fraction(value: number) {
    return Math.max(0, Math.min(1, value / this.span));
  }

  /** What stands at a fraction of the axis, on a whole cycle or a round second. */
  at(fraction: number) {
    return this.round(Math.max(0, Math.min(1, fraction)) * this.span);
  }

  round(value: number) {
    return Number(Math.max(0, Math.min(this.span, Math.round(value / this.unit) * this.unit)).toFixed(3));
  }

  /** The cycle, or the second, that is on screen. */
  get now() {
    return this.timed ? (this.playback.time ?? 0) : this.playback.wantedCycle;
  }

  words(value: number) {
    return this.timed
      ? `at ${clock(value)} of virtual time`
      : value
        ? `after cycle ${count(value)}`
        : "before the first cycle";
  }

  short(value: number) {
    return this.timed ? (value % 1 ? `${value}s` : clock(value)) : value ? `after ${count(value)}` : "start";
  }
}
