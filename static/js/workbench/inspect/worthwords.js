// The words and numbers of what a cache costs: the rows of the table, the bars, and the verdict in sentences.

import { count, held, plural, trim } from "../../lib/quantity.js";
import { cycleLink } from "./cachebyhand.js";

const LITTLE = 0.01; // of the evaluations: less is not worth keeping anything for

/**
 * How a strategy is called and drawn.
 *
 * @param {string} strategy
 */
export function looks(strategy) {
  if (strategy === "off") return { label: "no cache", mark: "none" };
  if (strategy === "batching") return { label: "batching", mark: "batching" };
  return { label: strategy, mark: "cached" };
}

/** Microseconds to `184 µs`, `1.2 ms`. */
export const duration = (micro) => (micro >= 1000 ? `${trim(micro / 1000)} ms` : `${trim(micro)} µs`);

/** `99.6 %`: never 100 % or 0 % of what is not all or nothing. */
export function share(part, whole) {
  const value = whole ? (part / whole) * 100 : 0;
  if (value > 99.9 && value < 100) return ">99.9 %";
  if (value > 0 && value < 0.1) return "<0.1 %";
  return `${Number(value.toFixed(1))} %`;
}

export const METRICS = [
  { label: "Evaluations", value: (row) => row.evaluations, text: count },
  { label: "Cache operations", value: (row) => row.operations, text: count },
  { label: "Bytes at most", value: (row) => row.bytes, text: held },
  { label: "Time per cycle", value: (row) => row.microsecondsPerCycle, text: duration },
];

/** @param {string} key */
const number = (key) => (row) => count(row[key]);
export const COLUMNS = [
  { label: "evaluations", hint: "Pairs of predicate and node that were evaluated", text: number("evaluations") },
  { label: "cache operations", hint: "Lookups, writes and invalidated entries together", text: number("operations") },
  { label: "lookups", sub: true, text: number("lookups") },
  { label: "hits", sub: true, text: number("hits") },
  { label: "writes", sub: true, text: number("writes") },
  { label: "invalidated", sub: true, text: number("invalidated") },
  { label: "bytes at most", hint: "Peak size of the cache, or of the ranking", text: (row) => held(row.bytes) },
  {
    label: "time per cycle",
    hint: "Of the processor, scheduling alone",
    text: (row) => duration(row.microsecondsPerCycle),
  },
  { label: "placed", text: number("placed") },
  {
    label: "pods elsewhere",
    hint: "Pods with a different final placement than without a cache",
    text: (row, i) => (i ? count(row.placementsDiffering) : "–"),
  },
  {
    label: "first difference",
    hint: "The first cycle with a different decision than without a cache",
    text: (row, i, view) => (i && row.firstDifference ? cycleLink(view, row.firstDifference) : i ? "none" : "–"),
  },
];

/** Sentences as lists of text, {strong} and {cycle}: what was saved, for what, and whether the answers were right. */
export function verdict(rows) {
  const [base, ...others] = rows;
  return others.map((row) => [...saving(base, row), ...wrong(row)]);
}

function saving(base, row) {
  const name = { strong: row.strategy };
  const saved = base.evaluations - row.evaluations;
  const time = `A cycle took ${duration(row.microsecondsPerCycle)} instead of ${duration(base.microsecondsPerCycle)}. `;
  if (saved <= 0) {
    const more = saved < 0 ? `made ${plural(-saved, "evaluation")} more than no cache does` : "saved no evaluation";
    const why = row.strategy === "batching" && !row.hits ? ": no pod could use a ranking kept from the pod before" : "";
    return [name, ` ${more}${why}. It was not worth it here. ${time}`];
  }
  const what = [
    name,
    " saved ",
    { strong: share(saved, base.evaluations) },
    ` of the evaluations (${count(row.evaluations)} instead of ${count(base.evaluations)}), `,
    `at ${held(row.bytes)} and ${plural(row.operations, "cache operation")}. `,
  ];
  if (saved / base.evaluations < LITTLE) return [...what, `It was not worth it here. ${time}`];
  const ratio = trim(row.operations / saved);
  const longer =
    row.operations / saved < 0.01
      ? "a hundredth of a cache operation"
      : ratio === "1"
        ? "a cache operation"
        : `${ratio} cache operations`;
  return [...what, `It is worth it where evaluating a predicate on a node takes longer than ${longer}. ${time}`];
}

function wrong(row) {
  if (!row.firstDifference) return ["All decisions were the same as without a cache."];
  const pods = row.placementsDiffering
    ? `${plural(row.placementsDiffering, "pod")} placed differently than without a cache`
    : "No pod placed differently";
  const answers = row.strategy === "batching" ? "" : "Stale answers changed decisions: ";
  return [
    answers,
    { strong: pods },
    "; the first cycle with a different decision is ",
    { cycle: row.firstDifference },
    ".",
  ];
}
