// The small cluster on the start page: a shared scenario, played over the connection as the workbench plays it.
// It steps by itself while it is in view, until somebody touches it; never by itself under reduced motion.

import { ailments } from "../lib/ailments.js";
import { h, fill, icon } from "../lib/dom.js";
import { aboveLeast, amount, clock, count, cpu, memory, plural, short, shortReason } from "../lib/quantity.js";
import { fillRail } from "../lib/rail.js";
import { Cluster } from "../workbench/cluster.js";
import { meet } from "../workbench/playback/podtable.js";
import { Verdict } from "../workbench/verdict.js";
import { link } from "./link.js";
/** @import { Light, NodeState, Opened, Sentence, Source, Window } from "../lib/protocol.js" */
/** @typedef {{ verdict: Verdict, totals: Map<number, number> }} Shown the predicates' answers, and the scores */

const EVERY = 2400; // milliseconds a cycle stays
const CYCLES = 100;
const FIRST = 24; // where it begins: the cluster is filled, and something is about to happen
const BLOCKS = 12;
const OUTCOMES = { scheduled: ["pass", "check"], unschedulable: ["fail", "cross"], error: ["stale", "warn"] };

/**
 * Play the scenario named by `data-mini` in `host`.
 *
 * @param {HTMLElement} host
 */
export async function mini(host) {
  const source = { scenario: host.dataset.mini };
  link().on("down", () => host.classList.add("is-still"));
  link().on("up", () => host.classList.remove("is-still"));
  const opened = await link().call("scenario.open", { source });
  const known = opened.pods.keys.length;
  const window_ = await link().call("cycles.window", { source, from: 1, count: CYCLES, pods: known });
  new Miniature(host, source, opened, window_).begin();
}

/** Of a cycle's story: what the filters left, and how the node was chosen among these. */
const TELLING = [/\b(is|are) left\b|every filter/, /highest total|without ranking/];

/** @param {Sentence} sentence */
const plain = (sentence) =>
  [sentence]
    .flat()
    .map((part) => (typeof part === "string" ? part : Object.values(part)[0]))
    .join("");

/**
 * What operations and controllers did since the last cycle, in a line; null for nothing.
 *
 * @param {Light} cycle
 */
function happened({ operations, events }) {
  const evicted = events.filter(([, reason]) => reason.includes("Eviction")).length;
  const nodes = events.filter(([, reason, object]) => object.startsWith("node/") && reason !== "TaintsChanged");
  const all = [
    ...operations.map((text) => `${text[0].toUpperCase()}${text.slice(1)}`),
    ...nodes.map(([, , , message]) => message),
    ...(evicted ? [`${plural(evicted, "pod")} evicted`] : []),
  ];
  return all.length ? h("span", { class: "mini-since", text: `${all.join(" · ")}` }) : null;
}

class Miniature {
  #parts = new Map();
  /** @type {Map<number, NodeState | null>} */
  #states = new Map(); // of nodes that operations and controllers changed
  #timer = 0;
  #playing = false;
  #inView = true;

  /**
   * @param {HTMLElement} host
   * @param {Source} source
   * @param {Opened} opened
   * @param {Window} window
   */
  constructor(host, source, { nodes, pods }, { placement, nodes: changed, cycles, pods: came }) {
    this.host = host;
    this.source = source;
    this.nodes = nodes;
    this.pods = pods;
    this.placement = placement;
    this.changed = changed ?? [];
    this.cycles = cycles;
    if (came) meet(pods, new Map(), came); // those that controllers make on the way
    this.cluster = new Cluster(nodes, pods);
    this.at = 0;
    this.#build();
  }

