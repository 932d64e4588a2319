// The card of a node: its room with the pods in it, its bars, and what the shown cycle decided about it.

import { classes, fill, h } from "../../lib/dom.ts";
import { aboveLeast, amount, count, cpu, memory, plural, shortReason } from "../../lib/quantity.ts";
import { fillRail } from "../../lib/rail.ts";
import { fillBlocks, fillShape } from "./blocks.ts";
import { markOf } from "../view/windows.ts";
import { UNREACHED } from "../playback/verdict.ts";
import {
  ailmentsOf,
  isAilment,
  describeNode,
  describeNomination,
  describePast,
  pastVerdict,
  plainReason,
  terminatingOn,
} from "../view/nodewords.ts";
import type { Nodes } from "../../lib/protocol.js";
import type { Verdict } from "../playback/verdict.ts";
import type { View } from "../view/view.ts";

const LONG = 16; // a longer name has a line of its own
const ROOM = 4; // characters of a bar's label
const EXTENDED = 3; // bars of extended resources on a card; the sheet has all
const SHORT: Record<string, string> = { "ephemeral-storage": "disk" };
const ATTACHABLE = "attachable-volumes-";

/** The extended resources that have a bar: devices first. */
export function resourcesOf(nodes: Nodes, node: number) {
  return Object.keys(nodes.extended)
    .filter((name) => nodes.extended[name][node])
    .sort((a, b) => Number(b.includes("/")) - Number(a.includes("/")) || a.localeCompare(b))
    .slice(0, EXTENDED);
}

/** What a card says of its node. */
export type Said = { state: ReturnType<View["verdictOf"]>; chosen: boolean; nominated: boolean };
/** of a resource */
export type Bar = { rail: HTMLElement; text: HTMLElement; root: HTMLElement };

export class Card {
  bars: { cpu: Bar; memory: Bar; pods: Bar | null };
  extended: [name: string, bar: Bar][];
  size: HTMLElement | null;
  state: HTMLSpanElement;
  score: HTMLSpanElement;
  pods: HTMLSpanElement;
  shapes: HTMLSpanElement;
  idle: HTMLSpanElement;
  meter: HTMLElement;
  why: HTMLSpanElement;
  root: HTMLButtonElement;
  constructor(
    readonly view: View,
    readonly node: number,
    readonly compact: boolean,
  ) {
    const { nodes } = view.playback;
    this.bars = { cpu: this.#bar("cpu"), memory: this.#bar("mem"), pods: compact ? null : this.#bar("pods") };
    this.extended = compact
      ? []
      : resourcesOf(nodes, node).map((name) => [
          name,
          this.#bar(SHORT[name] ?? name.slice(name.lastIndexOf("/") + 1).replace(ATTACHABLE, ""), name),
        ]);
    this.size = compact ? null : h("small");
    this.state = h("span", { class: "node-state" });
    this.score = h("span", { class: "score" });
    this.pods = h("span", { class: "blocks" });
    this.shapes = h("span", { class: "shapes" });
    this.idle = h("span", { class: "idle" }); // pods without requests
    this.meter = h("i", { class: "meter" });
    this.why = h("span", { class: "why", title: "Why, and what would help" });
    const name = h("b", { title: nodes.names[node], text: nodes.names[node] }); // cut by the cards where it has no room
    // A compact card has one line for any text: it stays as high as the others, and nothing jumps from
    // step to step.
    const { bars, extended, pods, why, score, size, state } = this;
    this.root = compact
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
          h("span", { class: "room" }, pods, this.shapes),
          this.idle,
          h(
            "span",
            { class: "bars" },
            bars.cpu.root,
            bars.memory.root,
            bars.pods?.root,
            extended.map(([, bar]) => bar.root),
          ),
          h("span", { class: "node-foot" }, state, why, score),
          this.meter,
        );
  }

  #bar(label: string, title?: string): Bar {
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

