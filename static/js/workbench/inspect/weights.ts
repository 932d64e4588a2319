// What other weights would have chosen in a cycle: sums, ties, and the weights at which another node wins. Whole
// numbers, as in the engine.

import type { PrioritiesPart } from "../../lib/protocol.js";
import type { Ranking } from "./ranked.ts";

/** The scores of a cycle, ready to be weighed again; positions are those in the part's `nodes`. */
export type Scales = {
  size: number;
  scores: Float64Array[];
  weights: number[];
  /** Positions in the order of the turns, and by position its place in it. */
  byName: Uint32Array;
  turn: Uint32Array;
  counter: number;
  inTurn: boolean;
  heap: boolean;
};
/** The choice by totals; `ties` in the order in which the counter takes them. */
export type Choice = { winner: number; best: number; ties: number[] };
/** Who wins over a range of weights: `total` is that at `from`, `ties` how many share it. */
export type Flip = { from: number; to: number; winner: number; ties: number; total: number };

export const MOST_WEIGHT = 2_147_483_647;
const MADE = new WeakMap<PrioritiesPart, Scales>();

/** The scales of a part; `made` is the result of rankedOf() for it. */
export function scalesOf(ranked: PrioritiesPart, made: Ranking, names: string[]): Scales {
  const known = MADE.get(ranked);
  if (known) return known;
  const { nodes } = made;
  const scales: Scales = {
    size: nodes.length,
    scores: made.rows.map((row) => Float64Array.from(row.score)),
    weights: made.rows.map((row) => row.weight),
    // Of equal totals the last name comes first; under v1.37 the one that reaches the root of the heap.
    byName: Uint32Array.from(
      nodes
        .map((_, i) => i)
        .sort(ranked.turns ? inHeap(ranked.turns) : (a, b) => (names[nodes[a]] > names[nodes[b]] ? -1 : 1)),
    ),
    counter: ranked.counter,
    inTurn: ranked.inTurn,
    heap: Boolean(ranked.turns),
    turn: new Uint32Array(nodes.length),
  };
  scales.byName.forEach((one, i) => {
    scales.turn[one] = i;
  });
  MADE.set(ranked, scales);
  return scales;
}

const inHeap = (turns: number[]) => (a: number, b: number) => turns[a] - turns[b];

/** Whether every sum with these weights is a whole number that a browser can hold. */
export function exact({ scores }: Scales, weights: number[]) {
  let sum = 0;
  scores.forEach((row, r) => {
    sum += weights[r] * row.reduce((most, score) => Math.max(most, Math.abs(score)), 0);
  });
  return Number.isSafeInteger(sum);
}

/**
 * Weight times score, added up for every node (core.PrioritizeNodes); a policy without priorities gives each of them 1.
 */
export function totalsWith({ scores, size }: Scales, weights: number[]) {
  const totals = new Float64Array(size);
  if (weights.every((weight) => weight === 0)) return totals.fill(1);
  scores.forEach((row, r) => {
    const weight = weights[r];
    if (weight) for (let i = 0; i < size; i += 1) totals[i] += weight * row[i];
  });
  return totals;
}

/**
 * Which of equally good nodes is taken: the counter's turn, the first in the order of the nodes, or, of a heap, the
 * first in the order of the turns, which `tied` is in.
 */
function taken({ counter, inTurn, heap }: Scales, tied: number[]) {
  if (heap) return tied[0];
  return inTurn ? tied[counter % tied.length] : tied.reduce((first, one) => Math.min(first, one), Infinity);
}

export function choiceOf(scales: Scales, totals: Float64Array): Choice {
  let best = -Infinity;
  for (const total of totals) if (total > best) best = total;
  const ties: number[] = [];
  for (const one of scales.byName) if (totals[one] === best) ties.push(one);
  return { winner: taken(scales, ties), best, ties };
}

/** The best `most` positions, best first; equal ones in the order of the turns. */
export function topOf({ byName }: Scales, totals: Float64Array, most: number) {
  const top: number[] = [];
  for (const one of byName) {
    let at = top.length;
    while (at > 0 && totals[top[at - 1]] < totals[one]) at -= 1;
    if (at >= most) continue;
    top.splice(at, 0, one);
    if (top.length > most) top.pop();
  }
  return top;
}

/** The rank of a position: one more than there are better totals. */
export function rankOf(totals: Float64Array, at: number) {
  let better = 0;
  for (const total of totals) if (total > totals[at]) better += 1;
  return better + 1;
}

/**
 * Who wins over the weight of priority `r`, the others as in `weights`, over 0 … MOST_WEIGHT. Every node is a line over
 * the weight, whose slope is its score: of equal slopes only the highest can win, so at most as many lines are examined
 * as there are scores.
 */
export function flipsOf(scales: Scales, weights: number[], r: number, totals = totalsWith(scales, weights)): Flip[] {
  type Line = { slope: number; base: number; at: number[] };
  const { size, scores, byName, turn } = scales;
  const slope = scores[r];
  const alone = weights.every((weight) => weight === 0);
  const lines = new Map<number, Line>(); // by slope; `at` are positions
  for (const one of byName) {
    const base = alone ? 0 : totals[one] - weights[r] * slope[one];
    const line = lines.get(slope[one]);
    if (!line || base > line.base) lines.set(slope[one], { slope: slope[one], base, at: [one] });
    else if (base === line.base) line.at.push(one);
  }
  const known = [...lines.values()];
  const found: Flip[] = [];
  let weight = 0;
  while (size > 0) {
    const height = (line: Line) => line.base + line.slope * weight;
    const best = Math.max(...known.map(height));
    const on = known.filter((line) => height(line) === best);
    const tied = on.flatMap((line) => line.at);
    if (on.length > 1) tied.sort((a, b) => turn[a] - turn[b]);
    const steepest = on.reduce((most, line) => (line.slope > most.slope ? line : most));
    const winner = taken(scales, tied);
    const last = found.at(-1);
    if (last?.winner === winner) last.to = weight;
    else found.push({ from: weight, to: weight, winner, ties: tied.length, total: best });
    // The next whole weight at which other lines are the best: right after a crossing, else where a steeper one catches
    // up.
    let next = on.length > 1 ? weight + 1 : Infinity;
    for (const line of known)
      if (line.slope > steepest.slope)
        next = Math.min(next, weight + Math.max(1, Math.ceil((best - height(line)) / (line.slope - steepest.slope))));
    found[found.length - 1].to = Math.min(next - 1, MOST_WEIGHT);
    if (next > MOST_WEIGHT) break;
    weight = next;
  }
  return found;
}

/**
 * The flip nearest to the current weight: `{weight, winner}` of the first weight beside it with another winner; null if
 * there is none.
 */
export function nearest(flips: Flip[], weight: number) {
  const at = flips.findIndex(({ from, to }) => from <= weight && weight <= to);
  const below = at > 0 ? { weight: flips[at - 1].to, winner: flips[at - 1].winner } : null;
  const above = at < flips.length - 1 ? { weight: flips[at + 1].from, winner: flips[at + 1].winner } : null;
  if (!below || !above) return below ?? above;
  return above.weight - weight <= weight - below.weight ? above : below;
}
