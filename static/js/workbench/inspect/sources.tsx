// Where each answer of the matrix came from when a cache is on: the letters of the protocol, by predicate and node.

import type { NodeIndex, PredicatesPart, StaleHit } from "../../lib/protocol.js";
import type { CycleParts } from "../playback/parts.ts";

type Counts = { h: number; m: number; b: number };

/** What a letter is called in a class name and in words; letters without an entry have no answer. */
const SOURCES: Record<string, [name: string, words: string]> = {
  h: ["hit", "from the cache"],
  m: ["miss", "evaluated now and written to the cache"],
  b: ["bypass", "evaluated beside the cache"],
};
const KEPT = new WeakMap<CycleParts, Sources>();

/** The choices of the filter by where the answers came from: value, label. */
export const CHOICES: [value: string, text: string][] = [
  ["any", "any source"],
  ["cached", "all from the cache"],
  ["evaluated", "some evaluated"],
  ["stale", "stale"],
  ["cleared", "invalidated since"],
];

export class Sources {
  readonly counts: Counts[];
  readonly #letters: string[][] = [];
  readonly #cleared = new Map<number, Set<number> | null>(); // of a predicate: the nodes, or null for all of them
  readonly #stale = new Map<string, StaleHit>();

  /** Those of a cycle's parts; null where no cache keeps results. */
  static of(parts: CycleParts | null, count: number): Sources | null {
    const predicates = parts?.predicates;
    if (!parts || !predicates?.sources) return null;
    const known = KEPT.get(parts) ?? new Sources(parts, predicates, predicates.sources, count);
    KEPT.set(parts, known);
    return known;
  }

  private constructor({ cache }: CycleParts, part: PredicatesPart, sources: [string, number][][], nodes: number) {
    this.counts = sources.map((runs) => {
      const letters: string[] = [];
      const counts: Counts = { h: 0, m: 0, b: 0 };
      for (const [letter, times] of runs) {
        for (let i = 0; i < times && letters.length < nodes; i += 1) letters.push(letter);
        if (letter in counts) counts[letter as keyof Counts] += times;
      }
      this.#letters.push(letters);
      return counts;
    });
    for (const [predicate, cleared] of part.invalidated ?? [])
      this.#cleared.set(predicate, cleared && new Set(cleared));
    for (const hit of (cache && "stale" in cache && cache.stale) || [])
      this.#stale.set(`${part.order.indexOf(hit.predicate)}/${hit.node}`, hit);
  }

  /** All answers of the cycle, by letter. */
  get totals(): Counts {
    const sum = (letter: keyof Counts) => this.counts.reduce((all, counts) => all + counts[letter], 0);
    return { h: sum("h"), m: sum("m"), b: sum("b") };
  }

  get someStale() {
    return this.#stale.size > 0;
  }
  get someCleared() {
    return this.#cleared.size > 0;
  }

  /** `hit`, `miss`, `bypass`, or "" where there was no answer. */
  kind(node: NodeIndex, predicate: number) {
    return SOURCES[this.#letters[predicate]?.[node] ?? ""]?.[0] ?? "";
  }

  cleared(node: NodeIndex, predicate: number) {
    if (!this.kind(node, predicate) || !this.#cleared.has(predicate)) return false;
    return this.#cleared.get(predicate)?.has(node) ?? true;
  }

  stale(node: NodeIndex, predicate: number) {
    return this.#stale.get(`${predicate}/${node}`) ?? null;
  }

  /** The notes on an answer, beside the answer itself. */
  words(node: NodeIndex, predicate: number) {
    const source = SOURCES[this.#letters[predicate]?.[node] ?? ""];
    if (!source) return "";
    const stale = this.stale(node, predicate);
    return [
      source[1],
      stale ? `stale: the cache says ${answer(stale.cached)}, true is ${answer(stale.true)}` : "",
      this.cleared(node, predicate) ? "invalidated since, by an event of this cycle" : "",
    ]
      .filter(Boolean)
      .join("; ");
  }

  /** Whether a node is among those that a choice of the filter means. */
  shows(node: NodeIndex, choice: string) {
    const any = (holds: (letter: string | undefined, predicate: number) => unknown) =>
      this.#letters.some((letters, predicate) => holds(letters[node], predicate));
    const evaluated = () => any((letter) => letter === "m" || letter === "b");
    if (choice === "cached") return any((letter) => letter === "h") && !evaluated();
    if (choice === "evaluated") return evaluated();
    if (choice === "stale") return any((_, predicate) => this.stale(node, predicate));
    if (choice === "cleared") return any((_, predicate) => this.cleared(node, predicate));
    return true;
  }
}

const answer = (reasons: string[]) => (reasons.length ? reasons.join(", ") : "that it fits");

export const Mark = ({ kind }: { kind: string }) => <i class={`from ${kind}`} aria-hidden="true" />;

/** The legend's part about the cache. */
export const SourceKey = ({ sources }: { sources: Sources }) => (
  <>
    <li>
      <Mark kind="hit" />
      from the cache
    </li>
    <li>
      <Mark kind="miss" />
      evaluated now
    </li>
    <li>
      <Mark kind="bypass" />
      beside the cache
    </li>
    {sources.someCleared ? (
      <li>
        <i class="cell pass cleared" />
        invalidated since
      </li>
    ) : null}
    {sources.someStale ? (
      <li>
        <i class="cell stale">
          <Mark kind="wrong" />
        </i>
        stale
      </li>
    ) : null}
  </>
);
