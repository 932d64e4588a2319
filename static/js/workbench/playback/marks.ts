// One mark a cycle: its result, pod, node and time, and what the equivalence cache did, in growing typed arrays.

import { short } from "../../lib/quantity.ts";
import type { CacheMarks, Light, Marks as WireMarks, PodIndex, Turn } from "../../lib/protocol.js";

export const RESULTS: Record<string, string> = {
  s: "scheduled",
  u: "unschedulable",
  e: "error",
  p: "preemption",
  w: "waiting at Permit",
};
const CACHING = ["hits", "evaluations", "invalidated", "stale"] as const;
const CODES: Record<string, number> = { s: 1, u: 2, e: 3, p: 4, w: 5 };
export const LETTERS = ["", "s", "u", "e", "p", "w"];

/** What happened to a PodGroup in a cycle, in words. */
export function turnWords([kind, group, phase]: Turn) {
  if (kind === "phase") return `PodGroup ${short(group)} is ${phase || "without a phase"}`;
  return `PodGroup ${short(group)} ${kind === "timeout" ? "timed out" : "is rejected"}`;
}

export class Marks {
  result = new Uint8Array(1024); // by cycle index; 0: not known yet
  pod = new Int32Array(1024);
  node = new Int32Array(1024);
  time = new Float64Array(1024); // virtual seconds of each cycle
  operated = new Uint8Array(1024); // 1: something came from outside before the cycle, or inside it
  operations = 0; // cycles of which that is so
  caching: Record<(typeof CACHING)[number], Uint32Array> | null = null; // by cycle index; null: the cache was off
  staleCycles = 0; // cycles with stale hits
  restarts: number[] = []; // cycles before which the scheduler was restarted, ascending
  groups: Map<number, Turn[]> = new Map(); // by cycle: what happened to PodGroups
  // by cycle: the descheduler's passes before it, in words
  passes: Map<number, { evicts: boolean; text: string }[]> = new Map();
  kueue: Map<number, { evicts: boolean; text: string }[]> = new Map(); // what Kueue did since the cycle before
  // Cycles that a quirk of v1.11 changed, among those that were loaded: only deciding them again shows it.
  quirks: Set<number> = new Set();
  known = 0; // cycles 1..known are known without a gap
  version = 0;

  put(from: number, marks: WireMarks) {
    const end = from + marks.result.length;
    if (end >= this.result.length) this.#grow(end + 1);
    for (let i = 0; i < marks.result.length; i += 1) {
      this.result[from + i] = CODES[marks.result[i]] ?? 3;
      this.pod[from + i] = marks.pod[i];
      this.node[from + i] = marks.node[i] ?? -1;
    }
    const last = from + marks.result.length - 1;
    if (marks.time) this.time.set(marks.time, from);
    for (const index of marks.operations ?? []) {
      this.operations += 1 - this.operated[index];
      this.operated[index] = 1;
    }
    if (marks.restarts?.length)
      this.restarts = [...this.restarts.filter((i) => i < from || i > last), ...marks.restarts].sort((a, b) => a - b);
    if (marks.groups?.length) {
      for (const [index] of marks.groups) this.groups.set(index, []);
      for (const [index, ...turn] of marks.groups) this.groups.get(index)?.push(turn);
    }
    if (marks.passes?.length) {
      for (const [index] of marks.passes) this.passes.set(index, []);
      for (const [index, number, evicts, text] of marks.passes)
        this.passes.get(index)?.push({ evicts, text: `pass ${number} ${text}` });
    }
    if (marks.kueue?.length) {
      for (const [index] of marks.kueue) this.kueue.set(index, []);
      for (const [index, evicts, text] of marks.kueue) this.kueue.get(index)?.push({ evicts, text });
    }
    if (marks.cache) this.#cache(from, marks.cache);
    while (this.known + 1 < this.result.length && this.result[this.known + 1]) this.known += 1;
    this.version += 1;
  }

