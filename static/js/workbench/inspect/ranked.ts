// The `priorities` part of a cycle, worked out once for all that shows it: ranks, order, and how each row spreads.

import type { NodeIndex, PrioritiesPart } from "../../lib/protocol.js";

/** Which value of a score is shown. */
export type Mode = "raw" | "score" | "weighted" | "sum";
export type Ranking = ReturnType<typeof make>;
export type RankedRow = Ranking["rows"][number];

const CACHE = new WeakMap<PrioritiesPart, Ranking>();

/**
 * What a ranking means: by position in `nodes` the `rank` and the `number` (N1 is the best); `order` holds positions,
 * best first.
 */
export function rankedOf(ranked: PrioritiesPart, names: string[]): Ranking {
  const made = CACHE.get(ranked) ?? make(ranked, names);
  CACHE.set(ranked, made);
  return made;
}

function make(ranked: PrioritiesPart, names: string[]) {
  const { nodes, totals } = ranked;
  const at = new Map(nodes.map((node, i) => [node, i]));
  const place = new Map((ranked.ties.length > 1 ? ranked.ties : []).map((node, i) => [node, i]));
  const turnOf = (i: number) => place.get(nodes[i]) ?? 0;
  // Equal totals are ordered by node name, last first; the best ones in the server's order.
  const order = nodes
    .map((_, i) => i)
    .sort((a, b) => totals[b] - totals[a] || turnOf(a) - turnOf(b) || (names[nodes[a]] > names[nodes[b]] ? -1 : 1));
  const rank: number[] = new Array(nodes.length);
  const number: number[] = new Array(nodes.length);
  order.forEach((one, i) => {
    rank[one] = i > 0 && totals[order[i - 1]] === totals[one] ? rank[order[i - 1]] : i + 1;
    number[one] = i + 1;
  });
  const rows = ranked.rows.map((row, r) => {
    const score = spread(row.score, nodes.length);
    return {
      ...row,
      raw: row.raw === null ? null : spread(row.raw, nodes.length),
      score,
      index: r,
      label: `A${r + 1}`,
      short: row.name.replace(/Priority$/, ""),
      flat: score.length > 0 && score.every((one) => one === score[0]),
    };
  });
  return {
    nodes,
    totals,
    rows,
    at,
    rank,
    order,
    number,
    place,
    best: totals.length ? totals[order[0]] : 0,
    least: totals.length ? totals[order[order.length - 1]] : 0,
    widest: 0, // the highest sum of what the rows that tell nodes apart add, once it is asked for
  };
}

/** The value of a priority on the node at a position; null where there is none. */
export function valueOf(row: RankedRow, i: number, mode: Mode): number | null {
  if (mode === "raw") return row.raw?.[i] ?? null;
  return mode === "score" ? row.score[i] : row.score[i] * row.weight;
}

/** Lowest and highest value of a row, 0 included below; they colour its cells. */
export function levels(row: RankedRow, mode: Mode) {
  let low = 0;
  let high = -Infinity;
  for (let i = 0; i < row.score.length; i += 1) {
    const value = valueOf(row, i, mode);
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high: Math.max(high, low + 1) };
}

/** What the priorities that distinguish nodes add to the node at a position, those with points. */
export const addedTo = (made: Ranking, i: number): [row: RankedRow, points: number][] =>
  made.rows.filter((row) => !row.flat && row.score[i]).map((row) => [row, row.score[i] * row.weight]);

/** The highest sum of these over all nodes. */
export const widestOf = (made: Ranking) =>
  (made.widest ||= made.nodes.reduce(
    (most: number, _: NodeIndex, n: number) =>
      Math.max(
        most,
        addedTo(made, n).reduce((sum, [, value]) => sum + value, 0),
      ),
    1,
  ));

/** A number stands for as many equal ones. */
const spread = (values: number[] | number, size: number): number[] =>
  typeof values === "number" ? new Array(size).fill(values) : values;
