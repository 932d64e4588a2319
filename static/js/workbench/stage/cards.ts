// The stage up to some two hundred nodes: a card a node, changed only where something changed.

import { targetOf, h, icon } from "../../lib/dom.ts";
import { atWords } from "../../lib/quantity.ts";
import { ghosts } from "./ghosts.ts";
import { Card, resourcesOf } from "./card.ts";
import { CLASSES } from "../view/colours.ts";
import { fit } from "./fit.ts";
import { grouped, wordsOf } from "../view/grouping.ts";
import { markOf } from "../view/windows.ts";
import { ailmentsOf, describeNode } from "../view/nodewords.ts";
import type { View } from "../view/view.ts";

const SPARE = 6; // pixels that stay free under cards that fit
const MENU = 20; // pixels of a heading that its menu takes
const GAP = 7; // between a node's name and its size

const pen = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D; // measures names

/** The pixels that a name has on its card: what its size leaves, or a line of its own. */
function roomOf(name: HTMLElement) {
  const head = name.parentElement as HTMLElement;
  const size = head.querySelector("small");
  const beside = size?.offsetWidth && getComputedStyle(head).flexWrap === "nowrap" ? size.offsetWidth + GAP : 0;
  return head.clientWidth - beside;
}

export class Cards {
  covered = 0;
  element: HTMLDivElement;
  resized: ResizeObserver;
  #cards: Card[] = [];
  #signatures: string[] = [];
  #ghosts: Map<number, number[]> = new Map(); // of a node: the pods nominated to it
  #spot: View["spot"] = null; // where the one is that was found or selected
  // of each zone: where its number of nodes stands, and the nodes
  #sizes: [size: HTMLElement, members: number[]][] = [];

  groups: [label: string, members: number[]][] = [];
  order: number[] = [];
  holders: Set<number> | null = null;

  constructor(
    readonly view: View,
    readonly compact: boolean,
  ) {
    this.element = h("div", {
      class: `cards ${compact ? "compact" : ""}`,
      role: "group",
      "aria-label": `${wordsOf(view.look.group)}. Arrow keys move between nodes, Enter selects.`,
    });
    this.element.addEventListener("click", (event) => {
      const card = targetOf(event).closest("[data-node]");
      if (!card) return;
      const block = targetOf(event).closest("[data-pod]");
      const node = Number(card.dataset.node);
      if (block) view.selectPod(Number(block.dataset.pod));
      else if (targetOf(event).closest(".why") && view.facts.pod >= 0) view.actions.why({ pod: view.facts.pod, node });
      else view.selectNode(view.node === node ? -1 : node);
    });
    this.element.addEventListener("contextmenu", (event) => this.#act(event));
    this.element.addEventListener("pointerover", (event) =>
      view.hover(Number(targetOf(event).closest("[data-node]")?.dataset.node ?? -1)),
    );
    this.element.addEventListener("pointerleave", () => view.hover(-1));
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.#build();
    this.resized = new ResizeObserver(() => this.#fit());
  }

  /** Another picture takes its place. */
  end() {
    this.resized.disconnect();
  }

  /** It is on screen in `host`: as large as that has room for. */
  mounted(host: HTMLElement) {
    this.resized.disconnect();
    this.resized.observe(host);
  }

  /**
   * Let the cards grow as long as all of them fit; where they do not with all that they show, they are small ones. No
   * step changes their size.
   */
  #fit() {
    const host = this.element.parentElement;
    if (!host?.clientHeight) return;
    if (!this.compact) this.#grow(host);
    this.#cutNames();
  }

  #grow(host: HTMLElement) {
    const look = getComputedStyle(host);
    const grown = fit(
      this.groups.map(([, members]) => members.length),
      {
        width: host.clientWidth - parseFloat(look.paddingLeft) - parseFloat(look.paddingRight),
        height: host.clientHeight - 2 * parseFloat(look.paddingTop) - SPARE,
        least: parseFloat(getComputedStyle(this.element.querySelector("h3") as Element).fontSize),
        bars: 3 + Math.max(0, ...this.#cards.map(({ extended }) => extended.length)),
      },
    );
    this.element.classList.toggle("fits", grown !== null);
    this.element.classList.toggle("small", grown?.small ?? true);
    this.element.classList.toggle("sized", grown?.sized ?? false);
    this.element.classList.toggle("scrolls", grown === null);
    const properties: [name: string, value: string | number | null | undefined][] = [
      ["--card", grown && `${grown.font}px`],
      ["--columns", grown?.columns.map((one) => `${one}px`).join(" ")],
      ["--tall", grown && `${grown.tall}px`],
      ["--from", grown?.from],
      ["--lines", grown?.lines ?? 1],
    ];
    for (const [name, value] of properties) {
      if (grown) this.element.style.setProperty(name, String(value));
      else this.element.style.removeProperty(name);
    }
    [...this.element.children].forEach((zone, at) => {
      if (grown && zone instanceof HTMLElement) zone.style.setProperty("--per", String(grown.per[at]));
    });
  }

  /** Leave out the middle of names that have no room. */
  #cutNames() {
    const names = [...this.element.querySelectorAll<HTMLElement>(".node-head b")];
    if (!names[0]) return;
    pen.font = getComputedStyle(names[0]).font;
    const width = (text: string) => pen.measureText(text).width;
    let rooms = names.map(roomOf);
    if (names.some((name, at) => width(name.title) > rooms[at]) && this.element.matches(".small.sized")) {
      this.element.classList.remove("sized"); // a small card has its name rather than its size
      rooms = names.map(roomOf);
    }
    names.forEach((name, at) => {
      const text = atWords(name.title, (part) => width(part) <= rooms[at]);
      if (name.textContent !== text) name.textContent = text;
    });
    this.#cutHeadings();
  }

