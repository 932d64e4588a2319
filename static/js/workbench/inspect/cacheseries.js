// The hit rate over a run as points for a chart of a given width, and as rows for a table. Pure functions; a long run
// is aggregated in one pass.

import { rate } from "./cachewords.js";

/**
 * Aggregate `width` cycles or more to a point: `{per, points: [{from, to, hits, evaluations, invalidated, stale,
 * firstStale, rate, running}]}`.
 */
export function series({ hits, evaluations, invalidated, stale }, known, width) {
  const per = Math.max(1, Math.ceil(known / Math.max(1, Math.floor(width))));
  const points = [];
  let allHits = 0;
  let all = 0;
  for (let from = 1; from <= known; from += per) {
    const point = {
      from,
      to: Math.min(known, from + per - 1),
      hits: 0,
      evaluations: 0,
      invalidated: 0,
      stale: 0,
      firstStale: 0,
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

/** Cycles `from`… as rows of their own; `before` are hits and evaluations of all earlier cycles. */
export function rowsOf({ hits, evaluations, invalidated, stale }, known, from, size) {
  let allHits = 0;
  let all = 0;
  for (let i = 1; i < from; i += 1) {
    allHits += hits[i];
    all += evaluations[i];
  }
  const rows = [];
  for (let i = from; i <= Math.min(known, from + size - 1); i += 1) {
    allHits += hits[i];
    all += evaluations[i];
    rows.push({
      index: i,
      hits: hits[i],
      evaluations: evaluations[i],
      invalidated: invalidated[i],
      stale: stale[i],
      rate: rate(hits[i], evaluations[i]),
      running: rate(allHits, all),
    });
  }
  return rows;
}
