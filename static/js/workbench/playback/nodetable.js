// The table of nodes says what they have at what is shown: operations and controllers change them.

import { attemptIn } from "./place.js";

const AMENDED = ["cpu", "memory", "pods", "taints", "unschedulable", "labels", "conditions"]; // of a node, by an update

export class NodeTable {
  #given = new Map(); // of nodes that changed: what the table said when the source was opened
  #amended = new Map(); // of nodes that are not as given: in what, as the table says it now

  constructor(nodes) {
    this.nodes = nodes;
    nodes.extended ??= {};
    nodes.conditions ??= nodes.names.map(() => []);
    this.gone = new Set(this.#later.keys()); // the nodes of the table that are not there in what is shown
  }

  /** The nodes that come later than the start. */
  get #later() {
    return new Map((this.nodes.since ?? []).flatMap((since, node) => (since > 1 ? [[node, null]] : [])));
  }

  /** Let the table be as at what `playback` shows. */
  amend(playback) {
    const states = this.#states(playback);
    if (!states.size && !this.#amended.size) return;
    const { nodes } = this;
    for (const [node, state] of this.#amended) if (states.get(node) !== state) this.#write(node, this.#given.get(node));
    for (const [node, state] of states) {
      if (this.#amended.get(node) === state) continue;
      if (!this.#given.has(node)) this.#given.set(node, this.#read(node));
      if (state) this.#write(node, { ...this.#given.get(node), ...state });
    }
    this.gone = new Set([...states].filter(([, state]) => state === null).map(([node]) => node));
    this.#amended = states;
    nodes.version = (nodes.version ?? 0) + 1;
  }

  /**
   * The nodes that are not as they were when the source was opened, each with what differs; `null`: it is not there.
   */
  #states(playback) {
    const { index, cycles, partly, at, phase, moments } = playback;
    const cycle = Math.min(index, cycles);
    const window = cycle > 0 ? playback.records.window(cycle) : null;
    if (cycle > 0 && !window?.nodes) return this.#updated(playback); // a run that was stored before rows told of nodes
    const states = cycle > 0 ? new Map(window.nodes) : this.#later;
    const take = (changes) => {
      for (const [node, state] of changes) states.set(node, state);
    };
    const inside = index > cycles || partly;
    for (let i = window?.from ?? 1; i < (inside && index <= cycles ? cycle : cycle + 1); i += 1)
      take(window?.cycles[i - window.from]?.nodes ?? []);
    if (inside) {
      const own =
        index > cycles ? (playback.heavy(index)?.nodes ?? []) : (window?.cycles[cycle - window.from]?.nodes ?? []);
      const until = at > 0 ? at : phase ? attemptIn(moments ?? []) + 1 : (moments?.length ?? 0);
      const named = new Set((moments ?? []).slice(0, until).flatMap(({ nodes }) => nodes ?? []));
      take(own.filter(([node]) => !partly || named.has(node)));
    }
    for (const [node, state] of states) if (state && !Object.keys(state).length) states.delete(node);
    return states;
  }

  /** The same by what operations of a major step say. */
  #updated(playback) {
    const { nodes } = this;
    const { index } = playback;
    const major = index > 0 ? Number((playback.light(index) ?? playback.heavy(index)).step.split(".")[0]) : 1;
    const states = new Map();
    for (const [since, node, state] of nodes.updates ?? []) if (since <= major) states.set(node, state);
    nodes.names.forEach((_, node) => {
      if ((nodes.since?.[node] ?? 1) > major || (nodes.until?.[node] ?? Infinity) <= major) states.set(node, null);
    });
    return states;
  }

  #read(node) {
    const { nodes } = this;
    return {
      ...Object.fromEntries(AMENDED.map((field) => [field, nodes[field][node]])),
      extended: Object.fromEntries(
        Object.entries(nodes.extended).map(([resource, amounts]) => [resource, amounts[node]]),
      ),
    };
  }

  #write(node, state) {
    const { nodes } = this;
    for (const field of AMENDED) nodes[field][node] = state[field];
    for (const resource of Object.keys(state.extended)) nodes.extended[resource] ??= nodes.names.map(() => 0);
    for (const [resource, amounts] of Object.entries(nodes.extended)) amounts[node] = state.extended[resource] ?? 0;
  }
}
