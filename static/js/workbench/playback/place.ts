// A place in a step: the whole of it, a moment (`at`, from 1), or a phase.

import { assumed } from "./phases.ts";
import type { Moment } from "../../lib/protocol.js";

/** A place that is asked for; `linked`: by an address. */
export type Place = { at: number; phase: string; linked: boolean };

export const LAST = -1; // as a moment: the last one there is
export const LAST_PHASE = "last";
export const WHOLE: Place = { at: 0, phase: "", linked: false };

/** The moment of the attempt among those of a step, -1 where no pod is tried. */
export const attemptIn = (moments: Moment[]) => moments.findIndex(({ kind }) => kind === "attempt");

/** How many of a step's moments have passed at a place in it. */
export function passed(moments: Moment[], { at, phase }: { at: number; phase: string }) {
  if (at > 0) return at;
  if (at === LAST) return 0;
  return phase ? attemptIn(moments) + (assumed(phase) ? 1 : 0) : moments.length;
}
