// What the rules of a scheduler are called: v1.11 and v1.22 have predicates and priorities, v1.37 has plugins at the
// extension points Filter and Score.

import { releaseOf } from "../../lib/releases.ts";

/** The terms of a release; a cycle names it only under v1.37. */
export const termsOf = (release?: string) => releaseOf(release).terms;

/** The terms of the cycle on screen; before the first one, of the release that will decide. */
export const termsIn = ({ current, release }: { current: { release?: string } | null; release: string }) =>
  termsOf(current ? current.release : release);

export const capital = (text: string) => text[0].toUpperCase() + text.slice(1);
