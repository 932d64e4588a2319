// What is known of the cycles: a bounded cache of windows of cheap records and of heavy parts, and asking for more.

import { Lru } from "../../lib/lru.js";
import { Verdict } from "../verdict.js";

// Cycles asked for at once, windows and heavy parts kept, by the number of nodes: what the server decides anew for a
// window grows with the nodes, and a scrub into the unknown must not wait for it.
const SIZES = [
  { nodes: 500, span: 50, windows: 24, heavy: 60 },
  { nodes: 600, span: 50, windows: 24, heavy: 24 },
  { nodes: 2_000, span: 20, windows: 48, heavy: 24 },
  { nodes: Infinity, span: 8, windows: 90, heavy: 12 },
];
const PARTS = ["predicates", "cache", "priorities", "preemption", "queue", "podgroups", "moments", "cuts"];

export class Records {
  #span = 0; // cycles of a window
  #windows = new Lru(0);
  #heavy = new Lru(0);
  #fetching = new Set(); // windows that are on their way, by their first cycle
  #getting = new Map(); // heavy parts that are on their way

  constructor(playback) {
    this.playback = playback;
    this.reset(0);
  }

  /** Forget everything: a source with so many nodes is opened. */
  reset(nodes) {
    const { span, windows, heavy } = SIZES.find((size) => nodes <= size.nodes);
    this.#span = span;
    this.#windows = new Lru(windows);
    this.#heavy = new Lru(heavy);
  }

  /** The first cycle of the window that holds a cycle. */
  start(index) {
    return 1 + Math.floor((index - 1) / this.#span) * this.#span;
  }

  /** The window that holds a cycle, if it is in the cache. */
  window(index) {
    return this.#windows.get(this.start(index));
  }

  /** The cheap record of a cycle, if it is in the cache. */
  light(index) {
    const found = index >= 1 ? this.window(index) : null;
    return found?.cycles[index - found.from] ?? null;
  }

  /** The heavy parts of a cycle, if they are in the cache. */
  heavy(index) {
    return this.#heavy.get(index) ?? null;
  }

  /** Whether the window that begins at a cycle is on its way. */
  fetching(from) {
    return this.#fetching.has(from);
  }

  /** Ask for the window that begins at a cycle, unless that is under way. */
  async fetch(from) {
    if (this.#fetching.has(from)) return;
    this.#fetching.add(from);
    const { playback } = this;
    const { generation } = playback;
    try {
      const answer = await playback.socket.call("cycles.window", {
        source: playback.source,
        from,
        count: Math.min(this.#span, Math.max(1, playback.cycles - from + 1)),
        pods: playback.pods.keys.length,
      });
      if (generation !== playback.generation) return;
      if (answer.pods) playback.meet(answer.pods);
      this.#windows.set(from, answer);
      if (playback.marks.note(answer.cycles)) playback.emit("grew");
    } finally {
      this.#fetching.delete(from);
    }
  }

  /** Ask for the heavy parts of a cycle; who asks while that is under way waits for the same answer. */
  get(index) {
    if (!this.#getting.has(index))
      this.#getting.set(
        index,
        this.#ask(index).finally(() => this.#getting.delete(index)),
      );
    return this.#getting.get(index);
  }

  async #ask(index) {
    const { playback } = this;
    const { generation } = playback;
    const parts = await playback.ask(
      "cycle.get",
      { source: playback.source, step: String(index), parts: PARTS, pods: playback.pods.keys.length },
      () => index === playback.index || index === playback.wanted,
    );
    if (generation !== playback.generation) return;
    if (parts.pods) {
      playback.meet(parts.pods);
      delete parts.pods;
    }
    if (parts.predicates?.order.length) parts.verdict = new Verdict(parts.predicates, playback.nodes.names.length);
    this.#heavy.set(index, parts);
  }

  /** Ask for the step that a link leads to, while the page draws itself: both at once, not one after the other. */
  ahead(index) {
    for (const asked of [this.fetch(this.start(index)), this.get(index)])
      asked.catch(() => {
        /* asked for again where it is wanted */
      });
  }

  /** Ask for what is near a step, as long as `wanted()`, and for heavy parts only while nobody waits: `busy()`. */
  async prefetch(index, { wanted, busy }) {
    const { playback } = this;
    try {
      const from = index > 0 ? this.start(Math.min(index, playback.cycles)) : 1 - this.#span;
      const ahead = from + this.#span;
      const behind = from - this.#span;
      const edge = Math.max(4, Math.floor(this.#span / 4)); // this near to a window's end the next one is fetched
      const partial = this.#windows.get(from);
      if (partial && partial.cycles.length < this.#span && from + partial.cycles.length <= playback.cycles)
        await this.fetch(from);
      if (ahead <= playback.cycles && index >= ahead - edge && !this.#windows.has(ahead)) await this.fetch(ahead);
      if (behind >= 1 && index < from + edge && !this.#windows.has(behind)) await this.fetch(behind);
      for (const near of [index + 1, index - 1, index + 2]) {
        if (!wanted() || busy()) return;
        if (near >= 1 && near <= playback.last && !this.heavy(near)) await this.get(near);
      }
    } catch {
      /* a prefetch that fails is asked for again when it is needed */
    }
  }
}
