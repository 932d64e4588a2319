// What is played: opens a source and moves through time (playback/ has what that takes; shown.ts what panels read).
// Within the cache a step needs no server; outside it the newest wish wins.
// A position is a cycle, and in it the whole of it, or a moment (`at`, from 1), or a phase. After the last cycle of a
// run in virtual time comes the end, as index `cycles` + 1.

import type { Commands, LaterPods, Opened, Pushed, Report, Source } from "../../lib/protocol.js";
import type { CallOptions, Command, Socket } from "../../lib/socket.ts";
import { refusalOf, superseded } from "../../lib/socket.ts";
import { Marks } from "./marks.ts";
import { wentThrough } from "./phases.ts";
import { NodeTable } from "./nodetable.ts";
import { terminatingIn } from "./terminating.ts";
import { LAST, LAST_PHASE, WHOLE } from "./place.ts";
import { meet } from "./podtable.ts";
import { Records } from "./records.ts";
import { Shown } from "./shown.ts";
import { follow } from "./store.ts";
import { Standing } from "./standing.ts";

const MARKS_AT_ONCE = 20_000;
const ASKED_AGAIN = 10; // times, of what something newer overtook though it is still wanted

const idle: (f: () => void) => void =
  "requestIdleCallback" in window ? (f) => requestIdleCallback(f, { timeout: 300 }) : (f) => setTimeout(f, 30);

export class Playback extends Shown {
  locked = false; // whether its page shows one step alone, in a frame
  fresh = false; // whether nothing that this browser remembers is shown, as on a projector
  wish = WHOLE; // both of what is asked for
  since = 0; // when what is asked for was asked for
  generation = 0; // grows with every opening: what was asked before is dropped
  marks: Marks;
  #windowBusy = false;
  #heavyBusy = false;
  #painting = false; // a step was shown since the last frame
  #due = false; // another one was asked for since
  #endFrom = -1; // where one was when the end was asked for, until it is there
  #opening: Promise<Opened> | null = null; // the newest answer to an opening
  // what was known before the veil
  #beyond: { cycles: number; complete: boolean; stopped: string | null; end: boolean } | null = null;
  #cut: string | null = null; // the last phase of the veil's cycle that is shown
  constructor(
    readonly socket: Socket,
    public source: Source,
  ) {
    super();
    this.records = new Records(this);
    this.marks = new Marks();
    socket.on("timeline.grew", (grew) => this.#grew(grew));
    socket.on("up", (first) => {
      if (!first && this.nodes) this.#reopen();
    });
  }

  /**
   * Open the source (again) and resolve with the answer; with that of a newer opening where there is one. Does not
   * move. `progress` receives how far it is read.
   */
  open(step = "", progress?: (report: Report) => void): Promise<Opened> {
    this.#opening = this.#open(step, progress);
    return this.#opening;
  }

  async #open(step: string, progress?: (report: Report) => void): Promise<Opened> {
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
    this.standing = new Standing(this.nodes, this.pods);
    this.cluster = this.standing.cluster;
    const { index } = answer;
    if (index !== null && index > 0 && index <= this.cycles) this.records.ahead(index);
    this.store.scenario.value = answer;
    this.#loadMarks(generation);
    return answer;
  }

  /**
   * Show nothing after a cycle, as the server answers nothing of it, until that is undone by null; of that cycle
   * nothing after `phase`, where there is one.
   */
  async veil(last: number | null, phase: string | null = null) {
    const { veiled: before } = this;
    const cut = this.#cut;
    if (last === before && phase === cut) return;
    this.veiled = last;
    this.#cut = phase;
    this.store.veil.value = { last };
    if (!this.nodes) return; // what opens it is answered accordingly
    if (cut !== null || phase !== null) {
      // What is known of that cycle is no longer all that may be known, or more than that.
      this.records.clip(Math.min(cut !== null ? (before ?? 0) : Infinity, phase !== null ? (last ?? 0) : Infinity) - 1);
      this.generation += 1;
      this.marks = new Marks();
    }
    if (last === null) {
      await this.#unveil();
      return;
    }
    const { cycles, complete, stopped, end } = this;
    if (before !== null && last > before) {
      await this.#lift(last);
      return;
    }
    if (cycles > last) this.#beyond ??= { cycles, complete, stopped, end };
    this.generation += 1; // what is on its way is dropped
    Object.assign(this, { cycles: Math.min(cycles, last), complete: true, stopped: null, end: false });
    this.records.clip(last);
    this.marks = new Marks();
    this.#loadMarks(this.generation);
    this.know();
    this.goto(this.wanted, undefined, this.wish);
  }

