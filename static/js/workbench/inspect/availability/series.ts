// A workload over virtual time: how it is at a moment, what of it may be shown, and its line. Pure functions.

import type { Available, AvailableMoment } from "../../../lib/protocol.js";

/** A workload as far as it may be shown; what was counted over the whole run is null if that is less. */
export type Seen = Omit<Available, Counted> & Record<Counted, number | null>;
type Counted = "evicted" | "refused" | "preempted";

/** The moment that holds at a time, null before the workload is there. */
export function momentAt(moments: AvailableMoment[], time: number): AvailableMoment | null {
  let low = 0;
  let high = moments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (moments[middle][0] <= time) low = middle + 1;
    else high = middle;
  }
  return moments[low - 1] ?? null;
}

/** A workload up to a time (Infinity: all of it), with the fewest ready pods and the seconds below desired so far. */
export function seenUntil(one: Available, until: number): Seen {
  if (until === Infinity) return one;
  const moments = one.moments.filter(([at]) => at <= until);
  const complete = one.completeAt !== null && one.completeAt <= until;
  const from = complete && one.completeAt !== null ? one.completeAt : 0;
  const stretches = moments
    .map(([at, desired, ready], i) => ({ at, desired, ready, end: moments[i + 1]?.[0] ?? until }))
    .filter(({ end, desired }) => end > from && desired);
  const fewest = stretches.reduce((least, next) => (next.ready < least.ready ? next : least), {
    at: from,
    ready: Infinity,
  });
  return {
    ...one,
    moments,
    completeAt: complete ? one.completeAt : null,
    fewestReady: Number.isFinite(fewest.ready) ? fewest.ready : 0,
    fewestAt: fewest.at,
    below: stretches.reduce((sum, { at, end, desired, ready }) => sum + (ready < desired ? end - at : 0), 0),
    evicted: null,
    refused: null,
    preempted: null,
  };
}

type Box = { width: number; height: number; ends: number; most: number };

/** The line of one column as the path of an SVG of a width and a height, in steps; `ends` at a time. */
export function steps(moments: AvailableMoment[], column: number, { width, height, ends, most }: Box) {
  const x = (at: number) => ((at / (ends || 1)) * width).toFixed(1);
  const y = (n: number) => (height - (n / (most || 1)) * height).toFixed(1);
  const parts = moments.map((moment, i) =>
    i ? `H${x(moment[0])}V${y(moment[column])}` : `M${x(moment[0])} ${y(moment[column])}`,
  );
  return moments.length ? `${parts.join("")}H${x(ends)}` : "";
}
