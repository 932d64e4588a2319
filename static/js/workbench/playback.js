// What is played: opens a source, keeps a bounded cache of windows and heavy parts, and moves through time.
// Within the cache a step needs no server; outside it the newest wish wins.
// A position is a cycle, and in it the whole of it, or a moment (`at`, from 1), or a phase. After the last cycle of a
// run in virtual time comes the end, as index `cycles` + 1.

import { Emitter } from "../lib/emitter.js";
import { Lru } from "../lib/lru.js";
import { superseded } from "../lib/socket.js";
import { ABSENT, Cluster } from "./cluster.js";
import { cut, cutEnd } from "./cut.js";
import { Marks } from "./marks.js";
import { assumed, wentThrough } from "./phases.js";
import { Verdict } from "./verdict.js";

// Cycles asked for at once, and windows kept, by the number of nodes: what the server decides anew for a window
// grows with the nodes, and a scrub into the unknown must not wait for it.
const WINDOWS = [[600, 50, 24], [2_000, 20, 48], [Infinity, 8, 90]];
const MARKS_AT_ONCE = 20_000;
const AMENDED = ["cpu", "memory", "pods", "taints", "unschedulable", "labels", "conditions"]; // of a node, by an update
const PARTS = ["inspect", "moments", "cuts"];
const ASKED_AGAIN = 6; // times, of what something newer overtook though it is still wanted
export const LAST = -1; // as a moment: the last one there is
export const LAST_PHASE = "last";
const WHOLE = { at: 0, phase: "", linked: false };

const idle = window.requestIdleCallback ? (f) => requestIdleCallback(f, { timeout: 300 }) : (f) => setTimeout(f, 30);

export class Playback extends Emitter {
  #windows = new Lru(WINDOWS[0][2]);
  #span = WINDOWS[0][1]; // cycles of a window
  #heavy;
  #shownFrom = 0; // the window the cluster was derived from
  #clusterAt = 0;
  #fetching = new Set();
  #getting = new Map();
  #windowBusy = false;
  #heavyBusy = false;
  #painting = false; // a step was shown since the last frame
  #due = false; // another one was asked for since
  #generation = 0;
  #endFrom = -1; // where one was when the end was asked for, until it is there
  #opening = null; // the newest answer to an opening, as a promise
  #given = new Map(); // of nodes that changed: what the table said when the source was opened
  #cut = null; // the shown cycle as far as it has come, with what it was cut from
  #origins = { index: -1, nodes: new Map() }; // where the pods were that a cycle moves
  #changes = { key: "", nodes: new Map() };
  #amended = new Map(); // of nodes that are not as given: in what, as the table says it now

