// Queue: what waited at the moment the cycle's pod was taken, with the key that orders it, and where that pod went.

import { h, fill, icon } from "../../lib/dom.js";
import { count, short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { Countdown } from "../countdown.js";
import { before, later } from "./empty.js";
import { podLink } from "./nouns.js";
import { timedQueue } from "./queuetimed.js";
/** @import { View } from "../view.js" */

export class Queue {
  #kept; // what is sorted and looked for in each queue

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("queue");
    this.element = h("div", { class: "queue-tab" });
    this.countdown = new Countdown(view, this.element);
  }

  update() {
    const { view } = this;
    const light = view.playback.current;
    const queue = view.playback.parts?.queue;
    if (!light && !queue) {
      fill(this.element, before(view));
      return;
    }
    if (!queue) {
      this.element.classList.add("waiting");
      return;
    }
    this.element.classList.remove("waiting");
    if (queue.why) {
      fill(this.element, later(view, "No pod is taken from the queue at this moment.", String(queue.why)));
      return;
    }
    if (queue.timed) {
      const now = queue.time ?? view.playback.parts.time ?? light?.time ?? 0;
      fill(this.element, timedQueue(view, queue, now, this.#kept));
      this.countdown.stand(now);
      return;
    }
    const { keys } = view.playback.pods;
    // Victims that go move every unschedulable pod back to the active queue, this cycle's own among them.
    const failed = view.playback.reached.over && light.node === null;
    const preempts = failed && light.nominated !== null;
    fill(
      this.element,
      h(
        "p",
        { class: "story" },
        "Order: ",
        h("strong", { text: queue.key }),
        ". In flight: ",
        this.#pod(keys[light.pod]),
        ".",
      ),
      this.#list(
        "Active",
        "active",
        queue.active,
        queue.activeCount,
        "The active queue is empty: this was the last pod waiting.",
        preempts ? [light.pod, "back here, its victims were deleted"] : null,
      ),
      this.#list(
        "Unschedulable",
        "unschedulable",
        queue.unschedulable,
        queue.unschedulableCount,
        preempts
          ? "No pod is unschedulable: the deletion of the victims moves them all to the active queue."
          : "No pod is in the unschedulable queue.",
        failed && !preempts ? [light.pod, "moved here by this cycle"] : null,
      ),
    );
  }

  /** @param {string} key */
  #pod(key) {
    return podLink(this.view, key);
  }

  /**
   * The pod of a row, and a way to ask why it waits.
   *
   * @param {string} key
   */
  #waiting(key) {
    const name = short(key);
    return [
      this.#pod(key),
      h(
        "button",
        {
          type: "button",
          class: "why-link",
          "aria-label": `Why does ${name} wait?`,
          title: "Why?",
          onclick: () => this.view.emit("why", { pod: key }),
        },
        icon("help"),
      ),
    ];
  }

  /** A queue as a table; `own` is the cycle's pod and why it is in this queue now. */
  #list(title, name, entries, total, empty, own) {
    const { keys, priority: priorities } = this.view.playback.pods;
    const num = (/** @type {string} */ text, /** @type {string} */ more = "") =>
      h("td", { class: `num ${more}`.trim(), text });
    const rows = entries.map(([key, priority, position], i) =>
      h(
        "tr",
        null,
        num(String(i + 1), "dim"),
        h("td", null, this.#waiting(key)),
        num(count(priority)),
        num(count(position)),
      ),
    );
    if (own) {
      const [pod, why] = own;
      rows.unshift(
        h(
          "tr",
          { class: "own" },
          num("", "dim"),
          h("td", null, this.#waiting(keys[pod]), " ", h("span", { class: "pill accent", text: why })),
          num(count(priorities[pod])),
          num(""),
        ),
      );
    }
    const head = (text, more) => h("th", { scope: "col", text, ...more });
    const heading = h("h3", null, `${title} `, h("small", { class: "dim num", text: count(total + (own ? 1 : 0)) }));
    return h(
      "section",
      { class: `queue ${name}` },
      rows.length
        ? tabled(
            h(
              "table",
              { class: "list tight" },
              h("caption", { class: "sr", text: `${title}: pods in the order in which they are taken` }),
              h(
                "thead",
                null,
                h(
                  "tr",
                  null,
                  head("#", { class: "num" }),
                  head("pod"),
                  head("priority", { class: "num" }),
                  head("order", { class: "num", title: "Position of creation: the earliest created has the lowest" }),
                ),
              ),
              h("tbody", null, rows),
            ),
            { head: heading, filter: `Filter pods: ${title}`, kept: this.#kept, name },
          )
        : [heading, h("p", { class: "dim", text: empty })],
      total > entries.length && entries.length
        ? h("p", { class: "dim fine", text: `and ${count(total - entries.length)} more` })
        : null,
    );
  }
}
