// Are these two equivalent? Two pods, and the field in which they differ.

import { h, fill, icon, announce } from "../../lib/dom.js";
import { decoded } from "../../lib/encoded.js";
import { short } from "../../lib/quantity.js";
import { tabled } from "../../lib/tables.js";
import { ABSENT } from "../cluster.js";
/** @import { View } from "../view.js" */

const OFFERED = 40; // names that are offered while one is typed

export class CacheEqual {
  #mine = [false, false]; // fields that somebody typed in: these stay
  #asked = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.fields = [0, 1].map((at) => this.#field(at));
    this.result = h("div", { class: "equal-result", role: "status" });
    this.element = h(
      "section",
      { class: "equal" },
      h("h3", { id: "equal-heading", text: "Are these two equivalent?" }),
      h(
        "form",
        {
          "aria-labelledby": "equal-heading",
          onsubmit: (event) => {
            event.preventDefault();
            this.#wish();
          },
        },
        this.fields.map(({ element }) => element),
        h("button", { class: "btn primary", text: "Compare" }),
      ),
      this.result,
    );
    view.on(
      "selection",
      () => {
        if (this.element.isConnected) this.update();
      },
      view.panels,
    );
  }

  /** @param {number} at */
  #field(at) {
    const id = `equal-pods-${at}`;
    const list = h("datalist", { id });
    const input = h("input", {
      class: "field",
      list: id,
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": at ? "Second pod" : "First pod",
      placeholder: at ? "and this pod" : "this pod",
      oninput: () => {
        this.#mine[at] = input.value !== "";
        this.#offer(at);
      },
      onfocus: () => this.#offer(at),
      onchange: () => {
        if (this.fields.every((one) => one.input.value.trim())) this.#wish();
      },
    });
    return { input, list, element: h("span", { class: "equal-field" }, input, list) };
  }

  /** The pod that is selected, else that of the cycle; and another one to compare it with. */
  update() {
    const { view } = this;
    const { playback } = view;
    const { keys, group } = playback.pods;
    const [, , ...asked] = view.sub.split("/").map(decoded);
    if (view.sub.startsWith("classes/") && asked.length === 2) {
      if (asked.some((pod, at) => pod !== this.#key(at))) {
        if (this.element.contains(document.activeElement)) return; // somebody is typing
        this.fields.forEach(({ input }, at) => {
          input.value = asked[at];
        });
      }
      this.#mine = [true, true];
      this.#ask();
      return;
    }
    const first = view.pod >= 0 ? view.pod : view.facts.pod;
    if (!this.#mine[0] && first >= 0) this.fields[0].input.value = keys[first];
    if (this.#mine[1] || first < 0) return;
    // One of its group where there is one, and one that is there: others cannot be compared.
    const there = (_, pod) => pod !== first && playback.cluster.placement[pod] !== ABSENT;
    const other = group.findIndex((one, pod) => one === group[first] && there(one, pod));
    this.fields[1].input.value = keys[other >= 0 ? other : keys.findIndex(there)] ?? "";
  }

  /** @param {number} at */
  #offer(at) {
    const { input, list } = this.fields[at];
    const wanted = input.value.trim().toLowerCase();
    const found = [];
    for (const key of this.view.playback.pods.keys) {
      if (wanted && !key.toLowerCase().includes(wanted)) continue;
      found.push(key);
      if (found.length === OFFERED) break;
    }
    fill(
      list,
      found.map((key) => h("option", { value: key })),
    );
  }

  /**
   * A name without a namespace is in the default one.
   *
   * @param {number} at
   */
  #key(at) {
    const text = this.fields[at].input.value.trim();
    return text && !text.includes("/") ? `default/${text}` : text;
  }

  /** Put the two pods into the address, which asks. */
  #wish() {
    const [view, hash = ""] = this.view.sub.split("/");
    const sub = [view, hash, ...[0, 1].map((at) => encodeURIComponent(this.#key(at)))].join("/");
    if (sub === this.view.sub) this.#ask();
    else this.view.setSub(sub);
  }

  async #ask() {
    const { playback } = this.view;
    const pods = [this.#key(0), this.#key(1)];
    const unknown = pods.find((key) => !playback.podIndex.has(key));
    if (unknown !== undefined) {
      this.#asked = "";
      fill(
        this.result,
        h("p", { class: "stale-text", text: unknown ? `There is no pod ${unknown}.` : "Name two pods." }),
      );
      return;
    }
    const wish = `${playback.asOf}/${pods}`;
    if (wish === this.#asked) return;
    this.#asked = wish;
    try {
      const found = await playback.socket.call("cache.equivalent", {
        source: playback.source,
        cycle: playback.asOf,
        pods,
      });
      if (wish === this.#asked) this.#paint(found, pods);
    } catch (error) {
      this.#asked = "";
      if (error.code !== "request.superseded") fill(this.result, h("p", { class: "note error", text: error.message }));
    }
  }

  /** @param {string[]} pods */
  #paint(found, pods) {
    const verdict = (label, yes) =>
      h(
        "li",
        null,
        h(
          "span",
          { class: `pill ${yes ? "pass" : "fail"}` },
          icon(yes ? "check" : "cross"),
          label,
          h("span", { class: "sr", text: yes ? ": equivalent" : ": not equivalent" }),
        ),
      );
    const value = (/** @type {string} */ text) =>
      h("td", null, text === "" ? h("span", { class: "dim", text: "nothing" }) : h("code", { text }));
    fill(
      this.result,
      h(
        "p",
        { class: "equal-answer" },
        h(
          "b",
          { class: found.equivalent ? "pass-text" : "fail-text" },
          icon(found.equivalent ? "check" : "cross"),
          found.equivalent ? "Yes. " : "No. ",
        ),
        found.text,
      ),
      h(
        "ul",
        { class: "definitions", "aria-label": "By each definition of a class" },
        verdict("by controller", found.definitions.controller),
        verdict("by attributes", found.definitions.attributes),
      ),
      found.differences.length
        ? tabled(
            h(
              "table",
              { class: "list tight differences" },
              h("caption", { class: "sr", text: "Fields in which they differ" }),
              h(
                "thead",
                null,
                h(
                  "tr",
                  null,
                  ["field", ...pods.map(short)].map((text) => h("th", { scope: "col", text })),
                ),
              ),
              h(
                "tbody",
                null,
                found.differences.map(({ field, first, second }) =>
                  h("tr", null, h("th", { scope: "row" }, h("code", { text: field })), value(first), value(second)),
                ),
              ),
            ),
            { head: h("h4", { text: "Fields in which they differ" }), filter: "Filter fields" },
          )
        : null,
    );
    announce(found.text);
  }
}
