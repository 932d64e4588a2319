// The Cache tab where the cache is off: what it is, what would stand here, and how to switch it on.

import { h, fill, icon } from "../../lib/dom.js";
/** @import { View } from "../view.js" */

const SHOWS = [
  "which answers came from the cache, and which were evaluated",
  "what each event invalidated, with the row of the table that defines it",
  "stale hits: the cached answer beside the true one, and the event that was missed",
];

export class CacheOff {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "cache-off" });
  }

  update() {
    const { view } = this;
    const part = view.playback.parts?.cache;
    const gone = Boolean(part && "gone" in part); // this release has no equivalence cache
    const key = `${part?.why}/${view.settings?.dirty()}`;
    if (key === this.shown) return;
    this.shown = key;
    fill(
      this.element,
      h(
        "div",
        { class: "empty" },
        icon("server"),
        h("b", { text: gone ? "There is no equivalence cache." : "The equivalence cache is off." }),
        h("span", {
          class: "why-off",
          text: String(part?.why ?? "").replace(/^The equivalence cache is off\.\s*/, ""),
        }),
        gone
          ? null
          : h(
              "ul",
              { class: "shows", "aria-label": "What is shown here if it is on" },
              SHOWS.map((text) => h("li", null, icon("check"), text)),
            ),
        gone ? null : this.#ways(),
      ),
    );
  }

  #ways() {
    const { settings } = this.view;
    if (settings?.mine) {
      const dirty = settings.dirty();
      const way = (label, hint, className, changes, words) =>
        h(
          "button",
          {
            type: "button",
            class: `btn ${className}`,
            disabled: dirty || undefined,
            title: hint,
            onclick: () => settings.change(changes, words),
          },
          label,
        );
      return [
        h(
          "div",
          { class: "ways" },
          way(
            "Switch it on",
            "cache: sound, every row of the invalidation table",
            "primary",
            [["setting", "cache", "sound"]],
            "The cache is on, with every row",
          ),
          way(
            "As in v1.11, with the audit",
            "cache: v1.11 and audit: true, to see where it was wrong",
            "",
            [
              ["setting", "cache", "v1.11"],
              ["setting", "audit", "true"],
            ],
            "The cache is on as in v1.11, with the audit",
          ),
        ),
        h("span", {
          class: "fine",
          text: dirty
            ? "The YAML has changes that are not applied: apply or discard them first."
            : "Both write the scenario’s SimulationSettings; the Policy tab has all of them.",
        }),
      ];
    }
    if (settings?.canFork)
      return [
        h(
          "div",
          { class: "ways" },
          h(
            "button",
            { type: "button", class: "btn primary", onclick: settings.fork },
            icon("fork"),
            "Fork to switch it on",
          ),
        ),
        h("span", { class: "fine", text: "Shared scenarios never change; your copy can." }),
      ];
    return h(
      "span",
      { class: "fine" },
      "A bundle switches it on with ",
      h("code", { text: "cache: sound" }),
      " in its SimulationSettings.",
    );
  }
}