  /** The next cycle after (direction 1) or before (-1) `index` whose result is one of `letters`, or 0. */
  seek(index: number, direction: number, letters: string) {
    const wanted = new Set([...letters].map((letter) => CODES[letter]));
    for (let i = index + direction; i >= 1 && i <= this.known; i += direction) if (wanted.has(this.result[i])) return i;
    return 0;
  }

  /** The next cycle after (direction 1) or before (-1) `index` at which something came from outside, or 0. */
  seekOperation(index: number, direction: number) {
    for (let i = index + direction; i >= 1 && i <= this.known; i += direction) if (this.operated[i]) return i;
    return 0;
  }

  /** The first cycle at or after a second of virtual time, or 0. */
  firstAt(seconds: number) {
    let low = 1;
    let high = this.known + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[middle] < seconds) low = middle + 1;
      else high = middle;
    }
    return low <= this.known ? low : 0;
  }

  get cached() {
    return this.caching !== null;
  }

  /** The next cycle after (direction 1) or before (-1) `index` with stale hits, or 0. */
  seekStale(index: number, direction: number) {
    const stale = this.caching?.stale;
    if (!stale || !this.staleCycles) return 0;
    for (let i = index + direction; i >= 1 && i <= this.known; i += direction) if (stale[i]) return i;
    return 0;
  }

  #cache(from: number, caching: CacheMarks) {
    const empty = () => new Uint32Array(this.result.length);
    this.caching ??= { hits: empty(), evaluations: empty(), invalidated: empty(), stale: empty() };
    const { stale } = this.caching;
    caching.stale.forEach((n, i) => {
      this.staleCycles += Number(n > 0) - Number(stale[from + i] > 0);
    });
    for (const name of CACHING) this.caching[name].set(caching[name], from);
  }

  /** Take note of the quirks in cycles that are loaded; whether there was a new one. */
  note(cycles: Light[]) {
    const before = this.quirks.size;
    for (const { index, quirks } of cycles) if (quirks.length) this.quirks.add(index);
    if (this.quirks.size === before) return false;
    this.version += 1;
    return true;
  }

  /** Whether the scheduler was restarted just before a cycle. */
  restarted(index: number) {
    return this.restarts.includes(index);
  }

  /** What happened to PodGroups in a cycle, in words. */
  turns(index: number) {
    return (this.groups.get(index) ?? []).map(([kind, group, phase]) =>
      kind === "phase"
        ? `${short(group)} ${phase || "without a phase"}`
        : `${short(group)} ${kind === "timeout" ? "timed out" : "rejected"}`,
    );
  }

  /** The phases of a PodGroup up to a cycle, as [cycle, phase]. */
  phases(group: string, to: number) {
    const found: [cycle: number, phase: string][] = [];
    for (const [index, turns] of this.groups)
      if (index <= to)
        for (const [kind, key, phase] of turns) if (kind === "phase" && key === group) found.push([index, phase]);
    return found.sort((a, b) => a[0] - b[0]);
  }

  /** The first cycle of a pod after `index` (wrapping around), or 0. */
  ofPod(pod: PodIndex, index = 0) {
    let first = 0;
    for (let i = 1; i <= this.known; i += 1) {
      if (this.pod[i] !== pod) continue;
      if (i > index) return i;
      first = first || i;
    }
    return first;
  }

  #grow(size: number) {
    const capacity = Math.max(size, this.result.length * 2);
    const wider: <A extends { set: (from: A) => void }>(wide: A, array: A) => A = (wide, array) => {
      wide.set(array);
      return wide;
    };
    this.result = wider(new Uint8Array(capacity), this.result);
    this.pod = wider(new Int32Array(capacity), this.pod);
    this.node = wider(new Int32Array(capacity), this.node);
    this.time = wider(new Float64Array(capacity), this.time);
    this.operated = wider(new Uint8Array(capacity), this.operated);
    if (this.caching)
      for (const name of CACHING) this.caching[name] = wider(new Uint32Array(capacity), this.caching[name]);
  }
}
