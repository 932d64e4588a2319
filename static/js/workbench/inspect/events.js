// Simulated events up to the shown step, newest first, in the columns of kubectl get events.

import { h, fill, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { age, count, short } from "../../lib/quantity.js";
import { keeping, tabled } from "../../lib/tables.js";
import { aboutNode, linked, nodeLink, podLink } from "./nouns.js";
/** @import { View } from "../view.js" */

const AT_ONCE = 100;
const OLDER = 200; // more, each time
const MOST = 500;
const LAST_PAGE = Math.ceil((MOST - AT_ONCE) / OLDER);

const ON = / (?:to|on node) (\S+?)\.?$/; // the node that a message ends with

export class Events {
  #asked = "";
  #busy = false;
  #list; // {page}: how often older ones were asked for
  #kept; // what is sorted and looked for

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.#kept = view.lists.of("events");
    this.#list = view.lists.list("events", "events");
    this.more = h("button", {
      type: "button",
      class: "btn",
      hidden: true,
      text: "Show older events",
      onclick: () => {
        this.#list.page = Math.min(LAST_PAGE, this.#list.page + 1);
        view.lists.changed();
        this.#load();
      },
    });
    this.table = h("div");
    this.none = h("span");
    this.empty = h("div", { class: "empty", hidden: true }, h("b", { text: "No event yet." }), this.none);
    this.element = h("div", { class: "events-tab" }, this.table, this.more, this.empty);
  }

  get #count() {
    return Math.min(MOST, AT_ONCE + this.#list.page * OLDER);
  }

  update() {
    if (this.#wanted === this.#asked) return;
    // The shown cycle's own events are at hand; older ones come from the server.
    this.#load();
  }

  /** What is to be shown, as a key: the step, and how much of it has happened. */
  get #wanted() {
    const { playback } = this.view;
    return `${playback.index}/${playback.at}/${playback.phase}/${playback.partly && playback.parts ? 1 : 0}`;
  }

  /**
   * The events of the shown step so far, newest first, where only a part of it is shown; the server knows those of the
   * other steps.
   */
  get #own() {
    const { playback } = this.view;
    if (!playback.partly) return [];
    return (playback.current ?? playback.parts)?.events.map((event) => [playback.index, ...event]).reverse() ?? [];
  }

  async #load() {
    if (this.#busy) return;
    this.#busy = true;
    const { playback } = this.view;
    try {
      do {
        const wanted = this.#wanted;
        const to = playback.partly ? playback.index - 1 : playback.index;
        const answer =
          to > 0
            ? await playback.socket.call("events.list", { source: playback.source, to, count: this.#count })
            : { events: [], more: false };
        if (wanted !== this.#wanted) continue;
        this.#asked = wanted;
        this.#paint({ ...answer, events: [...this.#own, ...answer.events].slice(0, this.#count) }, playback.index);
      } while (this.element.isConnected && this.#asked !== this.#wanted);
    } catch (error) {
      playback.emit("failed", error);
    } finally {
      this.#busy = false;
    }
  }

  #paint({ events, more }, to) {
    const { view } = this;
    const { playback } = view;
    this.none.textContent = playback.timed
      ? "A cycle emits Scheduled, or FailedScheduling with the reason; "
        + "for a pod that waits at Permit, once it is allowed or rejected."
      : "Every cycle emits one: Scheduled, or FailedScheduling with the reason.";
    const timeOf = (/** @type {number} */ index) =>
      index > playback.cycles ? playback.heavy(index)?.time : playback.light(index)?.time;
    const now = playback.time ?? timeOf(to);
    const rows = events.map(([index, type, reason, object, message]) => {
      const then = timeOf(index);
      const since = now !== undefined && then !== undefined ? Math.max(0, now - then) : null;
      const [kind, ...rest] = object.split("/");
      const name = rest.join("/");
      const on = kind === "node" ? name : (ON.exec(message)?.[1] ?? "");
      return h(
        "tr",
        { class: index === to ? "now" : undefined, ...aboutNode(view, on) },
        h(
          "td",
          { class: "num cycle", "data-value": index },
          inline(
            (event) => playback.goto(index, event.timeStamp),
            { class: "link num", title: "go there" },
            index > playback.cycles ? "end" : count(index),
          ),
        ),
        h("td", { class: "num dim age", "data-value": since ?? "", text: since === null ? "" : age(since) }),
        h("td", { class: `type ${type === "Warning" ? "fail-text" : "pass-text"}`, text: type }),
        h("td", { class: "reason", text: reason }),
        h(
          "td",
          { class: "object", "data-value": object },
          h("span", { class: "dim", text: `${kind}/` }),
          h("wbr"),
          kind === "node" ? nodeLink(view, name) : podLink(view, name, { dot: false }),
        ),
        h(
          "td",
          { class: "message" },
          linked(view, message),
          reason === "FailedScheduling"
            ? [
                " ",
                h(
                  "button",
                  {
                    type: "button",
                    class: "why-link",
                    title: "Why?",
                    "aria-label": `Why was ${short(name)} not scheduled in cycle ${index}?`,
                    onclick: () => {
                      playback.goto(index);
                      view.emit("why", { pod: name });
                    },
                  },
                  icon("help"),
                ),
              ]
            : null,
        ),
      );
    });
    keeping(this.table, () =>
      fill(
        this.table,
        tabled(
          h(
            "table",
            { class: "list tight events" },
            h("caption", { class: "sr", text: "Simulated events up to this step, newest first" }),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                ["cycle", "age", "type", "reason", "object", "message"].map((text) =>
                  h("th", { scope: "col", class: text, text }),
                ),
              ),
            ),
            h("tbody", null, rows),
          ),
          {
            head: h(
              "h3",
              null,
              "Simulated events ",
              h("small", { class: "dim num", text: `${more ? "the newest " : ""}${count(rows.length)}` }),
            ),
            filter: "Filter events",
            kept: this.#kept,
            name: "events",
          },
        ),
      ),
    );
    this.more.hidden = !more || this.#count >= MOST;
    this.empty.hidden = events.length > 0;
    this.table.hidden = events.length === 0;
  }
}
