// What is played: opens a source and moves through time (playback/ has what that takes).
// Within the cache a step needs no server; outside it the newest wish wins.
// A position is a cycle, and in it the whole of it, or a moment (`at`, from 1), or a phase. After the last cycle of a
// run in virtual time comes the end, as index `cycles` + 1.

/** @import { Commands, LaterPods, Light, NodeIndex, Nodes, Opened, PodIndex, Pods } from "../lib/protocol.js" */
/** @import { Policy, Problem, Pushed, Report, Source } from "../lib/protocol.js" */
/** @import { CallOptions, Command, Socket } from "../lib/socket.js" */
/** @import { Cluster } from "./cluster.js" */
/** @import { Come } from "./cut.js" */
/** @import { Changes } from "./playback/standing.js" */
/** @import { CycleParts } from "./playback/records.js" */
import { Emitter } from "../lib/emitter.js";
import { refusalOf, superseded } from "../lib/socket.js";
import { OVER, cut, cutEnd } from "./cut.js";
import { Marks } from "./marks.js";
import { wentThrough } from "./phases.js";
import { NodeTable } from "./playback/nodetable.js";
import { LAST, LAST_PHASE, WHOLE } from "./playback/place.js";
import { meet } from "./playback/podtable.js";
import { Records } from "./playback/records.js";
import { Standing } from "./playback/standing.js";

const MARKS_AT_ONCE = 20_000;
const ASKED_AGAIN = 6; // times, of what something newer overtook though it is still wanted

/** @type {Set<number>} */
const NO_NODES = new Set();
/** @type {Changes} */
const NO_CHANGES = new Map();

/** @type {(f: () => void) => void} */
const idle =
  "requestIdleCallback" in window ? (f) => requestIdleCallback(f, { timeout: 300 }) : (f) => setTimeout(f, 30);

const UNOPENED = /** @type {any} */ (undefined); // in place of what opening answers; `nodes` tells whether it has

export class Playback extends Emitter {
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
  /** @type {Policy} */
  policy = UNOPENED;
  /** @type {Record<string, number>} */
  summary = UNOPENED;
  /** @type {Problem[]} */
  warnings = UNOPENED;

  #windowBusy = false;
  #heavyBusy = false;
  #painting = false; // a step was shown since the last frame
  #due = false; // another one was asked for since
  #endFrom = -1; // where one was when the end was asked for, until it is there
  /** @type {Promise<Opened> | null} */
  #opening = null; // the newest answer to an opening
  /** @type {(Come & { of: [Light | null, CycleParts | null, number, string] }) | null} */
  #cut = null; // the shown cycle as far as it has come, with what it was cut from
  /** @type {Standing | null} */
  #standing = null; // the cluster after what is shown
  /** @type {NodeTable | null} */
  #table = null; // of nodes, as it is at what is shown

