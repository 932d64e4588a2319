// Queue: what waited at the moment the cycle's pod was taken, with the key that orders it.

import { h, fill } from "../../lib/dom.js";
import { count, short } from "../../lib/quantity.js";
import { before } from "./inspect.js";

export class Queue {
  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "queue-tab" });
  }

  update() {
    const { view } = this;
    const light = view.playback.current;
    if (!light) { fill(this.element, before(view)); return; }
    const queue = view.playback.parts?.queue;
    if (!queue) { this.element.classList.add("waiting"); return; }
    this.element.classList.remove("waiting");
    const key = view.playback.pods.keys[light.pod];
    fill(this.element,
      h("p", { class: "story" }, "Order: ", h("strong", { text: queue.key }), ". In flight: ", this.#pod(key), "."),
      this.#list("Active", "active", queue.active, queue.activeCount, "The active queue is empty: this was the last pod waiting."),
      this.#list("Unschedulable", "unschedulable", queue.unschedulable, queue.unschedulableCount, "No pod has been put aside."));
  }

  #pod(key) {
    const { view } = this;
    const pod = view.playback.podIndex.get(key) ?? -1;
    return h("button", { type: "button", class: "link", onclick: () => view.selectPod(pod) }, pod >= 0 ? h("i", { class: `dot ${view.colour(pod)}` }) : null, short(key));
  }

  #list(title, name, entries, total, empty) {
    const rows = entries.map(([key, priority, position], i) => h("tr", null, h("td", { class: "num dim", text: String(i + 1) }), h("td", null, this.#pod(key)), h("td", { class: "num", text: count(priority) }), h("td", { class: "num", text: count(position) })));
    return h("section", { class: `queue ${name}` }, h("h3", null, `${title} `, h("small", { class: "dim num", text: count(total) })),
      rows.length ? h("table", { class: "list tight" }, h("thead", null, h("tr", null, h("th", { scope: "col", class: "num", text: "#" }), h("th", { scope: "col", text: "pod" }), h("th", { scope: "col", class: "num", text: "priority" }), h("th", { scope: "col", class: "num", text: "created" }))), h("tbody", null, rows)) : h("p", { class: "dim", text: empty }),
      total > rows.length && rows.length ? h("p", { class: "dim fine", text: `and ${count(total - rows.length)} more` }) : null);
  }
}