  #build() {
    this.head = h("div", { class: "mini-head" });
    this.cards = this.nodes.names.map((name) => new Card(name));
    const zones = new Map();
    this.nodes.zone.forEach((zone, node) => zones.set(zone, [...(zones.get(zone) ?? []), node]));
    const columns = [...zones].map(([zone, members]) =>
      h(
        "div",
        { class: "mini-zone" },
        h("p", { class: "mini-zone-name", text: zone ? `zone ${zone}` : "no zone" }),
        members.map((node) => this.cards[node].root),
      ),
    );
    this.story = h("p", { class: "mini-story" });
    this.slider = h("input", {
      type: "range",
      min: 1,
      max: this.cycles.length,
      step: 1,
      "aria-label": "Cycle",
      oninput: () => {
        this.#pause();
        this.#go(Number(this.slider.value));
      },
    });
    this.marks = h(
      "div",
      { class: "mini-marks", "aria-hidden": "true" },
      this.cycles.map((cycle) => h("i", { class: cycle.result })),
    );
    this.play = h("button", {
      type: "button",
      class: "btn",
      onclick: () => (this.#playing ? this.#pause() : this.#start()),
    });
    this.where = h("span", { class: "dim num nowrap" });
    this.open = h("a", { class: "mini-open" }, "Open in the workbench");
    fill(
      this.host,
      this.head,
      h("div", { class: "mini-nodes", role: "group", "aria-label": "Nodes by zone" }, columns),
      this.story,
      h("div", { class: "mini-track" }, this.marks, this.slider),
      h(
        "div",
        { class: "mini-acts" },
        h(
          "button",
          { type: "button", class: "btn square", "aria-label": "Step back", onclick: () => this.#by(-1) },
          icon("back"),
        ),
        h("button", { type: "button", class: "btn primary", onclick: () => this.#by(1) }, "Step", icon("step")),
        this.play,
        this.where,
        h("span", { class: "grow" }),
        this.open,
      ),
    );
  }

  begin() {
    this.host.classList.add("is-live");
    this.#go(Math.min(FIRST, this.cycles.length));
    this.#label();
    new IntersectionObserver(
      ([entry]) => {
        this.#inView = entry.isIntersecting;
      },
      { threshold: 0.3 },
    ).observe(this.host);
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.#start();
    matchMedia("(prefers-reduced-motion: reduce)").addEventListener("change", (event) => {
      if (event.matches) this.#pause();
    });
  }

  #start() {
    this.#playing = true;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      if (this.#inView && !document.hidden) this.#go((this.at % this.cycles.length) + 1);
    }, EVERY);
    this.#label();
  }

  #pause() {
    this.#playing = false;
    clearInterval(this.#timer);
    this.#label();
  }

  #label() {
    fill(this.play, icon(this.#playing ? "pause" : "play"), h("span", { text: this.#playing ? "Pause" : "Play" }));
    // Silent while it plays by itself; only what somebody asked for is announced.
    this.story.setAttribute("aria-live", this.#playing ? "off" : "polite");
  }

  #by(steps) {
    this.#pause();
    this.#go(1 + ((this.at - 1 + steps + this.cycles.length) % this.cycles.length));
  }

  /** @param {number} index */
  #move(index) {
    if (index < this.at || this.at === 0) {
      this.cluster.reset(this.placement);
      this.#states = new Map(this.changed);
      this.at = 0;
    }
    for (let i = this.at; i < index; i += 1) {
      this.cluster.apply(this.cycles[i].changes);
      for (const [node, state] of this.cycles[i].nodes) this.#states.set(node, state);
    }
    this.at = index;
  }

