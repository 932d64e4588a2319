// The queues of virtual time: active, backing off, unschedulable, gated, and pods that wait at Permit.

import { h, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { age, count, plural, short } from "../../lib/quantity.js";

const WHOSE = { group: "the group’s time", failure: "when the group failed last", pod: "when it was first queued" };
const QUEUES = [["active", "Active", "No pod is ready to be tried."], ["backoff", "Backing off", "No pod backs off."], ["unschedulable", "Unschedulable", "No pod has been put aside."], ["gated", "Gated", ""]];

/** All queues as the pod in flight was taken. */
export function timedQueue(view, queue, light) {
  const { timed } = queue;
  const now = light.time;
  const pod = (key) => {
    const index = view.playback.podIndex.get(key) ?? -1;
    return [inline(() => view.selectPod(index), null, index >= 0 ? h("i", { class: `dot ${view.colour(index)}` }) : null, short(key)),
      h("button", { type: "button", class: "why-link", "aria-label": `Why does ${short(key)} wait?`, title: "Why?", onclick: () => view.emit("why", { pod: key }) }, icon("help"))];
  };
  const head = (text, more) => h("th", { scope: "col", text, ...more });
  const row = ([key, place, sort, whose, since, attempts, backoff, why, event, refused, nominated]) => [
    h("tr", null, h("td", null, pod(key), nominated ? [" ", h("span", { class: "pill victim", text: `nominated to ${nominated}` })] : null), h("td", { class: "num", text: count(sort[0]) }), h("td", { class: "num", title: WHOSE[whose] ?? whose }, `t = ${age(Math.max(0, sort[1]))}`, sort[1] < 0 ? h("small", { class: "dim", text: " (before)" }) : null),
      h("td", { class: "num", text: count(attempts) }), h("td", { class: "num", text: backoff !== null && backoff > now ? `${age(backoff - now)} left` : "–" })),
    h("tr", { class: "reason-row" }, h("td", { colspan: "5" }, h("span", { class: "dim fine" }, `since t = ${age(since)}: ${why}${event ? ` (${event})` : ""}${refused.length ? `; refused by ${refused.join(", ")}` : ""}`)))];
  const list = ([place, title, empty]) => {
    const entries = timed.entries.filter((entry) => entry[1] === place);
    const total = timed.counts[place];
    if (!total && !empty) return null;
    const flush = timed.flushes.find(([name]) => name === place)?.[1];
    return h("section", { class: `queue ${place}` }, h("h3", null, `${title} `, h("small", { class: "dim num", text: count(total) }), flush !== undefined && total ? h("small", { class: "dim end num", text: `looked through at t = ${age(flush)}` }) : null),
      entries.length ? h("div", { class: "scroll-x" }, h("table", { class: "list tight" }, h("thead", null, h("tr", null, head("pod"), head("priority", { class: "num" }), head("time", { class: "num", title: "What decides between equal priorities: the group’s time, or the pod’s own; then the name" }), head("tries", { class: "num" }), head("backoff", { class: "num" }))), h("tbody", null, entries.map(row)))) : h("p", { class: "dim", text: empty }),
      total > entries.length && entries.length ? h("p", { class: "dim fine", text: `and ${count(total - entries.length)} more` }) : null);
  };
  const node = (name) => inline(() => view.selectNode(view.playback.nodeIndex.get(name) ?? -1), null, name);
  const waiting = h("section", { class: "queue permit" }, h("h3", null, "Waiting at Permit ", h("small", { class: "dim num", text: count(timed.counts.waiting) })),
    timed.waiting.length ? h("div", { class: "scroll-x" }, h("table", { class: "list tight" }, h("thead", null, h("tr", null, head("pod"), head("holds"), head("since", { class: "num" }), head("time left", { class: "num" }))), h("tbody", null, timed.waiting.map(([key, name, since, deadline]) => h("tr", null, h("td", null, pod(key)), h("td", null, node(name)), h("td", { class: "num", text: `t = ${age(since)}` }), h("td", { class: "num", text: deadline === null ? "–" : age(Math.max(0, deadline - now)) })))))) : h("p", { class: "dim", text: "No pod holds a node and waits for others." }));
  const [key, , sort, whose, , attempts, , why, event] = timed.tried;
  return [h("p", { class: "story" }, "Order: ", h("strong", { text: queue.key }), "."),
    h("p", { class: "story" }, "In flight: ", pod(key)[0], `, priority ${count(sort[0])}, t = ${age(Math.max(0, sort[1]))} (${WHOSE[whose] ?? whose})${attempts ? `, after ${plural(attempts, "failed try", "failed tries")}` : ""}; it was in the active queue because ${why}${event ? ` (${event})` : ""}.`),
    list(QUEUES[0]), waiting, QUEUES.slice(1).map(list)];
}
