// The matrix of scores, in either orientation: nodes as rows, or, as in the papers, algorithms A1, A2 … as rows and
// nodes N1, N2 … as columns.

import { h } from "../../lib/dom.js";
import { aboveLeast, count, ellipsis } from "../../lib/quantity.js";
import { termsOf } from "../terms.js";
import { levels, valueOf } from "./ranked.js";
/** @import { NodeIndex, PrioritiesPart, Terms } from "../../lib/protocol.js" */
/** @import { RankedRow, Ranking } from "./ranked.js" */

const NAME = 22; // characters of a node's name that fit its column
const COLUMN = 56; // pixels of a node as a column
const FIRST = 190; // pixels of the column of priorities
const FEWEST = 8; // nodes of a page; where they do not fit, the table scrolls
const SAME = "every feasible node scored the same";

/** @param {number} value */
const compact = (value) => (Math.abs(value) >= 10_000 ? `${Math.round(value / 100) / 10}k` : String(value));

/**
 * How many nodes a page of columns has.
 *
 * @param {number} width
 */
export const columnsIn = (width) => Math.max(FEWEST, Math.min(30, Math.floor((width - FIRST) / COLUMN)));

/** @param {RankedRow} row */
const rowWords = (row) => `${row.name}, weight ${count(row.weight)}${row.flat ? `: ${SAME}` : ""}`;

/**
 * @param {RankedRow} row
 * @param {number} i
 * @param {string} name
 * @param {number} n
 * @param {Terms} terms
 */
function cellTitle(row, i, name, n, terms) {
  const map = row.raw ? `${terms.raw.toLowerCase()} ${count(row.raw[i])}, ` : "";
  const same = row.flat ? `; ${SAME}` : "";
  const product = `× ${count(row.weight)} = ${count(row.score[i] * row.weight)}`;
  const score = `${terms.score.toLowerCase()} ${row.score[i]}`;
  return `${row.label}N${n}, ${row.name} on ${name}: ${map}${score}, ${product}${same}`;
}

/**
 * @param {HTMLElement} td
 * @param {RankedRow} row
 * @param {number} i
 * @param {string} mode
 * @param {{ low: number, high: number }} level
 * @param {string} title
 */
function paintScore(td, row, i, mode, level, title) {
  const value = valueOf(row, i, mode);
  td.className = `score-cell num${row.flat ? " flat" : ""}`;
  td.textContent = value === null ? "–" : compact(value);
  td.title = title;
  if (value !== null && Math.abs(value) >= 10_000) td.setAttribute("aria-label", count(value));
  if (value === null) td.setAttribute("aria-label", "none: a Function has no map step");
  else if (!row.flat) td.style.setProperty("--level", String((value - level.low) / (level.high - level.low)));
}

/**
 * @param {HTMLElement} td
 * @param {PrioritiesPart} ranked
 * @param {Ranking} made
 * @param {number} node
 */
function paintTotal(td, ranked, made, node) {
  const total = made.totals[made.at.get(node)];
  td.textContent = count(total);
  const above = aboveLeast(total, made.least, made.best);
  if (above.startsWith("+")) {
    td.dataset.above = above;
    td.title = `${td.textContent}: ${above.slice(1)} more than the least`;
  }
  td.className = `total num${node === ranked.winner ? " won" : made.place.has(node) ? " tied" : ""}`;
  if (node === ranked.winner) td.setAttribute("aria-label", `${td.textContent}, chosen`);
  else if (made.place.has(node)) td.setAttribute("aria-label", `${td.textContent}, tie`);
}