  /** Draw it: `holders` are the nodes with pods of the colour that is lit up, null if none is. */
  paint({ holders, ghosts, spot }: { holders: Set<number> | null; ghosts: number[]; spot: View["spot"] }) {
    const { view, node } = this;
    const { playback, facts, lit } = view;
    const { nodes, cluster } = playback;
    const chosen = facts.chosen === node;
    const nominated = facts.nominated === node;
    const state = view.verdictOf(node);
    const adds = state === "fits" || chosen;
    this.root.className = classes("node", state, {
      chosen,
      nominated,
      selected: view.node === node,
      hovered: view.hovered === node,
      lit: lit?.nodes.has(node),
      cordoned: nodes.unschedulable[node],
      without: holders && !holders.has(node),
      absent: !view.exists(node),
      found: view.search.places.has(node),
      spot: spot?.node === node,
    });
    if (spot?.node === node) this.root.dataset.spot = spot.name;
    else delete this.root.dataset.spot;
    this.root.setAttribute("aria-label", describeNode(view, node));
    this.root.setAttribute("aria-pressed", String(view.node === node));
    this.#paintState();
    if (this.size) this.size.textContent = `${cpu(nodes.cpu[node])} cpu · ${memory(nodes.memory[node])}`;
    // Numbers are those after the cycle, here as everywhere. On the chosen node they include the pod: the bar draws its
    // part apart.
    const own = (part: number) => (chosen && cluster.placement[facts.pod] === node ? part : 0);
    this.#fillBar(
      this.bars.cpu,
      cluster.cpu[node],
      own(facts.cpu),
      adds ? facts.cpu : 0,
      nodes.cpu[node],
      (used, of) => `${cpu(used)} / ${cpu(of)}`,
    );
    this.#fillBar(
      this.bars.memory,
      cluster.memory[node],
      own(facts.memory),
      adds ? facts.memory : 0,
      nodes.memory[node],
      (used, of) => `${memory(used)} / ${memory(of)}`,
    );
    for (const [name, bar] of this.extended) {
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
    if (this.bars.pods)
      this.#fillBar(
        this.bars.pods,
        cluster.count[node],
        own(1),
        adds ? 1 : 0,
        nodes.pods[node],
        (used, of) => `${used} / ${of}`,
      );
    const total = facts.totals?.get(node);
    const best = total !== undefined && total === facts.best;
    const read = total === undefined ? "" : aboveLeast(total, facts.worst, facts.best);
    fill(this.score, h("span", { text: total !== undefined && this.compact && !chosen ? "tie" : read }));
    this.score.title = total === undefined ? "" : `score ${count(total)}`;
    this.score.dataset.brief = total === undefined ? "" : best ? "best" : `−${count(facts.best - total)}`;
    this.score.classList.toggle("best", best);
    if (!this.compact) {
      this.#paintRoom(state, { chosen, ghosts, spot });
      this.meter.style.setProperty("--share", String(total === undefined ? 0 : standing(total, facts)));
      this.root.style.setProperty("--turn", String(state === "failed" ? turn(this.#verdict, node) : 0));
    }
    const stopped = state === "failed" && !chosen ? this.#verdict.stopper(node) : "";
    this.why.title = stopped ? `${stopped} stopped it. Why, and what would help` : "Why, and what would help";
    this.why.classList.toggle("wait-text", !nominated && view.waitingOn(node).length > 0);
    const why = this.#describe({ state, chosen, nominated });
    if (this.why.textContent !== why) fill(this.why, h("span", null, breakable(why)));
    if (!this.compact) this.why.dataset.brief = why && this.#brief({ state, chosen, nominated });
  }

  /** The pods, and the shape of the one in flight: on nodes that may get it, and where it sticks out. */
  #paintRoom(state: ReturnType<View["verdictOf"]>, drawn: import("./blocks.ts").Drawn) {
    const { view, node } = this;
    const { facts } = view;
    const stairs = fillBlocks(view, this.pods, this.idle, node, drawn);
    this.root.classList.toggle("bare", !this.pods.childElementCount);
    this.root.classList.toggle("unasked", view.playback.cluster.count[node] > 0);
    const stands = drawn.chosen || facts.nominated === node || view.playback.cluster.placement[facts.pod] === node;
    if (facts.pod < 0 || stands || state === "past" || state === "unreached" || !view.exists(node)) fill(this.shapes);
    else fillShape(view, this.shapes, stairs, { rejected: state === "failed" });
  }

  /** What there is to show of a node in a word or two, where there is no room for more. */
  #brief({ state, chosen, nominated }: Said): string {
    const { view } = this;
    const waiting = view.facts.waiting.size ? view.waitingOn(this.node).length : 0;
    if (nominated) return `${view.facts.victims.length || "no"} victim${view.facts.victims.length === 1 ? "" : "s"}`;
    if (waiting) return `${waiting} waiting`;
    if (state === "past") return `${pastVerdict(this.#verdict, this.node)}, then`;
    if (state === "unreached") return UNREACHED;
    return state === "failed" && !chosen ? this.#verdict.reasonsOf(this.node).map(shortReason).join(", ") : "";
  }

  /** What there is to show of a node beside its numbers. */
  #describe({ state, chosen, nominated }: Said): string {
    const { view, node } = this;
    const waiting = view.facts.waiting.size ? view.waitingOn(node).length : 0;
    if (nominated)
      return this.compact
        ? `${view.facts.victims.length || "no"} victim${view.facts.victims.length === 1 ? "" : "s"}`
        : describeNomination(view);
    if (waiting) {
      if (this.compact) return `${waiting} waiting`;
      return `${waiting} waiting at Permit${state === "failed" && !chosen ? `; ${this.#reason}` : ""}`;
    }
    if (this.compact && ailmentsOf(view, node).length) return ""; // their badges have the line
    if (state === "past")
      return this.#verdict.fits(node)
        ? ""
        : this.compact
          ? this.#brief({ state, chosen, nominated })
          : describePast(view, node);
    if (state === "unreached") return UNREACHED;
    return state === "failed" && !chosen && !this.#isBadge ? this.#reason : "";
  }

  /** The predicates' answers, of a cycle that has looked at nodes. */
  get #verdict() {
    return this.view.facts.verdict as Verdict;
  }

  /** Whether the badges of an ailing node say all that keeps the pod away. */
  get #isBadge() {
    const { view, node } = this;
    const reasons = this.#verdict.reasonsOf(node);
    return reasons.length > 0 && reasons.every(isAilment) && ailmentsOf(view, node).length > 0;
  }

  /** What is wrong with the node, and its taints: a badge each, with all of it in the tooltip. */
  #paintState() {
    const { node } = this;
    const { nodes } = this.view.playback;
    const ailing = ailmentsOf(this.view, node);
    const taints = nodes.taints[node];
    const reasonShown = this.compact && this.view.verdictOf(node) === "failed"; // there the reason has the line
    const mark = markOf(this.view, node);
    const leaving = terminatingOn(this.view, node);
    const drawn = `${ailing.join()}|${leaving}|${taints.join()}|${reasonShown}|${mark?.word}|${mark?.sentences.join()}`;
    if (this.state.dataset.drawn === drawn) return;
    this.state.dataset.drawn = drawn;
    const conditions = nodes.conditions[node];
    fill(
      this.state,
      mark
        ? h("span", {
            class: `badge belief${mark.ill ? " ill" : ""}`,
            text: mark.word,
            title: mark.sentences.join("\n"),
          })
        : null,
      ailing.map((text) =>
        h("span", {
          class: "badge ill",
          text,
          title: text === "cordoned" ? "spec.unschedulable: true" : conditions.join(", "),
        }),
      ),
      leaving
        ? h("span", {
            class: "badge terminating",
            text: this.compact ? `${count(leaving)} T` : `${count(leaving)} Terminating`,
            title: `${plural(leaving, "pod")} Terminating: deleted, and on the node until the kubelet has ended them`,
          })
        : null,
      taints.length && !reasonShown
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

  get #reason() {
    const { node } = this;
    const verdict = this.#verdict;
    const reasons = verdict.reasonsOf(node);
    if (this.compact) return reasons.map(shortReason).join(", ");
    return [...new Set(reasons.map((text) => plainReason(this.view, text, node)))].join(", ") || verdict.stopper(node);
  }

  /**
   * The pod of this cycle takes `own` of `used`; where it would fit, `add` shows what it would take. More than `of` is
   * marked red.
   */
  #fillBar(bar: Bar, used: number, own: number, add: number, of: number, format: (used: number, of: number) => string) {
    const part = of > 0 ? Math.min(1, (used - own) / of) : 0;
    const more = of > 0 ? Math.min(1 - part, add / of) : 0;
    fillRail(bar.rail, part, more);
    bar.root.classList.toggle("over", used > of);
    if (!this.compact) bar.text.textContent = format(used, of);
  }
}

/** A reason breaks after the parts of a taint or a label, not in the middle of a word. */
function breakable(text: string) {
  return text.split(/(?<=[=:/])/).map((part, i) => [i ? document.createElement("wbr") : null, part]);
}

/** How a total stands among those of the other nodes: 1 is the best, and the worst is still seen. */
const standing = (total: number, { best, worst }: { best: number; worst: number }) =>
  best > worst ? 0.15 + (0.85 * (total - worst)) / (best - worst) : 1;

/** When in turn a node drops out: as early as the predicate that rejects it, from 0 to 1. */
const turn = ({ first, order }: Verdict, node: number) => (order.length > 1 ? first[node] / (order.length - 1) : 0);
