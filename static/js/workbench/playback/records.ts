// What is known of the cycles: a bounded cache of windows of cheap records and of heavy parts, and asking for more.

import { Lru } from "../../lib/lru.ts";
import { Verdict } from "./verdict.ts";
import type { Commands, LaterPods, Light, Nodes, Pods, Source, Window } from "../../lib/protocol.js";
import type { Command, Socket } from "../../lib/socket.ts";
import type { Marks } from "./marks.ts";
import type { CycleParts } from "./parts.ts";

/** The run whose records are asked for. */
interface Run {
  readonly socket: Socket;
  readonly source: Source;
  readonly locked: boolean;
  /** Grows with every opening: what was asked before is dropped. */
  readonly generation: number;
  readonly cycles: number;
  readonly last: number;
  readonly index: number;
  readonly wanted: number;
  readonly nodes: Nodes;
  readonly pods: Pods;
  readonly marks: Marks;
  ask<C extends Command>(
    command: C,
    payload: Commands[C]["asks"],
    wanted: () => boolean,
  ): Promise<Commands[C]["answers"]>;
  meet(came: LaterPods): void;
  know(): void;
}

// Cycles asked for at once, windows and heavy parts kept, by the number of nodes: what the server decides again for a
// window grows with the nodes, and a scrub into the unknown must not wait for it.
const SIZES = [
  { nodes: 500, span: 50, windows: 24, heavy: 60 },
  { nodes: 600, span: 50, windows: 24, heavy: 24 },
  { nodes: 2_000, span: 20, windows: 48, heavy: 24 },
];
const LARGEST = { span: 8, windows: 90, heavy: 12 };
const PARTS = ["inspect", "moments", "cuts"];

export class Records {
  #span = 0; // cycles of a window
  #windows: Lru<number, Window> = new Lru(0);
  #heavy: Lru<number, CycleParts> = new Lru(0);
  #fetching: Map<number, number> = new Map(); // the generation of windows that are on their way, by their first cycle
  #getting: Map<number, Promise<void>> = new Map(); // heavy parts that are on their way

  constructor(readonly playback: Run) {
    this.reset(0);
  }

  /** Forget everything: a source with so many nodes is opened. */
  reset(nodes: number) {
    const { span, windows, heavy } = SIZES.find((size) => nodes <= size.nodes) ?? LARGEST;
    this.#span = this.playback.locked ? 1 : span;
    this.#windows = new Lru(windows);
    this.#heavy = new Lru(heavy);
  }

  /** Forget the cycles after one. */
  clip(last: number) {
    for (const [from, found] of [...this.#windows]) {
      if (from > last) this.#windows.delete(from);
      else this.#windows.set(from, { ...found, cycles: found.cycles.slice(0, last - from + 1) });
    }
    for (const index of [...this.#heavy.keys()]) if (index > last) this.#heavy.delete(index);
  }

  /** The first cycle of the window that holds a cycle. */
  start(index: number) {
    return 1 + Math.floor((index - 1) / this.#span) * this.#span;
  }

  /** The window that holds a cycle, if it is in the cache. */
  window(index: number): Window | undefined {
    return this.#windows.get(this.start(index));
  }

  /** The cheap record of a cycle, if it is in the cache. */
  light(index: number): Light | null {
    const found = index >= 1 ? this.window(index) : undefined;
    return found?.cycles[index - found.from] ?? null;
  }

  /** The heavy parts of a cycle, if they are in the cache. */
  heavy(index: number): CycleParts | null {
    return this.#heavy.get(index) ?? null;
  }

  /** Whether the window that begins at a cycle is on its way. */
  fetching(from: number) {
    return this.#fetching.get(from) === this.playback.generation;
  }

  /** Ask for the window that begins at a cycle, unless that is under way. */
  async fetch(from: number) {
    if (this.fetching(from)) return;
    const { playback } = this;
    const { generation } = playback;
    this.#fetching.set(from, generation);
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
      if (playback.marks.note(answer.cycles)) playback.know();
    } finally {
      if (this.#fetching.get(from) === generation) this.#fetching.delete(from);
    }
  }

  /** Ask for the heavy parts of a cycle; who asks while that is under way waits for the same answer. */
  get(index: number): Promise<void> {
    const asked = this.#getting.get(index) ?? this.#ask(index).finally(() => this.#getting.delete(index));
    this.#getting.set(index, asked);
    return asked;
  }

  async #ask(index: number) {
    const { playback } = this;
    const { generation } = playback;
    const parts: CycleParts = await playback.ask(
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
  ahead(index: number) {
    for (const asked of [this.fetch(this.start(index)), this.get(index)])
      asked.catch(() => {
        /* asked for again where it is wanted */
      });
  }

  /** Ask for what is near a step, as long as `wanted()`, and for heavy parts only while nobody waits: `busy()`. */
  async prefetch(index: number, { wanted, busy }: { wanted: () => boolean; busy: () => boolean }) {
    const { playback } = this;
    if (playback.locked) return;
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
