// What the rules of a scheduler are called: v1.11 and v1.22 have predicates and priorities, v1.37 has plugins at the
// extension points Filter and Score.

import { releaseOf } from "../lib/releases.js";

/**
 * The terms of a release; a cycle names it only under v1.37.
 *
 * @param {string} [release]
 */
export const termsOf = (release) => releaseOf(release).terms;

/**
 * The terms of the cycle on screen; before the first one, of the release that will decide.
 *
 * @param {{ current: { release?: string } | null, release: string }} playback
 */
export const termsIn = ({ current, release }) => termsOf(current ? current.release : release);

/** @param {string} text */
export const capital = (text) => text[0].toUpperCase() + text.slice(1);
