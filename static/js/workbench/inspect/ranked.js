// The `priorities` part of a cycle, worked out once for all that shows it: ranks, order, and how each row spreads.

const CACHE = new WeakMap();

/**
 * What a ranking means: by position in `nodes` the `rank` and the `number` (N1 is the best); `order` holds positions,
 * best first.
 */
export function rankedOf(ranked, names) {
  const known = CACHE.get(ranked);
  if (known) return known;
  const { nodes, totals } = ranked;
  const at = new Map(nodes.map((node, i) => [node, i]));
  const place = new Map(ranked.ties.length > 1 ? ranked.ties.map((node, i) => [node, i]) : []);
  // Equal totals are ordered by node name, last first; the best ones as the server told their order.
  const order = nodes
    .map((_, i) => i)
    .sort(
      (a, b) =>
        totals[b] - totals[a]
        || (place.has(nodes[a])
          ? place.get(nodes[a]) - place.get(nodes[b])
          : names[nodes[a]] > names[nodes[b]]
            ? -1
            : 1),
    );
  const rank = new Array(nodes.length);
  order.forEach((one, i) => {
    rank[one] = i > 0 && totals[order[i - 1]] === totals[one] ? rank[order[i - 1]] : i + 1;
  });
  const number = new Array(nodes.length);
  order.forEach((one, i) => {
    number[one] = i + 1;
  });
  const rows = ranked.rows.map((row, r) => ({
    ...row,
    raw: spread(row.raw, nodes.length),
    score: spread(row.score, nodes.length),
    index: r,
    label: `A${r + 1}`,
    short: row.name.replace(/Priority$/, ""),
    flat: isFlat(spread(row.score, nodes.length)),
  }));
  const made = { nodes, totals, rows, at, rank, order, number, place, best: totals.length ? totals[order[0]] : 0 };
  CACHE.set(ranked, made);
  return made;
}

/** The value of a priority on the node at a position: "raw", "score" or "weighted"; null where there is none. */
export function valueOf(row, i, mode) {
  if (mode === "raw") return row.raw?.[i] ?? null;
  return mode === "score" ? row.score[i] : row.score[i] * row.weight;
}

/** Lowest and highest value of a row, 0 included below; they colour its cells. */
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

/** A number stands for as many equal ones. */
const spread = (values, size) => (typeof values === "number" ? new Array(size).fill(values) : values);

const isFlat = (values) => values.length > 0 && values.every((one) => one === values[0]);