  /** A heading without room goes without the word "zone", then at words. */
  #cutHeadings() {
    const labels = [...this.element.querySelectorAll<HTMLElement>(".zone > h3 > span")];
    if (!labels[0]) return;
    pen.font = getComputedStyle(labels[0]).font;
    labels.forEach((label, at) => {
      label.textContent = this.groups[at]?.[0] ?? "";
      label.parentElement?.classList.remove("tight");
    });
    const rooms = labels.map(({ clientWidth, scrollWidth }) => (scrollWidth > clientWidth ? clientWidth : Infinity));
    labels.forEach((label, at) => {
      if (rooms[at] === Infinity) return;
      const name = (label.textContent ?? "").replace(/^zone /, "");
      label.title = label.textContent ?? "";
      label.parentElement?.classList.add("tight"); // its menu is that of its nodes, too
      label.textContent = atWords(name, (part) => pen.measureText(part).width <= (rooms[at] ?? 0) + MENU);
    });
  }

  #build() {
    const { nodes } = this.view.playback;
    const groups = (this.groups = grouped(nodes, this.view.look.group) as Cards["groups"]);
    this.element.classList.toggle("columns", groups.length > 1 && groups.length <= 5);
    this.element.classList.toggle(
      "single",
      !this.compact && groups.length > 1 && groups.every(([, members]) => members.length === 1),
    );
    this.#cards = new Array(nodes.names.length);
    this.order = [];
    let first = true;
    for (const [label, members] of groups) {
      const list = h("div", { class: "zone-cards" });
      for (const node of members) {
        const card = new Card(this.view, node, this.compact);
        card.root.tabIndex = first ? 0 : -1;
        first = false;
        this.#cards[node] = card;
        this.order.push(node);
        list.append(card.root);
      }
      const size = h("small", { text: String(members.length) });
      this.#sizes.push([size, members]);
      const heading = h("h3", null, h("span", { text: label }), size, this.#operate(label, members));
      this.element.append(h("section", { class: "zone" }, heading, list));
    }
  }

  /** A button beside a heading: what can be done with all nodes under it. */
  #operate(label: string, members: number[]) {
    const { view } = this;
    if (!view.editing || this.groups.length < 2) return null;
    return h(
      "button",
      {
        type: "button",
        class: "zone-act",
        "aria-haspopup": "menu",
        "aria-label": `Operate ${label}`,
        title: "Drain, cordon, lose … all its nodes",
        onclick: (event) => view.actions.act({ group: [label, members], place: event.target.closest("button") }),
      },
      icon("more"),
    );
  }

  /** Whether nodes belong to other groups now than they are drawn in, or have resources without a bar. */
  stale() {
    const { nodes } = this.view.playback;
    return (
      JSON.stringify(grouped(nodes, this.view.look.group)) !== JSON.stringify(this.groups)
      || (!this.compact
        && this.#cards.some(
          ({ extended }, node) =>
            this.view.exists(node) && resourcesOf(nodes, node).join() !== extended.map(([name]) => name).join(),
        ))
    );
  }

  /** Draw what changed; `holders` are the nodes with pods of the colour that is lit up, null if none is. */
  update(holders: Set<number> | null = this.holders) {
    const { view } = this;
    this.holders = holders;
    this.#ghosts = ghosts(view).nominated;
    this.#spot = view.spot;
    for (let node = 0; node < this.#cards.length; node += 1) {
      const signature = this.#signature(node);
      if (signature === this.#signatures[node]) continue;
      this.#signatures[node] = signature;
      this.#cards[node].paint({ holders, ghosts: this.#ghosts.get(node) ?? [], spot: this.#spot });
    }
    if (view.playback.nodes.since || view.playback.nodes.until)
      for (const [size, members] of this.#sizes)
        size.textContent = String(members.filter((node) => view.exists(node)).length);
    this.element.classList.toggle("has-lit", Boolean(view.lit));
    if (view.only < 0) delete this.element.dataset.only;
    else this.element.dataset.only = CLASSES[view.only];
  }

  #signature(node: number) {
    const { view } = this;
    const { playback, lit, node: selected, hovered, facts, pod } = view;
    const { cluster } = playback;
    const state = this.view.verdictOf(node);
    const { nodes } = playback;
    const nominates = facts.nominated === node;
    const here = this.compact ? "" : cluster.podsOn(node).join();
    return [
      here,
      view.colours.version,
      this.holders?.has(node) ?? "",
      ailmentsOf(view, node).join(),
      markOf(view, node)?.sentences.join(),
      playback.terminating.size
        ? cluster
            .podsOn(node)
            .filter((one) => playback.terminating.has(one))
            .join()
        : "",
      nodes.taints[node].join(),
      cluster.count[node],
      cluster.cpu[node],
      cluster.memory[node],
      nodes.cpu[node],
      nodes.memory[node],
      nodes.pods[node],
      state,
      facts.chosen === node || nominates ? facts.index : "",
      this.compact && state === "unknown" ? "" : facts.pod,
      state === "past" || nominates ? describeNode(view, node) : "",
      facts.totals?.get(node) ?? "",
      this.compact || !facts.totals ? "" : `${facts.best} ${facts.worst}`,
      selected === node,
      hovered === node,
      lit ? lit.nodes.has(node) : "",
      pod >= 0 && cluster.placement[pod] === node ? pod : "",
      state === "failed" ? facts.verdict?.first[node] : "",
      this.view.exists(node),
      this.view.waitingOn(node).join(),
      this.#ghosts.get(node)?.join(),
      this.#found(node),
    ].join("|");
  }

  /** What of a search or of the selected pod is on a node: "", or the text of the card's tag. */
  #found(node: number) {
    const { search } = this.view;
    const many = search.places.get(node) ?? 0;
    return `${this.#spot?.node === node ? this.#spot.name : ""}/${many ? search.text : ""}/${many}`;
  }

  /** Where a pod is drawn, null if it is not. */
  blockOf(pod: number) {
    const node = this.view.playback.cluster.placement[pod];
    return node >= 0
      ? (this.#cards[node]?.root.querySelector(`[data-pod="${pod}"]`) ?? this.#cards[node]?.root ?? null)
      : null;
  }

  reveal(node: number) {
    this.#cards[node]?.root.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** So much of the lower end of the stage is covered. */
  cover(height: number) {
    this.covered = height;
  }

  /** Whether a node's card is in view; of one that is higher than the stage its upper end. */
  inView(node: number) {
    const card = this.#cards[node]?.root.getBoundingClientRect();
    const room = this.element.parentElement?.getBoundingClientRect();
    if (!card?.height || !room) return false;
    const bottom = room.bottom - this.covered;
    return card.top >= room.top - 1 && Math.min(card.bottom, card.top + bottom - room.top) <= bottom + 1;
  }

  /** What can be done with the node or the pod under the pointer, or with the card that has the focus. */
  #act(event: MouseEvent) {
    const card = targetOf(event).closest("[data-node]");
    if (!card || !this.view.editing) return;
    event.preventDefault();
    const block = targetOf(event).closest("[data-pod]");
    const place = event.clientX || event.clientY ? { x: event.clientX, y: event.clientY } : card;
    this.view.actions.act({
      ...(block ? { pod: Number(block.dataset.pod) } : { node: Number(card.dataset.node) }),
      place,
    });
  }

  #key(event: KeyboardEvent) {
    const at = this.order.indexOf(Number(targetOf(event).closest?.("[data-node]")?.dataset.node));
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const here = this.#cards[this.order[at]].root.getBoundingClientRect();
    const toward = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!toward) return;
    event.preventDefault();
    event.stopPropagation();
    let next = null;
    let nearest = Infinity;
    for (const node of this.order) {
      const box = this.#cards[node].root.getBoundingClientRect();
      const dx = box.left - here.left;
      const dy = box.top - here.top;
      const along = dx * toward[0] + dy * toward[1];
      const across = Math.abs(dx * toward[1]) + Math.abs(dy * toward[0]);
      if (along <= 4) continue;
      const distance = along + across * 3;
      if (distance < nearest) {
        nearest = distance;
        next = node;
      }
    }
    if (next === null) return;
    (targetOf(event).closest("[data-node]") as HTMLElement).tabIndex = -1;
    this.#cards[next].root.tabIndex = 0;
    this.#cards[next].root.focus();
  }
}