  /** @param {number} index */
  async #go(index) {
    this.#move(index);
    this.#paint(await this.#get(index), index);
    this.#get((index % this.cycles.length) + 1);
  }

  /**
   * The predicates and scores of a cycle, asked for once.
   *
   * @param {number} index
   */
  #get(index) {
    if (!this.#parts.has(index)) {
      const asked = link()
        .call("cycle.get", { source: this.source, step: String(index), parts: ["predicates", "priorities"] })
        .then((parts) => ({
          verdict: new Verdict(parts.predicates, this.nodes.names.length),
          totals: new Map((parts.priorities.nodes ?? []).map((node, i) => [node, parts.priorities.totals[i]])),
        }))
        .catch(() => {
          this.#parts.delete(index);
          return null;
        });
      this.#parts.set(index, asked);
    }
    return this.#parts.get(index);
  }

  /**
   * @param {Shown | null} parts
   * @param {number} index
   */
  #paint(parts, index) {
    if (index !== this.at) return; // somebody went on in the meantime
    const cycle = this.cycles[index - 1];
    const { pods } = this;
    const word = cycle.result;
    const [tone, sign] = OUTCOMES[word];
    fill(
      this.head,
      h("i", { class: `dot ${this.#colour(cycle.pod)}` }),
      h("b", { text: short(pods.keys[cycle.pod]) }),
      h("span", { class: "dim nowrap mini-wants", text: this.#wants(cycle.pod) }),
      h("span", { class: "grow" }),
      h("span", { class: `pill ${tone}` }, icon(sign), word),
    );
    const totals = [...(parts?.totals.values() ?? [])];
    const range = { best: Math.max(...totals), least: Math.min(...totals) };
    this.cards.forEach((card, node) => card.paint(this.#state(node, cycle, parts, range)));
    fill(this.story, this.#sentences(cycle));
    this.slider.value = String(index);
    this.slider.setAttribute(
      "aria-valuetext",
      `cycle ${index} of ${this.cycles.length}: ${short(pods.keys[cycle.pod])}, ${word}`,
    );
    [...this.marks.children].forEach((mark, i) => mark.classList.toggle("now", i === index - 1));
    this.where.textContent = `cycle ${index} / ${this.cycles.length} · ${clock(cycle.time)}`;
    this.open.href = `/s/${this.source.scenario}/?step=${index}`;
  }

  /** @param {number} pod */
  #wants(pod) {
    const { pods } = this;
    const more = Object.entries(pods.extended ?? {})
      .filter(([, amounts]) => amounts[pod])
      .map(([name, amounts]) => `${amount(name, amounts[pod])} ${name.split("/").pop()}`);
    return [`${cpu(pods.cpu[pod])} cpu`, memory(pods.memory[pod]), ...more].join(" · ");
  }

  /** @param {number} pod */
  #colour(pod) {
    return `g${this.pods.group[pod] % 10}`;
  }

  #state(node, cycle, parts, { best, least }) {
    const { nodes, pods, cluster } = this;
    const chosen = cycle.node === node;
    const fits = parts ? parts.verdict.fits(node) : true;
    const own = (amounts) => (chosen ? amounts[cycle.pod] : 0);
    const bar = (used, of, more) => {
      const part = Math.max(0, (used - own(more)) / of);
      return [part, fits || chosen ? Math.min(1 - part, more[cycle.pod] / of) : 0];
    };
    const total = parts?.totals.get(node);
    const state = this.#states.get(node);
    return {
      ailing: ailments(state?.conditions ?? [], state?.unschedulable),
      fits,
      chosen,
      score: total === undefined ? "" : aboveLeast(total, least, best),
      total: total === undefined ? "" : `score ${count(total)}`,
      best: total !== undefined && total === best,
      cpu: bar(cluster.cpu[node], nodes.cpu[node], pods.cpu),
      memory: bar(cluster.memory[node], nodes.memory[node], pods.memory),
      pods: [...cluster.podsOn(node)]
        .filter((pod) => !(chosen && pod === cycle.pod))
        .sort((a, b) => pods.group[a] - pods.group[b])
        .map((pod) => [this.#colour(pod), short(pods.keys[pod])]),
      why: fits ? [] : parts.verdict.reasonsOf(node),
    };
  }

  #sentences(cycle) {
    const text = (sentence) =>
      sentence.map((part) => (typeof part === "string" ? part : h("b", { text: short(Object.values(part)[0]) })));
    const since = happened(cycle);
    if (cycle.result !== "scheduled") return [since, h("code", { text: cycle.message ?? "" })];
    const chosen = TELLING.map((pattern) => cycle.story.find((sentence) => pattern.test(plain(sentence))));
    return [since, ...chosen.filter(Boolean).map((sentence) => [text(sentence), " "])];
  }
}

class Card {
  /** @param {string} name */
  constructor(name) {
    this.cpu = h("span", { class: "rail" });
    this.memory = h("span", { class: "rail" });
    this.pods = h("span", { class: "mini-pods" });
    this.score = h("span", { class: "mini-score" });
    this.why = h("span", { class: "mini-why" });
    this.root = h(
      "div",
      { class: "mini-node" },
      h("span", { class: "mini-name" }, h("b", { text: name }), this.score),
      this.cpu,
      this.memory,
      this.pods,
      this.why,
    );
  }

  paint(state) {
    const fits = state.fits && !state.ailing.length;
    this.root.className = `mini-node ${fits ? "fits" : "failed"}${state.chosen ? " chosen" : ""}`;
    for (const key of ["cpu", "memory"]) fillRail(this[key], state[key][0], state[key][1]);
    this.score.textContent = state.score;
    this.score.title = state.total;
    this.score.classList.toggle("best", state.best);
    const shown = state.pods.slice(0, BLOCKS);
    fill(
      this.pods,
      shown.map(([colour, title]) => h("i", { class: colour, title })),
      state.chosen ? h("i", { class: "ghost", title: "the pod of this cycle" }) : null,
    );
    const reasons = [...new Set(state.why.map(shortReason))].map((word) => (word === "anti" ? "anti-affinity" : word));
    this.why.textContent = (state.ailing.length ? state.ailing : reasons).join(", ");
    this.why.title = state.why.join(", ");
  }
}
