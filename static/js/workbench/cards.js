// The stage up to some two hundred nodes: a card a node, changed only where something changed.

import { h, fill } from "../lib/dom.js";
import { age, count, cpu, memory, short, shortReason } from "../lib/quantity.js";
import { ghosts } from "./ghosts.js";

const BLOCKS = 36; // pod blocks on a card; the rest is counted
const LONG = 16; // a longer name has a line of its own
const END = 13; // characters at a name's end that are never cut

/** Nodes by zone, in the order zones first appear. */
export function zones(nodes) {
  const found = new Map();
  nodes.zone.forEach((zone, node) => {
    if (!found.has(zone)) found.set(zone, []);
    found.get(zone).push(node);
  });
  return found;
}

export class Cards {
  #cards = [];
  #signatures = [];
  #ghosts = new Map(); // of a node: the pods nominated to it
  #sizes = []; // of each zone: where its number of nodes stands, and the nodes

  constructor(view, compact) {
    this.view = view;
    this.compact = compact;
    this.element = h("div", { class: `cards ${compact ? "compact" : ""}`, role: "group", "aria-label": "Nodes by zone. Arrow keys move between nodes, Enter selects." });
    this.element.addEventListener("click", (event) => {
      const card = event.target.closest("[data-node]");
      if (!card) return;
      const block = event.target.closest("[data-pod]");
      const node = Number(card.dataset.node);
      if (block) view.selectPod(Number(block.dataset.pod));
      else if (event.target.closest(".why") && view.facts.pod >= 0) view.emit("why", { pod: view.facts.pod, node });
      else view.selectNode(view.node === node ? -1 : node);
    });
    this.element.addEventListener("pointerover", (event) => view.hover(Number(event.target.closest("[data-node]")?.dataset.node ?? -1)));
    this.element.addEventListener("pointerleave", () => view.hover(-1));
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.#build();
  }

