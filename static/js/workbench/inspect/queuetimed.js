// The queues of virtual time: active, backing off, unschedulable, gated, and pods that wait at Permit. First how many
// there are and when each is looked through, then every pod with its sort key, why it is there, and what would move it.

import { $, h, icon } from "../../lib/dom.js";
import { clock, count, plural, short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { moment, until } from "../countdown.js";
import { aboutNode, nodeLink, podLink } from "./nouns.js";
/** @import { QueueName, TimedQueue } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

const WHOSE = { group: "the group’s time", failure: "when the group failed last", pod: "when it was first queued" };
// Of each queue: its name, its text when empty, and the text of its lane on top.
/** @typedef {[place: QueueName | "waiting", title: string, empty: string, what: string]} Lane */

/** @type {Lane[]} */
const QUEUES = [
  ["active", "Active", "No pod is ready to be tried.", "tried next"],
  ["waiting", "At Permit", "No pod holds a node and waits for others.", "hold a node"],
  ["backoff", "Backing off", "No pod is in backoff.", "1s to 10s"],
  ["unschedulable", "Unschedulable", "No pod is in the unschedulable queue.", "until an event"],
  ["gated", "Gated", "", "scheduling gates"],
];

/**
 * All queues: as they are when the pod in flight is popped, or when the run is over. `kept` holds how they are sorted.
 */
export function timedQueue(view, queue, now, kept) {
  const { timed } = queue;
  const { tried } = timed;
  const lanes = QUEUES.filter(([place, , empty]) => empty || timed.counts[place]);
  return [
    h("p", { class: "story" }, "Order: ", h("strong", { text: queue.key }), "."),
    strip(timed, lanes, now),
    tried ? flight(view, tried) : null,
    lanes.map((lane) =>
      lane[0] === "waiting" ? permit(view, timed, lane, now, kept) : list(view, timed, lane, now, kept),
    ),
  ];
}

/** The pod in flight: its key, and why it was taken. */
function flight(view, [key, , sort, whose, , attempts, , why, event]) {
  const light = view.playback.current;
  const went =
    !light || !view.playback.reached.over
      ? ""
      : light.result === "waiting"
        ? "waits at Permit"
        : light.node === null
          ? `is ${light.result}`
          : "is bound";
  return h(
    "p",
    { class: "story" },
    "In flight: ",
    podLink(view, key),
    `, priority ${count(sort[0])}, t = ${clock(Math.max(0, sort[1]))} (${WHOSE[whose] ?? whose})`,
    attempts ? `, after ${plural(attempts, "failed try", "failed tries")}` : "",
    `. It was in the active queue because ${why}${event ? ` (${event})` : ""}`,
    went
      ? [
          ", and in this cycle it ",
          h("strong", { text: went }),
          light.node === null ? null : [" on ", nodeLink(view, view.playback.nodes.names[light.node])],
        ]
      : null,
    ".",
  );
}

/** How many are where, and when something happens there by itself; each leads to its list. */
function strip(timed, lanes, now) {
  const soonest = (times) => Math.min(...times.map((at) => at ?? Infinity));
  /** @type {Record<string, number>} */
  const first = {
    waiting: soonest(timed.waiting.map(([, , , deadline]) => deadline)),
    ...Object.fromEntries(timed.flushes),
  };
  const put = timed.entries.filter(([, place]) => place === "unschedulable");
  // A flush takes only those who have stayed long enough: what counts is the first that takes anybody.
  if (put.length && put.length === timed.counts.unschedulable)
    first.unschedulable = soonest(put.map((entry) => entry.at(-1)));
  return h(
    "ul",
    { class: "lanes", "aria-label": "Queues" },
    lanes.map(([place, title, , what]) => {
      const total = timed.counts[place] ?? 0;
      const at = total && Number.isFinite(first[place]) ? first[place] : null;
      return h(
        "li",
        null,
        h(
          "button",
          {
            type: "button",
            class: `lane at-${place}${total ? "" : " none"}`,
            onclick: (event) => {
              const section = $(`.queue.at-${place}`, event.target.closest(".queue-tab"));
              section.scrollIntoView({ block: "start" });
              $("h3", section).focus();
            },
          },
          h("span", { class: "lane-title", text: title }),
          h("b", { class: "num", text: count(total) }),
          h("span", { class: "fine dim" }, at === null ? what : until(at, now)),
        ),
      );
    }),
  );
}

const head = (text, more) => h("th", { scope: "col", text, ...more });
/**
 * @param {View} view
 * @param {string} key
 */
const why = (view, key) =>
  h(
    "button",
    {
      type: "button",
      class: "why-link",
      "aria-label": `Why does ${short(key)} wait?`,
      title: "Why?",
      onclick: () => view.emit("why", { pod: key }),
    },
    icon("help"),
  );
/** Where a pod is, and since when; of one that an event moved the time is that of its last try. */
const here = (since, moved) =>
  moved ? `Queued since t = ${clock(since)}; here because` : `Here since t = ${clock(since)}:`;
const title = (name, total, more) =>
  h("h3", { tabindex: "-1" }, `${name} `, h("small", { class: "dim num", text: count(total) }), more);

/**
 * @param {View} view
 * @param {TimedQueue} timed
 * @param {Lane} lane
 * @param {number} now
 * @param {any} kept
 */
function list(view, timed, [place, name, empty], now, kept) {
  const entries = timed.entries.filter((entry) => entry[1] === place);
  const total = timed.counts[place];
  const named = entries.some(([, , sort]) => sort.length > 2);
  const rows = entries.map(
    ([key, , sort, whose, since, attempts, backoff, reason, event, refused, nominated, helped, retry], i) => [
      h(
        "tr",
        nominated ? aboutNode(view, nominated) : null,
        h("td", { class: "num dim", text: count(i + 1) }),
        h(
          "td",
          { class: "who" },
          podLink(view, key),
          why(view, key),
          nominated ? h("span", { class: "pill victim" }, "nominated to ", nodeLink(view, nominated)) : null,
        ),
        h("td", { class: "num", text: count(sort[0]) }),
        h(
          "td",
          { class: "num", "data-value": sort[1], title: WHOSE[whose] ?? whose },
          `t = ${clock(Math.max(0, sort[1]))}`,
          sort[1] < 0 ? h("small", { class: "dim", text: " (before)" }) : null,
        ),
        h("td", { class: "num dim", text: attempts ? count(attempts) : "" }),
      ),
      h(
        "tr",
        { class: "reason-row follows" },
        h("td"),
        h(
          "td",
          { colspan: "4" },
          h(
            "p",
            { class: "dim fine" },
            `${here(since, event || (place === "active" && attempts))} ${reason}${event ? ` (${event})` : ""}`,
            `${refused.length ? `; refused by ${refused.join(", ")}` : ""}.`,
          ),
          leaves(timed, place, { backoff, helped: refused.length ? helped : null, retry }, now),
        ),
      ),
    ],
  );
  const heading = title(name, total);
  return h(
    "section",
    { class: `queue at-${place}` },
    entries.length
      ? tabled(
          h(
            "table",
            { class: "list tight" },
            h("caption", { class: "sr", text: `${name}: pods in their order` }),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                head("#", { class: "num" }),
                head("pod"),
                head("priority", { class: "num" }),
                head(named ? "time, then name" : "time", {
                  class: "num",
                  title: "What decides between equal priorities: the group’s time, or the pod’s own; then the name",
                }),
                head("tries", { class: "num", title: "failed attempts" }),
              ),
            ),
            h("tbody", null, rows),
          ),
          { head: heading, filter: `Filter pods: ${name}`, kept, name: place },
        )
      : [heading, h("p", { class: "dim", text: empty })],
    total > entries.length && entries.length
      ? h("p", { class: "dim fine", text: `and ${count(total - entries.length)} more` })
      : null,
  );
}