/** Columns of the matrix with nodes as rows. `mode` is "raw", "score", "weighted" or "sum". */
export function nodeRows(ranked, made, names, mode, picked) {
  const terms = termsOf(ranked.release);
  const i = (/** @type {number} */ node) => made.at.get(node);
  const tie = (/** @type {number} */ node) => made.place.get(node) ?? Infinity;
  const byTotal = (a, b) =>
    made.totals[i(a)] - made.totals[i(b)] || (made.place.has(a) ? tie(b) - tie(a) : names[a] > names[b] ? 1 : -1);
  const fixed = [
    {
      key: "node",
      label: "node",
      title: "Sort by name",
      text: (node) => names[node],
      compare: (a, b) => names[a].localeCompare(names[b], "en", { numeric: true }),
      paint: (td, node) => {
        td.textContent = ellipsis(names[node], NAME);
        td.title = names[node];
        if (td.textContent !== names[node]) td.setAttribute("aria-label", names[node]);
        if (node === ranked.winner) td.classList.add("chosen");
      },
    },
    {
      key: "rank",
      label: "rank",
      title: "Place by total; equal totals share one",
      className: "num rank",
      text: (node) => String(made.rank[i(node)]),
      compare: (a, b) => made.rank[i(a)] - made.rank[i(b)],
    },
    {
      key: "total",
      label: "sum",
      title: "Combine: the sum of the weighted scores",
      className: "total num",
      downFirst: true,
      text: (node) => String(made.totals[i(node)]),
      compare: byTotal,
      paint: (td, node) => paintTotal(td, ranked, made, node),
    },
    made.place.size > 1 && {
      key: "tie",
      label: "tie",
      title: ranked.inTurn
        ? "Place among the equal best: the round-robin counter modulo their number picks one. "
          + "Equal totals are ordered by node name, last first"
        : ranked.turns
          ? "Place among the equal best, in the order in which they come to the root of the heap: the first is taken"
          : "Place among the equal best, in the order of the nodes: the first of them is taken",
      className: "num tie-place",
      text: (node) => (made.place.has(node) ? String(made.place.get(node)) : ""),
      compare: (a, b) => tie(a) - tie(b) || 0,
    },
  ].filter(Boolean);
  if (mode === "sum") {
    return [
      ...fixed,
      {
        key: "behind",
        label: "behind",
        title: "Points behind the best total",
        className: "num behind",
        text: (node) => String(made.best - made.totals[i(node)]),
        compare: (a, b) => made.totals[i(b)] - made.totals[i(a)],
        paint: (td, node) => {
          const gap = made.best - made.totals[i(node)];
          td.textContent = gap ? count(gap) : "–";
          td.className = "num behind";
          if (!gap) td.setAttribute("aria-label", "none, the best total");
        },
      },
      {
        key: "made",
        label: "made of, where nodes differ",
        text: (node) =>
          parts(made, i(node))
            .map(([row, value]) => `${row.short} ${value}`)
            .join(", "),
        className: "made",
        paint: (td, node) => {
          td.className = "made";
          td.append(stack(made, i(node)));
        },
      },
    ];
  }
  return [
    ...fixed,
    ...made.rows.map((row) => {
      const level = levels(row, mode);
      return {
        key: `r${row.index}`,
        label: `${row.label} ${row.short}${row.weight !== 1 ? ` ×${count(row.weight)}` : ""}`,
        title: `${rowWords(row)}. Sort by it and show how its scores were computed`,
        vertical: true,
        downFirst: true,
        className: `num${row.flat ? " same" : ""}${row.index === picked ? " picked" : ""}`,
        text: (node) => {
          const value = valueOf(row, i(node), mode);
          return value === null ? "" : String(value);
        },
        compare: (a, b) => (valueOf(row, i(a), mode) ?? -1) - (valueOf(row, i(b), mode) ?? -1),
        paint: (td, node) =>
          paintScore(td, row, i(node), mode, level, cellTitle(row, i(node), names[node], made.number[i(node)], terms)),
      };
    }),
  ];
}

