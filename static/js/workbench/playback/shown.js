// What is open and what of it is shown, as every part of the workbench reads it; playback.js opens and moves.

/** @import { Light, NodeIndex, Nodes, PodIndex, Pods, Policy, Problem } from "../../lib/protocol.js" */
/** @import { Cluster } from "../cluster.js" */
/** @import { Come } from "../cut.js" */
/** @import { NodeTable } from "./nodetable.js" */
/** @import { CycleParts, Records } from "./records.js" */
/** @import { Changes, Standing } from "./standing.js" */
import { Emitter } from "../../lib/emitter.js";
import { ABSENT } from "../cluster.js";
import { OVER, cut, cutEnd } from "../cut.js";
import { Store } from "../store.ts";

/** @type {Set<number>} */
const NO_NODES = new Set();
/** @type {Changes} */
const NO_CHANGES = new Map();

const UNOPENED = /** @type {any} */ (undefined); // in place of what opening answers; `nodes` shows whether it has

export class Shown extends Emitter {
  store = new Store();

  // What opening has answered.
  title = "";
  /** @type {string | null} */
  scenario = null;
  /** @type {Nodes} */
  nodes = UNOPENED;
  /** @type {Pods} */
  pods = UNOPENED;
  /** @type {Cluster} */
  cluster = UNOPENED;
  /** @type {Map<string, NodeIndex>} */
  nodeIndex = UNOPENED;
  /** @type {Map<string, PodIndex>} */
  podIndex = UNOPENED;
  /** @type {number} */
  cycles = UNOPENED;
  /** @type {boolean} */
  complete = UNOPENED;
  /** @type {number | null} */
  expected = null; // cycles, if no pod is tried twice; null where nobody knows
  /** @type {string | null} */
  stopped = null;
  /** @type {boolean} */
  end = UNOPENED;
  /** @type {boolean} */
  timed = UNOPENED;
  release = UNOPENED;
  /** @type {import("../../lib/protocol.js").Schedulers | null} */
  schedulers = null;
  /** @type {import("../../lib/protocol.js").Descheduler | null} */
  descheduler = null;
  /** @type {Policy} */
  policy = UNOPENED;
  /** @type {Record<string, number>} */
  summary = UNOPENED;
  /** @type {Problem[]} */
  warnings = UNOPENED;
  recorded = 0; // pending pods with a condition of the cluster that was dumped

  /** @type {number | null} */
  veiled = null; // the last cycle that is shown while a room predicts the next one

  // Where one is.
  index = -1; // what is shown
  wanted = 0; // what is asked for
  at = 0; // the moment that is shown, from 1; 0: all of the cycle; LAST until it is known which that is
  phase = ""; // the phase that is shown, instead of a moment
  /** @type {Records} */
  records = UNOPENED;
  /** @type {Standing | null} */
  standing = null; // the cluster after what is shown
  /** @type {NodeTable | null} */
  table = null; // of nodes, as it is at what is shown
  /** @type {Set<PodIndex>} */
  terminating = new Set(); // pods at what is shown
  /** @type {(Come & { of: [Light | null, CycleParts | null, number, string] }) | null} */
  #cut = null; // the shown cycle as far as it has come, with what it was cut from

  /**
   * The cheap record of a cycle, if it is in the cache.
   *
   * @param {number} index
   */
  light(index) {
    return this.records.light(index);
  }

  /**
   * The heavy parts of a cycle, if they are in the cache.
   *
   * @param {number} index
   */
  heavy(index) {
    return this.records.heavy(index);
  }

  /**
   * Whether a pod is there, deleted, and waits for its kubelet to end it.
   *
   * @param {PodIndex} pod
   */
  isTerminating(pod) {
    return this.terminating.has(pod) && this.cluster.placement[pod] !== ABSENT;
  }

  /** The nodes of the table that are not there in what is shown. */
  get gone() {
    return this.table?.gone ?? NO_NODES;
  }

  /** The shown cycle as far as it has come: what every panel reads; see cut.js. */
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

  /** @returns {Come} */
  get #come() {
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