  /** Go on to a later veil: what lies between is asked for. */
  async #lift(last: number) {
    this.#beyond = null; // what it was is known again once there is no veil
    this.marks = new Marks();
    this.cycles = 0;
    await this.#reopen();
    this.cycles = Math.min(this.cycles, last);
  }

  async #unveil() {
    const beyond = this.#beyond;
    this.#beyond = null;
    if (!beyond?.complete) {
      await this.#reopen();
      return;
    }
    Object.assign(this, beyond);
    this.#loadMarks(this.generation);
    this.know();
    if (this.#away) this.goto(this.wanted, undefined, this.wish);
  }

  /** More is known of the run, or it is known otherwise. */
  know() {
    const { cycles, complete } = this;
    this.store.known.value = { cycles, complete };
  }

  /** The source as it is now: what is open stays in its revision. */
  get #newest() {
    if (!this.source.draft) return this.source;
    const { revision: _, ...newest } = this.source;
    return newest;
  }

  #take(answer: Opened) {
    if (this.source.draft && answer.revision) this.source = { ...this.#newest, revision: answer.revision };
    this.title = answer.title;
    this.scenario = answer.scenario;
    this.nodes = answer.nodes;
    this.pods = answer.pods;
    this.table = new NodeTable(this.nodes);
    this.nodeIndex = new Map(this.nodes.names.map((name, i) => [name, i]));
    this.podIndex = new Map(this.pods.keys.map((key, i) => [key, i]));
    this.cycles = answer.cycles;
    this.complete = answer.complete;
    this.expected = answer.expected;
    this.stopped = answer.stopped;
    this.end = answer.end;
    this.timed = answer.timed;
    this.release = answer.release;
    this.offered = answer.offered;
    this.schedulers = answer.schedulers;
    this.descheduler = answer.descheduler;
    this.policy = answer.policy;
    this.summary = answer.summary ?? {};
    this.warnings = answer.warnings ?? [];
    this.recorded = answer.recorded ?? 0;
    this.dump = answer.dump ?? false;
  }

  /** Ask the server; what something newer of this page overtook is asked for again while it is wanted. */
  async ask<C extends Command>(
    command: C,
    payload: Commands[C]["asks"],
    wanted: () => boolean = () => true,
    options: CallOptions = {},
  ): Promise<Commands[C]["answers"]> {
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

  /** The major.minor of a cycle, "1.0" before the first. */
  async address(index: number): Promise<string> {
    if (!index) return "1.0";
    const asked = { source: this.source, step: String(index), parts: [] };
    return this.light(index)?.step ?? (await this.ask("cycle.get", asked)).step;
  }

  async #reopen() {
    let answer;
    try {
      answer = await this.socket.call("scenario.open", { source: this.source });
    } catch (error) {
      if (refusalOf(error).code === "draft.stale") return; // another tab has saved meanwhile: it is opened again
      if (!superseded(error)) this.failed(error); // else the connection was lost, and this was sent again
      return;
    }
    const grown = answer.cycles > this.cycles;
    this.cycles = Math.max(this.cycles, answer.cycles);
    this.complete = answer.complete;
    this.stopped = answer.stopped;
    this.end = answer.end;
    if (grown) this.#loadMarks(this.generation);
    this.know();
    if (this.#away) this.goto(this.wanted, undefined, this.wish);
  }

  #grew({ source, cycles, complete, end, stopped, from, marks }: Pushed["timeline.grew"]) {
    if (!this.nodes || source.revision !== this.source.revision) return; // of a revision that is open no more
    this.cycles = Math.max(this.cycles, cycles);
    this.complete = complete;
    this.stopped = stopped;
    this.end = end;
    if (marks) this.marks.put(from, marks);
    if (this.marks.known < this.cycles && complete) this.#loadMarks(this.generation);
    this.know();
  }

  async #loadMarks(generation: number) {
    if (this.locked) return;
    try {
      while (generation === this.generation && this.marks.known < this.cycles) {
        const from = this.marks.known + 1;
        const to = Math.min(this.cycles, from + MARKS_AT_ONCE - 1);
        const answer = await this.ask("timeline.get", { source: this.source, from, to });
        if (generation !== this.generation || !answer.marks.result.length) return;
        this.marks.put(answer.from, answer.marks);
        this.know();
      }
    } catch (error) {
      this.failed(error);
    }
  }

  /** Whether the newest wish is still to be shown, with the next frame: it may be of the shown step, another moment. */
  get behind() {
    return this.#due;
  }

  /**
   * Move to a step, or to a moment or phase in it. `since` is the time of the input that asked, for the timings;
   * `linked`: an address asked.
   */
  goto(
    index: number,
    since: number = performance.now(),
    { at = 0, phase = "", linked = false }: { at?: number; phase?: string; linked?: boolean } = WHOLE,
  ) {
    if (!this.nodes) return;
    const rounded = Math.round(index);
    const to = Math.max(0, Math.min(this.last, rounded));
    this.wanted = to;
    this.wish = to === rounded && to > 0 ? { at, phase, linked } : WHOLE;
    this.since = since;
    this.store.wanted.value = { index: to };
    if (!this.#has(to)) this.#fetchWanted();
    else if (this.#painting && !document.hidden) this.#due = true;
    else this.#present(to);
  }

  /**
   * Where a step on leads: to the end of the cycle of which a part is shown, so that its outcome is not passed over,
   * else to the next one.
   */
  get onward() {
    const { index, wanted, wish } = this;
    const partly = wish.at !== 0 || wish.phase !== "";
    return partly && !(index === wanted && this.asOf >= index) ? wanted : wanted + 1;
  }

  /**
   * Show a step; what is asked for before it is painted is shown with the next frame, the newest only. A held key must
   * not outrun the screen.
   */
  #present(index: number) {
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

  /** Resolve as soon as this page knows of a cycle, which the server has computed; a push announces it soon. */
  async has(index: number) {
    while (this.nodes && index > this.last && this.complete === false)
      await new Promise((resolve) => {
        setTimeout(resolve, 30);
      });
  }

  /** Go to the end, as soon as all is computed, unless somebody goes elsewhere before. */
  awaitEnd() {
    const from = (this.#endFrom = this.wanted);
    const stop = follow(this.store.known, () => {
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

  /** The moments of a step, asked for if need be. */
  async momentsOf(index: number) {
    if (!this.heavy(index)) await this.records.get(index);
    return this.heavy(index)?.moments ?? [];
  }

  /** Whether another step is wanted than the shown one, or more of it than is known since a veil was lifted. */
  get #away() {
    return this.wanted !== this.index || !this.#has(this.wanted);
  }

  /** Whether a step can be shown without asking. */
  #has(index: number) {
    if (index > this.cycles) return Boolean(this.heavy(index)) && (!this.cycles || Boolean(this.light(this.cycles)));
    return index === 0 || Boolean(this.light(index));
  }

  #show(index: number) {
    this.#due = false;
    this.#resolve(index);
    const stays =
      index === this.index && (this.at !== 0 || this.phase !== "" || this.wish.at !== 0 || this.wish.phase !== "");
    this.index = index;
    ({ at: this.at, phase: this.phase } = this.wish);
    this.#stand();
    const heavy = this.heavy(index);
    const reached = { index, since: this.since, heavy: Boolean(heavy) || index === 0 };
    if (stays) this.store.moment.value = reached;
    else this.store.step.value = reached;
    if (!heavy && index > 0) this.#fetchHeavy();
    if (!stays) idle(() => this.#prefetch(index));
  }

  /** Only now it is known which phases the cycle had: of a wish for another one the whole cycle is left. */
  #resolve(index: number) {
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
    this.standing?.follow(this);
    this.table?.amend(this);
    this.terminating = terminatingIn(this);
  }

  /** Take in pods that controllers made since the source was opened. */
  meet(came: LaterPods) {
    if (!meet(this.pods, this.podIndex, came)) return;
    this.cluster.widen();
    this.store.pods.value = { count: this.pods.keys.length };
  }

  async #fetchWanted() {
    if (this.#windowBusy) return;
    this.#windowBusy = true;
    const generation = this.generation;
    let tries = 0;
    try {
      while (generation === this.generation && this.#away && tries < 40) {
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
      this.failed(error);
    } finally {
      this.#windowBusy = false;
      if (generation !== this.generation && this.#away) this.#fetchWanted();
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
        const reached = { index, since: this.since, heavy: true };
        if (this.at !== 0 || this.phase !== "") {
          this.#stand(); // only now it is known who moved when
          this.store.moment.value = reached;
        }
        this.store.parts.value = reached;
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.#heavyBusy = false;
      if (generation !== this.generation && this.index > 0 && !this.heavy(this.index)) this.#fetchHeavy();
    }
  }

  #prefetch(index: number) {
    const { generation } = this;
    const wanted = () => this.wanted === index && generation === this.generation;
    if (wanted()) this.records.prefetch(index, { wanted, busy: () => this.#heavyBusy });
  }
}
