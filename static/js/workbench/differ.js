// Why the result may differ from a real cluster: fields that are not honored, a dump that lacks pods, and conditions
// that the cluster itself recorded. A bar over the stage, and on a phone a note in Story.

import { h, fill, icon, targetOf } from "../lib/dom.js";
import { count, short } from "../lib/quantity.js";
import { recordedWords } from "./recorded.js";
/** @import { Problem, RecordedAnswer } from "../lib/protocol.js" */
/** @import { View } from "./view.js" */

/** The notes, the most general first: each one as a title and as an entry of the list. */
function notesOf(/** @type {View} */ view) {
  const { warnings } = view.playback;
  return [
    ...warnings.filter(({ incomplete }) => incomplete).map(missing),
    ...view.recorded.filter(({ agrees }) => !agrees).map((answer) => disagreeing(answer, view)),
    ...warnings.filter(({ unhonored }) => unhonored).map(unhonored),
  ];
}

/** @param {Problem} warning */
function missing({ message }) {
  const text = message[0].toUpperCase() + message.slice(1);
  return {
    title: [h("b", { text: "The dump is incomplete" }), h("span", { text: ", so this result may differ" })],
    entry: () => [`${text}.`],
  };
}

/**
 * @param {RecordedAnswer} answer
 * @param {View} view
 */
function disagreeing(answer, view) {
  return {
    title: [
      h("b", { text: "The cluster recorded another answer" }),
      h("span", null, " for ", h("code", { text: short(answer.pod) })),
    ],
    entry: () => [
      h("code", { text: answer.pod }),
      h(
        "button",
        { type: "button", class: "link nowrap", onclick: () => view.emit("why", { pod: answer.pod }) },
        "Why?",
      ),
      recordedWords(answer),
    ],
  };
}

/** @param {Problem} warning */
function unhonored({ unhonored: name, message, line }) {
  return {
    title: [
      h("b", { text: "This result may differ" }),
      h("span", null, " on a cluster that honors ", h("code", { text: name })),
    ],
    entry: (reveal) => [
      h("code", { text: name }),
      ` ${message.slice(message.indexOf(name) + name.length).trim()}`,
      line && reveal
        ? h("button", { type: "button", class: "link nowrap", onclick: () => reveal(line) }, `line ${line}`)
        : null,
    ],
  };
}

/** The text of a summary: the first note, and how many more there are. */
function title(notes) {
  const more = notes.length - 1;
  return [
    icon("warn"),
    h(
      "span",
      { class: "may-differ-title" },
      notes[0].title,
      more ? h("span", { text: ` and ${count(more)} more` }) : null,
    ),
  ];
}

/** Each note; `reveal` leads to a line of the text. */
const rows = (notes, reveal) =>
  h(
    "ul",
    null,
    notes.map(({ entry }) => h("li", null, entry(reveal))),
  );

/**
 * The note of Story, for who does not see the stage beside it; null where nothing differs.
 *
 * @param {View} view
 */
export function differNote(view) {
  const notes = notesOf(view);
  return notes.length
    ? h(
        "details",
        { class: "may-differ in-story" },
        h("summary", null, title(notes)),
        h("div", { class: "may-differ-list" }, rows(notes, view.reveal)),
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
    view.playback.on("opened", () => this.#opened());
  }

  #opened() {
    const { view } = this;
    view.recorded = [];
    this.update();
    if (view.playback.recorded) this.#ask();
  }

  /** Compare what the dump recorded; it takes as long as all cycles do. */
  async #ask() {
    const { view } = this;
    const { source } = view.playback;
    try {
      const { answers } = await view.playback.socket.call("scenario.recorded", { source });
      if (source !== view.playback.source) return;
      view.recorded = answers;
      this.update();
      view.emit("recorded");
    } catch {
      /* the simulation can be stepped without it */
    }
  }

  update() {
    const notes = notesOf(this.view);
    this.element.hidden = notes.length === 0;
    if (!notes.length) {
      this.element.open = false;
      return;
    }
    fill(this.summary, title(notes));
    fill(
      this.list,
      rows(
        notes,
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
