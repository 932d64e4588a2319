// Where each answer of the matrix came from when a cache is on: the letters of the protocol, by predicate and node.

import { h } from "../../lib/dom.js";
/** @import { CycleParts } from "../playback/records.js" */

/** What a letter is called in a class name and in words; letters without an entry have no answer. */
export const SOURCES = {
  h: ["hit", "from the cache"],
  m: ["miss", "evaluated now and written to the cache"],
  b: ["bypass", "evaluated beside the cache"],
};
const KEPT = new WeakMap(); // by the parts of a cycle

export class Sources {
  #letters = [];
  #cleared = new Map(); // of a predicate: the nodes, or null for all of them
  #stale = new Map();

  /**
   * Those of a cycle's parts; null where no cache keeps results.
   *
   * @param {CycleParts | null} parts
   * @param {number} count
   */
  static of(parts, count) {
    if (!parts?.predicates?.sources) return null;
    if (!KEPT.has(parts)) KEPT.set(parts, new Sources(parts, count));
    return KEPT.get(parts);
  }

  /**
   * @param {CycleParts} parts
   * @param {number} count
   */
  constructor({ predicates, cache }, count) {
    this.counts = predicates.sources.map((runs) => {
      const letters = [];
      const counts = { h: 0, m: 0, b: 0 };
      for (const [letter, times] of runs) {
        for (let i = 0; i < times && letters.length < count; i += 1) letters.push(letter);
        if (letter in counts) counts[letter] += times;
      }
      this.#letters.push(letters);
      return counts;
    });
    for (const [predicate, nodes] of predicates.invalidated ?? [])
      this.#cleared.set(predicate, nodes && new Set(nodes));
    for (const hit of (cache && "stale" in cache && cache.stale) || [])
      this.#stale.set(`${predicates.order.indexOf(hit.predicate)}/${hit.node}`, hit);
  }

  /** All answers of the cycle, by letter. */
  get totals() {
    return this.counts.reduce((sum, { h: hits, m, b }) => ({ h: sum.h + hits, m: sum.m + m, b: sum.b + b }), {
      h: 0,
      m: 0,
      b: 0,
    });
  }

  get someStale() {
    return this.#stale.size > 0;
  }
  get someCleared() {
    return this.#cleared.size > 0;
  }

  /**
   * `hit`, `miss`, `bypass`, or "" where there was no answer.
   *
   * @param {number} node
   * @param {string} predicate
   */
  kind(node, predicate) {
    return SOURCES[this.#letters[predicate]?.[node]]?.[0] ?? "";
  }

  /**
   * @param {number} node
   * @param {string} predicate
   */
  cleared(node, predicate) {
    if (!this.kind(node, predicate) || !this.#cleared.has(predicate)) return false;
    return this.#cleared.get(predicate)?.has(node) ?? true;
  }

  /**
   * @param {number} node
   * @param {string} predicate
   */
  stale(node, predicate) {
    return this.#stale.get(`${predicate}/${node}`) ?? null;
  }

  /**
   * The notes on an answer, beside the answer itself.
   *
   * @param {number} node
   * @param {string} predicate
   */
  words(node, predicate) {
    const letter = this.#letters[predicate]?.[node];
    if (!SOURCES[letter]) return "";
    const notes = [SOURCES[letter][1]];
    const stale = this.stale(node, predicate);
    if (stale) notes.push(`stale: the cache says ${answer(stale.cached)}, true is ${answer(stale.true)}`);
    if (this.cleared(node, predicate)) notes.push("invalidated since, by an event of this cycle");
    return notes.join("; ");
  }

  /** Whether a node is among those that a choice of the filter means. */
  shows(node, choice) {
    const any = (holds) => this.#letters.some((letters, predicate) => holds(letters[node], predicate));
    if (choice === "cached")
      return any((letter) => letter === "h") && !any((letter) => letter === "m" || letter === "b");
    if (choice === "evaluated") return any((letter) => letter === "m" || letter === "b");
    if (choice === "stale") return any((_, predicate) => this.stale(node, predicate));
    if (choice === "cleared") return any((_, predicate) => this.cleared(node, predicate));
    return true;
  }
}

function answer(reasons) {
  return reasons.length ? reasons.join(", ") : "that it fits";
}

/** The choices of the filter by where the answers came from: value, label. */
export const CHOICES = [
  ["any", "any source"],
  ["cached", "all from the cache"],
  ["evaluated", "some evaluated"],
  ["stale", "stale"],
  ["cleared", "invalidated since"],
];

/** @param {string} kind */
export function mark(kind) {
  return h("i", { class: `from ${kind}`, "aria-hidden": "true" });
}

/** The legend's part about the cache. */
export function sourceKey(sources) {
  const entry = (sign, text) => h("li", null, sign, text);
  return [
    entry(mark("hit"), "from the cache"),
    entry(mark("miss"), "evaluated now"),
    entry(mark("bypass"), "beside the cache"),
    sources.someCleared ? entry(h("i", { class: "cell pass cleared" }), "invalidated since") : null,
    sources.someStale ? entry(h("i", { class: "cell stale" }, mark("wrong")), "stale") : null,
  ];
}