  constructor(socket, source) {
    super();
    this.socket = socket;
    this.source = source;
    this.index = -1; // what is shown
    this.wanted = 0; // what is asked for
    this.at = 0; // the moment that is shown, from 1; 0: all of the cycle; LAST until it is known which that is
    this.phase = ""; // the phase that is shown, instead of a moment
    this.wish = WHOLE; // both of what is asked for
    this.gone = new Set(); // the nodes of the table that are not there in what is shown
    this.marks = new Marks();
    socket.on("timeline.grew", (grew) => this.#grew(grew));
    socket.on("up", (first) => { if (!first && this.nodes) this.#reopen(); });
  }

  /** Open (or open anew) and resolve with the answer; with that of a newer opening where there is one. Does not move. `progress` hears how far it is read. */
  open(step = "", progress = undefined) {
    this.#opening = this.#open(step, progress);
    return this.#opening;
  }

  async #open(step, progress) {
    const generation = ++this.#generation;
    const newest = () => generation === this.#generation;
    let answer;
    try {
      answer = await this.ask("scenario.open", { source: this.#newest, ...(step ? { step } : {}) }, newest, { progress });
    } catch (error) {
      if (newest() || !superseded(error)) throw error;
      return this.#opening;
    }
    if (generation !== this.#generation) return answer;
    this.#take(answer);
    const [, span, kept] = WINDOWS.find(([most]) => this.nodes.names.length <= most);
    this.#span = span;
    this.#windows = new Lru(kept);
    this.#heavy = new Lru(this.nodes.names.length > 2000 ? 12 : this.nodes.names.length > 500 ? 24 : 60);
    this.#shownFrom = 0; this.#clusterAt = 0; this.index = -1;
    this.#origins = { index: -1, nodes: new Map() };
    this.#changes = { key: "", nodes: new Map() };
    this.at = 0; this.phase = ""; this.wish = WHOLE;
    this.marks = new Marks();
    this.cluster = new Cluster(this.nodes, this.pods);
    this.#ahead(answer.index);
    this.emit("opened", answer);
    this.#loadMarks(generation);
    return answer;
  }

  /** Ask for the step that a link leads to, while the page draws itself: both at once, not one after the other. */
  #ahead(index) {
    if (!(index > 0) || index > this.cycles) return;
    for (const asked of [this.#window(this.#start(index)), this.#get(index)]) asked.catch(() => { /* asked for again where it is wanted */ });
  }

  /** The source as it is now: what is open stays in its revision. */
  get #newest() { return this.source.draft ? { draft: this.source.draft } : this.source; }

  #take(answer) {
    if (this.source.draft && answer.revision) this.source = { draft: this.source.draft, revision: answer.revision };
    this.title = answer.title;
    this.scenario = answer.scenario;
    this.nodes = answer.nodes;
    this.pods = answer.pods;
    this.nodes.extended ??= {};
    this.nodes.conditions ??= this.nodes.names.map(() => []);
    this.#given.clear();
    this.#amended = new Map();
    this.gone = new Set((this.nodes.since ?? []).flatMap((since, node) => (since > 1 ? [node] : [])));
    this.nodeIndex = new Map(this.nodes.names.map((name, i) => [name, i]));
    this.podIndex = new Map(this.pods.keys.map((key, i) => [key, i]));
    this.cycles = answer.cycles;
    this.complete = answer.complete;
    this.expected = answer.expected; // cycles, if no pod is tried twice; null where nobody knows
    this.stopped = answer.stopped;
    this.end = answer.end;
    this.timed = answer.timed;
    this.policy = answer.policy;
    this.summary = answer.summary ?? {};
    this.warnings = answer.warnings ?? [];
  }

  /** Ask the server; what something newer of this page overtook is asked for again while it is wanted. */
  async ask(command, payload, wanted = () => true, options = {}) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.socket.call(command, payload, options);
      } catch (error) {
        const overtaken = error.code === "draft.stale" && command === "scenario.open"; // it was saved in this very moment
        if (!(overtaken || superseded(error)) || tries >= ASKED_AGAIN || !wanted()) throw error;
        await new Promise((resolve) => { setTimeout(resolve, 20 * tries); });
      }
    }
  }

  async #reopen() {
    let answer;
    try {
      answer = await this.socket.call("scenario.open", { source: this.source });
    } catch (error) {
      if (error.code === "draft.stale") return; // another tab has saved meanwhile: it is opened anew
      if (!superseded(error)) this.emit("failed", error); // else the connection was lost again, and this was asked anew
      return;
    }
    const grown = answer.cycles > this.cycles;
    this.cycles = Math.max(this.cycles, answer.cycles);
    this.complete = answer.complete;
    this.stopped = answer.stopped;
    this.end = answer.end;
    if (grown) this.#loadMarks(this.#generation);
    this.emit("grew");
    if (this.wanted !== this.index) this.goto(this.wanted, undefined, this.wish);
  }

  #grew({ source, cycles, complete, end, stopped, from, marks }) {
    if (!this.nodes || source.revision !== this.source.revision) return; // of a revision that is open no more
    this.cycles = Math.max(this.cycles, cycles);
    this.complete = complete;
    this.stopped = stopped;
    this.end = end;
    if (marks) this.marks.put(from, marks);
    if (this.marks.known < this.cycles && complete) this.#loadMarks(this.#generation);
    this.emit("grew");
  }

  async #loadMarks(generation) {
    try {
      while (generation === this.#generation && this.marks.known < this.cycles) {
        const from = this.marks.known + 1;
        const to = Math.min(this.cycles, from + MARKS_AT_ONCE - 1);
        const answer = await this.ask("timeline.get", { source: this.source, from, to });
        if (generation !== this.#generation || !answer.marks.result.length) return;
        this.marks.put(answer.from, answer.marks);
        this.emit("grew");
      }
    } catch (error) {
      this.emit("failed", error);
    }
  }

  /** The first cycle of the window that holds a cycle. */
  #start(index) { return 1 + Math.floor((index - 1) / this.#span) * this.#span; }

  /** The cheap record of a cycle, if it is in the cache. */
  light(index) {
    const found = index >= 1 ? this.#windows.get(this.#start(index)) : null;
    return found?.cycles[index - found.from] ?? null;
  }

