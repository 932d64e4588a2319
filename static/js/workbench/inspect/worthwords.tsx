// The words and numbers of what a cache costs: the rows of the table, the bars, and the verdict in sentences.

import type { ComponentChildren } from "preact";
import type { Cost } from "../../lib/protocol.js";
import { count, held, plural, trim } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { cycleLink } from "./cacheparts.tsx";

const LITTLE = 0.01; // of the evaluations: less is not worth keeping anything for

/** How a strategy is called and drawn. */
export function looks(strategy: string) {
  if (strategy === "off") return { label: "no cache", mark: "none" };
  if (strategy === "batching") return { label: "batching", mark: "batching" };
  return { label: strategy, mark: "cached" };
}

/** Microseconds to `184 µs`, `1.2 ms`. */
export const duration = (micro: number) => (micro >= 1000 ? `${trim(micro / 1000)} ms` : `${trim(micro)} µs`);

/** `99.6 %`: never 100 % or 0 % of what is not all or nothing. */
export function share(part: number, whole: number) {
  const value = whole ? (part / whole) * 100 : 0;
  if (value > 99.9 && value < 100) return ">99.9 %";
  if (value > 0 && value < 0.1) return "<0.1 %";
  return `${Number(value.toFixed(1))} %`;
}

type Metric = { label: string; value: (row: Cost) => number; text: (value: number) => string };
export const METRICS: Metric[] = [
  { label: "Evaluations", value: (row) => row.evaluations, text: count },
  { label: "Cache operations", value: (row) => row.operations, text: count },
  { label: "Bytes at most", value: (row) => row.bytes, text: held },
  { label: "Time per cycle", value: (row) => row.microsecondsPerCycle, text: duration },
];

type Line = {
  label: string;
  hint?: string;
  /** It is part of the one before. */
  sub?: true;
  /** Of a strategy; the first one is no cache. */
  text: (row: Cost, first: boolean, view: View) => ComponentChildren;
};
export const LINES: Line[] = [
  {
    label: "evaluations",
    hint: "Pairs of predicate and node that were evaluated",
    text: (row) => count(row.evaluations),
  },
  {
    label: "cache operations",
    hint: "Lookups, writes and invalidated entries together",
    text: (row) => count(row.operations),
  },
  { label: "lookups", sub: true, text: (row) => count(row.lookups) },
  { label: "hits", sub: true, text: (row) => count(row.hits) },
  { label: "writes", sub: true, text: (row) => count(row.writes) },
  { label: "invalidated", sub: true, text: (row) => count(row.invalidated) },
  { label: "bytes at most", hint: "Peak size of the cache, or of the ranking", text: (row) => held(row.bytes) },
  {
    label: "time per cycle",
    hint: "Of the processor, scheduling alone",
    text: (row) => duration(row.microsecondsPerCycle),
  },
  { label: "placed", text: (row) => count(row.placed) },
  {
    label: "pods elsewhere",
    hint: "Pods with a different final placement than without a cache",
    text: (row, first) => (first ? "–" : count(row.placementsDiffering)),
  },
  {
    label: "first difference",
    hint: "The first cycle with a different decision than without a cache",
    text: ({ firstDifference }, first, view) =>
      first ? "–" : firstDifference ? cycleLink(view, firstDifference) : "none",
  },
];

/** What was saved, for what, and whether the answers were right: a sentence for each strategy beside no cache. */
export const verdict = (view: View, [base, ...others]: Cost[]): ComponentChildren[] =>
  others.map((row) => [saving(base, row), wrong(view, row)]);

function saving(base: Cost, row: Cost) {
  const name = <strong>{row.strategy}</strong>;
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
    <strong>{share(saved, base.evaluations)}</strong>,
    ` of the evaluations (${count(row.evaluations)} instead of ${count(base.evaluations)}), `
      + `at ${held(row.bytes)} and ${plural(row.operations, "cache operation")}. `,
  ];
  if (saved / base.evaluations < LITTLE) return [what, `It was not worth it here. ${time}`];
  const ratio = trim(row.operations / saved);
  const longer =
    row.operations / saved < 0.01
      ? "a hundredth of a cache operation"
      : ratio === "1"
        ? "a cache operation"
        : `${ratio} cache operations`;
  return [what, `It is worth it where evaluating a predicate on a node takes longer than ${longer}. ${time}`];
}

function wrong(view: View, { strategy, firstDifference, placementsDiffering }: Cost) {
  if (!firstDifference) return "All decisions were the same as without a cache.";
  const pods = placementsDiffering
    ? `${plural(placementsDiffering, "pod")} placed differently than without a cache`
    : "No pod placed differently";
  return [
    strategy === "batching" ? "" : "Stale answers changed decisions: ",
    <strong>{pods}</strong>,
    "; the first cycle with a different decision is ",
    cycleLink(view, firstDifference),
    ".",
  ];
}
