// The cluster as it stands after what is shown, derived from the windows of cycles that are loaded.

import { ABSENT, Cluster } from "../cluster.js";
import { attemptIn, passed } from "./place.js";

export class Standing {
  #shownFrom = 0; // the window the cluster was derived from
  #at = 0; // the cycle after which it stands
  #origins = { index: -1, nodes: new Map() }; // where the pods were that a cycle moves
  #changes = { key: "", nodes: new Map() };

  constructor(nodes, pods) {
    this.cluster = new Cluster(nodes, pods);
  }

  /** Let the cluster stand as it is after what `playback` shows. */
  follow(playback) {
    const { index, cycles, partly, moments } = playback;
    if (index > cycles) this.#derive(playback, cycles);
    else this.#derive(playback, index, partly ? index - 1 : index);
    if (partly || index > cycles) this.#move((moments ?? []).slice(0, passed(moments ?? [], playback)));
  }

  /** Move the pods that moved until the shown moment or phase. */
  #move(moments) {
    for (const { moves } of moments) this.cluster.apply(moves.map(([pod, node]) => [pod, node ?? ABSENT]));
    this.#shownFrom = -1; // from here on no window's changes lead further
  }

  /** Let the cluster stand as after cycle `upTo`, which is `index` or the one before it. */
  #derive(playback, index, upTo = index) {
    if (index === 0) {
      if (this.#at !== 0 || this.#shownFrom !== 0) this.cluster.reset(this.cluster.initial);
      this.#shownFrom = 0;
      this.#at = 0;
      return;
    }
    const found = playback.records.window(index);
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
  #note(index, light) {
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
  changed(playback) {
    const { moments, index, at, phase, cycles } = playback;
    const key = `${index}/${at}/${phase}/${moments ? 1 : 0}`;
    if (this.#changes.key !== key)
      this.#changes = { key, nodes: moments && index <= cycles ? this.#changedBy(playback) : new Map() };
    return this.#changes.nodes;
  }

  #changedBy(playback) {
    const { moments, index } = playback;
    const nodes = new Map();
    if (this.#origins.index !== index) return nodes;
    const tried = attemptIn(moments);
    const { pod: own } = playback.light(index);
    const where = new Map(this.#origins.nodes);
    for (const { moves } of moments.slice(0, tried)) for (const [pod, node] of moves) where.set(pod, node ?? ABSENT);
    const at = (node) => {
      if (!nodes.has(node)) nodes.set(node, { left: 0, came: 0 });
      return nodes.get(node);
    };
    for (const { moves, kind, nodes: about = [] } of moments.slice(tried, passed(moments, playback))) {
      for (const [pod, to] of moves) {
        const from = where.get(pod);
        where.set(pod, to ?? ABSENT);
        if (from === to) continue;
        if (from >= 0) at(from).left += 1;
        if (to >= 0 && pod !== own) at(to).came += 1;
      }
      if (kind === "consequence") about.forEach(at);
    }
    return nodes;
  }
}
