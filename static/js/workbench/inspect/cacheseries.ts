// The hit rate over a run as points for a chart of a given width, and as rows for a table. Pure functions; a long run
// is aggregated in one pass.

import { rate } from "./cachewords.ts";

/** What the cache did, by cycle. */
export type Counts = Record<"hits" | "evaluations" | "invalidated" | "stale", ArrayLike<number>>;
/** Some cycles together; `rate` is theirs, `running` that of all until then. */
export type Point = {
  from: number;
  to: number;
  hits: number;
  evaluations: number;
  invalidated: number;
  stale: number;
  firstStale: number;
  rate: number | null;
  running: number | null;
};

/** Aggregate `width` cycles or more to a point, `per` of them. */
export function series({ hits, evaluations, invalidated, stale }: Counts, known: number, width: number) {
  const per = Math.max(1, Math.ceil(known / Math.max(1, Math.floor(width))));
  const points: Point[] = [];
  let allHits = 0;
  let all = 0;
  for (let from = 1; from <= known; from += per) {
    const point: Point = {
      from,
      to: Math.min(known, from + per - 1),
      hits: 0,
      evaluations: 0,
      invalidated: 0,
      stale: 0,
      firstStale: 0,
      rate: null,
      running: null,
    };
    for (let i = from; i <= point.to; i += 1) {
      point.hits += hits[i];
      point.evaluations += evaluations[i];
      point.invalidated += invalidated[i];
      point.stale += stale[i];
      if (stale[i] && !point.firstStale) point.firstStale = i;
    }
    allHits += point.hits;
    all += point.evaluations;
    point.rate = rate(point.hits, point.evaluations);
    point.running = rate(allHits, all);
    points.push(point);
  }
  return { per, points };
}

/** Cycles `from`… as points of their own; the rate until then counts all earlier ones. */
export function rowsOf({ hits, evaluations, invalidated, stale }: Counts, known: number, from: number, size: number) {
  const upTo = (counts: ArrayLike<number>, last: number) => {
    let sum = 0;
    for (let i = 1; i <= last; i += 1) sum += counts[i];
    return sum;
  };
  let allHits = upTo(hits, from - 1);
  let all = upTo(evaluations, from - 1);
  return Array.from({ length: Math.max(0, Math.min(known, from + size - 1) - from + 1) }, (_, at) => {
    const i = from + at;
    allHits += hits[i];
    all += evaluations[i];
    return {
      index: i,
      hits: hits[i],
      evaluations: evaluations[i],
      invalidated: invalidated[i],
      stale: stale[i],
      rate: rate(hits[i], evaluations[i]),
      running: rate(allHits, all),
    };
  });
}
