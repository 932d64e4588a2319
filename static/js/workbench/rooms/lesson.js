// The lesson that a room teaches: where it is, what the stop says, and for who leads the way on and the question.

import { h, fill, icon, toast } from "../../lib/dom.js";
import { refusalOf } from "../../lib/socket.js";
/** @import { RoomLesson } from "../../lib/protocol.js" */
/** @import { Room } from "./room.js" */

const SMALL = "(max-width: 760px), (max-height: 640px)"; // where the text takes too much from the stage

export class LessonStrip {
  #drawn = "";

  /**
   * @param {HTMLElement} host
   * @param {Room} room
   */
  constructor(host, room) {
    this.host = host;
    this.room = room;
    this.place = h("span", { class: "num dim" });
    this.heading = h("b");
    this.text = h("div", { class: "lesson-text prose" });
    this.more = h(
      "details",
      { open: !matchMedia(SMALL).matches },
      h("summary", null, this.place, this.heading),
      this.text,
    );
    this.acts = h("div", { class: "lesson-acts" });
    fill(host, this.more, this.acts);
    room.on("changed", () => this.update());
  }

  update() {
    const { lesson, leads, question, state } = this.room;
    if (!lesson) return;
    const asked = question?.kind === "lesson" && question.stop === lesson.stop;
    const state_ = JSON.stringify([lesson.stop, lesson.revealed, leads, asked, state]);
    if (state_ === this.#drawn) return;
    this.#drawn = state_;
    const at = lesson.stops.findIndex(([key]) => key === lesson.stop);
    this.place.textContent = `${at + 1} of ${lesson.stops.length}`;
    this.heading.textContent = lesson.heading;
    this.#read(lesson);
    this.host.title = lesson.title;
    fill(this.acts, leads && state === "here" ? this.#lead(lesson, at, asked) : null);
  }

  /** @param {RoomLesson} lesson */
  #read({ text }) {
    // The server makes the HTML of Markdown without HTML; the parser runs nothing of it.
    const parsed = new DOMParser().parseFromString(text, "text/html");
    this.text.replaceChildren(...parsed.body.childNodes);
  }

  /**
   * @param {RoomLesson} lesson
   * @param {number} at
   * @param {boolean} asked
   */
  #lead({ stops, revealed }, at, asked) {
    const [key, , asks] = stops[at] ?? ["", "", false];
    const act = (/** @type {() => Promise<void>} */ run) => () =>
      run().catch((error) => toast(refusalOf(error).message, { name: "warn", ms: 6000 }));
    const way = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {number} */ to, look = "") =>
      stops[to]
        ? h(
            "button",
            {
              type: "button",
              class: `btn ${look}`,
              "aria-label": `${label}: ${stops[to][1]}`,
              title: stops[to][1],
              onclick: act(() => this.room.goTo(stops[to][0])),
            },
            icon(sign),
            h("span", { text: label }),
          )
        : null;
    const open = asks && !asked && !revealed.includes(key);
    return [
      way("Back", "left", at - 1),
      asks
        ? h(
            "button",
            {
              type: "button",
              class: `btn ${open ? "primary" : ""}`,
              disabled: asked || undefined,
              onclick: act(() => this.room.ask({ kind: "lesson" })),
            },
            icon("help"),
            h("span", { text: "Ask the question" }),
          )
        : null,
      way("Next stop", "right", at + 1, open || asked ? "" : "primary"),
      h(
        "a",
        { class: "btn", href: `/r/${this.room.id}/class/`, target: "_blank", rel: "noopener" },
        icon("people"),
        "Your class",
      ),
    ];
  }
}
