// What is selected on screen, and what a cycle means for each node. The parts of the workbench talk through it.

import type { Light, NodeIndex, PodIndex } from "../../lib/protocol.js";
import type { Draft } from "../draft/draft.ts";
import type { Playback } from "../playback/playback.ts";
import type { Settings } from "../draft/settings.ts";
import type { StageView, Store } from "../playback/store.ts";
import type { Look } from "../playback/look.ts";
import { batch } from "../../kit/signals.ts";
import { short } from "../../lib/quantity.ts";
import { Actions } from "./actions.ts";
import { Lists } from "./lists.ts";
import { Seen } from "./seen.ts";
import { follow } from "../playback/store.ts";
import { Colours, isColour } from "./colours.ts";
import { ZONE, choices } from "./grouping.ts";
import { Search } from "./search.ts";
import { USUAL, fitting, keep, kept } from "../playback/look.ts";
import { rankedIn, type CycleParts } from "../playback/parts.ts";

export type Facts = ReturnType<View["factsOf"]>;

export class View {
  readonly actions = new Actions();
  scrubbing = false; // while the timeline is dragged
  walking: symbol | null = null; // while it is found out where "next" leads
  stopped: { index: number; text: string } | null = null; // the cycle at which one was stopped, and why
  usual = { ...USUAL }; // how this scenario is looked at unless somebody chooses
  // Aborts when the panels of Inspect are made again: what they listen to lives longer.
  panels = new AbortController();
  // What main.js and Build make after this.
  library = ""; // the address of Plotly
  draft: Draft | null = null; // what Build edits
  settings: Settings | null = null;
  store: Store;
  seen: Seen;
  chosen: Partial<Look>;
  colours: Colours;
  lists: Lists;
  search: Search;
  #facts: Facts | null = null;
  #factsKey = "";
  #named = ["", ""]; // the node and the pod that are selected: another text of the draft has other numbers for them
  #fitted = false; // whether it is known what colouring fits the scenario

