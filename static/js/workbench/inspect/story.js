// Story: the cycle in sentences whose nouns are links, and the event that the simulated scheduler writes.

import { h, fill, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { clock, count, cpu, memory, plural } from "../../lib/quantity.js";
import { differNote } from "../differ.js";
import { recordedFigure } from "../recorded.js";
import { before, later } from "./byhand.js";
import { quirkNotes } from "./quirks.js";
import { aboutNode, linked, nodeLink } from "./byhand.js";
import { rankedIn } from "../playback/records.js";
import { sentence } from "./byhand.js";
/** @import { Light, Parts } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const RANKING = 5;
const CHANGES = 8; // from outside that are listed

/**
 * Split `0/9 nodes are available: 2 Insufficient cpu, 3 node(s) had taints…` into its clauses; what v1.37 says of
 * preemption is no clause.
 *
 * @param {string} message
 */
function clauses(message) {
  const match = /^(\d+\/\d+ nodes are available: )(.*?)(\.?|\. preemption: .*)$/s.exec(message);
  if (!match) return null;
  const parts = match[2].split(/, (?=\d+ )/).map((text) => {
    const clause = /^(\d+) (.*)$/s.exec(text);
    return { text, reason: clause?.[2] ?? "" };
  });
  return { head: match[1], parts, tail: match[3] };
}

/** What came from outside, and when. */
function changes(view, when, all) {
  const shown = all.slice(0, CHANGES);
  return h(
    "div",
    { class: "note ops" },
    icon("plus"),
    h(
      "div",
      null,
      h("strong", { text: when }),
      h(
        "ul",
        null,
        shown.map((text) => h("li", null, linked(view, text))),
        all.length > shown.length ? h("li", { class: "dim", text: `and ${all.length - shown.length} more` }) : null,
      ),
    ),
  );
}

export class Story {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "story-tab" });
    view.on("lit", () => this.#press(), view.panels);
    view.on("recorded", () => this.update(), view.panels);
  }

  update() {
    const { view } = this;
    const light = view.playback.current;
    if (view.playback.atEnd && view.playback.parts) {
      fill(this.element, this.#end(view.playback.parts));
      return;
    }
    if (!light) {
      fill(this.element, before(view));
      return;
    }
    const sentences = [...light.story];
    const last = sentences.at(-1);
    const strong = last?.length === 1 && typeof last[0] === "object" ? last[0].strong : undefined;
    if (strong) sentences.pop(); // it is shown below
    const message = strong
      ? strong
      : light.result === "waiting" || !view.playback.reached.over
        ? null
        : (light.message ?? light.events?.at(-1)?.[3]);
    fill(
      this.element,
      differNote(view),
      light.operations.length ? changes(view, "Before this cycle", light.operations) : null,
      light.inside?.length ? changes(view, "Inside this cycle, between evaluating and writing", light.inside) : null,
      light.profile
        ? h(
            "p",
            { class: "dim fine by-profile" },
            "Tried by the profile ",
            h("strong", { text: light.profile }),
            ", its spec.schedulerName.",
          )
        : null,
      sentences.length
        ? h(
            "div",
            { class: "story" },
            sentences.map((parts) => sentence(view, parts)),
          )
        : view.playback.reached.tried
          ? null
          : later(view, "No pod is tried yet at this moment."),
      quirkNotes(light),
      message ? this.#message(light, message) : null,
      message ? recordedFigure(view.recorded.find(({ pod }) => pod === view.playback.pods.keys[light.pod])) : null,
      !view.playback.reached.tried
        ? null
        : h(
            "div",
            { class: "why-row" },
            h(
              "button",
              {
                type: "button",
                class: "btn small",
                "data-why": true,
                onclick: () => view.emit("why", { pod: light.pod }),
              },
              icon("help"),
              !view.playback.reached.over
                ? "Why?"
                : light.node === null
                  ? "Why, and what would make it fit?"
                  : "Why there?",
            ),
            view.edit
              ? h(
                  "button",
                  {
                    type: "button",
                    class: "btn small",
                    "data-edit": true,
                    title: `${view.edit.label}: ${light.node === null ? "the pod" : "the node it went to"} (e)`,
                    onclick: () => view.emit("edit", light.node === null ? { pod: light.pod } : { node: light.node }),
                  },
                  icon("edit"),
                  light.node === null ? "Edit this pod" : "Edit this node",
                )
              : null,
          ),
      this.#saved(light),
      this.#ranking(light),
    );
    this.#press();
  }

  /**
   * How everything stands when the run is over, and what happened since its last cycle.
   *
   * @param {Parts} parts
   */
  #end({ story, moments, time }) {
    const { view } = this;
    const { playback } = view;
    const last = inline(
      (event) => playback.goto(playback.cycles, event.timeStamp),
      { class: "link", title: "Go to the last cycle" },
      `cycle ${count(playback.cycles)}`,
    );
    const since = playback.cycles ? ["Since ", last] : ["Since the start"];
    return [
      differNote(view),
      h(
        "div",
        { class: "story" },
        story.map((parts) => sentence(view, parts)),
      ),
      h(
        "section",
        { class: "happened ending" },
        h("h3", null, since, h("small", { class: "dim end num", text: `t = ${clock(time)}` })),
        moments.length
          ? h(
              "ol",
              null,
              moments.map(({ time: at, text }, i) =>
                h(
                  "li",
                  null,
                  h("button", {
                    type: "button",
                    class: "link num dim",
                    title: "Show the cluster as of this moment",
                    onclick: (event) => playback.goto(playback.index, event.timeStamp, { at: i + 1 }),
                    text: clock(at),
                  }),
                  sentence(view, text),
                ),
              ),
            )
          : h("p", { class: "dim", text: "Nothing has happened since." }),
      ),
    ];
  }

  /**
   * @param {Light} light
   * @param {string} message
   */
  #message(light, message) {
    const split = clauses(message);
    const failed = light.node === null;
    const [namespace, name] = this.view.playback.pods.keys[light.pod].split("/");
    return h(
      "figure",
      { class: `describe ${failed ? "failed" : ""}` },
      h(
        "figcaption",
        null,
        h("span", { text: "Simulated event of pod " }),
        h("b", { text: name }),
        h("span", { text: ` in ${namespace}` }),
      ),
      h(
        "p",
        null,
        h("span", {
          class: failed ? "fail-text" : "pass-text",
          text: failed ? "Warning  FailedScheduling" : "Normal  Scheduled",
        }),
        "  ",
        split
          ? [
              split.head,
              split.parts.map((part, i) => [i ? ", " : "", part.reason ? this.#clauseButton(part) : part.text]),
              split.tail,
            ]
          : linked(this.view, message),
      ),
    );
  }

  /** @param {{ reason: string, text: string }} given */
  #clauseButton({ reason, text }) {
    return inline(
      () => this.#clause(reason),
      { class: "clause", "data-reason": reason, "aria-pressed": "false", title: "light up these nodes" },
      text,
    );
  }

  /** @param {string} reason */
  #clause(reason) {
    const { view } = this;
    if (!view.facts.verdict) return;
    view.light(view.facts.verdict.nodesWith(reason), reason);
  }

  #press() {
    for (const button of this.element.querySelectorAll("[data-reason]"))
      button.setAttribute("aria-pressed", String(this.view.lit?.label === button.dataset.reason));
  }

  /** @param {Light} light */
  #saved(light) {
    const { ladder } = light;
    if (!ladder.length) return null;
    const all = ladder[0][1] * ladder.length;
    const ran = light.alwaysCheckAll ? all : ladder.reduce((sum, rung) => sum + rung[1], 0);
    const { pods } = this.view.playback;
    const tile = (/** @type {string} */ value, /** @type {string} */ label) =>
      h("div", null, h("dd", { text: value }), h("dt", { text: label }));
    return h(
      "dl",
      { class: "tiles" },
      tile(`${count(ladder.at(-1)[2])} of ${count(ladder[0][1])}`, "nodes fit"),
      light.cache?.[0]
        ? tile(count(light.cache[1]), `of ${count(all)} checks ran, ${count(light.cache[0])} came from the cache`)
        : tile(count(ran), `of ${count(all)} checks ran`),
      tile(`${cpu(pods.cpu[light.pod])} · ${memory(pods.memory[light.pod])}`, "cpu and memory requested"),
    );
  }

  /** @param {Light} light */
  #ranking(light) {
    const { view } = this;
    const parts = rankedIn(view.playback.parts);
    if (!parts) return null;
    const { names } = view.playback.nodes;
    // As the scheduler sorts them: the highest total first, equal ones by name, last first; without turns in their
    // given order.
    const all = parts.nodes
      .map((node, i) => [node, parts.totals[i]])
      .sort((a, b) => b[1] - a[1] || (parts.inTurn ? (names[a[0]] < names[b[0]] ? 1 : -1) : 0));
    const order = all.slice(0, RANKING);
    if (light.node !== null && !order.some(([node]) => node === light.node))
      order[RANKING - 1] = all.find(([node]) => node === light.node);
    const weights = parts.rows.map((row) => row.weight);
    return h(
      "section",
      { class: "ranking" },
      h(
        "h3",
        null,
        "Best nodes ",
        h("button", {
          type: "button",
          class: "link end",
          onclick: () => view.setTab("priorities"),
          text: `all ${plural(parts.nodes.length, "node")}`,
        }),
      ),
      h(
        "ol",
        null,
        order.map(([node, total]) =>
          h(
            "li",
            { class: node === light.node ? "won" : undefined, ...aboutNode(view, node) },
            nodeLink(view, node, 34),
            h("span", { class: "num", text: count(total) }),
            node === light.node
              ? h("span", { class: "pill accent", text: "chosen" })
              : total === view.facts.best
                ? h("span", { class: "pill", text: "tie" })
                : h("span", { class: "dim num", text: `−${count(view.facts.best - total)}` }),
          ),
        ),
      ),
      !parts.release && weights.some((weight) => weight >= 1000)
        ? h("p", {
            class: "dim fine",
            text:
              "Totals are large because one priority weighs 10,000; it is the same for every node here unless a node "
              + "asks to be avoided.",
          })
        : null,
    );
  }
}
