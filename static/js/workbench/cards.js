// The stage up to some two hundred nodes: a card a node, changed only where something changed.

import { classes, h, fill } from "../lib/dom.js";
import { age, amount, count, cpu, memory, short, shortReason } from "../lib/quantity.js";
import { fillRail } from "../lib/rail.js";
import { textSize } from "../lib/theme.js";
import { ghosts } from "./ghosts.js";
import { CLASSES } from "./stage/colours.js";
import { fit } from "./stage/fit.js";
import { grouped, wordsOf } from "./stage/grouping.js";

const BLOCKS = 36; // pod blocks on a card; the rest is counted
const LONG = 16; // a longer name has a line of its own
const END = 13; // characters at a name's end that are never cut

const SPARE = 6; // pixels that stay free under cards that fit
const UNEVEN = 1.5; // how many more pods than the mean a card is to have room for
const ROOM = 4; // characters of a bar's label
const EXTENDED = 3; // bars of extended resources on a card; the sheet has all
const SHORT = { "ephemeral-storage": "disk" };

/** The extended resources that a bar tells of: devices first. */
function resourcesOf(nodes, node) {
  return Object.keys(nodes.extended)
    .filter((name) => nodes.extended[name][node])
    .sort((a, b) => b.includes("/") - a.includes("/") || a.localeCompare(b))
    .slice(0, EXTENDED);
}

export class Cards {
  #cards = [];
  #signatures = [];
  #ghosts = new Map(); // of a node: the pods nominated to it
  #spot = null; // where the one is that was found or selected
  #sizes = []; // of each zone: where its number of nodes stands, and the nodes

