// The table of nodes at what is shown: operations and controllers change them.

import { attemptIn } from "./place.ts";
import type { NodeChange, NodeIndex, Nodes, NodeState } from "../../lib/protocol.js";
import type { Position } from "./position.ts";

export type WholeState = Required<NodeState>;

export class NodeTable {
  gone: Set<number>;
  #given: Map<NodeIndex, WholeState> = new Map(); // of nodes that changed: the rows when the source was opened
  // of nodes that are not as given: in what, as the table has it now
  #amended: Map<NodeIndex, NodeState | null> = new Map();

  constructor(readonly nodes: Nodes) {
    nodes.extended ??= {};
    nodes.conditions ??= nodes.names.map(() => []);
    this.gone = new Set(this.#later.keys()); // the nodes of the table that are not there in what is shown
  }

  /** The nodes that come later than the start. */
  get #later(): Map<NodeIndex, NodeState | null> {
    return new Map((this.nodes.since ?? []).flatMap((since, node) => (since > 1 ? [[node, null]] : [])));
  }

  /** Let the table be as at what `playback` shows. */
  amend(playback: Position) {
    const states = this.#states(playback);
    if (!states.size && !this.#amended.size && !this.gone.size) return;
    const { nodes } = this;
    for (const [node, state] of this.#amended) if (states.get(node) !== state) this.#write(node, this.#givenOf(node));
    for (const [node, state] of states) {
      if (this.#amended.get(node) === state) continue;
      const given = this.#givenOf(node);
      if (state) this.#write(node, { ...given, ...state });
    }
    this.gone = new Set([...states].filter(([, state]) => state === null).map(([node]) => node));
    this.#amended = states;
    nodes.version = (nodes.version ?? 0) + 1;
  }

  /**
   * The nodes that are not as they were when the source was opened, each with what differs; `null`: it is not there.
   */
  #states(playback: Position): Map<NodeIndex, NodeState | null> {
    const { index, cycles, partly, at, phase, moments } = playback;
    const cycle = Math.min(index, cycles);
    const window = cycle > 0 ? playback.records.window(cycle) : null;
    if (cycle > 0 && !window?.nodes) return this.#updated(playback); // a run that was stored before rows recorded nodes
    const states = window?.nodes ? new Map(window.nodes) : this.#later;
    const take = (changes: NodeChange[]) => {
      for (const [node, state] of changes) states.set(node, state);
    };
    const inside = index > cycles || partly;
    for (let i = window?.from ?? 1; i < (inside && index <= cycles ? cycle : cycle + 1); i += 1)
      take(window?.cycles[i - window.from]?.nodes ?? []);
    if (inside) {
      const own = (index > cycles ? playback.heavy(index) : window?.cycles[cycle - window.from])?.nodes ?? [];
      const until = at > 0 ? at : phase ? attemptIn(moments ?? []) + 1 : (moments?.length ?? 0);
      const named = new Set((moments ?? []).slice(0, until).flatMap(({ nodes }) => nodes ?? []));
      take(own.filter(([node]) => !partly || named.has(node)));
    }
    for (const [node, state] of states) if (state && !Object.keys(state).length) states.delete(node);
    return states;
  }

  /** The same by the operations of a major step. */
  #updated(playback: Position) {
    const { nodes } = this;
    const { index } = playback;
    const major = Number((playback.light(index) ?? playback.heavy(index))?.step.split(".")[0] ?? 1);
    const states: Map<NodeIndex, NodeState | null> = new Map();
    for (const [since, node, state] of nodes.updates ?? []) if (since <= major) states.set(node, state);
    nodes.names.forEach((_, node) => {
      if ((nodes.since?.[node] ?? 1) > major || (nodes.until?.[node] ?? Infinity) <= major) states.set(node, null);
    });
    return states;
  }

  /** The row of a node when the source was opened. */
  #givenOf(node: NodeIndex) {
    const given = this.#given.get(node) ?? this.#read(node);
    this.#given.set(node, given);
    return given;
  }

  #read(node: NodeIndex): WholeState {
    const { nodes } = this;
    return {
      cpu: nodes.cpu[node],
      memory: nodes.memory[node],
      pods: nodes.pods[node],
      taints: nodes.taints[node],
      unschedulable: nodes.unschedulable[node],
      labels: nodes.labels[node],
      conditions: nodes.conditions[node],
      extended: Object.fromEntries(
        Object.entries(nodes.extended).map(([resource, amounts]) => [resource, amounts[node]]),
      ),
    };
  }

  #write(node: NodeIndex, state: WholeState) {
    const { nodes } = this;
    nodes.cpu[node] = state.cpu;
    nodes.memory[node] = state.memory;
    nodes.pods[node] = state.pods;
    nodes.taints[node] = state.taints;
    nodes.unschedulable[node] = state.unschedulable;
    nodes.labels[node] = state.labels;
    nodes.conditions[node] = state.conditions;
    for (const resource of Object.keys(state.extended)) nodes.extended[resource] ??= nodes.names.map(() => 0);
    for (const [resource, amounts] of Object.entries(nodes.extended)) amounts[node] = state.extended[resource] ?? 0;
  }
}
