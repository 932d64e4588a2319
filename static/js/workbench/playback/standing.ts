// The cluster as it stands after what is shown, derived from the windows of cycles that are loaded.

import { ABSENT, Cluster } from "./cluster.ts";
import { attemptIn, passed } from "./place.ts";
import type { Light, Moment, NodeIndex, Nodes, Pods } from "../../lib/protocol.js";
import type { Position } from "./position.ts";

/** how many pods left nodes and came to them */
export type Changes = Map<NodeIndex, { left: number; came: number }>;

export class Standing {
  cluster: Cluster;
  #shownFrom = 0; // the window the cluster was derived from
  #at = 0; // the cycle after which it stands
  /** Where the pods were that a cycle moves. */
  #origins = { index: -1, nodes: new Map() as Map<number, number> };
  #changes = { key: "", nodes: new Map() as Changes };

  constructor(nodes: Nodes, pods: Pods) {
    this.cluster = new Cluster(nodes, pods);
  }

  /** Let the cluster stand as it is after what `playback` shows. */
  follow(playback: Position) {
    const { index, cycles, partly, moments } = playback;
    if (index > cycles) this.#derive(playback, cycles);
    else this.#derive(playback, index, partly ? index - 1 : index);
    if (partly || index > cycles) this.#move((moments ?? []).slice(0, passed(moments ?? [], playback)));
  }

  /** Move the pods that moved until the shown moment or phase. */
  #move(moments: Moment[]) {
    for (const { moves } of moments) this.cluster.apply(moves.map(([pod, node]) => [pod, node ?? ABSENT]));
    this.#shownFrom = -1; // from here on no window's changes lead further
  }

  /** Let the cluster stand as after cycle `upTo`, which is `index` or the one before it. */
  #derive(playback: Position, index: number, upTo: number = index) {
    if (index === 0) {
      if (this.#at !== 0 || this.#shownFrom !== 0) this.cluster.reset(this.cluster.initial);
      this.#shownFrom = 0;
      this.#at = 0;
      return;
    }
    const found = playback.records.window(index);
    if (!found) return;
    let at = this.#at;
    if (this.#shownFrom !== found.from || upTo < at) {
      this.cluster.reset(found.placement);
      at = found.from - 1;
    }
    for (let i = at + 1; i <= upTo; i += 1) {
      if (i === index) this.#note(index, playback.light(index));
      this.cluster.apply(found.cycles[i - found.from].changes);
    }
    if (upTo === index - 1) this.#note(index, playback.light(index));
    this.#shownFrom = found.from;
    this.#at = upTo;
  }

  /** Keep where the pods that a cycle moves are before it. */
  #note(index: number, light: Light | null) {
    const { placement } = this.cluster;
    this.#origins = {
      index,
      nodes: new Map((light?.changes ?? []).map(([pod]) => [pod, placement[pod] ?? ABSENT])),
    };
  }

  /**
   * The nodes that have changed since the predicates looked at them: how many pods left and came since, except for the
   * pod of the cycle.
   */
  changed(playback: Position) {
    const { moments, index, at, phase, cycles } = playback;
    const key = `${index}/${at}/${phase}/${moments ? 1 : 0}`;
    if (this.#changes.key !== key)
      this.#changes = { key, nodes: moments && index <= cycles ? this.#changedBy(playback) : new Map() };
    return this.#changes.nodes;
  }

  #changedBy(playback: Position) {
    const { moments, index } = playback;
    const nodes: Changes = new Map();
    if (!moments || this.#origins.index !== index) return nodes;
    const tried = attemptIn(moments);
    const own = playback.light(index)?.pod;
    const where = new Map(this.#origins.nodes);
    for (const { moves } of moments.slice(0, tried)) for (const [pod, node] of moves) where.set(pod, node ?? ABSENT);
    const at = (node: NodeIndex) => {
      const changed = nodes.get(node) ?? { left: 0, came: 0 };
      nodes.set(node, changed);
      return changed;
    };
    for (const { moves, kind, nodes: about = [] } of moments.slice(tried, passed(moments, playback))) {
      for (const [pod, to] of moves) {
        const from = where.get(pod) ?? ABSENT;
        where.set(pod, to ?? ABSENT);
        if (from === to) continue;
        if (from >= 0) at(from).left += 1;
        if (to !== null && to >= 0 && pod !== own) at(to).came += 1;
      }
      if (kind === "consequence") about.forEach(at);
    }
    return nodes;
  }
}