  /** The heavy parts of a cycle, if they are in the cache. */
  heavy(index) { return this.#heavy?.get(index) ?? null; }

  /** Whether the newest wish is still to be shown, with the next frame: it may be of the shown step, another moment. */
  get behind() { return this.#due; }

  /** The shown cycle as far as it has come: what every panel reads; see cut.js. */
  get current() { return this.#come.light; }
  get parts() { return this.#come.parts; }
  get reached() { return this.#come.reached; }

  /** Whether a moment or a phase is shown, and not all of a step. */
  get partly() { return this.at !== 0 || this.phase !== ""; }

  /** The step after which everything stands as it does in what is shown, as far as only whole steps are known of. */
  get asOf() { const { over, whole } = this.reached; return whole || (over && !this.timed) ? this.index : this.index - 1; }

  /** The last cycle of which all is over in what is shown. */
  get settled() { return Math.min(this.asOf, this.cycles); }

  get #come() {
    const light = this.light(this.index);
    const parts = this.heavy(this.index);
    const { at, phase, index } = this;
    const known = this.#cut;
    if (known && known.of[0] === light && known.of[1] === parts && known.of[2] === at && known.of[3] === phase) return known;
    const found = light ? cut(light, parts, { at, phase }) : { light, parts: this.atEnd ? cutEnd(parts, this.heavy(index - 1), { at }) : parts, reached: cut(null, null, WHOLE).reached };
    this.#cut = { ...found, of: [light, parts, at, phase] };
    return this.#cut;
  }

  /** Of nodes that are otherwise now than when the predicates looked at them: how many pods left and came since, but for the pod of the cycle. */
  get changed() {
    const { moments, index, at, phase } = this;
    const key = `${index}/${at}/${phase}/${moments ? 1 : 0}`;
    if (this.#changes.key !== key) this.#changes = { key, nodes: moments && index <= this.cycles ? this.#changedBy(moments) : new Map() };
    return this.#changes.nodes;
  }

  #changedBy(moments) {
    const nodes = new Map();
    if (this.#origins.index !== this.index) return nodes;
    const tried = moments.findIndex(({ kind }) => kind === "attempt");
    const { pod: own } = this.light(this.index);
    const where = new Map(this.#origins.nodes);
    for (const { moves } of moments.slice(0, tried)) for (const [pod, node] of moves) where.set(pod, node ?? ABSENT);
    const at = (node) => { if (!nodes.has(node)) nodes.set(node, { left: 0, came: 0 }); return nodes.get(node); };
    for (const { moves, kind, nodes: about = [] } of moments.slice(tried, this.#passed(moments))) {
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

  /** How many moments of the shown step have passed. */
  #passed(moments) {
    const tried = moments.findIndex(({ kind }) => kind === "attempt");
    return this.at > 0 ? this.at : this.at === LAST ? 0 : this.phase ? tried + (assumed(this.phase) ? 1 : 0) : moments.length;
  }

  /** The last index there is: the end, or the last cycle where there is none. */
  get last() { return this.cycles + (this.end ? 1 : 0); }

  /** Whether the end of the run is shown. */
  get atEnd() { return this.end === true && this.index === this.cycles + 1; }

  /** The cycle that is shown or was the last before what is shown: the end is after the last one. */
  get cycle() { return Math.min(this.index, this.cycles); }

  /** The same of what is asked for. */
  get wantedCycle() { return Math.min(this.wanted, this.cycles); }

  /** The moments of the shown step, `null` while they are not known. */
  get moments() { return this.heavy(this.index)?.moments ?? null; }

  /** The moment that is shown; `null` where all of a step is, or a phase. */
  get moment() { return this.at > 0 ? this.moments?.[this.at - 1] ?? null : null; }

  /** Virtual seconds of what is shown; `null` while they are not known. */
  get time() { return this.index === 0 ? 0 : this.moment?.time ?? this.light(this.index)?.time ?? (this.atEnd ? this.heavy(this.index)?.time : null) ?? null; }

  /** Move to a step, or to a moment or phase in it. `since` is the time of the input that asked, for the timings; `linked`: an address asked. */
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

  /** Show a step; whoever asks for more before it is painted gets the newest with the next frame. A held key must not outrun the screen. */
  #present(index) {
    this.#show(index);
    if (this.#painting) return;
    this.#painting = true;
    requestAnimationFrame(() => {
      this.#painting = false;
      if (!this.#due) return;
      if (this.#has(this.wanted)) this.#present(this.wanted); else this.#fetchWanted();
    });
  }

  /** Resolve as soon as this page knows of a cycle, which the server has computed; it is told of soon. */
  async has(index) {
    while (this.nodes && index > this.last && this.complete === false) await new Promise((resolve) => { setTimeout(resolve, 30); });
  }

  /** Go to the end, as soon as all is computed, unless somebody goes elsewhere before. */
  awaitEnd() {
    const from = this.#endFrom = this.wanted;
    const stop = this.on("grew", () => {
      if (this.wanted === from && !this.complete) return;
      stop();
      this.#endFrom = -1;
      if (this.wanted === from) this.goto(this.last);
    });
    if (this.complete) { stop(); this.#endFrom = -1; this.goto(this.last); }
  }

  /** Whether the end is waited for, and nobody has gone elsewhere. */
  get awaitsEnd() { return this.wanted === this.#endFrom; }

  /** The moments of a step, asked for if need be. */
  async momentsOf(index) {
    if (!this.heavy(index)) await this.#get(index);
    return this.heavy(index)?.moments ?? [];
  }

  /** Whether a step can be shown without asking. */
  #has(index) {
    if (index > this.cycles) return Boolean(this.heavy(index)) && (!this.cycles || Boolean(this.light(this.cycles)));
    return index === 0 || Boolean(this.light(index));
  }

  #show(index) {
    this.#due = false;
    this.#resolve(index);
    const stays = index === this.index && (this.at !== 0 || this.phase !== "" || this.wish.at !== 0 || this.wish.phase !== "");
    this.index = index;
    ({ at: this.at, phase: this.phase } = this.wish);
    this.#stand();
    this.#amend(index);
    const heavy = this.heavy(index);
    if (stays) this.emit("moment", { index, since: this.since });
    else this.emit("step", { index, since: this.since, heavy: Boolean(heavy) || index === 0 });
    if (!heavy && index > 0) this.#fetchHeavy();
    if (!stays) idle(() => this.#prefetch(index));
  }

  /** Only now it is known which phases the cycle had: of a wish for another one the whole cycle is left. */
  #resolve(index) {
    const { phase, linked } = this.wish;
    if (!phase) return;
    const phases = this.light(index) ? wentThrough(this.light(index), this.timed) : [];
    this.wish = { at: 0, linked, phase: phase === LAST_PHASE ? phases.at(-1) ?? "" : phases.includes(phase) ? phase : "" };
  }

  /** Let the cluster stand as it is after what is shown. */
  #stand() {
    const { index, moments } = this;
    if (index > 0 && moments) {
      if (this.at === LAST || this.at > moments.length) this.at = moments.length;
    }
    const { partly } = this;
    if (index > this.cycles) this.#derive(this.cycles);
    else this.#derive(index, partly ? index - 1 : index);
    if (partly || index > this.cycles) this.#move(moments ?? []);
  }

  /** Move the pods that moved until the shown moment or phase. */
  #move(moments) {
    for (const { moves } of moments.slice(0, this.#passed(moments))) this.cluster.apply(moves.map(([pod, node]) => [pod, node ?? ABSENT]));
    this.#shownFrom = -1; // from here on no window's changes lead further
  }

  /** Let the table of nodes say what they have at what is shown: operations and controllers change it. */
  #amend(index) {
    const states = this.#states(index);
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

  /** The nodes that are not as they were when the source was opened, each with what differs; `null`: it is not there. */
  #states(index) {
    const cycle = Math.min(index, this.cycles);
    const window = cycle > 0 ? this.#windows.get(this.#start(cycle)) : null;
    if (cycle > 0 && !window?.nodes) return this.#updated(index); // a run that was stored before rows told of nodes
    const states = cycle > 0 ? new Map(window.nodes) : new Map((this.nodes.since ?? []).flatMap((since, node) => (since > 1 ? [[node, null]] : [])));
    const take = (changes) => { for (const [node, state] of changes) states.set(node, state); };
    const partly = index > this.cycles || this.at !== 0 || this.phase !== "";
    for (let i = window?.from ?? 1; i < (partly && index <= this.cycles ? cycle : cycle + 1); i += 1) take(window?.cycles[i - window.from]?.nodes ?? []);
    if (partly) {
      const own = index > this.cycles ? this.heavy(index)?.nodes ?? [] : window?.cycles[cycle - window.from]?.nodes ?? [];
      const { moments } = this;
      const tried = moments?.findIndex(({ kind }) => kind === "attempt") ?? -1;
      const until = this.at > 0 ? this.at : this.phase ? tried + 1 : moments?.length ?? 0;
      const whole = this.at === 0 && this.phase === "";
      const named = new Set((moments ?? []).slice(0, until).flatMap(({ nodes }) => nodes ?? []));
      take(own.filter(([node]) => whole || named.has(node)));
    }
    for (const [node, state] of states) if (state && !Object.keys(state).length) states.delete(node);
    return states;
  }

  /** The same by what operations of a major step say. */
  #updated(index) {
    const { nodes } = this;
    const major = index > 0 ? Number((this.light(index) ?? this.heavy(index)).step.split(".")[0]) : 1;
    const states = new Map();
    for (const [since, node, state] of nodes.updates ?? []) if (since <= major) states.set(node, state);
    nodes.names.forEach((_, node) => { if ((nodes.since?.[node] ?? 1) > major || (nodes.until?.[node] ?? Infinity) <= major) states.set(node, null); });
    return states;
  }

  #read(node) {
    const { nodes } = this;
    return { ...Object.fromEntries(AMENDED.map((field) => [field, nodes[field][node]])), extended: Object.fromEntries(Object.entries(nodes.extended).map(([resource, amounts]) => [resource, amounts[node]])) };
  }

  #write(node, state) {
    const { nodes } = this;
    for (const field of AMENDED) nodes[field][node] = state[field];
    for (const resource of Object.keys(state.extended)) nodes.extended[resource] ??= nodes.names.map(() => 0);
    for (const [resource, amounts] of Object.entries(nodes.extended)) amounts[node] = state.extended[resource] ?? 0;
  }

  /** Let the cluster stand as after cycle `upTo`, which is `index` or the one before it. */
  #derive(index, upTo = index) {
    if (index === 0) {
      if (this.#clusterAt !== 0 || this.#shownFrom !== 0) this.cluster.reset(this.cluster.initial);
      this.#shownFrom = 0; this.#clusterAt = 0;
      return;
    }
    const found = this.#windows.get(this.#start(index));
    let at = this.#clusterAt;
    if (this.#shownFrom !== found.from || upTo < at) {
      this.cluster.reset(found.placement);
      at = found.from - 1;
    }
    for (let i = at + 1; i <= upTo; i += 1) {
      if (i === index) this.#note(index);
      this.cluster.apply(found.cycles[i - found.from].changes);
    }
    if (upTo === index - 1) this.#note(index);
    this.#shownFrom = found.from;
    this.#clusterAt = upTo;
  }

  /** Keep where the pods that a cycle moves are before it. */
  #note(index) {
    const { placement } = this.cluster;
    this.#origins = { index, nodes: new Map((this.light(index)?.changes ?? []).map(([pod]) => [pod, placement[pod] ?? ABSENT])) };
  }

  /** Take in pods that controllers made since the source was opened; they join the end of the table. */
  #meet(came) {
    const { pods } = this;
    const skip = pods.keys.length - came.from;
    if (skip < 0 || skip >= came.keys.length) return;
    const known = new Map(pods.groups.map(({ kind, name }, i) => [`${kind}/${name}`, i]));
    for (const { kind, name } of came.groups) if (!known.has(`${kind}/${name}`)) known.set(`${kind}/${name}`, pods.groups.push({ kind, name }) - 1);
    for (const resource of Object.keys(came.extended)) pods.extended[resource] ??= pods.keys.map(() => 0);
    for (let i = skip; i < came.keys.length; i += 1) {
      const { kind, name } = came.groups[came.group[i]];
      this.podIndex.set(came.keys[i], pods.keys.length);
      for (const field of ["keys", "cpu", "memory", "priority", "node"]) pods[field].push(came[field][i]);
      pods.group.push(known.get(`${kind}/${name}`));
      pods.podGroup?.push(this.#gang(came.podGroups?.[came.podGroup[i]]));
      for (const resource of Object.keys(pods.extended)) pods.extended[resource].push(came.extended[resource]?.[i] ?? 0);
    }
    this.cluster.widen();
    this.emit("met");
  }

  /** The number of a PodGroup, which may be new; -1: none. */
  #gang(key) {
    if (!key) return -1;
    const { podGroups } = this.pods;
    const at = podGroups.indexOf(key);
    return at >= 0 ? at : podGroups.push(key) - 1;
  }

  async #window(from) {
    if (this.#fetching.has(from)) return;
    this.#fetching.add(from);
    const generation = this.#generation;
    try {
      const answer = await this.socket.call("cycles.window", { source: this.source, from, count: Math.min(this.#span, Math.max(1, this.cycles - from + 1)), pods: this.pods.keys.length });
      if (generation !== this.#generation) return;
      if (answer.pods) this.#meet(answer.pods);
      this.#windows.set(from, answer);
      if (this.marks.note(answer.cycles)) this.emit("grew");
    } finally {
      this.#fetching.delete(from);
    }
  }

  async #fetchWanted() {
    if (this.#windowBusy) return;
    this.#windowBusy = true;
    const generation = this.#generation;
    let tries = 0;
    try {
      while (generation === this.#generation && this.wanted !== this.index && tries < 40) {
        const to = this.wanted;
        if (this.#has(to)) { this.#show(to); break; }
        const cycle = Math.min(to, this.cycles);
        const from = this.#start(cycle);
        if (this.#fetching.has(from)) await new Promise((resolve) => setTimeout(resolve, 8));
        else {
          tries += 1;
          if (to > this.cycles && (!cycle || this.light(cycle))) { await this.#get(to); continue; }
          await this.#window(from);
          if (to <= this.cycles && !this.light(to)) await new Promise((resolve) => setTimeout(resolve, 250)); // not computed yet
        }
      }
    } catch (error) {
      this.emit("failed", error);
    } finally {
      this.#windowBusy = false;
      if (generation !== this.#generation && this.wanted !== this.index) this.#fetchWanted();
    }
  }

  async #fetchHeavy() {
    if (this.#heavyBusy) return;
    this.#heavyBusy = true;
    const generation = this.#generation;
    try {
      while (generation === this.#generation && this.index > 0 && !this.heavy(this.index)) {
        const index = this.index;
        try { await this.#get(index); } catch (error) { if (superseded(error)) continue; throw error; }
        if (generation !== this.#generation || index !== this.index) continue;
        if (this.at !== 0 || this.phase !== "") {
          this.#stand(); // only now it is known who moved when
          this.#amend(index);
          this.emit("moment", { index, since: this.since });
        }
        this.emit("parts", { index, since: this.since });
      }
    } catch (error) {
      this.emit("failed", error);
    } finally {
      this.#heavyBusy = false;
      if (generation !== this.#generation && this.index > 0 && !this.heavy(this.index)) this.#fetchHeavy();
    }
  }

  #get(index) {
    if (!this.#getting.has(index)) this.#getting.set(index, this.#ask(index).finally(() => this.#getting.delete(index)));
    return this.#getting.get(index);
  }

  async #ask(index) {
    const generation = this.#generation;
    const parts = await this.ask("cycle.get", { source: this.source, step: String(index), parts: PARTS, pods: this.pods.keys.length }, () => index === this.index || index === this.wanted);
    if (generation !== this.#generation) return;
    if (parts.pods) { this.#meet(parts.pods); delete parts.pods; }
    if (parts.predicates?.order.length) parts.verdict = new Verdict(parts.predicates, this.nodes.names.length);
    this.#heavy.set(index, parts);
  }

  async #prefetch(index) {
    if (index !== this.wanted) return;
    const generation = this.#generation;
    try {
      const from = index > 0 ? this.#start(Math.min(index, this.cycles)) : 1 - this.#span;
      const ahead = from + this.#span;
      const behind = from - this.#span;
      const edge = Math.max(4, Math.floor(this.#span / 4)); // this near to a window's end the next one is fetched
      const partial = this.#windows.get(from);
      if (partial && partial.cycles.length < this.#span && from + partial.cycles.length <= this.cycles) await this.#window(from);
      if (ahead <= this.cycles && index >= ahead - edge && !this.#windows.has(ahead)) await this.#window(ahead);
      if (behind >= 1 && index < from + edge && !this.#windows.has(behind)) await this.#window(behind);
      for (const near of [index + 1, index - 1, index + 2]) {
        if (this.wanted !== index || generation !== this.#generation || this.#heavyBusy) return;
        if (near >= 1 && near <= this.last && !this.heavy(near)) await this.#get(near);
      }
    } catch { /* a prefetch that fails is asked for again when it is needed */ }
  }
}
