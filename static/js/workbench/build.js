// Build: the objects as a tree, the policy, and the YAML of the draft with errors on their line.

import { h, fill, icon, toast, debounce, announce } from "../lib/dom.js";
import { count, ellipsis, plural, short } from "../lib/quantity.js";
import { AddBar } from "./add/bar.js";
import { ABSENT } from "./cluster.js";
import { Draft } from "./draft.js";
import { Edit } from "./edit.js";
import { History } from "./history.js";
import { Policy } from "./policy.js";
import { tabs } from "./tabs.js";
import { DraftText } from "./text.js";
import { Undo } from "./undo.js";
import { workload } from "./workload.js";

const SHORT = {
  ReplicaSet: "rs",
  StatefulSet: "sts",
  DaemonSet: "ds",
  Deployment: "deploy",
  Job: "job",
  ReplicationController: "rc",
}; // as kubectl abbreviates
const LISTED = 150; // children of one branch that are in the document
const LIST_AFTER = 200;
const NODE = 11; // characters of the node's name beside a pod
const TAIL = 9; // characters at the end of a name that stay when it is cut: real names differ there

export class Build {
  #opened = new Set(["nodes", "workloads"]);
  #rows = [];
  #counts = new Map();
  #tab = "objects";
  #filter = "";
  #focused = "";
  #others = null; // what else is there at the step on screen: [[kind, count, names]…]

