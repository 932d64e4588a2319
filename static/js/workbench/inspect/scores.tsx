// The matrix of scores, in either orientation: nodes as rows, or, as in the papers, algorithms A1, A2 … as rows and
// nodes N1, N2 … as columns.

import type { Column } from "../../kit/grid.tsx";
import { nodesOf } from "../../kit/node.tsx";
import { h } from "../../lib/dom.ts";
import type { NodeIndex, PrioritiesPart, Terms } from "../../lib/protocol.js";
import { aboveLeast, count, ellipsis } from "../../lib/quantity.ts";
import { termsOf } from "../playback/terms.ts";
import { addedTo, levels, valueOf, widestOf, type Mode, type RankedRow, type Ranking } from "./ranked.ts";

const NAME = 22; // characters of a node's name that fit its column
const COLUMN = 56; // pixels of a node as a column
const FIRST = 190; // pixels of the column of priorities
const FEWEST = 8; // nodes of a page; where they do not fit, the table scrolls
const SAME = "every feasible node scored the same";

const compact = (value: number) => (Math.abs(value) >= 10_000 ? `${Math.round(value / 100) / 10}k` : String(value));

/** How many nodes a page of columns has. */
export const columnsIn = (width: number) => Math.max(FEWEST, Math.min(30, Math.floor((width - FIRST) / COLUMN)));

const rowWords = (row: RankedRow) => `${row.name}, weight ${count(row.weight)}${row.flat ? `: ${SAME}` : ""}`;

function cellTitle(row: RankedRow, i: number, name: string, n: number, terms: Terms) {
  const map = row.raw ? `${terms.raw.toLowerCase()} ${count(row.raw[i])}, ` : "";
  const same = row.flat ? `; ${SAME}` : "";
  const product = `× ${count(row.weight)} = ${count(row.score[i] * row.weight)}`;
  const score = `${terms.score.toLowerCase()} ${row.score[i]}`;
  return `${row.label}N${n}, ${row.name} on ${name}: ${map}${score}, ${product}${same}`;
}

type Level = { low: number; high: number };

type Scored = { row: RankedRow; node: NodeIndex; i: number };

function paintScore(td: HTMLElement, { row, node, i }: Scored, mode: Mode, level: Level, title: string) {
  Object.assign(td.dataset, { ask: "score", rule: row.name, of: node });
  const value = valueOf(row, i, mode);
  td.className = `score-cell num${row.flat ? " flat" : ""}`;
  td.textContent = value === null ? "–" : compact(value);
  td.title = title;
  if (value !== null && Math.abs(value) >= 10_000) td.setAttribute("aria-label", count(value));
  if (value === null) td.setAttribute("aria-label", "none: a Function has no map step");
  else if (!row.flat) td.style.setProperty("--level", String((value - level.low) / (level.high - level.low)));
}

function paintTotal(td: HTMLElement, ranked: PrioritiesPart, made: Ranking, node: NodeIndex) {
  const total = made.totals[positionOf(made, node)];
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
export function nodeRows(ranked: PrioritiesPart, made: Ranking, names: string[], mode: Mode, picked: number): Column[] {
  const terms = termsOf(ranked.release);
  const i = (node: NodeIndex) => positionOf(made, node);
  const tie = (node: NodeIndex) => made.place.get(node) ?? Infinity;
  const byTotal = (a: NodeIndex, b: NodeIndex) =>
    made.totals[i(a)] - made.totals[i(b)] || (made.place.has(a) ? tie(b) - tie(a) : names[a] > names[b] ? 1 : -1);
  const fixed: Column[] = [
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
  ];
  if (made.place.size > 1)
    fixed.push({
      key: "tie",
      label: "tie",
      title: ranked.inTurn
        ? "Place among the equal best: the round-robin counter modulo their number picks one. "
          + "Equal totals are ordered by node name, last first"
        : ranked.turns
          ? "Rank among the equal best, by heap order: the first is taken"
          : "Place among the equal best, in the order of the nodes: the first of them is taken",
      className: "num tie-place",
      text: (node) => (made.place.has(node) ? String(made.place.get(node)) : ""),
      compare: (a, b) => tie(a) - tie(b) || 0,
    });
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
          addedTo(made, i(node))
            .map(([row, value]) => `${row.short} ${value}`)
            .join(", "),
        className: "made",
        paint: (td, node) => {
          td.className = "made";
          td.append(...nodesOf(<Stack made={made} i={i(node)} />));
        },
      },
    ];
  }
  return [
    ...fixed,
    ...made.rows.map((row): Column => {
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
          paintScore(
            td,
            { row, node, i: i(node) },
            mode,
            level,
            cellTitle(row, i(node), names[node], made.number[i(node)], terms),
          ),
      };
    }),
  ];
}

