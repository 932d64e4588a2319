// What was found, over the tools of the stage: how many, which one is shown, where it is, and the way to the others.

import { h, fill, icon, passFocus } from "../../lib/dom.js";
import { count, short } from "../../lib/quantity.js";
import { whereIs } from "./where.js";
/** @import { View } from "../view.js" */

export class FindBar {
  #drawn = "";

  /**
   * `body` takes the focus when the bar goes.
   *
   * @param {View} view
   */
  constructor(view, body) {
    this.view = view;
    this.body = body;
    const way = (label, name, by) =>
      h(
        "button",
        {
          type: "button",
          class: "btn quiet square tiny",
          "aria-label": label,
          title: label,
          onclick: () => view.search.go(by),
        },
        icon(name),
      );
    this.number = h("b", { class: "num" });
    this.text = h("span", { class: "find-text" });
    this.ways = h("span", { class: "find-ways" }, way("Previous match", "left", -1), way("Next match", "right", 1));
    this.element = h(
      "section",
      { class: "find-bar", hidden: true, "aria-label": "Found" },
      icon("search"),
      h("span", { class: "find-state", role: "status" }, this.number, this.text),
      this.ways,
      h(
        "button",
        {
          type: "button",
          class: "btn quiet square tiny",
          "aria-label": "End the search",
          onclick: () => view.emit("forget"),
        },
        icon("close"),
      ),
    );
  }

  update() {
    const { view } = this;
    const { search, playback } = view;
    if (!search.text) passFocus(this.element, this.body);
    this.element.hidden = !search.text;
    if (!search.text) {
      this.#drawn = "";
      return;
    }
    const { current, hits } = search;
    this.ways.hidden = hits.length < 2;
    const [kind, i] = current ?? [];
    const { node, text } =
      kind === "pod"
        ? whereIs(view, i)
        : { node: -1, text: kind === "node" && !view.exists(i) ? "does not exist at this step" : "" };
    const drawn = [kind, i, node, text, search.at, hits.length, search.text].join("|");
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.number.textContent = current ? `${count(search.at + 1)} of ${count(hits.length)}` : "";
    if (!current) {
      fill(this.text, `No matches for “${search.text}”.`);
      return;
    }
    const link = (/** @type {string} */ name, /** @type {() => void} */ act) =>
      h("button", { type: "button", class: "link", onclick: act }, name);
    fill(
      this.text,
      `${kind} `,
      kind === "node"
        ? link(playback.nodes.names[i], () => view.selectNode(i))
        : link(short(playback.pods.keys[i]), () => view.selectPod(i)),
      text ? ` ${text}` : null,
      node >= 0 ? [" ", link(playback.nodes.names[node], () => view.selectNode(node))] : null,
    );
  }
}
