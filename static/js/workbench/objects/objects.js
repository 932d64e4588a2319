// The objects as a tree: nodes by pool, pods by workload, and what else there is, with a search over them.

import { announce, debounce, h, targetOf } from "../../lib/dom.js";
import { count, ellipsis, plural, short } from "../../lib/quantity.js";
import { ABSENT } from "../cluster.js";
import { poolsOf, workloadsOf } from "./grouping.js";
import { Tree } from "./tree.js";
/** @import { Edit } from "../edit.js" */
/** @import { View } from "../view.js" */

const LIST_AFTER = 200;
const NODE = 11; // characters of the node's name beside a pod

export class Objects {
  #counts = new Map();
  #shown = false;
  #filter = "";
  #others = null; // what else is there at the step on screen: [[kind, count, names]…]

  /**
   * `edit` is Edit, null where nothing can be changed.
   *
   * @param {View} view
   * @param {Edit | null} edit
   */
  constructor(view, edit) {
    this.view = view;
    this.edit = edit;
    this.tree = new Tree("Objects", ["nodes", "workloads"], (key) => {
      this.#draw();
      if (key === "others") this.#list();
    });
    this.tree.element.addEventListener("contextmenu", (event) => this.#act(event));
    this.search = h("input", {
      type: "search",
      class: "field filter",
      placeholder: "Find a node or pod",
      "aria-label": "Find a node or pod",
      "data-search": true,
      oninput: debounce(() => this.#find(), 100),
      onkeydown: (event) => this.#key(event),
    });
    const list = debounce(() => this.#list(), LIST_AFTER);
    view.playback.on("opened", () => {
      this.#others = null;
      this.#markOnStage();
      this.#draw();
    });
    view.playback.on("step", () => {
      this.#count();
      list();
    });
    view.on("selection", () => this.#mark());
    view.on("shown", () => {
      if (view.shown.search !== this.#filter) {
        this.search.value = view.shown.search;
        this.#find();
      }
    });
    view.on("forget", () => {
      this.search.value = "";
      view.search.end();
      this.#find();
    });
    view.on("look", () => {
      if (view.playback.nodes) this.#draw();
    });
  }

  /** Draw them from now on, or no more: another tab is open. */
  show(is) {
    this.#shown = is;
    this.#draw();
  }

  /**
   * What can be done with the node, the pod or the workload of a row.
   *
   * @param {MouseEvent} event
   */
  #act(event) {
    const row = targetOf(event).closest("[data-key]");
    const [kind, index] = (row?.dataset.key ?? "").split(":");
    if (!this.edit || !["node", "pod", "group"].includes(kind)) return;
    event.preventDefault();
    const place = event.clientX || event.clientY ? { x: event.clientX, y: event.clientY } : row;
    this.view.emit("act", { [kind === "group" ? "workload" : kind]: Number(index), place });
  }

  focusSearch() {
    this.search.focus();
    this.search.select();
  }

  #find() {
    const text = this.search.value.trim().toLowerCase();
    if (text === this.#filter) return;
    this.#filter = text;
    this.view.setShown({ search: text });
    this.#markOnStage();
    this.#draw();
  }

  /** @param {string} text */
  #matches(text) {
    return !this.#filter || text.toLowerCase().includes(this.#filter);
  }

  #workloads() {
    return workloadsOf(this.view.playback.pods, (text) => this.#matches(text));
  }

  /** Have the stage mark what is found, whichever tab is open. */
  #markOnStage() {
    const { nodes } = this.view.playback;
    if (!nodes) return;
    const found = this.#filter !== "";
    const inOrder = found ? [...poolsOf(nodes).values()].flat() : [];
    this.view.search.show(
      found ? this.search.value.trim() : "",
      inOrder.filter((node) => this.#matches(nodes.names[node])),
      found ? this.#workloads().flatMap(({ hits }) => hits) : [],
    );
  }

  /**
   * Enter selects the exact match, else the first one, then the next, with Shift the one before; the arrow moves on
   * into the tree.
   *
   * @param {KeyboardEvent} event
   */
  #key(event) {
    if (event.key === "Escape" && this.search.value) {
      event.preventDefault();
      event.stopPropagation();
      this.view.emit("forget");
      return;
    }
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    this.#find();
    const items = this.tree.items();
    if (event.key === "ArrowDown") {
      items[0]?.focus();
      return;
    }
    const { search } = this.view;
    if (!search.current) return;
    if (search.selected) search.go(event.shiftKey ? -1 : 1);
    search.select();
    this.view.emit("region", "stage");
    const [kind, i] = search.current;
    const row = items.find((item) => item.dataset.key === `${kind}:${i}`);
    row?.scrollIntoView({ block: "nearest" });
    announce(`${row?.dataset.name ?? "It"} is selected.`);
  }

  #draw() {
    const { playback } = this.view;
    if (!playback.nodes || !this.#shown) return;
    const { nodes, pods, summary } = playback;
    this.#counts.clear();
    this.tree.begin(Boolean(this.#filter));
    const found = this.#filter;
    const of = (n, all) => (found ? `${count(n)} of ${count(all)}` : count(all));
    const pools = poolsOf(nodes);
    const foundNodes = nodes.names.reduce((sum, name) => sum + (this.#matches(name) ? 1 : 0), 0);
    if (foundNodes || !found) this.tree.branch("nodes", "Nodes", of(foundNodes, nodes.names.length), 1);
    if (this.tree.isOpen("nodes")) {
      for (const [pool, members] of pools) {
        const hits = members.filter((node) => this.#matches(nodes.names[node]));
        if (found && !hits.length) continue;
        if (pools.size > 1 || members.length > 24) {
          const key = `pool:${pool}`;
          this.tree.branch(key, pool || "no pool", of(hits.length, members.length), 2, {
            act: () => this.view.light(members, pool || "no pool"),
          });
          if (this.tree.isOpen(key)) this.tree.leaves(hits, (node) => this.#node(node, 3), 3);
        } else this.tree.leaves(hits, (node) => this.#node(node, 2), 2);
      }
    }
    const described = this.#workloads();
    const foundPods = described.reduce((sum, { hits }) => sum + hits.length, 0);
    if (foundPods || !found)
      this.tree.branch("workloads", "Workloads", found ? `${of(foundPods, pods.keys.length)} pods` : "", 1);
    if (!found) this.#counts.set("workloads", pods);
    if (this.tree.isOpen("workloads")) {
      for (const { group, members, hits, label, title } of described) {
        if (found && !hits.length) continue;
        const key = `group:${group}`;
        this.tree.branch(key, label, found ? of(hits.length, members.length) : "", 2, {
          colour: this.view.colourOf(members),
          act: () => this.#lightGroup(members, label),
          title,
        });
        if (!found) this.#counts.set(key, members);
        if (this.tree.isOpen(key)) this.tree.leaves(hits, (pod) => this.#pod(pod), 3);
      }
    }
    const others =
      this.#others
      ?? Object.entries(summary)
        .filter(([kind]) => !["Node", "Pod", "Scenario", "Namespace"].includes(kind) && summary[kind])
        .map(([kind, n]) => [kind, n, []]);
    if (others.length && !found) {
      this.tree.branch("others", "Other objects", count(others.reduce((sum, [, n]) => sum + n, 0)), 1);
      if (this.tree.isOpen("others")) {
        for (const [kind, n, names] of others) {
          if (!this.edit || !names.length) {
            this.tree.add(this.tree.row(`kind:${kind}`, 2, kind, count(n)));
            continue;
          }
          this.tree.branch(`kind:${kind}`, kind, count(n), 2);
          if (this.tree.isOpen(`kind:${kind}`)) this.tree.leaves(names, (name) => this.#object(kind, name), 3);
        }
      }
    }
    if (found && !foundNodes && !foundPods)
      this.tree.add(h("p", { class: "dim fine", text: `No matches for “${this.search.value.trim()}”.` }));
    this.tree.end();
    this.#count();
    this.#mark();
  }

  /**
   * @param {number} node
   * @param {number} level
   */
  #node(node, level) {
    const row = this.tree.row(`node:${node}`, level, this.view.playback.nodes.names[node], "");
    row.addEventListener("click", () => {
      this.view.selectNode(this.view.node === node ? -1 : node);
      this.view.emit("region", "stage");
    });
    row.addEventListener("pointerenter", () => this.view.hover(node));
    row.addEventListener("pointerleave", () => this.view.hover(-1));
    this.#counts.set(`node:${node}`, node);
    return row;
  }

  /** @param {number} pod */
  #pod(pod) {
    const row = this.tree.row(`pod:${pod}`, 3, short(this.view.playback.pods.keys[pod]), "");
    row.addEventListener("click", () => {
      this.view.selectPod(this.view.pod === pod ? -1 : pod);
      this.view.emit("region", "stage");
    });
    this.#counts.set(`pod:${pod}`, pod);
    return row;
  }

  /**
   * An object that the stage does not draw: opened to be edited.
   *
   * @param {string} kind
   * @param {string} name
   */
  #object(kind, name) {
    const target = kind === name ? kind : `${kind} ${name}`;
    const row = this.tree.row(`object:${target}`, 3, short(name), "edit", { title: `${this.edit.label}: ${target}` });
    row.addEventListener("click", () => this.view.emit("edit", { target }));
    return row;
  }

  /** Ask what else there is at the step on screen, if somebody looks at it. */
  async #list() {
    const { playback } = this.view;
    if (!this.#shown || !this.tree.wasOpened("others") || playback.index < 0) return;
    try {
      const { kinds } = await playback.socket.call("objects.list", {
        source: playback.source,
        step: String(playback.cycle),
      });
      if (JSON.stringify(kinds) === JSON.stringify(this.#others)) return;
      this.#others = kinds;
      const focused = this.tree.element.contains(document.activeElement);
      this.#draw();
      if (focused) this.tree.focus();
    } catch {
      /* asked again at the next step; the numbers stay those of the input */
    }
  }

  #lightGroup(members, label) {
    const { placement } = this.view.playback.cluster;
    this.view.light([...new Set(members.map((pod) => placement[pod]).filter((node) => node >= 0))], label);
  }

  /** The live numbers: placed of all, and where a pod is. */
  #count() {
    if (!this.#shown || !this.view.playback.cluster) return;
    const { cluster, nodes } = this.view.playback;
    for (const row of this.tree.drawn()) {
      const key = row.dataset.key;
      const what = this.#counts.get(key);
      if (what === undefined) continue;
      const cell = /** @type {HTMLElement} */ (row.lastElementChild);
      let text = "";
      let there = true;
      if (key === "workloads") text = plural(cluster.present, "pod");
      else if (key.startsWith("group:")) {
        const { placed, present, leaving } = this.#tally(what);
        there = present + leaving > 0;
        text = present || !leaving ? `${count(placed)} / ${count(present)}` : `${count(leaving)} Terminating`;
      } else if (key.startsWith("pod:")) {
        const at = cluster.placement[what];
        there = at !== ABSENT;
        const leaves = this.view.playback.isTerminating(what);
        text = leaves ? "Terminating" : at >= 0 ? ellipsis(nodes.names[at], NODE) : at === ABSENT ? "" : "pending";
        cell.title = at >= 0 ? nodes.names[at] : "";
        cell.classList.toggle("fail-text", leaves);
      } else if (key.startsWith("node:"))
        text = this.view.exists(what) ? plural(cluster.count[what], "pod") : "not there";
      row.hidden = !there && !this.#filter; // not yet there, or gone: finished, deleted, scaled down
      if (cell.textContent !== text) cell.textContent = text;
    }
    const items = this.tree.items();
    if (items.length && !items.some((item) => item.tabIndex === 0)) items[0].tabIndex = 0; // the one that had it went
  }

  /** How many of some pods are there at the step on screen, how many of these have a node, and how many more leave. */
  #tally(members) {
    const { playback } = this.view;
    const { placement } = playback.cluster;
    let placed = 0;
    let present = 0;
    let leaving = 0;
    for (const pod of members) {
      if (playback.isTerminating(pod)) {
        leaving += 1;
        continue;
      }
      if (placement[pod] >= 0) placed += 1;
      if (placement[pod] !== ABSENT) present += 1;
    }
    return { placed, present, leaving };
  }

  #mark() {
    const { node, pod } = this.view;
    for (const row of this.tree.drawn()) {
      const on = row.dataset.key === `node:${node}` || row.dataset.key === `pod:${pod}`;
      row.classList.toggle("selected", on);
      if (on) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected");
    }
  }
}