/** Columns of the matrix with priorities as rows: `shown` are the nodes of the page, `selected` may be one of them. */
export function priorityRows(
  ranked: PrioritiesPart,
  made: Ranking,
  names: string[],
  mode: Mode,
  shown: NodeIndex[],
  selected: NodeIndex,
): Column[] {
  const lines = sums(ranked, made);
  const terms = termsOf(ranked.release);
  const text = (id: number, node: NodeIndex) => {
    const i = positionOf(made, node);
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
    ...shown.map((node): Column => ({
      key: `n${node}`,
      label: `N${made.number[positionOf(made, node)]} ${ellipsis(names[node], NAME)}`,
      title: `${names[node]}: show what it got`,
      vertical: true,
      className: `num${node === ranked.winner ? " chosen" : ""}${node === selected ? " picked" : ""}`,
      text: (id) => text(id, node),
      paint: (td, id) => {
        const i = positionOf(made, node);
        const row = made.rows[id];
        if (row)
          paintScore(td, { row, node, i }, mode, level[id], cellTitle(row, i, names[node], made.number[i], terms));
        else lines[id - made.rows.length].paint(td, node, i);
      },
    })),
  ];
}

type Sum = {
  label: string;
  text: (i: number) => string;
  paint: (td: HTMLElement, node: NodeIndex, i: number) => void;
};

/** The lines under the priorities' rows: Combine, the rank and how far behind. */
function sums(ranked: PrioritiesPart, made: Ranking): Sum[] {
  const gap = (i: number) => made.best - made.totals[i];
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

/** The ids of the rows of `priorityRows`: the priorities, unless only the sum is asked for, and those under them. */
export const priorityIds = (made: Ranking, mode: Mode) => [
  ...(mode === "sum" ? [] : made.rows.map((row) => row.index)),
  ...[0, 1, 2].map((n) => made.rows.length + n),
];

/** The whole matrix with priorities as rows, tab separated. */
export function priorityTsv(ranked: PrioritiesPart, made: Ranking, names: string[], mode: Mode, nodes: NodeIndex[]) {
  const columns = priorityRows(ranked, made, names, mode, nodes, -1);
  const lines = [[termsOf(ranked.release).column, ...nodes.map((node) => names[node])].join("\t")];
  for (const id of priorityIds(made, mode)) lines.push(columns.map((column) => column.text(id)).join("\t"));
  return lines.join("\n");
}

/** What tells nodes apart as a stacked bar, as long as its part of the best such sum. The numbers must stand beside. */
export const Stack = ({ made, i }: { made: Ranking; i: number }) => (
  <span class="stack">
    {addedTo(made, i).map(([row, value]) => (
      <span
        class="stack-part"
        style={{ flexBasis: `${(value / widestOf(made)) * 100}%` }}
        title={`${row.label} ${row.name}: ${count(value)}`}
      >
        <span>{row.label}</span>
        <b>{count(value)}</b>
      </span>
    ))}
  </span>
);

/** The position of a node that was ranked. */
const positionOf = (made: Ranking, node: NodeIndex) => made.at.get(node) ?? -1;
