// The names that a text gives: of nodes, classes, claims and labels, for where another object refers to them.

import { shape } from "./position.js";
/** @import { Doc } from "./position.js" */

/**
 * @typedef {object} Names
 * @property {Map<string, Set<string>>} kinds
 * @property {Map<string, Set<string>>} labels
 * @property {Map<string, Set<string>>} taints
 * @property {Set<string>} resources
 * @property {Set<string>} schedulers
 */

const MOST_LINES = 200_000;
const MOST_NAMES = 2000; // of one kind
const MOST_VALUES = 60; // of one label
const LABELLED = /^(labels|matchLabels|nodeSelector)$/;
const AMOUNTS = /^(allocatable|capacity|requests|limits)$/;

const LONG = 20_000; // lines of a text whose names are not collected again for every key
const STALE_AFTER = 10_000; // milliseconds for which they are taken to be the same

/** @type {() => Names} */
const nothing = () => ({
  kinds: new Map(),
  labels: new Map(),
  taints: new Map(),
  resources: new Set(),
  schedulers: new Set(["default-scheduler"]),
});

/** @type {{ doc: Doc, beside: string, names: Names, at: number } | null} */
let last = null;
let around = { text: "", names: nothing() };

/**
 * The names in a text, computed once for each text: `{kinds: Map(kind → Set), labels: Map(key → Set), taints: Map,
 * resources: Set, schedulers: Set}`. `beside` is another text whose names count too, such as the whole that an object
 * is part of.
 *
 * @param {Doc} doc
 * @param {string} [beside]
 */
export function namesIn(doc, beside = "") {
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

/** @param {string} text */
function namesOf(text) {
  if (around.text !== text) {
    const lines = text.split("\n");
    around = {
      text,
      names: collect({ lines: lines.length, iterLines: (from, to) => lines.slice(from - 1, to - 1) }, nothing()),
    };
  }
  return around.names;
}

/**
 * @param {{ lines: number, iterLines?: (from: number, to: number) => Iterable<string> }} doc
 * @param {Names} found
 */
function collect(doc, found) {
  let kind = "";
  let kindAt = -1; // column of the object's fields
  let meta = -1; // column of metadata:
  /** @type {{ column: number, take: (name: string, value: string) => void } | null} */
  let block = null; // a map whose entries are taken
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

/**
 * What a line in flow style names: `labels: {a: b}`, `{key: a, effect: NoSchedule}`.
 *
 * @param {string} text
 * @param {string} kind
 * @param {Names} found
 */
function inBraces(text, kind, found) {
  for (const [, inside] of text.matchAll(/\b(?:labels|matchLabels|nodeSelector):\s*\{([^}]*)\}/g))
    pairs(inside, (name, value) => label(found, name, value));
  for (const [, inside] of text.matchAll(/\b(?:allocatable|capacity|requests|limits):\s*\{([^}]*)\}/g))
    pairs(inside, (name) => found.resources.add(name));
  if (kind === "Node")
    for (const [, name] of text.matchAll(/\{key:\s*([^,}\s]+)[^}]*effect:/g)) add(found.taints, bare(name), "");
}

/** @param {string} text */
const bare = (text) => text.replace(/^["']|["']$/g, "");

/**
 * @param {string} text
 * @param {(name: string, value: string) => void} take
 */
function pairs(text, take) {
  for (const [, name, value] of text.matchAll(/["']?([\w./-]+)["']?:\s*["']?([^,"'}]*)/g)) take(name, value.trim());
}

/**
 * @param {Names} found
 * @param {string} name
 * @param {string} value
 */
function label(found, name, value) {
  if (found.labels.size < MOST_NAMES || found.labels.has(name)) add(found.labels, name, bare(value), MOST_VALUES);
}

/**
 * @param {Map<string, Set<string>>} map
 * @param {string} key
 * @param {string} value
 * @param {number} [most]
 */
function add(map, key, value, most = MOST_NAMES) {
  if (!map.has(key)) map.set(key, new Set());
  const set = /** @type {Set<string>} */ (map.get(key));
  if (value && set.size < most) set.add(value);
}
