// The names that a text gives: of nodes, classes, claims and labels, for where another object refers to them.

import { shape } from "./position.ts";
import type { Doc } from "./line.ts";

export type Names = {
  kinds: Map<string, Set<string>>;
  labels: Map<string, Set<string>>;
  taints: Map<string, Set<string>>;
  resources: Set<string>;
  schedulers: Set<string>;
};

const MOST_LINES = 200_000;
const MOST_NAMES = 2000; // of one kind
const MOST_VALUES = 60; // of one label
const LABELLED = /^(labels|matchLabels|nodeSelector)$/;
const AMOUNTS = /^(allocatable|capacity|requests|limits)$/;

const LONG = 20_000; // lines of a text whose names are not collected again for every key
const STALE_AFTER = 10_000; // milliseconds for which they are taken to be the same

const nothing: () => Names = () => ({
  kinds: new Map(),
  labels: new Map(),
  taints: new Map(),
  resources: new Set(),
  schedulers: new Set(["default-scheduler"]),
});

let last: { doc: Doc; beside: string; names: Names; at: number } | null = null;
let around = { text: "", names: nothing() };

/**
 * The names in a text, computed once for each text: `{kinds: Map(kind → Set), labels: Map(key → Set), taints: Map,
 * resources: Set, schedulers: Set}`. `beside` is another text whose names count too, such as the whole that an object
 * is part of.
 */
export function namesIn(doc: Doc, beside = "") {
  const recent =
    last
    && last.beside === beside
    && doc.lines > LONG
    && Math.abs(doc.lines - last.doc.lines) < LONG
    && performance.now() - last.at < STALE_AFTER;
  if (!last || (!recent && (last.doc !== doc || last.beside !== beside)))
    last = {
      doc,
      beside,
      at: performance.now(),
      names: collect(doc, beside ? structuredClone(namesOf(beside)) : nothing()),
    };
  return last.names;
}

function namesOf(text: string) {
  if (around.text !== text) {
    const lines = text.split("\n");
    around = {
      text,
      names: collect({ lines: lines.length, iterLines: (from, to) => lines.slice(from - 1, to - 1) }, nothing()),
    };
  }
  return around.names;
}

function collect(doc: { lines: number; iterLines?: (from: number, to: number) => Iterable<string> }, found: Names) {
  let kind = "";
  let kindAt = -1; // column of the object's fields
  let meta = -1; // column of metadata:
  // a map whose entries are taken
  let block: { column: number; take: (name: string, value: string) => void } | null = null;
  const lines = doc.iterLines ? doc.iterLines(1, Math.min(doc.lines, MOST_LINES) + 1) : [];
  for (const text of lines) {
    const line = shape(text);
    if (!line || line.separator) {
      if (line) {
        kind = "";
        meta = -1;
        block = null;
      }
      continue;
    }
    const { key, value, column } = line;
    if (text.includes("{")) inBraces(text, kind, found);
    if (key === undefined) continue;
    if (block && column <= block.column) block = null;
    if (block) {
      block.take(key, value);
      continue;
    }
    if (key === "kind" && /^[A-Z]\w+$/.test(value)) {
      kind = value;
      kindAt = column;
      meta = -1;
    } else if (key === "metadata" && column === kindAt) {
      meta = column;
      const flow = /(?:^|[{,\s])name:\s*["']?([\w.-]+)/.exec(value);
      if (flow) add(found.kinds, kind, flow[1]);
    } else if (key === "name" && meta >= 0 && column === meta + 2 && value) {
      add(found.kinds, kind, bare(value));
    } else if (column === kindAt && key !== "apiVersion") meta = -1;
    if (key === "schedulerName" && value) found.schedulers.add(bare(value));
    if (LABELLED.test(key)) {
      if (!value) block = { column, take: (name, text_) => label(found, name, text_) };
    } else if (AMOUNTS.test(key)) {
      if (!value) block = { column, take: (name) => found.resources.add(name) };
    }
    if (kind === "Node" && key === "key" && value) add(found.taints, bare(value), "");
  }
  return found;
}

/** What a line in flow style names: `labels: {a: b}`, `{key: a, effect: NoSchedule}`. */
function inBraces(text: string, kind: string, found: Names) {
  for (const [, inside] of text.matchAll(/\b(?:labels|matchLabels|nodeSelector):\s*\{([^}]*)\}/g))
    pairs(inside, (name, value) => label(found, name, value));
  for (const [, inside] of text.matchAll(/\b(?:allocatable|capacity|requests|limits):\s*\{([^}]*)\}/g))
    pairs(inside, (name) => found.resources.add(name));
  if (kind === "Node")
    for (const [, name] of text.matchAll(/\{key:\s*([^,}\s]+)[^}]*effect:/g)) add(found.taints, bare(name), "");
}

const bare = (text: string) => text.replace(/^["']|["']$/g, "");

function pairs(text: string, take: (name: string, value: string) => void) {
  for (const [, name, value] of text.matchAll(/["']?([\w./-]+)["']?:\s*["']?([^,"'}]*)/g)) take(name, value.trim());
}

function label(found: Names, name: string, value: string) {
  if (found.labels.size < MOST_NAMES || found.labels.has(name)) add(found.labels, name, bare(value), MOST_VALUES);
}

function add(map: Map<string, Set<string>>, key: string, value: string, most: number = MOST_NAMES) {
  if (!map.has(key)) map.set(key, new Set());
  const set = map.get(key) as Set<string>;
  if (value && set.size < most) set.add(value);
}