  constructor(view, compact) {
    this.view = view;
    this.compact = compact;
    this.covered = 0;
    this.element = h("div", {
      class: `cards ${compact ? "compact" : ""}`,
      role: "group",
      "aria-label": `${wordsOf(view.look.group)}. Arrow keys move between nodes, Enter selects.`,
    });
    this.element.addEventListener("click", (event) => {
      const card = event.target.closest("[data-node]");
      if (!card) return;
      const block = event.target.closest("[data-pod]");
      const node = Number(card.dataset.node);
      if (block) view.selectPod(Number(block.dataset.pod));
      else if (event.target.closest(".why") && view.facts.pod >= 0) view.emit("why", { pod: view.facts.pod, node });
      else view.selectNode(view.node === node ? -1 : node);
    });
    this.element.addEventListener("pointerover", (event) =>
      view.hover(Number(event.target.closest("[data-node]")?.dataset.node ?? -1)),
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
  mounted(host) {
    this.resized.disconnect();
    this.resized.observe(host);
  }

  /**
   * Let the cards grow as long as all of them fit; room is left for pods of later steps, so that no step changes their
   * size.
   */
  #fit() {
    const host = this.element.parentElement;
    if (!host?.clientHeight || this.compact) return;
    const look = getComputedStyle(host);
    const { pods, nodes } = this.view.playback;
    const grown = fit(
      this.groups.map(([, members]) => members.length),
      {
        width: host.clientWidth - parseFloat(look.paddingLeft) - parseFloat(look.paddingRight),
        height: host.clientHeight - 2 * parseFloat(look.paddingTop) - SPARE,
        least: textSize(),
        bars: 3 + Math.max(0, ...this.#cards.map(({ extended }) => extended.length)),
        pods: Math.min(BLOCKS, Math.ceil((pods.keys.length / nodes.names.length) * UNEVEN)),
      },
    );
    this.element.classList.toggle("fits", grown !== null);
    for (const [name, value] of [
      ["--card", grown && `${grown.font}px`],
      ["--across", grown?.across],
      ["--per", grown?.per],
      ["--tall", grown && `${grown.tall}px`],
      ["--from", grown?.from],
    ]) {
      if (grown) this.element.style.setProperty(name, value);
      else this.element.style.removeProperty(name);
    }
  }

  #build() {
    const { nodes } = this.view.playback;
    const groups = (this.groups = grouped(nodes, this.view.look.group));
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
        const card = this.#card(node);
        card.root.tabIndex = first ? 0 : -1;
        first = false;
        this.#cards[node] = card;
        this.order.push(node);
        list.append(card.root);
      }
      const size = h("small", { text: String(members.length) });
      this.#sizes.push([size, members]);
      this.element.append(h("section", { class: "zone" }, h("h3", null, h("span", { text: label }), size), list));
    }
  }

  /** Whether nodes belong to other groups now than they are drawn in, or have resources that no bar tells of. */
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

  #bar(label, title) {
    const rail = h("span", { class: "rail" });
    const text = h("span", { class: "amount" });
    return {
      rail,
      text,
      root: h(
        "span",
        { class: `bar${label.length > ROOM ? " long" : ""}`, title },
        this.compact ? null : h("span", { class: "bar-label", text: label }),
        rail,
        this.compact ? null : text,
      ),
    };
  }

  #card(node) {
    const { nodes } = this.view.playback;
    const bars = { cpu: this.#bar("cpu"), memory: this.#bar("mem"), pods: this.compact ? null : this.#bar("pods") };
    const extended = this.compact
      ? []
      : resourcesOf(nodes, node).map((name) => [
          name,
          this.#bar(SHORT[name] ?? name.slice(name.lastIndexOf("/") + 1), name),
        ]);
    const size = this.compact ? null : h("small");
    const state = h("span", { class: "node-state" });
    const score = h("span", { class: "score" });
    const pods = h("span", { class: "pods" });
    const why = h("span", { class: "why", title: "Why, and what would help" });
    const name = middle(nodes.names[node]);
    // A compact card has one line for whatever there is to say: it stays as high as the others, and nothing jumps from
    // step to step.
    const root = this.compact
      ? h(
          "button",
          { type: "button", class: "node", "data-node": node },
          h("span", { class: "node-head" }, name),
          h("span", { class: "node-line" }, state, why, score),
          bars.cpu.root,
          bars.memory.root,
        )
      : h(
          "button",
          { type: "button", class: "node", "data-node": node },
          h("span", { class: `node-head${nodes.names[node].length > LONG ? " long-name" : ""}` }, name, size),
          state,
          bars.cpu.root,
          bars.memory.root,
          extended.map(([, bar]) => bar.root),
          bars.pods.root,
          h("span", { class: "node-foot" }, pods, score),
          why,
        );
    return { root, bars, extended, pods, why, score, size, state };
  }

  /** Draw what changed; `holders` are the nodes with pods of the colour that is lit up, null if none is. */
  update(holders = this.holders ?? null) {
    const { view } = this;
    this.holders = holders;
    this.#ghosts = ghosts(view).nominated;
    this.#spot = view.spot;
    for (let node = 0; node < this.#cards.length; node += 1) {
      const signature = this.#signature(node);
      if (signature === this.#signatures[node]) continue;
      this.#signatures[node] = signature;
      this.#paint(node);
    }
    if (view.playback.nodes.since || view.playback.nodes.until)
      for (const [size, members] of this.#sizes)
        size.textContent = String(members.filter((node) => view.exists(node)).length);
    this.element.classList.toggle("has-lit", Boolean(view.lit));
    if (view.only < 0) delete this.element.dataset.only;
    else this.element.dataset.only = CLASSES[view.only];
  }

  #signature(node) {
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
      view.ailments(node).join(),
      nodes.taints[node].join(),
      cluster.count[node],
      cluster.cpu[node],
      cluster.memory[node],
      nodes.cpu[node],
      nodes.memory[node],
      nodes.pods[node],
      state,
      facts.chosen === node || nominates ? facts.index : "",
      state === "unknown" ? "" : facts.pod,
      state === "past" || nominates ? view.describe(node) : "",
      facts.totals?.get(node) ?? "",
      selected === node,
      hovered === node,
      lit ? lit.nodes.has(node) : "",
      pod >= 0 && cluster.placement[pod] === node ? pod : "",
      state === "failed" ? facts.verdict.first[node] : "",
      this.view.exists(node),
      this.view.waitingOn(node).join(),
      this.#ghosts.get(node)?.join(),
      this.#found(node),
    ].join("|");
  }

  /** What of a search or of the selected pod is on a node: "", or what the card's tag says. */
  #found(node) {
    const { search } = this.view;
    const many = search.places.get(node) ?? 0;
    return `${this.#spot?.node === node ? this.#spot.name : ""}/${many ? search.text : ""}/${many}`;
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
    card.root.className = classes("node", state, {
      chosen,
      nominated,
      selected: view.node === node,
      hovered: view.hovered === node,
      lit: lit?.nodes.has(node),
      cordoned: nodes.unschedulable[node],
      without: this.holders && !this.holders.has(node),
      absent: !view.exists(node),
      found: view.search.places.has(node),
      spot: this.#spot?.node === node,
    });
    if (this.#spot?.node === node) card.root.dataset.spot = this.#spot.name;
    else delete card.root.dataset.spot;
    card.root.setAttribute("aria-label", view.describe(node));
    card.root.setAttribute("aria-pressed", view.node === node);
    this.#state(card, node);
    if (card.size) card.size.textContent = `${cpu(nodes.cpu[node])} cpu · ${memory(nodes.memory[node])}`;
    // Numbers are those after the cycle, here as everywhere. On the chosen node they include the pod: the bar draws its
    // part apart.
    const own = (amount) => (chosen && cluster.placement[facts.pod] === node ? amount : 0);
    this.#fillBar(
      card.bars.cpu,
      cluster.cpu[node],
      own(facts.cpu),
      adds ? facts.cpu : 0,
      nodes.cpu[node],
      (used, of) => `${cpu(used)} / ${cpu(of)}`,
    );
    this.#fillBar(
      card.bars.memory,
      cluster.memory[node],
      own(facts.memory),
      adds ? facts.memory : 0,
      nodes.memory[node],
      (used, of) => `${memory(used)} / ${memory(of)}`,
    );
    for (const [name, bar] of card.extended) {
      const asks = facts.pod >= 0 ? (playback.pods.extended[name]?.[facts.pod] ?? 0) : 0;
      this.#fillBar(
        bar,
        cluster.extendedUsed(node, name),
        own(asks),
        adds ? asks : 0,
        nodes.extended[name][node],
        (used, of) => `${amount(name, used)} / ${amount(name, of)}`,
      );
    }
    if (card.bars.pods)
      this.#fillBar(
        card.bars.pods,
        cluster.count[node],
        own(1),
        adds ? 1 : 0,
        nodes.pods[node],
        (used, of) => `${used} / ${of}`,
      );
    const total = facts.totals?.get(node);
    card.score.textContent = total === undefined ? "" : this.compact && !chosen ? "tie" : count(total);
    card.score.classList.toggle("best", total !== undefined && total === facts.best);
    if (!this.compact) this.#blocks(card, node, chosen);
    const stopped = state === "failed" && !chosen ? facts.verdict.order[facts.verdict.first[node]] : "";
    card.why.title = stopped ? `${stopped} stopped it. Why, and what would help` : "Why, and what would help";
    card.why.classList.toggle("wait-text", !nominated && view.waitingOn(node).length > 0);
    const why = this.#why(node, { state, chosen, nominated });
    if (card.why.textContent !== why) fill(card.why, breakable(why));
  }

  /** What is said of a node beside its numbers. */
  #why(node, { state, chosen, nominated }) {
    const { view } = this;
    const waiting = view.facts.waiting.size ? view.waitingOn(node).length : 0;
    if (nominated)
      return this.compact
        ? `${view.facts.victims.length || "no"} victim${view.facts.victims.length === 1 ? "" : "s"}`
        : view.nomination();
    if (waiting) {
      if (this.compact) return `${waiting} waiting`;
      return `${waiting} waiting at Permit${state === "failed" && !chosen ? `; ${this.#reason(node)}` : ""}`;
    }
    if (this.compact && view.ailments(node).length) return ""; // their badges have the line
    if (state === "past")
      return view.facts.verdict.fits(node) ? "" : this.compact ? "did not fit, then" : view.past(node);
    return state === "failed" && !chosen ? this.#reason(node) : "";
  }

  /** What is wrong with the node, and its taints: a badge each, with all of it in the tooltip. */
  #state(card, node) {
    const { nodes } = this.view.playback;
    const ailing = this.view.ailments(node);
    const taints = nodes.taints[node];
    const told = this.compact && this.view.verdictOf(node) === "failed"; // there the reason has the line
    const drawn = `${ailing.join()}|${taints.join()}|${told}`;
    if (card.state.dataset.drawn === drawn) return;
    card.state.dataset.drawn = drawn;
    const conditions = nodes.conditions[node];
    fill(
      card.state,
      ailing.map((text) =>
        h("span", {
          class: "badge ill",
          text,
          title: text === "cordoned" ? "spec.unschedulable: true" : conditions.join(", "),
        }),
      ),
      taints.length && !told
        ? h("span", {
            class: "badge",
            text:
              this.compact || taints.length > 1
                ? `${count(taints.length)} taint${taints.length > 1 ? "s" : ""}`
                : "tainted",
            title: taints.join("\n"),
          })
        : null,
    );
  }

  #reason(node) {
    const { verdict } = this.view.facts;
    const reasons = verdict.reasonsOf(node);
    if (this.compact) return reasons.map(shortReason).join(", ");
    return (
      [...new Set(reasons.map((text) => this.view.plainReason(text, node)))].join(", ")
      || verdict.order[verdict.first[node]]
    );
  }

  /**
   * The pod of this cycle takes `own` of `used`; where it would fit, `add` shows what it would take. More than `of` is
   * marked red.
   */
  #fillBar(bar, used, own, add, of, format) {
    const part = of > 0 ? Math.min(1, (used - own) / of) : 0;
    const more = of > 0 ? Math.min(1 - part, add / of) : 0;
    fillRail(bar.rail, part, more);
    bar.root.classList.toggle("over", used > of);
    if (!this.compact) bar.text.textContent = format(used, of);
  }

  /** The class of a pod's block. */
  #blockClass(pod, { added = false, victim = false }) {
    const { view } = this;
    return classes("pod", view.colour(pod), {
      added,
      selected: pod === view.pod || pod === this.#spot?.pod,
      hit: view.search.has(pod),
      waiting: this.#waits(pod),
      victim,
    });
  }

  #blocks(card, node, chosen) {
    const { view } = this;
    const { pods, cluster } = view.playback;
    const { pod: flying, victims, nominated } = view.facts;
    const leaves = (pod) => node === nominated && victims.includes(pod);
    const here = [...cluster.podsOn(node)]
      .filter((pod) => !(chosen && pod === flying))
      .sort((a, b) => pods.group[a] - pods.group[b] || a - b);
    const shown = here.length > BLOCKS ? here.slice(0, BLOCKS - 1) : here;
    fill(
      card.pods,
      shown.map((pod) =>
        h("i", {
          class: this.#blockClass(pod, { victim: leaves(pod) }),
          "data-pod": pod,
          title:
            short(pods.keys[pod]) + this.#waits(pod) + (leaves(pod) ? ", to be deleted for the pod of this cycle" : ""),
        }),
      ),
      here.length > shown.length ? h("small", { text: `+${here.length - shown.length}` }) : null,
      chosen
        ? h("i", {
            class: this.#blockClass(flying, { added: true }),
            "data-pod": flying,
            title: `${short(pods.keys[flying])}${this.#waits(flying) || ", placed by this cycle"}`,
          })
        : null,
      view.facts.nominated === node ? this.#made(flying) : null,
      (this.#ghosts.get(node) ?? [])
        .filter((pod) => pod !== flying)
        .slice(0, BLOCKS)
        .map((pod) => this.#ghost(pod)),
      here.length === 0 && !chosen ? h("small", { class: "none", text: "no pods" }) : null,
    );
  }

  /** That a pod waits at Permit and until when, or "". */
  #waits(pod) {
    const { time, waiting } = this.view.facts;
    if (!waiting.has(pod)) return "";
    const deadline = waiting.get(pod);
    const left = deadline === null || time === null ? "" : ` for ${age(Math.max(0, deadline - time))} more`;
    return `, waits at Permit${left}`;
  }

  /** What preemption did on the nominated node: its victims struck out, and the pod that waits for the room. */
  #made(flying) {
    const { view } = this;
    const { keys } = view.playback.pods;
    const { placement } = view.playback.cluster;
    const victims = view.facts.victims.filter((pod) => placement[pod] < 0); // the others are still on the node
    return [
      ...victims.slice(0, BLOCKS).map((pod) =>
        h("i", {
          class: `pod victim ${view.colour(pod)}`,
          "data-pod": pod,
          title: `${short(keys[pod])}, deleted by this cycle`,
        }),
      ),
      victims.length > BLOCKS ? h("small", { text: `+${victims.length - BLOCKS}` }) : null,
      this.#ghost(flying),
    ];
  }

  #ghost(pod) {
    const { view } = this;
    return h("i", {
      class: `pod ghost ${view.colour(pod)}`,
      "data-pod": pod,
      title: `${short(view.playback.pods.keys[pod])}, nominated to this node`,
    });
  }

  /** Where a pod is drawn, null if it is not. */
  blockOf(pod) {
    const node = this.view.playback.cluster.placement[pod];
    return node >= 0
      ? (this.#cards[node]?.pods.querySelector(`[data-pod="${pod}"]`) ?? this.#cards[node]?.root ?? null)
      : null;
  }

  reveal(node) {
    this.#cards[node]?.root.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** So much of the lower end of the stage is covered. */
  cover(height) {
    this.covered = height;
  }

  /** Whether a node's card is in view; of one that is higher than the stage its upper end. */
  inView(node) {
    const card = this.#cards[node]?.root.getBoundingClientRect();
    const room = this.element.parentElement?.getBoundingClientRect();
    if (!card?.height || !room) return false;
    const bottom = room.bottom - this.covered;
    return card.top >= room.top - 1 && Math.min(card.bottom, card.top + bottom - room.top) <= bottom + 1;
  }

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
      if (distance < nearest) {
        nearest = distance;
        next = node;
      }
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
  return h(
    "b",
    { class: "middle", title: name },
    h("span", { text: name.slice(0, -END) }),
    h("span", { text: name.slice(-END) }),
  );
}

/** A reason breaks after the parts of a taint or a label, not in the middle of a word. */
function breakable(text) {
  return text.split(/(?<=[=:/])/).map((part, i) => [i ? document.createElement("wbr") : null, part]);
}