  #build() {
    const { nodes } = this.view.playback;
    const grouped = zones(nodes);
    this.element.classList.toggle("columns", grouped.size > 1 && grouped.size <= 5);
    this.#cards = new Array(nodes.names.length);
    this.order = [];
    let first = true;
    for (const [zone, members] of grouped) {
      const list = h("div", { class: "zone-cards" });
      for (const node of members) {
        const card = this.#card(node);
        card.root.tabIndex = first ? 0 : -1;
        first = false;
        this.#cards[node] = card;
        this.order.push(node);
        list.append(card.root);
      }
      const size = h("small", { text: String(members.length) });
      this.#sizes.push([size, members]);
      const label = zone ? `zone ${zone}` : grouped.size > 1 ? "no zone" : "nodes";
      this.element.append(h("section", { class: "zone" }, h("h3", null, h("span", { text: label }), size), list));
    }
  }

  #bar(label) {
    const used = h("i", { class: "used" });
    const add = h("i", { class: "add" });
    const text = h("span", { class: "amount" });
    return { used, add, text, root: h("span", { class: "bar" }, this.compact ? null : h("span", { class: "bar-label", text: label }), h("span", { class: "rail" }, used, add), this.compact ? null : text) };
  }

  #card(node) {
    const { nodes } = this.view.playback;
    const bars = { cpu: this.#bar("cpu"), memory: this.#bar("mem"), pods: this.compact ? null : this.#bar("pods") };
    const size = this.compact ? null : h("small");
    const score = h("span", { class: "score" });
    const pods = h("span", { class: "pods" });
    const why = h("span", { class: "why", title: "Why, and what would help" });
    const root = h("button", { type: "button", class: "node", "data-node": node },
      h("span", { class: `node-head${nodes.names[node].length > LONG ? " long-name" : ""}` }, middle(nodes.names[node]), size ?? score),
      bars.cpu.root, bars.memory.root, bars.pods?.root,
      this.compact ? null : h("span", { class: "node-foot" }, pods, score), why);
    return { root, bars, pods, why, score, size };
  }

  update() {
    const { view } = this;
    this.#ghosts = ghosts(view).nominated;
    for (let node = 0; node < this.#cards.length; node += 1) {
      const signature = this.#signature(node);
      if (signature === this.#signatures[node]) continue;
      this.#signatures[node] = signature;
      this.#paint(node);
    }
    if (view.playback.nodes.since || view.playback.nodes.until) for (const [size, members] of this.#sizes) size.textContent = String(members.filter((node) => view.exists(node)).length);
    this.element.classList.toggle("has-lit", Boolean(view.lit));
  }

  #signature(node) {
    const { playback, lit, node: selected, hovered, facts, pod } = this.view;
    const { cluster } = playback;
    const state = this.view.verdictOf(node);
    const { nodes } = playback;
    return [cluster.count[node], cluster.cpu[node], cluster.memory[node], nodes.cpu[node], nodes.memory[node], nodes.pods[node], state, facts.chosen === node || facts.nominated === node ? facts.index : "", state === "unknown" ? "" : facts.pod,
      facts.totals?.get(node) ?? "", selected === node, hovered === node, lit ? lit.nodes.has(node) : "", pod >= 0 && cluster.placement[pod] === node ? pod : "",
      state === "failed" ? facts.verdict.first[node] : "", this.view.exists(node), this.view.at("unschedulable", node), this.view.waitingOn(node).join(), this.#ghosts.get(node)?.join()].join("|");
  }

  #paint(node) {
    const { view } = this;
    const { playback, facts, lit } = view;
    const { nodes, cluster } = playback;
    const card = this.#cards[node];
    const chosen = facts.chosen === node;
    const nominated = facts.nominated === node;
    const state = view.verdictOf(node);
    const adds = state === "fits" || chosen;
    card.root.className = `node ${state}${chosen ? " chosen" : ""}${nominated ? " nominated" : ""}${view.node === node ? " selected" : ""}${view.hovered === node ? " hovered" : ""}${lit?.nodes.has(node) ? " lit" : ""}${view.at("unschedulable", node) ? " cordoned" : ""}${view.exists(node) ? "" : " absent"}`;
    card.root.setAttribute("aria-label", view.describe(node));
    card.root.setAttribute("aria-pressed", view.node === node);
    if (card.size) card.size.textContent = `${cpu(nodes.cpu[node])} cpu · ${memory(nodes.memory[node])}`;
    // Numbers are those after the cycle, here as everywhere. On the chosen node the pod is in them: the bar draws its part apart.
    const own = (amount) => (chosen && cluster.placement[facts.pod] === node ? amount : 0);
    this.#fillBar(card.bars.cpu, cluster.cpu[node], own(facts.cpu), adds ? facts.cpu : 0, nodes.cpu[node], (used, of) => `${cpu(used)} / ${cpu(of)}`);
    this.#fillBar(card.bars.memory, cluster.memory[node], own(facts.memory), adds ? facts.memory : 0, nodes.memory[node], (used, of) => `${memory(used)} / ${memory(of)}`);
    if (card.bars.pods) this.#fillBar(card.bars.pods, cluster.count[node], own(1), adds ? 1 : 0, nodes.pods[node], (used, of) => `${used} / ${of}`);
    const total = facts.totals?.get(node);
    card.score.textContent = total === undefined ? "" : this.compact && !chosen ? "tie" : count(total);
    card.score.classList.toggle("best", total !== undefined && total === facts.best);
    if (!this.compact) this.#blocks(card, node, chosen);
    card.why.classList.toggle("wait-text", !nominated && view.waitingOn(node).length > 0);
    card.why.textContent = nominated ? view.nomination() : view.facts.waiting.size && view.waitingOn(node).length ? `${view.waitingOn(node).length} waiting at Permit` : state === "failed" && !chosen ? this.#reason(node) : "";
  }

  #reason(node) {
    const { verdict } = this.view.facts;
    const reasons = verdict.reasonsOf(node);
    if (this.compact) return reasons.map(shortReason).join(", ");
    return [...new Set(reasons.map((text) => this.view.plainReason(text, node)))].join(", ") || verdict.order[verdict.first[node]];
  }

  /** Of `used` the pod of this cycle has `own`; where it would fit `add` shows what it would take. More than `of` is told in red. */
  #fillBar(bar, used, own, add, of, format) {
    const part = of > 0 ? Math.min(1, (used - own) / of) : 0;
    const more = of > 0 ? Math.min(1 - part, add / of) : 0;
    bar.used.style.setProperty("width", `${part * 100}%`);
    bar.add.style.setProperty("left", `${part * 100}%`);
    bar.add.style.setProperty("width", `${more * 100}%`);
    bar.root.classList.toggle("over", used > of);
    if (!this.compact) bar.text.textContent = format(used, of);
  }

  #blocks(card, node, chosen) {
    const { view } = this;
    const { pods, cluster } = view.playback;
    const { pod: flying } = view.facts;
    const here = [...cluster.podsOn(node)].filter((pod) => !(chosen && pod === flying)).sort((a, b) => pods.group[a] - pods.group[b] || a - b);
    const shown = here.length > BLOCKS ? here.slice(0, BLOCKS - 1) : here;
    fill(card.pods,
      shown.map((pod) => h("i", { class: `pod ${view.colour(pod)}${pod === view.pod ? " selected" : ""}${this.#waits(pod) ? " waiting" : ""}`, "data-pod": pod, title: `${short(pods.keys[pod])}${this.#waits(pod)}` })),
      here.length > shown.length ? h("small", { text: `+${here.length - shown.length}` }) : null,
      chosen ? h("i", { class: `pod added ${view.colour(flying)}${this.#waits(flying) ? " waiting" : ""}`, "data-pod": flying, title: `${short(pods.keys[flying])}${this.#waits(flying) || ", placed by this cycle"}` }) : null,
      view.facts.nominated === node ? this.#made(flying) : null,
      (this.#ghosts.get(node) ?? []).filter((pod) => pod !== flying).slice(0, BLOCKS).map((pod) => this.#ghost(pod)),
      here.length === 0 && !chosen ? h("small", { class: "none", text: "no pods" }) : null);
  }

  /** That a pod waits at Permit and until when, or "". */
  #waits(pod) {
    const { light, waiting } = this.view.facts;
    if (!waiting.has(pod)) return "";
    const deadline = waiting.get(pod);
    return `, waits at Permit${deadline === null ? "" : ` for ${age(Math.max(0, deadline - light.time))} more`}`;
  }

  /** What preemption did on the nominated node: its victims struck out, and the pod that waits for the room. */
  #made(flying) {
    const { view } = this;
    const { keys } = view.playback.pods;
    const { victims } = view.facts;
    return [
      ...victims.slice(0, BLOCKS).map((pod) => h("i", { class: `pod victim ${view.colour(pod)}`, "data-pod": pod, title: `${short(keys[pod])}, deleted by this cycle` })),
      victims.length > BLOCKS ? h("small", { text: `+${victims.length - BLOCKS}` }) : null,
      this.#ghost(flying),
    ];
  }

  #ghost(pod) {
    const { view } = this;
    return h("i", { class: `pod ghost ${view.colour(pod)}`, "data-pod": pod, title: `${short(view.playback.pods.keys[pod])}, nominated to this node` });
  }

  reveal(node) { this.#cards[node]?.root.scrollIntoView({ block: "nearest", inline: "nearest" }); }

  #key(event) {
    const at = this.order.indexOf(Number(event.target.closest?.("[data-node]")?.dataset.node));
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
      if (distance < nearest) { nearest = distance; next = node; }
    }
    if (next === null) return;
    event.target.closest("[data-node]").tabIndex = -1;
    this.#cards[next].root.tabIndex = 0;
    this.#cards[next].root.focus();
  }
}

/** A name that loses its middle, not its end, where there is no room: node names differ at the end. */
function middle(name) {
  if (name.length <= LONG) return h("b", { text: name });
  return h("b", { class: "middle", title: name }, h("span", { text: name.slice(0, -END) }), h("span", { text: name.slice(-END) }));
}
