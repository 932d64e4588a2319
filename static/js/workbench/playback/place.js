// A place in a step: the whole of it, a moment (`at`, from 1), or a phase.

import { assumed } from "../phases.js";
/** @import { Moment } from "../../lib/protocol.js" */

/**
 * A place that is asked for; `linked`: by an address.
 *
 * @typedef {{ at: number, phase: string, linked: boolean }} Place
 */

export const LAST = -1; // as a moment: the last one there is
export const LAST_PHASE = "last";
/** @type {Place} */
export const WHOLE = { at: 0, phase: "", linked: false };

/**
 * The moment of the attempt among those of a step, -1 where no pod is tried.
 *
 * @param {Moment[]} moments
 */
export const attemptIn = (moments) => moments.findIndex(({ kind }) => kind === "attempt");

/**
 * How many of a step's moments have passed at a place in it.
 *
 * @param {Moment[]} moments
 * @param {{at: number, phase: string}} place
 */
export function passed(moments, { at, phase }) {
  if (at > 0) return at;
  if (at === LAST) return 0;
  return phase ? attemptIn(moments) + (assumed(phase) ? 1 : 0) : moments.length;
}
