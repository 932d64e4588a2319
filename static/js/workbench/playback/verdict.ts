// The predicates' answers for every node in one cycle, unpacked from the `predicates` part.

import type { NodeIndex, PredicatesPart } from "../../lib/protocol.js";

/** What is said of a node that the walk over the nodes did not come to. */
export const UNREACHED = "not evaluated";

export class Verdict {
  order: string[];
  count: number;
  reasons: string[][];
  skips: boolean;
  errors: Map<number, string>;
  first: Int16Array<ArrayBuffer>;
  unneeded: Set<number>;
  feasible: number;
  evaluated: number;
  #start: Int32Array;
  #predicate: Int16Array;
  #reason: Int32Array;

  constructor(part: PredicatesPart, count: number) {
    this.order = part.order;
    this.count = count;
    this.reasons = part.reasons;
    this.skips = part.skipped !== "none";
    this.errors = new Map(
      (part.errors ?? []).map(([node, predicate, text]) => [node * part.order.length + predicate, text]),
    );
    const [nodes, predicates, reasons] = part.fails;
    const size = this.order.length;
    this.first = new Int16Array(count).fill(size); // the first predicate that failed; `size` when none did
    this.#start = new Int32Array(count + 1);
    for (let i = 0; i < nodes.length; i += 1) {
      this.#start[nodes[i] + 1] += 1;
      if (predicates[i] < this.first[nodes[i]]) this.first[nodes[i]] = predicates[i];
    }
    for (const key of this.errors.keys()) {
      const node = Math.floor(key / size);
      if (key % size < this.first[node]) this.first[node] = key % size;
    }
    for (let i = 1; i <= count; i += 1) this.#start[i] += this.#start[i - 1];
    const fill = this.#start.slice();
    this.#predicate = new Int16Array(nodes.length);
    this.#reason = new Int32Array(nodes.length);
    for (let i = 0; i < nodes.length; i += 1) {
      const at = fill[nodes[i]]++;
      this.#predicate[at] = predicates[i];
      this.#reason[at] = reasons[i];
    }
    this.unneeded = new Set(part.unneeded ?? []);
    for (const node of part.outside ?? []) this.first[node] = -1; // the walk over the nodes ended before it
    let feasible = 0;
    for (const first of this.first) if (first === size) feasible += 1;
    this.feasible = feasible;
    this.evaluated = count - (part.outside?.length ?? 0);
  }

  fits(node: NodeIndex) {
    return this.first[node] === this.order.length;
  }

  /** Whether the walk over the nodes came to a node; it ends where enough nodes are feasible. */
  reached(node: NodeIndex) {
    return this.first[node] >= 0;
  }

  /** `{state: "pass" | "fail" | "skip" | "error", reasons}` of a pair. */
  cell(node: NodeIndex, predicate: number): { state: "pass" | "fail" | "skip" | "error"; reasons: string[] } {
    const error = this.errors.get(node * this.order.length + predicate);
    if (error) return { state: "error", reasons: [error] };
    for (let i = this.#start[node]; i < this.#start[node + 1]; i += 1) {
      if (this.#predicate[i] === predicate) return { state: "fail", reasons: this.reasons[this.#reason[i]] };
    }
    const passed = !(this.skips && predicate > this.first[node]) && !this.unneeded.has(predicate);
    return { state: passed ? "pass" : "skip", reasons: [] };
  }

  /** The predicate that stopped a node, in words where none did. */
  stopper(node: NodeIndex) {
    return this.order[this.first[node]] ?? UNREACHED;
  }

  /** All reasons that kept the pod off a node, as the failure message counts them. */
  reasonsOf(node: NodeIndex) {
    const all: string[] = [];
    for (let i = this.#start[node]; i < this.#start[node + 1]; i += 1) all.push(...this.reasons[this.#reason[i]]);
    for (let p = 0; this.errors.size && p < this.order.length; p += 1) {
      const error = this.errors.get(node * this.order.length + p);
      if (error) all.push(error);
    }
    return all;
  }

  /** The nodes that a reason applies to. */
  nodesWith(reason: string) {
    const matching: Set<number> = new Set();
    this.reasons.forEach((texts, i) => {
      if (texts.includes(reason)) matching.add(i);
    });
    const nodes: NodeIndex[] = [];
    for (let node = 0; node < this.count; node += 1) {
      for (let i = this.#start[node]; i < this.#start[node + 1]; i += 1) {
        if (matching.has(this.#reason[i])) {
          nodes.push(node);
          break;
        }
      }
    }
    return nodes;
  }
}