  /**
   * @param {Socket} socket
   * @param {Source} source
   */
  constructor(socket, source) {
    super();
    this.socket = socket;
    this.source = source;
    this.locked = false; // whether its page shows one step alone, in a frame
    this.index = -1; // what is shown
    this.wanted = 0; // what is asked for
    this.at = 0; // the moment that is shown, from 1; 0: all of the cycle; LAST until it is known which that is
    this.phase = ""; // the phase that is shown, instead of a moment
    this.wish = WHOLE; // both of what is asked for
    this.generation = 0; // grows with every opening: what was asked before is dropped
    this.records = new Records(this);
    this.marks = new Marks();
    socket.on("timeline.grew", (grew) => this.#grew(grew));
    socket.on("up", (first) => {
      if (!first && this.nodes) this.#reopen();
    });
  }

  /**
   * Open the source (anew) and resolve with the answer; with that of a newer opening where there is one. Does not move.
   * `progress` receives how far it is read.
   *
   * @param {string} [step]
   * @param {(report: Report) => void} [progress]
   * @returns {Promise<Opened>}
   */
  open(step = "", progress = undefined) {
    this.#opening = this.#open(step, progress);
    return this.#opening;
  }

  /**
   * @param {string} step
   * @param {(report: Report) => void} [progress]
   * @returns {Promise<Opened>}
   */
  async #open(step, progress) {
    const generation = ++this.generation;
    const newest = () => generation === this.generation;
    let answer;
    try {
      answer = await this.ask("scenario.open", { source: this.#newest, ...(step ? { step } : {}) }, newest, {
        progress,
      });
    } catch (error) {
      if (newest() || !superseded(error) || !this.#opening) throw error;
      return this.#opening;
    }
    if (generation !== this.generation) return answer;
    this.#take(answer);
    this.records.reset(this.nodes.names.length);
    this.index = -1;
    this.at = 0;
    this.phase = "";
    this.wish = WHOLE;
    this.marks = new Marks();
    this.#standing = new Standing(this.nodes, this.pods);
    this.cluster = this.#standing.cluster;
    const { index } = answer;
    if (index !== null && index > 0 && index <= this.cycles) this.records.ahead(index);
    this.emit("opened", answer);
    this.#loadMarks(generation);
    return answer;
  }

  /** The source as it is now: what is open stays in its revision. */
  get #newest() {
    if (!this.source.draft) return this.source;
    const { revision: _, ...newest } = this.source;
    return newest;
  }

  /** @param {Opened} answer */
  #take(answer) {
    if (this.source.draft && answer.revision) this.source = { ...this.#newest, revision: answer.revision };
    this.title = answer.title;
    this.scenario = answer.scenario;
    this.nodes = answer.nodes;
    this.pods = answer.pods;
    this.#table = new NodeTable(this.nodes);
    this.nodeIndex = new Map(this.nodes.names.map((name, i) => [name, i]));
    this.podIndex = new Map(this.pods.keys.map((key, i) => [key, i]));
    this.cycles = answer.cycles;
    this.complete = answer.complete;
    this.expected = answer.expected;
    this.stopped = answer.stopped;
    this.end = answer.end;
    this.timed = answer.timed;
    this.release = answer.release;
    this.policy = answer.policy;
    this.summary = answer.summary ?? {};
    this.warnings = answer.warnings ?? [];
  }

