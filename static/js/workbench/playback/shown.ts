// What is open and what of it is shown, as every part of the workbench reads it; playback.ts opens and moves.

import type { Light, NodeIndex, Nodes, PodIndex, Pods, Policy, Problem } from "../../lib/protocol.js";
import type { Cluster } from "./cluster.ts";
import type { Come } from "./cut.ts";
import type { NodeTable } from "./nodetable.ts";
import type { CycleParts } from "./parts.ts";
import type { Records } from "./records.ts";
import type { Changes, Standing } from "./standing.ts";
import { topic } from "../../lib/topic.ts";
import { ABSENT } from "./cluster.ts";
import { OVER, cut, cutEnd } from "./cut.ts";
import { Store } from "./store.ts";
import type { Place } from "./place.ts";

const NO_NODES: Set<number> = new Set();
const NO_CHANGES: Changes = new Map();

const UNOPENED = undefined as any; // in place of what opening answers; `nodes` shows whether it has

export class Shown {
  store = new Store();
  /** Something could not be loaded. */
  readonly failed = topic<[error: any]>();
  /** Go to a step once it is computed. */
  readonly later = topic<[wish: { step: string; place: Partial<Place> | undefined }]>();

  // What opening has answered.
  title = "";
  scenario: string | null = null;
  nodes: Nodes = UNOPENED;
  pods: Pods = UNOPENED;
  cluster: Cluster = UNOPENED;
  nodeIndex: Map<string, NodeIndex> = UNOPENED;
  podIndex: Map<string, PodIndex> = UNOPENED;
  cycles: number = UNOPENED;
  complete: boolean = UNOPENED;
  expected: number | null = null; // cycles, if no pod is tried twice; null where nobody knows
  stopped: string | null = null;
  end: boolean = UNOPENED;
  timed: boolean = UNOPENED;
  release = UNOPENED;
  offered = ""; // another release, which the kubelets of the nodes are of
  schedulers: import("../../lib/protocol.js").Schedulers | null = null;
  descheduler: import("../../lib/protocol.js").Descheduler | null = null;
  policy: Policy = UNOPENED;
  summary: Record<string, number> = UNOPENED;
  warnings: Problem[] = UNOPENED;
  dump = false; // whether kubelets of a real cluster reported the nodes
  recorded = 0; // pending pods with a condition of the cluster that was dumped

  veiled: number | null = null; // the last cycle that is shown while a room predicts the next one

  // Where one is.
  index = -1; // what is shown
  wanted = 0; // what is asked for
  at = 0; // the moment that is shown, from 1; 0: all of the cycle; LAST until it is known which that is
  phase = ""; // the phase that is shown, instead of a moment
  records: Records = UNOPENED;
  standing: Standing | null = null; // the cluster after what is shown
  table: NodeTable | null = null; // of nodes, as it is at what is shown
  terminating: Set<PodIndex> = new Set(); // pods at what is shown
  // the shown cycle as far as it has come, with what it was cut from
  #cut: (Come & { of: [Light | null, CycleParts | null, number, string] }) | null = null;

  /** The cheap record of a cycle, if it is in the cache. */
  light(index: number) {
    return this.records.light(index);
  }

  /** The heavy parts of a cycle, if they are in the cache. */
  heavy(index: number) {
    return this.records.heavy(index);
  }

  /** Whether a pod is there, deleted, and waits for its kubelet to end it. */
  isTerminating(pod: PodIndex) {
    return this.terminating.has(pod) && this.cluster.placement[pod] !== ABSENT;
  }

  /** The nodes of the table that are not there in what is shown. */
  get gone() {
    return this.table?.gone ?? NO_NODES;
  }

  /** The shown cycle as far as it has come: what every panel reads; see cut.ts. */
  get current() {
    return this.#come.light;
  }
  get parts() {
    return this.#come.parts;
  }
  get reached() {
    return this.#come.reached;
  }

  /** Whether a moment or a phase is shown, and not all of a step. */
  get partly() {
    return this.at !== 0 || this.phase !== "";
  }

  /** The step after which everything stands as it does in what is shown, as far as only whole steps are known of. */
  get asOf() {
    const { over, whole } = this.reached;
    return whole || (over && !this.timed) ? this.index : this.index - 1;
  }

  /** The last cycle of which all is over in what is shown. */
  get settled() {
    return Math.min(this.asOf, this.cycles);
  }

  get #come(): Come {
    const light = this.light(this.index);
    const parts = this.heavy(this.index);
    const { at, phase, index } = this;
    const known = this.#cut;
    if (known && known.of[0] === light && known.of[1] === parts && known.of[2] === at && known.of[3] === phase)
      return known;
    const found = light
      ? cut(light, parts, { at, phase })
      : {
          light,
          parts: this.atEnd ? cutEnd(parts, this.heavy(index - 1), { at }) : parts,
          reached: OVER,
        };
    this.#cut = { ...found, of: [light, parts, at, phase] };
    return this.#cut;
  }

  /**
   * The nodes that have changed since the predicates looked at them: how many pods left and came since, except for the
   * pod of the cycle.
   */
  get changed() {
    return this.standing?.changed(this) ?? NO_CHANGES;
  }

  /** The last index there is: the end, or the last cycle where there is none. */
  get last() {
    return this.cycles + (this.end ? 1 : 0);
  }

  /** Whether the end of the run is shown. */
  get atEnd() {
    return this.end === true && this.index === this.cycles + 1;
  }

  /** The cycle that is shown or was the last before what is shown: the end is after the last one. */
  get cycle() {
    return Math.min(this.index, this.cycles);
  }

  /** The same of what is asked for. */
  get wantedCycle() {
    return Math.min(this.wanted, this.cycles);
  }

  /** The moments of the shown step, `null` while they are not known. */
  get moments() {
    return this.heavy(this.index)?.moments ?? null;
  }

  /** The moment that is shown; `null` where all of a step is, or a phase. */
  get moment() {
    return this.at > 0 ? (this.moments?.[this.at - 1] ?? null) : null;
  }

  /** Virtual seconds of what is shown; `null` while they are not known. */
  get time() {
    return this.index === 0
      ? 0
      : (this.moment?.time
          ?? this.light(this.index)?.time
          ?? (this.atEnd ? this.heavy(this.index)?.time : null)
          ?? null);
  }
}
