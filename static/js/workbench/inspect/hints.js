// Hints: which event would wake each sleeping pod, and which plugin asked for it; and what events did in this cycle.

import { h, fill } from "../../lib/dom.js";
import { count, plural } from "../../lib/quantity.js";
import { before } from "./empty.js";
/** @import { HintsPart } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

export class Hints {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "hints-tab" });
  }

  update() {
    const { playback } = this.view;
    if (!playback.current) {
      fill(this.element, before(this.view));
      return;
    }
    const part = playback.parts?.hints;
    this.element.classList.toggle("waiting", !part);
    if (!part) return;
    if ("why" in part) {
      fill(this.element, empty("No queueing hints here.", part.why));
      return;
    }
    fill(this.element, this.#pods(part), this.#moves(part));
  }

  /** @param {HintsPart} part */
  #pods(part) {
    if (!part.pods.length) return empty("No pod sleeps after this cycle.", "Every waiting pod is active or backs off.");
    const more = part.count - part.pods.length;
    return h(
      "section",
      null,
      h("h3", { text: `${plural(part.count, "pod")} asleep after this cycle` }),
      h(
        "ul",
        { class: "hint-pods" },
        part.pods.map((one) => this.#pod(one)),
      ),
      more > 0 ? h("p", { class: "dim", text: `and ${count(more)} more` }) : null,
    );
  }

  #pod(one) {
    const until = one.wakes.map(({ plugin, events, text }) =>
      h(
        "li",
        null,
        h("b", { text: plugin }),
        ` until ${text} `,
        h("small", { class: "dim", text: events.length ? `(${events.join(", ")})` : "(no event)" }),
      ),
    );
    const about = [
      one.queue === "gated" ? `gated by ${one.gatedBy}` : `tried ${plural(one.attempts, "time")}`,
      one.nominated ? `nominated to ${one.nominated}` : "",
      one.retryAt === null ? "" : `in any case tried again after ${count(Math.round(one.retryAt))} s`,
    ];
    return h(
      "li",
      null,
      h("button", {
        type: "button",
        class: "link",
        text: one.pod,
        onclick: () => this.view.emit("why", { pod: one.pod }),
      }),
      h("small", { class: "dim", text: ` ${about.filter(Boolean).join(", ")}` }),
      h("ul", null, until),
    );
  }

  /** @param {HintsPart} part */
  #moves(part) {
    if (!part.moves.length) return null;
    const more = part.moved - part.moves.length;
    return h(
      "section",
      null,
      h("h3", { text: "What events did to waiting pods" }),
      h(
        "ul",
        { class: "hint-moves" },
        part.moves.map(([event, pod, hints, to]) =>
          h(
            "li",
            null,
            h("code", { text: event }),
            ` asked about ${pod}: `,
            hints.map(([plugin, answer]) => `${plugin} ${answer}`).join(", ") || "no plugin",
            to ? h("b", { text: ` → ${to}` }) : h("span", { class: "dim", text: " and left it asleep" }),
          ),
        ),
      ),
      more > 0 ? h("p", { class: "dim", text: `and ${count(more)} more` }) : null,
    );
  }
}

/**
 * @param {string} title
 * @param {string} text
 */
const empty = (title, text) => h("div", { class: "empty" }, h("b", { text: title }), h("span", { text }));
