// The `priorities` part of a cycle, worked out once for all that shows it: ranks, order, and how each row spreads.

/** @import { PrioritiesPart } from "../../lib/protocol.js" */

/** @typedef {ReturnType<typeof make>} Ranking */
/** @typedef {Ranking["rows"][number]} RankedRow */

/** @type {WeakMap<PrioritiesPart, Ranking>} */
const CACHE = new WeakMap();

/**
 * What a ranking means: by position in `nodes` the `rank` and the `number` (N1 is the best); `order` holds positions,
 * best first.
 *
 * @param {PrioritiesPart} ranked
 * @param {string[]} names
 */
export function rankedOf(ranked, names) {
  const made = CACHE.get(ranked) ?? make(ranked, names);
  CACHE.set(ranked, made);
  return made;
}

/**
 * @param {PrioritiesPart} ranked
 * @param {string[]} names
 */
function make(ranked, names) {
  const { nodes, totals } = ranked;
  const at = new Map(nodes.map((node, i) => [node, i]));
  const place = new Map((ranked.ties.length > 1 ? ranked.ties : []).map((node, i) => [node, i]));
  const turnOf = (/** @type {number} */ node) => place.get(node);
  // Equal totals are ordered by node name, last first; the best ones in the server's order.
  const order = nodes
    .map((_, i) => i)
    .sort(
      (a, b) =>
        totals[b] - totals[a]
        || (turnOf(nodes[a]) ?? 0) - (turnOf(nodes[b]) ?? 0)
        || (names[nodes[a]] > names[nodes[b]] ? -1 : 1),
    );
  /** @type {number[]} */
  const rank = new Array(nodes.length);
  order.forEach((one, i) => {
    rank[one] = i > 0 && totals[order[i - 1]] === totals[one] ? rank[order[i - 1]] : i + 1;
  });
  /** @type {number[]} */
  const number = new Array(nodes.length);
  order.forEach((one, i) => {
    number[one] = i + 1;
  });
  const rows = ranked.rows.map((row, r) => ({
    ...row,
    raw: row.raw === null ? null : spread(row.raw, nodes.length),
    score: spread(row.score, nodes.length),
    index: r,
    label: `A${r + 1}`,
    short: row.name.replace(/Priority$/, ""),
    flat: isFlat(spread(row.score, nodes.length)),
  }));
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
    least: totals.length ? totals[order.at(-1)] : 0,
  };
}

/**
 * The value of a priority on the node at a position: "raw", "score" or "weighted"; null where there is none.
 *
 * @param {RankedRow} row
 * @param {number} i
 * @param {string} mode
 */
export function valueOf(row, i, mode) {
  if (mode === "raw") return row.raw?.[i] ?? null;
  return mode === "score" ? row.score[i] : row.score[i] * row.weight;
}

/**
 * Lowest and highest value of a row, 0 included below; they colour its cells.
 *
 * @param {RankedRow} row
 * @param {string} mode
 */
export function levels(row, mode) {
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

/**
 * A number stands for as many equal ones.
 *
 * @param {number[] | number} values
 * @param {number} size
 * @returns {number[]}
 */
const spread = (values, size) => (typeof values === "number" ? new Array(size).fill(values) : values);

/** @param {number[]} values */
const isFlat = (values) => values.length > 0 && values.every((one) => one === values[0]);
