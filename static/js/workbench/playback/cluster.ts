// The cluster at one step, derived in the browser from a window's placement and its changes.

import type { Change, NodeIndex, Nodes, Pods } from "../../lib/protocol.js";

export const PENDING = -1;
export const ABSENT = -2;

export class Cluster {
  placed = 0;
  present = 0;
  placement: Int32Array<ArrayBuffer>;
  initial: Int32Array<ArrayBuffer>;
  cpu: Float64Array<ArrayBuffer>;
  memory: Float64Array<ArrayBuffer>;
  count: Int32Array<ArrayBuffer>;
  #lists: { start: Int32Array; items: Int32Array } | null = null; // of each node the pods on it, once somebody asks

  constructor(
    readonly nodes: Nodes,
    readonly pods: Pods,
  ) {
    this.placement = Int32Array.from(pods.node);
    this.initial = this.placement.slice();
    this.cpu = new Float64Array(nodes.names.length);
    this.memory = new Float64Array(nodes.names.length);
    this.count = new Int32Array(nodes.names.length);
    this.reset(this.initial);
  }

  /** Make room for pods that joined the table; they are not there yet. */
  widen() {
    const wider = (array: Int32Array) => {
      const made = new Int32Array(this.pods.keys.length).fill(ABSENT);
      made.set(array);
      return made;
    };
    this.placement = wider(this.placement);
    this.initial = wider(this.initial);
  }

  /** Take a whole placement (an entry a pod: node index, PENDING or ABSENT). */
  reset(placement: ArrayLike<number>) {
    this.placement.fill(ABSENT);
    this.placement.set(placement);
    this.cpu.fill(0);
    this.memory.fill(0);
    this.count.fill(0);
    this.placed = 0;
    this.present = 0;
    const { cpu, memory } = this.pods;
    for (let pod = 0; pod < this.placement.length; pod += 1) {
      const node = this.placement[pod];
      if (node === ABSENT) continue;
      this.present += 1;
      if (node < 0) continue;
      this.placed += 1;
      this.cpu[node] += cpu[pod];
      this.memory[node] += memory[pod];
      this.count[node] += 1;
    }
    this.#lists = null;
  }

  /** Apply one cycle's changes: `[pod, new node | PENDING | ABSENT]`. */
  apply(changes: Change[]) {
    const { cpu, memory } = this.pods;
    for (const [pod, next] of changes) {
      const old = this.placement[pod];
      if (old === next) continue;
      if (old >= 0) {
        this.placed -= 1;
        this.cpu[old] -= cpu[pod];
        this.memory[old] -= memory[pod];
        this.count[old] -= 1;
      }
      if (next >= 0) {
        this.placed += 1;
        this.cpu[next] += cpu[pod];
        this.memory[next] += memory[pod];
        this.count[next] += 1;
      }
      if (old === ABSENT) this.present += 1;
      if (next === ABSENT) this.present -= 1;
      this.placement[pod] = next;
    }
    this.#lists = null;
  }

  /** The pods on a node, in the order of the table. */
  podsOn(node: NodeIndex) {
    if (!this.#lists) {
      const start = new Int32Array(this.nodes.names.length + 1);
      for (const at of this.placement) if (at >= 0) start[at + 1] += 1;
      for (let i = 1; i < start.length; i += 1) start[i] += start[i - 1];
      const items = new Int32Array(this.placed);
      const fill = start.slice();
      for (let pod = 0; pod < this.placement.length; pod += 1) {
        const at = this.placement[pod];
        if (at >= 0) {
          items[fill[at]] = pod;
          fill[at] += 1;
        }
      }
      this.#lists = { start, items };
    }
    const { start, items } = this.#lists;
    return items.subarray(start[node], start[node + 1]);
  }

  /** Use of a node's cpu, memory and pod slots, each 0..1 or more. */
  share(node: NodeIndex) {
    const { nodes } = this;
    const part = (used: number, of: number) => (of > 0 ? used / of : used > 0 ? 1 : 0);
    return {
      cpu: part(this.cpu[node], nodes.cpu[node]),
      memory: part(this.memory[node], nodes.memory[node]),
      pods: part(this.count[node], nodes.pods[node]),
    };
  }

  /** What is used of an extended resource on a node. */
  extendedUsed(node: NodeIndex, resource: string) {
    const amounts = this.pods.extended?.[resource];
    if (!amounts) return 0;
    let used = 0;
    for (const pod of this.podsOn(node)) used += amounts[pod] || 0;
    return used;
  }
}