  /**
   * Ask the server; what something newer of this page overtook is asked for again while it is wanted.
   *
   * @template {Command} C
   * @param {C} command
   * @param {Commands[C]["asks"]} payload
   * @param {() => boolean} [wanted]
   * @param {CallOptions} [options]
   * @returns {Promise<Commands[C]["answers"]>}
   */
  async ask(command, payload, wanted = () => true, options = {}) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.socket.call(command, payload, options);
      } catch (error) {
        // Another tab has saved in this very moment.
        const overtaken = refusalOf(error).code === "draft.stale" && command === "scenario.open";
        if (!(overtaken || superseded(error)) || tries >= ASKED_AGAIN || !wanted()) throw error;
        await new Promise((resolve) => {
          setTimeout(resolve, 20 * tries);
        });
      }
    }
  }

  async #reopen() {
    let answer;
    try {
      answer = await this.socket.call("scenario.open", { source: this.source });
    } catch (error) {
      if (refusalOf(error).code === "draft.stale") return; // another tab has saved meanwhile: it is opened anew
      if (!superseded(error)) this.emit("failed", error); // else the connection was lost again, and this was asked anew
      return;
    }
    const grown = answer.cycles > this.cycles;
    this.cycles = Math.max(this.cycles, answer.cycles);
    this.complete = answer.complete;
    this.stopped = answer.stopped;
    this.end = answer.end;
    if (grown) this.#loadMarks(this.generation);
    this.emit("grew");
    if (this.wanted !== this.index) this.goto(this.wanted, undefined, this.wish);
  }

  /** @param {Pushed["timeline.grew"]} grew */
  #grew({ source, cycles, complete, end, stopped, from, marks }) {
    if (!this.nodes || source.revision !== this.source.revision) return; // of a revision that is open no more
    this.cycles = Math.max(this.cycles, cycles);
    this.complete = complete;
    this.stopped = stopped;
    this.end = end;
    if (marks) this.marks.put(from, marks);
    if (this.marks.known < this.cycles && complete) this.#loadMarks(this.generation);
    this.emit("grew");
  }

  /** @param {number} generation */
  async #loadMarks(generation) {
    if (this.locked) return;
    try {
      while (generation === this.generation && this.marks.known < this.cycles) {
        const from = this.marks.known + 1;
        const to = Math.min(this.cycles, from + MARKS_AT_ONCE - 1);
        const answer = await this.ask("timeline.get", { source: this.source, from, to });
        if (generation !== this.generation || !answer.marks.result.length) return;
        this.marks.put(answer.from, answer.marks);
        this.emit("grew");
      }
    } catch (error) {
      this.emit("failed", error);
    }
  }

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

  /** The nodes of the table that are not there in what is shown. */
  get gone() {
    return this.#table?.gone ?? NO_NODES;
  }

  /** Whether the newest wish is still to be shown, with the next frame: it may be of the shown step, another moment. */
  get behind() {
    return this.#due;
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
    return this.#standing?.changed(this) ?? NO_CHANGES;
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

  /**
   * Move to a step, or to a moment or phase in it. `since` is the time of the input that asked, for the timings;
   * `linked`: an address asked.
   *
   * @param {number} index
   * @param {number} [since]
   * @param {{at?: number, phase?: string, linked?: boolean}} [wish]
   */
  goto(index, since = performance.now(), { at = 0, phase = "", linked = false } = WHOLE) {
    if (!this.nodes) return;
    const rounded = Math.round(index);
    const to = Math.max(0, Math.min(this.last, rounded));
    this.wanted = to;
    this.wish = to === rounded && to > 0 ? { at, phase, linked } : WHOLE;
    this.since = since;
    this.emit("seek", to);
    if (!this.#has(to)) this.#fetchWanted();
    else if (this.#painting && !document.hidden) this.#due = true;
    else this.#present(to);
  }

  /**
   * Show a step; what is asked for before it is painted is shown with the next frame, the newest only. A held key must
   * not outrun the screen.
   *
   * @param {number} index
   */
  #present(index) {
    this.#show(index);
    if (this.#painting) return;
    this.#painting = true;
    requestAnimationFrame(() => {
      this.#painting = false;
      if (!this.#due) return;
      if (this.#has(this.wanted)) this.#present(this.wanted);
      else this.#fetchWanted();
    });
  }

  /**
   * Resolve as soon as this page knows of a cycle, which the server has computed; a push announces it soon.
   *
   * @param {number} index
   */
  async has(index) {
    while (this.nodes && index > this.last && this.complete === false)
      await new Promise((resolve) => {
        setTimeout(resolve, 30);
      });
  }

  /** Go to the end, as soon as all is computed, unless somebody goes elsewhere before. */
  awaitEnd() {
    const from = (this.#endFrom = this.wanted);
    const stop = this.on("grew", () => {
      if (this.wanted === from && !this.complete) return;
      stop();
      this.#endFrom = -1;
      if (this.wanted === from) this.goto(this.last);
    });
    if (this.complete) {
      stop();
      this.#endFrom = -1;
      this.goto(this.last);
    }
  }

  /** Whether the end is waited for, and nobody has gone elsewhere. */
  get awaitsEnd() {
    return this.wanted === this.#endFrom;
  }

  /**
   * The moments of a step, asked for if need be.
   *
   * @param {number} index
   */
  async momentsOf(index) {
    if (!this.heavy(index)) await this.records.get(index);
    return this.heavy(index)?.moments ?? [];
  }

  /**
   * Whether a step can be shown without asking.
   *
   * @param {number} index
   */
  #has(index) {
    if (index > this.cycles) return Boolean(this.heavy(index)) && (!this.cycles || Boolean(this.light(this.cycles)));
    return index === 0 || Boolean(this.light(index));
  }

  /** @param {number} index */
  #show(index) {
    this.#due = false;
    this.#resolve(index);
    const stays =
      index === this.index && (this.at !== 0 || this.phase !== "" || this.wish.at !== 0 || this.wish.phase !== "");
    this.index = index;
    ({ at: this.at, phase: this.phase } = this.wish);
    this.#stand();
    const heavy = this.heavy(index);
    if (stays) this.emit("moment", { index, since: this.since });
    else this.emit("step", { index, since: this.since, heavy: Boolean(heavy) || index === 0 });
    if (!heavy && index > 0) this.#fetchHeavy();
    if (!stays) idle(() => this.#prefetch(index));
  }

  /**
   * Only now it is known which phases the cycle had: of a wish for another one the whole cycle is left.
   *
   * @param {number} index
   */
  #resolve(index) {
    const { phase, linked } = this.wish;
    if (!phase) return;
    const light = this.light(index);
    const phases = light ? wentThrough(light, this.timed) : [];
    this.wish = {
      at: 0,
      linked,
      phase: phase === LAST_PHASE ? (phases.at(-1) ?? "") : phases.includes(phase) ? phase : "",
    };
  }

  /** Let the cluster and the table of nodes be as they are at what is shown. */
  #stand() {
    const { index, moments } = this;
    if (index > 0 && moments && (this.at === LAST || this.at > moments.length)) this.at = moments.length;
    this.#standing?.follow(this);
    this.#table?.amend(this);
  }

  /**
   * Take in pods that controllers made since the source was opened.
   *
   * @param {LaterPods} came
   */
  meet(came) {
    if (!meet(this.pods, this.podIndex, came)) return;
    this.cluster.widen();
    this.emit("met");
  }

  async #fetchWanted() {
    if (this.#windowBusy) return;
    this.#windowBusy = true;
    const generation = this.generation;
    let tries = 0;
    try {
      while (generation === this.generation && this.wanted !== this.index && tries < 40) {
        const to = this.wanted;
        if (this.#has(to)) {
          this.#show(to);
          break;
        }
        const cycle = Math.min(to, this.cycles);
        const from = this.records.start(cycle);
        if (this.records.fetching(from)) await new Promise((resolve) => setTimeout(resolve, 8));
        else {
          tries += 1;
          if (to > this.cycles && (!cycle || this.light(cycle))) {
            await this.records.get(to);
            continue;
          }
          await this.records.fetch(from);
          const computed = to > this.cycles || this.light(to);
          if (!computed) await new Promise((resolve) => setTimeout(resolve, 250));
        }
      }
    } catch (error) {
      this.emit("failed", error);
    } finally {
      this.#windowBusy = false;
      if (generation !== this.generation && this.wanted !== this.index) this.#fetchWanted();
    }
  }

  async #fetchHeavy() {
    if (this.#heavyBusy) return;
    this.#heavyBusy = true;
    const generation = this.generation;
    try {
      while (generation === this.generation && this.index > 0 && !this.heavy(this.index)) {
        const index = this.index;
        try {
          await this.records.get(index);
        } catch (error) {
          if (superseded(error)) continue;
          throw error;
        }
        if (generation !== this.generation || index !== this.index) continue;
        if (this.at !== 0 || this.phase !== "") {
          this.#stand(); // only now it is known who moved when
          this.emit("moment", { index, since: this.since });
        }
        this.emit("parts", { index, since: this.since });
      }
    } catch (error) {
      this.emit("failed", error);
    } finally {
      this.#heavyBusy = false;
      if (generation !== this.generation && this.index > 0 && !this.heavy(this.index)) this.#fetchHeavy();
    }
  }

  /** @param {number} index */
  #prefetch(index) {
    const { generation } = this;
    const wanted = () => this.wanted === index && generation === this.generation;
    if (wanted()) this.records.prefetch(index, { wanted, busy: () => this.#heavyBusy });
  }
}
