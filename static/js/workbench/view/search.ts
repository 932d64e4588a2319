// What is looked for by name: the nodes and pods that it found, the one that one is at, and on which nodes they are.

import { follow } from "../playback/store.ts";
import type { NodeIndex, PodIndex } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";

export type Hit = [kind: "node" | "pod", index: number];

export class Search {
  text = "";
  hits: Hit[] = [];
  at = 0;
  // of each node how many of the found are there; null: not worked out for this step
  #places: Map<NodeIndex, number> | null = null;
  #pods: Set<PodIndex> = new Set();
  #named = ""; // what one is at, by name: another text of the draft has other numbers

  constructor(readonly playback: Playback) {
    // The indices were those of the other text: what has these names is looked up again.
    follow(playback.store.scenario, () => this.#take([], []));
    follow([playback.store.step, playback.store.moment, playback.store.pods], () => {
      this.#places = null;
    });
  }

  /**
   * Take what was found: the current match is the one with exactly this name, else the one that was current if it is
   * found again, else the first. For the same text in another source the one with the same name stays current. It is
   * brought into view, but for `reveal`: more was found of what is shown already.
   */
  show(text: string, nodes: NodeIndex[], pods: PodIndex[], { reveal = true } = {}) {
    if (!text && !this.text) return;
    const { playback } = this;
    const same = text === this.text;
    this.text = text;
    this.#take(text ? nodes : [], text ? pods : []);
    const wanted = text.toLowerCase();
    const exact = ([kind, i]: Hit) =>
      (kind === "node"
        ? playback.nodes.names[i]
        : playback.pods.keys[i].slice(playback.pods.keys[i].indexOf("/") + 1)
      ).toLowerCase() === wanted;
    const again = this.hits.findIndex((hit) => this.#nameOf(hit) === this.#named);
    const named = this.hits.findIndex(exact);
    this.#go(Math.max(0, named < 0 || (same && again >= 0) ? again : named), reveal);
  }

  #take(nodes: NodeIndex[], pods: PodIndex[]) {
    const hit: (kind: Hit[0]) => (index: number) => Hit = (kind) => (index) => [kind, index];
    this.hits = [...nodes.map(hit("node")), ...pods.map(hit("pod"))];
    this.#pods = new Set(pods);
    this.#places = null;
  }

  #go(at: number, reveal = true) {
    this.at = at;
    this.#named = this.#nameOf(this.current);
    this.playback.store.found.value = { reveal };
  }

  #nameOf(hit: Hit | null) {
    if (!hit) return "";
    const [kind, i] = hit;
    const { nodes, pods } = this.playback;
    return `${kind} ${kind === "node" ? nodes.names[i] : pods.keys[i]}`;
  }

  /** End it; who has the field empties it. */
  end() {
    this.show("", [], []);
  }

  /** `["node" | "pod", its number]` of what one is at, null without. */
  get current() {
    return this.hits[this.at] ?? null;
  }

  /** Go to the next, or with -1 to the one before; after the last comes the first. */
  go(by: number) {
    const { length } = this.hits;
    if (!length) return;
    this.#go((this.at + by + length) % length);
  }

  /** Of each node how many of the found are there, itself among them. */
  get places() {
    if (this.#places) return this.#places;
    const { cluster } = this.playback;
    this.#places = new Map();
    for (const [kind, i] of this.hits) {
      const node = kind === "node" ? i : cluster.placement[i];
      if (node >= 0) this.#places.set(node, (this.#places.get(node) ?? 0) + 1);
    }
    return this.#places;
  }

  /** Whether a pod is among the found. */
  has(pod: PodIndex) {
    return this.#pods.has(pod);
  }
}