/** What takes a pod out of its queue, and when; `helped` are the events that do, null: any. */
function leaves({ events }, place, { backoff, helped, retry }, now) {
  if (place === "active") return null;
  if (place === "gated") return h("p", { class: "fine" }, "Moves when its scheduling gates are removed.");
  const flush =
    retry === null ? null : [until(retry, now, "left"), h("span", { class: "dim num", text: ` (${moment(retry)})` })];
  if (place === "backoff") return h("p", { class: "fine" }, "Moves when its backoff expires: ", flush);
  const shown = (helped ?? []).map((name) => h("span", { class: "pill off", title: events[name] ?? name, text: name }));
  return h(
    "div",
    { class: "leaves fine" },
    h("span", null, "Moves by ", flush ? ["the flush: ", flush] : null),
    helped === null ? h("span", { class: "dim", text: "or any event" }) : null,
    shown.length ? [h("span", { class: "dim", text: flush ? "or an event:" : "an event:" }), shown] : null,
    backoff !== null && backoff > now ? h("span", { class: "dim" }, "then backs off, ", until(backoff, now)) : null,
  );
}

/**
 * @param {View} view
 * @param {TimedQueue} timed
 * @param {Lane} lane
 * @param {number} now
 * @param {any} kept
 */
function permit(view, timed, [place, name, empty], now, kept) {
  const total = timed.counts[place];
  const heading = title("Waiting at Permit", total);
  return h(
    "section",
    { class: `queue at-${place}` },
    timed.waiting.length
      ? tabled(
          h(
            "table",
            { class: "list tight" },
            h("caption", { class: "sr", text: name }),
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                head("pod"),
                head("holds"),
                head("since", { class: "num" }),
                head("time left", { class: "num" }),
              ),
            ),
            h(
              "tbody",
              null,
              timed.waiting.map(([key, node, since, deadline]) =>
                h(
                  "tr",
                  aboutNode(view, node),
                  h("td", null, podLink(view, key), why(view, key)),
                  h("td", null, nodeLink(view, node)),
                  h("td", { class: "num", "data-value": since, text: `t = ${clock(since)}` }),
                  h(
                    "td",
                    { class: "num", "data-value": deadline ?? "" },
                    deadline === null ? "–" : until(deadline, now),
                  ),
                ),
              ),
            ),
          ),
          { head: heading, filter: "Filter pods: at Permit", kept, name: place },
        )
      : [heading, h("p", { class: "dim", text: empty })],
    total > timed.waiting.length && timed.waiting.length
      ? h("p", { class: "dim fine", text: `and ${count(total - timed.waiting.length)} more` })
      : null,
  );
}