  constructor(readonly playback: Playback) {
    this.store = playback.store;
    this.seen = new Seen(playback);
    this.chosen = kept(); // what was chosen, now or on an earlier visit
    if (!isColour(this.chosen.colour)) delete this.chosen.colour;
    this.store.look.value = { ...USUAL, ...this.chosen };
    this.colours = new Colours(playback);
    this.lists = new Lists(
      () => (this.store.lists.value = {}),
      (text) => this.actions.wrong(text),
    ); // how lists are sorted and narrowed
    this.search = new Search(playback);
    const { store } = this;
    follow(store.known, () => this.#fit());
    follow(store.scenario, () => {
      const look = this.#possible(this.look);
      if (look !== this.look) store.look.value = look;
      this.#fitted = false;
      this.#fit();
      this.#factsKey = "";
      store.hovered.value = -1;
      store.lit.value = null;
      store.only.value = -1;
      const [node, pod] = this.#named;
      this.#select({
        node: node ? (playback.nodeIndex.get(node) ?? -1) : -1,
        pod: pod ? playback.pods.keys.indexOf(pod) : -1,
      });
    });
    follow(store.wanted, () => this.light(null));
  }

  // What the store holds, for whoever is not drawn again when it is written.
  get node() {
    return this.store.selection.peek().node;
  }
  get pod() {
    return this.store.selection.peek().pod;
  }
  get hovered() {
    return this.store.hovered.peek();
  }
  get tab() {
    return this.store.tab.peek().key;
  }
  get shown() {
    return this.store.stage.peek();
  }
  get look() {
    return this.store.look.peek();
  }
  get lit() {
    return this.store.lit.peek();
  }
  get only() {
    return this.store.only.peek();
  }
  get pending() {
    return this.store.pending.peek();
  }
  /** Whether it can be edited: the visitor's own "draft", or a "copy"; null if not at all. */
  get editing() {
    return this.store.editing.peek();
  }
  get pace() {
    return this.store.pace.peek();
  }

  selectNode(node: NodeIndex, { push = true }: { push?: boolean } = {}) {
    this.#choose({ node, pod: node >= 0 ? -1 : this.pod, push });
  }

  selectPod(pod: PodIndex, { push = true }: { push?: boolean } = {}) {
    this.#choose({ node: pod >= 0 ? -1 : this.node, pod, push });
  }

  #choose(selection: import("../playback/store.ts").Selection) {
    const { nodes, pods } = this.playback;
    this.#named = [nodes?.names[selection.node] ?? "", pods?.keys[selection.pod] ?? ""];
    this.#select(selection);
  }

  #select({ node, pod, push = false }: { node: NodeIndex; pod: PodIndex; push?: boolean }) {
    if (node !== this.node || pod !== this.pod) this.store.selection.value = { node, pod, push };
  }

  setTab(tab: string, { push = true, focus = false }: { push?: boolean; focus?: boolean } = {}) {
    if (tab !== this.tab) this.store.tab.value = { key: tab, push, focus };
    if (push) this.actions.region("inspect");
  }

  /** What of the open tab is shown, as path; "" is its first view. */
  get sub() {
    return this.store.subs.peek().of.get(this.tab) ?? "";
  }

  /** Show another view of the tab that is open. */
  setSub(sub: string, { push = true }: { push?: boolean } = {}) {
    const { subs } = this.store;
    if (sub !== this.sub) subs.value = { of: new Map(subs.peek().of).set(this.tab, sub), push };
  }

  /** Show the stage otherwise, or search for something. */
  setShown(wanted: Partial<StageView>) {
    const shown = { ...this.shown, ...wanted };
    if (JSON.stringify(shown) !== JSON.stringify(this.shown)) this.store.stage.value = shown;
  }

  /** Light up nodes on the stage; the same label again, or null, puts the light out. */
  light(nodes: Iterable<NodeIndex> | null, label = "") {
    if (!nodes && !this.lit) return;
    this.store.lit.value = nodes && this.lit?.label !== label ? { nodes: new Set(nodes), label } : null;
  }

  hover(node: NodeIndex) {
    this.store.hovered.value = node;
  }

  /** What the shown cycle means for the nodes, as far as it has come. */
  get facts() {
    const { playback } = this;
    const { index, at, phase, parts, current } = playback;
    const key = `${index}/${at}/${phase}/${parts ? 1 : 0}/${current ? 1 : 0}`;
    if (!this.#facts || key !== this.#factsKey) {
      this.#factsKey = key;
      this.#facts = this.factsOf(playback.index > 0 ? playback.current : null, playback.parts);
    }
    return this.#facts;
  }

  factsOf(light: Light | null, parts: CycleParts | null) {
    const { playback } = this;
    const ranked = rankedIn(parts);
    let best = -Infinity;
    let worst = Infinity;
    for (const total of ranked?.totals ?? []) {
      if (total > best) best = total;
      if (total < worst) worst = total;
    }
    return {
      index: playback.index,
      light,
      time: playback.time,
      major: Number((light ?? (playback.atEnd ? parts : null))?.step.split(".")[0] ?? 1),
      pod: light && playback.reached.tried ? light.pod : -1,
      chosen: light?.node ?? -1,
      nominated: light?.nominated?.[0] ?? -1,
      victims: light?.nominated?.[1] ?? [],
      waiting: this.#waiting(light),
      cpu: light ? playback.pods.cpu[light.pod] : 0,
      memory: light ? playback.pods.memory[light.pod] : 0,
      verdict: parts?.verdict ?? null,
      since: playback.changed,
      totals: ranked && new Map(ranked.nodes.map((node, i) => [node, ranked.totals[i]])),
      best,
      worst,
    };
  }

  /** Who waits at Permit in what is shown, with the deadline: pod to seconds. */
  #waiting(light: Light | null): Map<PodIndex, number | null> {
    const { playback } = this;
    const { index, at, phase, cluster } = playback;
    const after = (playback.light(index) ?? (playback.atEnd ? playback.heavy(index) : null))?.waiting ?? [];
    if (!at && !phase) return new Map(after.map(([pod, , deadline]) => [pod, deadline]));
    const before = index > 1 ? (playback.light(index - 1)?.waiting ?? after) : [];
    const moments = playback.moments ?? [];
    const attempt = moments.findIndex(({ kind }) => kind === "attempt");
    const bound = new Set();
    for (const { kind, what, text } of moments.slice(0, phase ? attempt : Math.max(0, at))) {
      if (what === "Scheduled" && kind !== "attempt")
        for (const part of text)
          if (typeof part !== "string" && part.pod !== undefined) bound.add(playback.podIndex.get(part.pod));
    }
    const own = light && playback.reached.waits ? after.filter(([pod]) => pod === light.pod) : [];
    const still = [...before, ...own].filter(([pod, node]) => !bound.has(pod) && cluster.placement[pod] === node);
    return new Map(still.map(([pod, , deadline]) => [pod, deadline]));
  }

  /** Whether a node is there in what is shown. */
  exists(node: NodeIndex) {
    return !this.playback.gone.has(node);
  }

  /**
   * "fits", "failed", "unreached" (no filter ran on it), "past" (the node has changed since it was looked at) or
   * "unknown" (not loaded, or no cycle).
   */
  verdictOf(node: NodeIndex) {
    const { verdict, chosen, since } = this.facts;
    if (verdict && since.size && chosen !== node && this.exists(node) && since.has(node)) return "past";
    if (!verdict || !this.exists(node)) return "unknown";
    return verdict.fits(node) ? "fits" : verdict.reached(node) ? "failed" : "unreached";
  }

  /** The pods that wait at Permit on a node: they hold its room and are not bound. */
  waitingOn(node: NodeIndex) {
    const { placement } = this.playback.cluster;
    return [...this.facts.waiting.keys()].filter((pod) => placement[pod] === node);
  }

  colour(pod: PodIndex) {
    return this.colours.classOf(pod);
  }

  /** The colour of several pods: their own if they share one. */
  colourOf(pods: PodIndex[]) {
    if (this.look.colour === "age") return "gn"; // every step another
    const colour = pods.length ? this.colour(pods[0]) : "gn";
    return pods.every((pod) => this.colour(pod) === colour) ? colour : "gn";
  }

  /** Colour pods or group nodes by something else; what cannot be is left out. */
  setLook({ colour, group }: Partial<Look>) {
    if (isColour(colour)) this.chosen.colour = colour;
    if (group) this.chosen.group = group;
    if (this.#relook()) keep({ ...kept(), ...this.chosen });
  }

  /** Look at the stage as an address asks; what it leaves out is as usual for everybody. */
  lookAs({ colour, group }: Partial<Look>) {
    this.chosen = { ...(isColour(colour) ? { colour } : {}), ...(group ? { group } : {}) };
    this.#relook();
  }

  /** Look at the stage as was chosen, else as is usual; whether that is another look. */
  #relook() {
    const before = this.look;
    const look = this.#possible({ ...before, ...this.usual, ...this.chosen });
    if (before.colour === look.colour && before.group === look.group) return false;
    const { store, playback } = this;
    batch(() => {
      store.look.value = look;
      if (before.colour === look.colour) return;
      store.only.value = -1;
      this.colours.changed();
      // Every dot that stands for a pod has another colour now.
      if (playback.index >= 0)
        store.parts.value = { ...store.parts.peek(), index: playback.index, since: performance.now() };
    });
    return true;
  }

  /** Colour pods by what the scenario is about, once that is known, unless somebody has chosen. */
  #fit() {
    const { playback } = this;
    if (this.#fitted || !playback.nodes) return;
    const { colour, sure } = fitting(playback, this.usual.colour);
    this.#fitted = sure;
    if (colour === this.usual.colour) return;
    this.usual.colour = colour;
    this.#relook();
  }

  /** What one had chosen for another cluster may not be there in this one. */
  #possible(look: Look) {
    const { nodes } = this.playback;
    return !nodes || choices(nodes).some(([value]) => value === look.group) ? look : { ...look, group: ZONE };
  }

  /** Select what one is at of what was found. */
  selectFound() {
    const [kind, i] = this.search.current ?? [];
    if (i === undefined) return;
    if (kind === "node") this.selectNode(i);
    else this.selectPod(i);
  }

  /** Whether what one is at is selected. */
  get foundSelected() {
    const [kind, i] = this.search.current ?? [];
    return kind === "node" ? this.node === i : kind === "pod" && this.pod === i;
  }

  /** The place of what is looked for or selected: `{node, pod, name}`, null if it has none. */
  get spot() {
    const { search, playback } = this;
    if (!search.current && this.pod < 0) return null;
    const [kind, i] = search.current ?? ["pod", this.pod];
    const node = kind === "node" ? i : playback.cluster.placement[i];
    return node >= 0
      ? {
          node,
          pod: kind === "pod" ? i : -1,
          name: kind === "node" ? playback.nodes.names[i] : short(playback.pods.keys[i]),
        }
      : null;
  }

  /** Light up the pods of one colour, -1: of none. */
  lightColour(code: number) {
    this.store.only.value = code;
  }
}