  constructor(region, view, options) {
    this.view = view;
    this.options = options; // {mine, bundleUrl, draft, onApplied, onFork}
    this.body = region.querySelector("[data-build]");
    this.strip = tabs(
      region.querySelector("[role=tablist]"),
      [
        ["objects", "Objects"],
        ["policy", "Policy"],
        ["yaml", "YAML"],
      ],
      this.body,
      (key) => this.open(key),
    );
    this.tree = h("div", { class: "tree", role: "tree", "aria-label": "Objects" });
    this.tree.addEventListener("keydown", (event) => this.#key(event));
    this.search = h("input", {
      type: "search",
      class: "field filter",
      placeholder: "Find a node or pod",
      "aria-label": "Find a node or pod",
      "data-search": true,
      oninput: debounce(() => this.#find(), 100),
      onkeydown: (event) => this.#searchKey(event),
    });
    const { mine, canFork, onFork } = options;
    const { playback } = view;
    const bundle = () => options.bundleUrl || (playback.scenario ? `/api/scenarios/${playback.scenario}/bundle` : "");
    this.draft = view.draft = new Draft({ socket: playback.socket, id: mine ? options.draft : "", url: bundle });
    const text = () => this.#whole();
    const change = (make, how) => this.#change(make, how);
    const dirty = () => this.text.dirty;
    this.text = new DraftText(view, { mine, canFork, onFork, draft: this.draft, strip: this.strip, change, bundle });
    this.undo = new Undo(view, {
      change: (make, how) => change(make, { ...how, words: null }),
      dirty,
      text,
      store: mine ? `podstep.undo.${options.draft}` : "",
    });
    this.edit = view.edit =
      mine || canFork
        ? new Edit(view, {
            mine,
            fork: options.onForkToEdit,
            text,
            change,
            dirty,
            undo: this.undo,
            onText: () => {
              view.emit("region", "build");
              this.open("yaml");
            },
          })
        : null;
    this.history = new History(view, this.edit, mine);
    if (this.edit) this.body.before(new AddBar(view, this.edit, mine).element);
    this.objects = h("div", { class: "objects" }, this.search, this.tree, this.history.element);
    this.list = debounce(() => this.#list(), LIST_AFTER);
    this.policy = new Policy(view, {
      mine,
      canFork,
      onFork,
      text,
      change,
      dirty,
      undo: this.undo,
      onText: () => this.open("yaml"),
    });
    this.open("objects");
    playback.on("opened", ({ revision }) => {
      this.#others = null;
      this.text.tell();
      this.draft.opened(revision);
      this.#show();
      this.#draw();
    });
    this.draft.on("changed", (changed) => this.#changedElsewhere(changed));
    this.draft.on("gone", () => this.#gone());
    this.draft.on("failed", (error) =>
      toast(`What another tab has changed could not be loaded: ${error.message}`, { name: "warn", ms: 6000 }),
    );
    view.playback.on("step", () => {
      this.#count();
      this.list();
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
    view.on("policy", (part) => {
      view.emit("region", "build");
      this.open("policy");
      this.policy.reveal(part);
    });
  }

  open(tab) {
    this.#tab = tab;
    this.strip.select(tab);
    fill(this.body, { yaml: this.text.element, policy: this.policy.element, objects: this.objects }[tab]);
    if (tab === "policy") this.policy.update();
    else if (tab === "yaml") {
      this.text.load();
      this.text.editor.enrich();
    } else this.#draw();
  }

  /** Show a line of the text in the editor. */
  async reveal(line) {
    this.view.emit("region", "build");
    this.open("yaml");
    await this.text.load();
    this.text.editor.jump(line);
  }

  focusSearch() {
    this.open("objects");
    this.search.focus();
    this.search.select();
  }

  // ---- objects

  #find() {
    const text = this.search.value.trim().toLowerCase();
    if (text === this.#filter) return;
    this.#filter = text;
    this.view.setShown({ search: text });
    this.#show();
    this.#draw();
  }

  #matches(text) {
    return !this.#filter || text.toLowerCase().includes(this.#filter);
  }

  /** Have the stage mark what is found, whichever tab is open. */
  #show() {
    const { nodes } = this.view.playback;
    if (!nodes) return;
    const found = this.#filter !== "";
    const inOrder = found ? [...this.#pools(nodes).values()].flat() : [];
    this.view.search.show(
      found ? this.search.value.trim() : "",
      inOrder.filter((node) => this.#matches(nodes.names[node])),
      found ? this.#workloads().flatMap(({ hits }) => hits) : [],
    );
  }

  /** The workloads with their pods, `members`, and those of them that are found, `hits`. */
  #workloads() {
    const { pods } = this.view.playback;
    const groups = new Map();
    pods.group.forEach((group, pod) => {
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(pod);
    });
    return [...groups].map(([group, members]) => {
      const { kind, name, title } = workload(pods.groups, group) ?? { kind: "", name: "" };
      const bare = !kind || kind === "Pod";
      const label = bare ? name || "no controller" : `${SHORT[kind] ?? kind.toLowerCase()}/${name}`;
      const hits = this.#matches(label) ? members : members.filter((pod) => this.#matches(pods.keys[pod]));
      return { group, members, hits, label, title: bare ? "pods without a controller" : title };
    });
  }

  /**
   * Enter selects the exact match, else the first one, then the next, with Shift the one before; the arrow moves on
   * into the tree.
   */
  #searchKey(event) {
    if (event.key === "Escape" && this.search.value) {
      event.preventDefault();
      event.stopPropagation();
      this.view.emit("forget");
      return;
    }
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    this.#find();
    const items = this.#items();
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
    if (!playback.nodes || this.#tab !== "objects") return;
    const { nodes, pods, summary } = playback;
    this.#counts.clear();
    this.#rows = [];
    const found = this.#filter;
    const openAll = Boolean(found);
    const of = (n, all) => (found ? `${count(n)} of ${count(all)}` : count(all));
    const pools = this.#pools(nodes);
    const foundNodes = nodes.names.reduce((sum, name) => sum + (this.#matches(name) ? 1 : 0), 0);
    if (foundNodes || !found) this.#branch("nodes", "Nodes", of(foundNodes, nodes.names.length), 1, null);
    if (openAll || this.#opened.has("nodes")) {
      for (const [pool, members] of pools) {
        const hits = members.filter((node) => this.#matches(nodes.names[node]));
        if (found && !hits.length) continue;
        if (pools.size > 1 || members.length > 24) {
          const key = `pool:${pool}`;
          this.#branch(key, pool || "no pool", of(hits.length, members.length), 2, null, () =>
            this.view.light(members, pool || "no pool"),
          );
          if (openAll || this.#opened.has(key)) this.#leaves(hits, (node) => this.#node(node, 3), 3);
        } else this.#leaves(hits, (node) => this.#node(node, 2), 2);
      }
    }
    const described = this.#workloads();
    const foundPods = described.reduce((sum, { hits }) => sum + hits.length, 0);
    if (foundPods || !found)
      this.#branch("workloads", "Workloads", found ? `${of(foundPods, pods.keys.length)} pods` : "", 1, null);
    if (!found) this.#counts.set("workloads", pods);
    if (openAll || this.#opened.has("workloads")) {
      for (const { group, members, hits, label, title } of described) {
        if (found && !hits.length) continue;
        const key = `group:${group}`;
        this.#branch(
          key,
          label,
          found ? of(hits.length, members.length) : "",
          2,
          this.view.colourOf(members),
          () => this.#lightGroup(members, label),
          title,
        );
        if (!found) this.#counts.set(key, members);
        if (openAll || this.#opened.has(key)) this.#leaves(hits, (pod) => this.#pod(pod), 3);
      }
    }
    const others =
      this.#others
      ?? Object.entries(summary)
        .filter(([kind]) => !["Node", "Pod", "Scenario", "Namespace"].includes(kind) && summary[kind])
        .map(([kind, n]) => [kind, n, []]);
    if (others.length && !found) {
      this.#branch("others", "Other objects", count(others.reduce((sum, [, n]) => sum + n, 0)), 1, null);
      if (this.#opened.has("others")) {
        for (const [kind, n, names] of others) {
          if (!this.edit || !names.length) {
            this.#rows.push(this.#row(`kind:${kind}`, 2, kind, count(n)));
            continue;
          }
          this.#branch(`kind:${kind}`, kind, count(n), 2, null);
          if (this.#opened.has(`kind:${kind}`)) this.#leaves(names, (name) => this.#object(kind, name), 3);
        }
      }
    }
    if (found && !foundNodes && !foundPods)
      this.#rows.push(h("p", { class: "dim fine", text: `No matches for “${this.search.value.trim()}”.` }));
    fill(this.tree, this.#rows);
    const items = this.#items();
    (items.find((item) => item.dataset.key === this.#focused) ?? items[0])?.setAttribute("tabindex", "0");
    this.#count();
    this.#mark();
  }

  /** Nodes by a pool label, else by the name without its number. */
  #pools(nodes) {
    const names = [
      "cloud.google.com/gke-nodepool",
      "eks.amazonaws.com/nodegroup",
      "agentpool",
      "node-pool",
      "pool",
      "alibabacloud.com/gpu-card-model",
    ];
    const label = names.find((name) => nodes.labels?.some((labels) => labels[name]));
    const pools = new Map();
    nodes.names.forEach((name, node) => {
      const pool = label ? (nodes.labels[node][label] ?? "") : name.replace(/[-.]?[a-z]?\d[\w.-]*$/, "") || name;
      if (!pools.has(pool)) pools.set(pool, []);
      pools.get(pool).push(node);
    });
    return pools.size > 60 ? new Map([["all nodes", nodes.names.map((_, node) => node)]]) : pools;
  }

  #leaves(items, make, level) {
    for (const item of items.slice(0, LISTED)) this.#rows.push(make(item));
    if (items.length > LISTED)
      this.#rows.push(
        h("div", { class: `more level-${level}`, text: `and ${count(items.length - LISTED)} more: type to find one` }),
      );
  }

  #branch(key, label, number, level, colour, act, title = label) {
    const open = Boolean(this.#filter) || this.#opened.has(key);
    const row = this.#row(key, level, label, number, colour, title);
    row.setAttribute("aria-expanded", String(open));
    row.prepend(icon("right", "twist"));
    row.addEventListener("click", (event) => {
      if (act && !event.target.closest(".twist")) act();
      if (!act || event.target.closest(".twist") || !this.#opened.has(key)) this.#toggle(key);
    });
    this.#rows.push(row);
  }

  #row(key, level, label, number, colour, title = label) {
    const tail = label.length > 2 * TAIL ? TAIL : 0;
    return h(
      "div",
      {
        class: `item level-${level}`,
        role: "treeitem",
        "aria-level": level,
        "data-key": key,
        "data-name": label,
        tabindex: "-1",
      },
      colour ? h("i", { class: `dot ${colour}` }) : null,
      h(
        "span",
        { class: "label", title },
        tail
          ? [
              h("span", { class: "sr", text: label }),
              h("span", { class: "head", "aria-hidden": "true", text: label.slice(0, -tail) }),
              h("span", { "aria-hidden": "true", text: label.slice(-tail) }),
            ]
          : label,
      ),
      h("span", { class: "n num", text: number }),
    );
  }

  #node(node, level) {
    const row = this.#row(`node:${node}`, level, this.view.playback.nodes.names[node], "");
    row.addEventListener("click", () => {
      this.view.selectNode(this.view.node === node ? -1 : node);
      this.view.emit("region", "stage");
    });
    row.addEventListener("pointerenter", () => this.view.hover(node));
    row.addEventListener("pointerleave", () => this.view.hover(-1));
    this.#counts.set(`node:${node}`, node);
    return row;
  }

  #pod(pod) {
    const row = this.#row(`pod:${pod}`, 3, short(this.view.playback.pods.keys[pod]), "");
    row.addEventListener("click", () => {
      this.view.selectPod(this.view.pod === pod ? -1 : pod);
      this.view.emit("region", "stage");
    });
    this.#counts.set(`pod:${pod}`, pod);
    return row;
  }

  /** An object that the stage does not draw: opened to be edited. */
  #object(kind, name) {
    const target = kind === name ? kind : `${kind} ${name}`;
    const row = this.#row(`object:${target}`, 3, short(name), "edit", null, `${this.edit.label}: ${target}`);
    row.addEventListener("click", () => this.view.emit("edit", { target }));
    return row;
  }

  /** Ask what else there is at the step on screen, if somebody looks at it. */
  async #list() {
    const { playback } = this.view;
    if (this.#tab !== "objects" || !this.#opened.has("others") || playback.index < 0) return;
    try {
      const { kinds } = await playback.socket.call("objects.list", {
        source: playback.source,
        step: String(playback.cycle),
      });
      if (JSON.stringify(kinds) === JSON.stringify(this.#others)) return;
      this.#others = kinds;
      const focused = this.tree.contains(document.activeElement);
      this.#draw();
      if (focused)
        this.#items()
          .find((item) => item.dataset.key === this.#focused)
          ?.focus();
    } catch {
      /* asked again at the next step; the numbers stay those of the input */
    }
  }

  #lightGroup(members, label) {
    const { placement } = this.view.playback.cluster;
    this.view.light([...new Set(members.map((pod) => placement[pod]).filter((node) => node >= 0))], label);
  }

  #toggle(key) {
    if (!this.#opened.delete(key)) this.#opened.add(key);
    this.#focused = key;
    this.#draw();
    if (key === "others") this.#list();
    this.#items()
      .find((item) => item.dataset.key === key)
      ?.focus();
  }

  /** The live numbers: placed of all, and where a pod is. */
  #count() {
    if (this.#tab !== "objects" || !this.view.playback.cluster) return;
    const { cluster, nodes } = this.view.playback;
    for (const row of this.#drawn()) {
      const key = row.dataset.key;
      const what = this.#counts.get(key);
      if (what === undefined) continue;
      const cell = row.lastElementChild;
      let text = "";
      let there = true;
      if (key === "workloads") text = plural(cluster.present, "pod");
      else if (key.startsWith("group:")) {
        const { placed, present } = this.#tally(what);
        there = present > 0;
        text = `${count(placed)} / ${count(present)}`;
      } else if (key.startsWith("pod:")) {
        const at = cluster.placement[what];
        there = at !== ABSENT;
        text = at >= 0 ? ellipsis(nodes.names[at], NODE) : at === ABSENT ? "" : "pending";
        cell.title = at >= 0 ? nodes.names[at] : "";
      } else if (key.startsWith("node:"))
        text = this.view.exists(what) ? plural(cluster.count[what], "pod") : "not there";
      row.hidden = !there && !this.#filter; // not yet there, or gone: finished, deleted, scaled down
      if (cell.textContent !== text) cell.textContent = text;
    }
    const items = this.#items();
    if (items.length && !items.some((item) => item.tabIndex === 0)) items[0].tabIndex = 0; // the one that had it went
  }

  /** How many of some pods are there at the step on screen, and how many of these have a node. */
  #tally(members) {
    const { placement } = this.view.playback.cluster;
    let placed = 0;
    let present = 0;
    for (const pod of members) {
      if (placement[pod] >= 0) placed += 1;
      if (placement[pod] !== ABSENT) present += 1;
    }
    return { placed, present };
  }

  #drawn() {
    return [...this.tree.querySelectorAll("[role=treeitem]")];
  }

  /** The rows that can be seen. */
  #items() {
    return [...this.tree.querySelectorAll("[role=treeitem]:not([hidden])")];
  }

  #mark() {
    const { node, pod } = this.view;
    for (const row of this.#drawn()) {
      const on = row.dataset.key === `node:${node}` || row.dataset.key === `pod:${pod}`;
      row.classList.toggle("selected", on);
      if (on) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected");
    }
  }

  #key(event) {
    const items = this.#items();
    const at = items.indexOf(event.target.closest("[role=treeitem]"));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const item = items[at];
    const level = Number(item.getAttribute("aria-level"));
    const open = item.getAttribute("aria-expanded");
    let to = -1;
    if (event.key === "ArrowDown") to = at + 1;
    else if (event.key === "ArrowUp") to = at - 1;
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = items.length - 1;
    else if (event.key === "ArrowRight") {
      if (open === "false") this.#toggle(item.dataset.key);
      else to = at + 1;
    } else if (event.key === "ArrowLeft") {
      if (open === "true") this.#toggle(item.dataset.key);
      else for (to = at; to >= 0 && Number(items[to].getAttribute("aria-level")) >= level; to -= 1);
    } else if (event.key === "Enter" || event.key === " ") item.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (to >= 0 && to < items.length) {
      item.tabIndex = -1;
      items[to].tabIndex = 0;
      this.#focused = items[to].dataset.key;
      items[to].focus();
    }
  }

  // ---- the draft's text

  /** The text that is simulated. */
  async #whole() {
    await this.text.load();
    const text = await this.draft.load();
    if (text === undefined) throw new Error("The text of this draft could not be loaded.");
    return text;
  }

  /**
   * Make an edit, `make(text)` → `{text, words…}`, save it and simulate it anew; see Draft. `words` are what Undo calls
   * it, those of the answer without them, and null keeps no step; `saved(answer)` hears of it before it is simulated.
   */
  async #change(make, { words, saved, ...how } = {}) {
    const answer = await this.draft.change(make, how);
    const { text, before, merged } = answer;
    if (text === before) return answer;
    if (saved) saved(answer);
    else this.text.take(text);
    try {
      await this.options.onApplied();
    } finally {
      if (words !== null) this.undo.push(words ?? answer.words, before, text);
    }
    if (merged && words !== null) this.#tellMerged();
    return answer;
  }

  /** After what the edit says of itself. */
  #tellMerged() {
    setTimeout(() => this.edit?.tell("Merged with what another tab had changed meanwhile: both are in the draft."));
  }

  /** Another tab has saved: show that, and leave alone what is typed here. */
  async #changedElsewhere({ text, simulated }) {
    if (text !== undefined) this.text.take(text);
    if (simulated) return;
    try {
      await this.options.onApplied();
      toast("Changed in another tab. It is shown here too.", { name: "help" });
    } catch (error) {
      const [first] = error.body?.errors ?? [];
      toast(`Another tab has saved a text that cannot be simulated: ${first?.message ?? error.message}`, {
        name: "warn",
        ms: 9000,
      });
    }
  }

  /** The draft was deleted; what it held is still here. */
  #gone() {
    const note = toast("This draft was deleted in another tab. Its text is still here.", { name: "warn", ms: 0 });
    note?.append(
      h(
        "button",
        {
          type: "button",
          class: "btn small",
          onclick: async () => {
            try {
              const text = this.text.dirty ? this.text.editor.value : this.draft.text;
              const { url } = await this.view.playback.socket.call("bundle.open", {
                text,
                title: document.querySelector("input[data-title]")?.value ?? "",
              });
              this.text.forget();
              location.assign(url);
            } catch (error) {
              toast(`It could not be kept: ${error.body?.errors?.[0]?.message ?? error.message}`, {
                name: "warn",
                ms: 6000,
              });
            }
          },
        },
        icon("copy"),
        "Keep it as a new draft",
      ),
    );
  }

  /** Apply pending changes, as sharing wants. */
  async settle() {
    return this.text.settle();
  }
}
