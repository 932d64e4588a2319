// Flow: the network of a round of Firmament. Arcs from task classes to machines with flow, capacity and cost, the
// aggregator that takes what stays pending, and each pod's path with the next best.

import { h, fill } from "../../lib/dom.js";
import { amount, clock, count, plural, short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { before } from "./byhand.js";
import { drawn } from "./network/drawing.js";
import { linked, nodeLink, podLink } from "./byhand.js";
/** @import { NetworkClass, NetworkPart, NetworkPhase } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

/** @type {Record<string, string>} */
const KINDS = {
  batch: "jobs without affinity between pods",
  affinity: "jobs with affinity that do not conflict",
  queue: "a pod of the queue",
};

export class Network {
  /** @type {NetworkPart | null} */
  #part = null; // that is drawn
  #pod = ""; // whose path is marked

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.lists = view.lists.of("network");
    this.element = h("div", { class: "network-tab" });
    view.on("selection", () => this.element.isConnected && this.update(), view.panels);
  }

  update() {
    const { view } = this;
    const found = view.playback.parts?.network;
    if (!view.playback.current || found?.why !== undefined) {
      this.#part = null;
      fill(this.element, view.playback.current ? none(String(found?.why ?? "")) : before(view));
      return;
    }
    const part = /** @type {NetworkPart | undefined} */ (found);
    this.element.classList.toggle("waiting", !part);
    const pod = view.playback.pods.keys[view.pod] ?? "";
    if (!part || (part === this.#part && pod === this.#pod)) return;
    this.#part = part;
    this.#pod = pod;
    fill(
      this.element,
      this.#head(part),
      part.phases.map((phase, place) => this.#phase(part, phase, place)),
      this.#paths(part),
      this.#left(part),
    );
  }

  /** @param {NetworkPart} part */
  #head(part) {
    const more = part.phaseCount - part.phases.length;
    return h(
      "header",
      null,
      h(
        "h3",
        null,
        `Round ${count(part.number)}`,
        h("small", { class: "dim num", text: `t = ${clock(part.time)}` }),
        h("a", { class: "ref", href: "/reference/firmament/", text: "reference" }),
      ),
      h("p", {
        class: "dim",
        text:
          `${plural(part.phaseCount, "flow problem")}${more > 0 ? `, ${count(more)} of them not shown` : ""}. `
          + `To leave a pod pending costs ${count(part.unscheduledCost)}.`,
      }),
    );
  }

  /**
   * @param {NetworkPart} part
   * @param {NetworkPhase} phase
   * @param {number} place
   */
  #phase(part, phase, place) {
    const path = part.paths.find(([pod, number]) => pod === this.#pod && number === place);
    const hidden = phase.classCount - phase.classes.length;
    return h(
      "section",
      { class: "network-phase", "aria-label": `Flow problem ${place + 1}` },
      h(
        "h4",
        null,
        `${place + 1} · ${phase.kind}`,
        h("small", { class: "dim", text: KINDS[phase.kind] ?? "" }),
        h("span", { class: "pill", text: `cost ${count(phase.cost)}` }),
        phase.unscheduled ? h("span", { class: "pill fail", text: `${count(phase.unscheduled)} pending` }) : null,
      ),
      phase.dropped.length
        ? h("p", { text: `Fewer pods than the gang needs, so none is placed: ${phase.dropped.map(short).join(", ")}.` })
        : null,
      drawn(phase, path ? { of: path[2], node: path[3] } : null),
      phase.classes.map((one) => this.#class(one)),
      hidden > 0 ? h("p", { class: "dim", text: `and ${count(hidden)} more task classes` }) : null,
    );
  }

  /** @param {NetworkClass} one */
  #class(one) {
    const [cpu, memory] = one.request;
    const refused = Object.entries(one.refused).map(([why, machines]) => `${count(machines)} by ${why}`);
    const hidden = one.arcCount - one.arcs.length;
    const rows = one.arcs.map(([to, machines, flow, capacity, cost, paid]) =>
      h(
        "tr",
        { class: flow ? "" : "dim" },
        h(
          "th",
          { scope: "row" },
          this.view.playback.nodeIndex.has(to) ? nodeLink(this.view, to) : `${plural(machines, "machine")} of ${to}`,
        ),
        h("td", { class: "num", text: count(flow) }),
        h("td", { class: "num", text: count(capacity) }),
        h("td", { class: "num", text: count(cost) }),
        h("td", { class: "num", text: flow ? count(paid) : "" }),
      ),
    );
    return h(
      "details",
      { class: "network-class" },
      h(
        "summary",
        null,
        h("b", { text: one.name }),
        ` ${plural(one.tasks, "pod")} of ${amount("cpu", cpu)} CPU, ${amount("memory", memory)}`,
        one.unscheduled ? h("span", { class: "dim", text: `, ${count(one.unscheduled)} to the aggregator` }) : null,
      ),
      refused.length ? h("p", { class: "dim", text: `Machines without an arc: ${refused.join(", ")}.` }) : null,
      rows.length
        ? h(
            "table",
            { class: "list tight" },
            h("caption", { class: "sr", text: `Arcs of ${one.name}` }),
            h(
              "thead",
              null,
              h("tr", null, head("arc to"), head("flow"), head("capacity"), head("cheapest"), head("paid")),
            ),
            h("tbody", null, rows),
          )
        : null,
      hidden > 0 ? h("p", { class: "dim", text: `and ${plural(hidden, "arc")} more, without flow` }) : null,
    );
  }

  /** @param {NetworkPart} part */
  #paths(part) {
    if (!part.paths.length) return null;
    const hidden = part.pathCount - part.paths.length;
    const rows = part.paths.map(([pod, , , node, index, cost, next, nextCost, why]) =>
      h(
        "tr",
        { class: pod === this.#pod ? "now" : "" },
        h("th", { scope: "row" }, podLink(this.view, pod, { dot: false })),
        h(
          "td",
          { class: "network-way" },
          node ? [nodeLink(this.view, node), ` as its ${ordinal(index)} further pod`] : "the aggregator: stays pending",
          why ? h("span", { class: "dim network-why" }, linked(this.view, why)) : null,
        ),
        h("td", { class: "num", text: count(cost) }),
        h(
          "td",
          { class: "network-way" },
          next
            ? [nodeLink(this.view, next), h("span", { class: "num dim", text: ` ${count(nextCost)}` })]
            : "none free",
        ),
      ),
    );
    return h(
      "section",
      null,
      tabled(
        h(
          "table",
          { class: "list tight" },
          h("caption", { class: "sr", text: "Paths of the pods through the network" }),
          h("thead", null, h("tr", null, head("pod"), head("its path"), head("cost"), head("next best"))),
          h("tbody", null, rows),
        ),
        {
          head: h("h4", null, "Paths ", h("small", { class: "dim num", text: count(part.pathCount) })),
          filter: "Filter paths",
          kept: this.lists,
          name: "paths",
        },
      ),
      hidden > 0 ? h("p", { class: "dim", text: `and ${count(hidden)} more` }) : null,
    );
  }

  /** @param {NetworkPart} part */
  #left(part) {
    if (!part.leftAlone.length) return null;
    return h(
      "section",
      null,
      h("h4", { text: "Not in the network" }),
      h(
        "ul",
        { class: "network-left" },
        part.leftAlone.map(([pod, why]) => h("li", null, podLink(this.view, pod, { dot: false }), `: ${why}`)),
      ),
    );
  }
}

/** @param {number} index */
const ordinal = (index) => ["first", "second", "third"][index] ?? `${index + 1}th`;

/** @param {string} text */
const head = (text) =>
  h("th", { scope: "col", class: ["flow", "capacity", "cheapest", "paid", "cost"].includes(text) ? "num" : "", text });

/** @param {string} why */
const none = (why) =>
  h(
    "div",
    { class: "empty" },
    h("b", { text: "No flow network here." }),
    h("span", { text: why }),
    h("span", { text: "Pods with schedulerName: poseidon are placed by one, every ten seconds." }),
  );
