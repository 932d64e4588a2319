// What the cells of a sweep are compared by: figures with their words, and which of them differ.

import { count } from "../lib/quantity.ts";

export type Value = string | number | boolean | null;
export type SizeFits = { size: string; pods: number; fits: number; whole: number };
export type Metrics = Record<string, any> & { utilisation: Record<string, number>; fits: SizeFits[] };
export type Distance = {
  verdict: "improved" | "optimal" | "equal" | "other" | "";
  means: string;
  placed: number;
  nodes: number;
  bestPlaced: number | null;
  bestNodes: number | null;
  leftOut: string[];
  why: string;
};
export type Cell = {
  number: number;
  rung: number;
  values: Record<string, Value>;
  run: string | null;
  state: string;
  metrics: Metrics | null;
  error: string | null;
  optimum: Distance | null;
};
export type Sweep = {
  id: string;
  state: "running" | "done" | "cancelled";
  done: number;
  total: number;
  rungs: [string, number][];
  by: string[];
  axes: { name: string; values: Value[] }[];
  front: number[];
  cells: Cell[];
};
export type Figure = {
  name: string;
  title: string;
  of: (metrics: Metrics) => number | null;
  words: (value: number) => string;
};

const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
const seconds = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} s`;
const plain = (name: string, title: string, words = count): Figure => ({
  name,
  title,
  of: (metrics) => metrics[name] ?? null,
  words,
});

const FIGURES: Figure[] = [
  plain("placed", "placed"),
  plain("pending", "pending"),
  plain("preemptions", "preemptions"),
  plain("nodesUsed", "nodes used"),
  { name: "cpu", title: "cpu requested", of: ({ utilisation }) => utilisation.cpu ?? null, words: percent },
  { name: "memory", title: "memory requested", of: ({ utilisation }) => utilisation.memory ?? null, words: percent },
  plain("fragmentation", "fragmentation", percent),
  plain("cpuDeviation", "deviation of cpu", percent),
  plain("meanWait", "mean wait", seconds),
  plain("p95Wait", "95 % of waits", seconds),
  plain("gangsPlaced", "gangs placed"),
  plain("meanGangWait", "mean wait of gangs", seconds),
  plain("pricePerHour", "price an hour", (value) => value.toFixed(2)),
  plain("nodesUnpriced", "nodes without a price"),
];

export const shown = (value: Value) => (value === null ? "–" : String(value));

/** The sizes of pod that any cell lists, in the order in which they come. */
export const sizesOf = (cells: Cell[]) => [
  ...new Set(cells.flatMap(({ metrics }) => metrics?.fits.map(({ size }) => size) ?? [])),
];

/** The figures that differ between cells, and in words those that do not. */
export function known(cells: Cell[]): [differing: Figure[], alike: string[]] {
  const valued = FIGURES.map((figure) => {
    const values = cells.map(({ metrics }) => metrics && figure.of(metrics)).filter((value) => value !== null);
    return { figure, values: [...new Set(values)] };
  }).filter(({ values }) => values.length);
  const differing = valued.filter(({ values }) => values.length > 1).map(({ figure }) => figure);
  const alike = valued.filter(({ values }) => values.length === 1);
  return [differing, alike.map(({ figure: { title, words }, values: [value] }) => `${title} ${words(value)}`)];
}