/** Columns of the matrix with priorities as rows: `shown` are the nodes of the page, `selected` may be one of them. */
export function priorityRows(ranked, made, names, mode, shown, selected) {
  const lines = sums(ranked, made);
  const terms = termsOf(ranked.release);
  const text = (/** @type {number} */ id, /** @type {number} */ node) => {
    const i = made.at.get(node);
    if (id >= made.rows.length) return lines[id - made.rows.length].text(i);
    const value = valueOf(made.rows[id], i, mode);
    return value === null ? "" : String(value);
  };
  const level = made.rows.map((row) => levels(row, mode));
  return [
    {
      key: "priority",
      label: terms.column,
      text: (id) =>
        id < made.rows.length
          ? `${made.rows[id].label} ${made.rows[id].name} ×${made.rows[id].weight}`
          : lines[id - made.rows.length].label,
      paint: (td, id) => {
        td.className = "name wide";
        const row = made.rows[id];
        if (!row) {
          td.textContent = lines[id - made.rows.length].label;
          td.classList.add("combine");
          return;
        }
        td.title = `${rowWords(row)}. Show how its scores were computed`;
        if (row.flat) td.classList.add("same");
        td.append(
          `${row.label} ${row.short}`,
          row.weight === 1 ? "" : h("small", { class: "dim", text: ` ×${count(row.weight)}` }),
        );
      },
    },
    ...shown.map((node) => ({
      key: `n${node}`,
      label: `N${made.number[made.at.get(node)]} ${ellipsis(names[node], NAME)}`,
      title: `${names[node]}: show what it got`,
      vertical: true,
      className: `num${node === ranked.winner ? " chosen" : ""}${node === selected ? " picked" : ""}`,
      text: (id) => text(id, node),
      paint: (td, id) => {
        const i = made.at.get(node);
        const row = made.rows[id];
        if (row) paintScore(td, row, i, mode, level[id], cellTitle(row, i, names[node], made.number[i], terms));
        else lines[id - made.rows.length].paint(td, node, i);
      },
    })),
  ];
}

/**
 * The lines under the priorities' rows: Combine, the rank and how far behind.
 *
 * @param {PrioritiesPart} ranked
 * @param {Ranking} made
 */
function sums(ranked, made) {
  const gap = (/** @type {number} */ i) => made.best - made.totals[i];
  return [
    {
      label: "Combine",
      text: (i) => String(made.totals[i]),
      paint: (td, node) => {
        paintTotal(td, ranked, made, node);
        td.classList.add("combine");
      },
    },
    {
      label: "rank",
      text: (i) => String(made.rank[i]),
      paint: (td, _, i) => {
        td.className = "num rank";
        td.textContent = String(made.rank[i]);
      },
    },
    {
      label: "behind the best",
      text: (i) => String(gap(i)),
      paint: (td, _, i) => {
        td.className = "num behind";
        td.textContent = gap(i) ? count(gap(i)) : "–";
      },
    },
  ];
}

/**
 * The ids of the rows of `priorityRows`: the priorities, unless only the sum is asked for, then the lines under them.
 *
 * @param {Ranking} made
 * @param {string} mode
 */
export const priorityIds = (made, mode) => [
  ...(mode === "sum" ? [] : made.rows.map((row) => row.index)),
  ...[0, 1, 2].map((n) => made.rows.length + n),
];

/**
 * The whole matrix with priorities as rows, tab separated.
 *
 * @param {PrioritiesPart} ranked
 * @param {Ranking} made
 * @param {string[]} names
 * @param {string} mode
 * @param {NodeIndex[]} nodes
 */
export function priorityTsv(ranked, made, names, mode, nodes) {
  const columns = priorityRows(ranked, made, names, mode, nodes, -1);
  const lines = [[termsOf(ranked.release).column, ...nodes.map((node) => names[node])].join("\t")];
  for (const id of priorityIds(made, mode)) lines.push(columns.map((column) => column.text(id)).join("\t"));
  return lines.join("\n");
}

/**
 * What the priorities that distinguish nodes add to a node: `[row, points]`, those with points.
 *
 * @param {Ranking} made
 * @param {number} i
 * @returns {[row: RankedRow, points: number][]}
 */
const parts = (made, i) =>
  made.rows.filter((row) => !row.flat && row.score[i]).map((row) => [row, row.score[i] * row.weight]);

/**
 * The same as a stacked bar, as long as its part of the best such sum. Beside it the numbers must stand.
 *
 * @param {Ranking} made
 * @param {number} i
 */
export function stack(made, i) {
  made.widest ??= made.nodes.reduce(
    (most, _, n) =>
      Math.max(
        most,
        parts(made, n).reduce((sum, [, value]) => sum + value, 0),
      ),
    1,
  );
  return h(
    "span",
    { class: "stack" },
    parts(made, i).map(([row, value]) =>
      h(
        "span",
        {
          class: "stack-part",
          style: { "flex-basis": `${(value / made.widest) * 100}%` },
          title: `${row.label} ${row.name}: ${count(value)}`,
        },
        h("span", { text: row.label }),
        h("b", { text: count(value) }),
      ),
    ),
  );
}
