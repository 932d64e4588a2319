// What other clusters honor and this simulation does not: a bar over the stage, and on a phone a note in Story.

import { h, fill, icon, targetOf } from "../lib/dom.js";
import { count } from "../lib/quantity.js";
/** @import { View } from "./view.js" */

/** @param {View} view */
const unhonored = (view) => view.playback.warnings.filter((warning) => warning.unhonored);

/** What a summary says: the first field, and how many more there are. */
function title(found) {
  const more = found.length - 1;
  return [
    icon("warn"),
    h(
      "span",
      { class: "may-differ-title" },
      h("b", { text: "This result may differ" }),
      h(
        "span",
        null,
        " on a cluster that honors ",
        h("code", { text: found[0].unhonored }),
        more ? ` and ${count(more)} more` : "",
      ),
    ),
  ];
}

/** Each field with whose it is and what honoring it does; `reveal` leads to a line of the text. */
function rows(found, reveal) {
  return h(
    "ul",
    null,
    found.map(({ unhonored: name, message, line }) =>
      h(
        "li",
        null,
        h("code", { text: name }),
        ` ${message.slice(message.indexOf(name) + name.length).trim()}`,
        line && reveal
          ? h("button", { type: "button", class: "link nowrap", onclick: () => reveal(line) }, `line ${line}`)
          : null,
      ),
    ),
  );
}

/**
 * The note of Story, for who does not see the stage beside it; null where nothing differs.
 *
 * @param {View} view
 */
export function differNote(view) {
  const found = unhonored(view);
  return found.length
    ? h(
        "details",
        { class: "may-differ in-story" },
        h("summary", null, title(found)),
        h("div", { class: "may-differ-list" }, rows(found, view.reveal)),
      )
    : null;
}

/** The bar over the stage. Its list lies over the stage, so that nothing moves when it opens. */
export class Differ {
  /**
   * @param {HTMLElement} host
   * @param {View} view
   */
  constructor(host, view) {
    this.view = view;
    this.summary = h("summary");
    this.list = h("div", { class: "may-differ-list", tabindex: "-1" });
    this.element = h(
      "details",
      { class: "may-differ", hidden: true, onkeydown: (event) => this.#escape(event) },
      this.summary,
      this.list,
    );
    host.before(this.element);
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.contains(targetOf(event))) this.element.open = false;
    });
    view.playback.on("opened", () => this.update());
  }

  update() {
    const found = unhonored(this.view);
    this.element.hidden = found.length === 0;
    if (!found.length) {
      this.element.open = false;
      return;
    }
    fill(this.summary, title(found));
    fill(
      this.list,
      rows(
        found,
        this.view.reveal
          && ((line) => {
            this.element.open = false;
            this.view.reveal(line);
          }),
      ),
    );
  }

  /** @param {KeyboardEvent} event */
  #escape(event) {
    if (event.key !== "Escape" || !this.element.open) return;
    event.stopPropagation();
    this.element.open = false;
    this.summary.focus();
  }
}
