// Views: with several schedulers, a lane for each. What it believes of the nodes beside what is true, what it has
// decided and nobody else can see yet, and who noticed the decisions that were made on an old view.

import { h, fill } from "../../lib/dom.js";
import { amount, count, exact, plural } from "../../lib/quantity.js";
import { before, later } from "./byhand.js";
import { NOTICED } from "../stage/windows.js";
import { nodeLink, podLink } from "./byhand.js";
/** @import { BelievedNode, SchedulerLane, ViewOutcome, ViewsPart } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

export class Views {
  /** @type {ViewsPart | null} */
  #part = null; // that is drawn

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "views-tab" });
  }

  update() {
    const { current, parts } = this.view.playback;
    const found = parts?.views;
    if (!current || found?.why !== undefined) {
      this.#part = null;
      fill(this.element, current ? this.#empty(String(found?.why ?? "")) : before(this.view));
      return;
    }
    const part = /** @type {ViewsPart | undefined} */ (found);
    this.element.classList.toggle("waiting", !part);
    if (!part || part === this.#part) return;
    this.#part = part;
    fill(
      this.element,
      this.#head(part),
      part.lanes.map((lane) => this.#lane(lane, lane.scheduler === part.scheduler)),
      this.#outcomes(part),
    );
  }

  /** @param {string} why */
  #empty(why) {
    if (this.view.playback.current?.result === "undecided") return later(this.view, why);
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "There is one view here." }),
      h("span", { text: why }),
      h("span", { text: "A list of schedulers with delays in the SimulationSettings gives each its own." }),
    );
  }

  /** @param {ViewsPart} part */
  #head(part) {
    const lands =
      part.lands === null ? "It sends no binding now." : `It reaches the API server at ${exact(part.lands)}.`;
    return h(
      "header",
      null,
      h("h3", null, part.scheduler, h("small", { class: "dim num", text: `decides at ${exact(part.decided)}` })),
      h("p", { text: `It sees the cluster as of ${exact(part.asOf)}; it began at ${exact(part.began)}. ${lands}` }),
    );
  }

  /**
   * @param {SchedulerLane} lane
   * @param {boolean} now
   */
  #lane(lane, now) {
    const doing = now
      ? "decides at this step"
      : lane.deciding === null
        ? "decides nothing now"
        : `has been deciding since ${exact(lane.deciding)}`;
    return h(
      "section",
      { class: now ? "views-lane now" : "views-lane", "aria-label": `View of ${lane.scheduler}` },
      h(
        "h4",
        null,
        lane.scheduler,
        lane.runs && lane.runs !== lane.scheduler ? h("small", { class: "dim", text: lane.runs }) : null,
        h("small", { class: "dim", text: doing }),
        h("small", { class: "dim num", text: `sees ${exact(lane.asOf)}` }),
        lane.unheard ? h("small", { class: "dim", text: `${plural(lane.unheard, "write")} on the way to it` }) : null,
      ),
      this.#flights(lane),
      this.#beliefs(lane),
    );
  }

  /** @param {SchedulerLane} lane */
  #flights(lane) {
    if (!lane.inFlightCount) return null;
    const more = lane.inFlightCount - lane.inFlight.length;
    return h(
      "ul",
      { "aria-label": "Decided, and not visible to others yet" },
      lane.inFlight.map(({ pod, node, decided, lands }) =>
        h(
          "li",
          null,
          h("span", { class: "pill", text: "in flight" }),
          " ",
          podLink(this.view, pod),
          " on ",
          nodeLink(this.view, node),
          `: decided at ${exact(decided)}, `,
          lands === null ? "waits at Permit" : `bound at ${exact(lands)}`,
        ),
      ),
      more ? h("li", { class: "dim", text: `and ${count(more)} more` }) : null,
    );
  }

  /** @param {SchedulerLane} lane */
  #beliefs(lane) {
    if (!lane.nodes.length) return h("p", { class: "dim", text: "What it believes of the nodes is true." });
    const more = lane.nodesCount - lane.nodes.length;
    return [
      h(
        "div",
        { class: "views-beliefs" },
        lane.nodes.map((node) => [
          nodeLink(this.view, node.node),
          h("span", {
            class: "num",
            text: `takes ${free(node.believed)} for free, ${free(node.true)} is`,
          }),
          h("span", { class: "views-why dim", text: why(node) }),
        ]),
      ),
      more ? h("p", { class: "dim", text: `and ${plural(more, "node")} more` }) : null,
    ];
  }

  /** @param {ViewsPart} part */
  #outcomes(part) {
    if (!part.outcomes.length) return null;
    return h(
      "section",
      { class: "views-outcomes", "aria-label": "Who noticed" },
      h("h4", null, "Who noticed", h("small", { class: "dim", text: "since the step before" })),
      h(
        "ul",
        null,
        part.outcomes.map((one) => this.#outcome(one)),
      ),
    );
  }

  /** @param {ViewOutcome} one */
  #outcome(one) {
    const missed = one.unseen.length ? `, without ${one.unseen.map(brief).join(", ")}` : "";
    return h(
      "li",
      { class: one.noticed === "nobody" ? "" : "refused" },
      podLink(this.view, one.pod),
      " on ",
      nodeLink(this.view, one.node),
      `, decided by ${one.scheduler} at ${exact(one.decided)}${missed}: `,
      h("b", { text: `${NOTICED[one.noticed]}${one.reason ? ` (${one.reason})` : ""}` }),
      ` at ${exact(one.known)}`,
    );
  }
}

/** @param {string} key */
const brief = (key) => key.replace(/^default\//, "");

/** @param {Record<string, number>} amounts */
const free = (amounts) => `${amount("cpu", amounts.cpu ?? 0)} CPU`;

/** @param {BelievedNode} node */
function why(node) {
  const notes = [
    node.unseen.length ? `does not count ${node.unseen.map(brief).join(", ")}` : "",
    node.assumed.length ? `alone knows of ${node.assumed.map(brief).join(", ")}` : "",
    node.gone.length ? `still counts ${node.gone.map(brief).join(", ")}` : "",
  ];
  return notes.filter(Boolean).join("; ");
}
