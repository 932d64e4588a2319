// When an event lands: before the first cycle or after one, inside the next, or at a second of virtual time.

import { $, h } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
import { address } from "../add/when.js";
/** @import { Playback } from "../playback.js" */

export const SECONDS_WANTED = "Write seconds from 0, such as 12.5.";
const LATER = 60; // the next full minute after the last cycle: what it placed runs by then
let made = 0;

/**
 * Seconds as they were written, with a point; null if it is no such number.
 *
 * @param {string} typed
 */
export function readSeconds(typed) {
  const text = typed.trim().replace(",", ".");
  return /^\d+(\.\d+)?$/.test(text) ? text : null;
}

/** The field of a second as one reads it: t = 60 s. */
export const secondsOf = (field) =>
  h(
    "span",
    { class: "moment-second" },
    h("span", { class: "dim", text: "t =" }),
    field,
    h("span", { class: "dim", text: "s" }),
  );

/**
 * Whether there is a cache that a change inside a cycle could leave stale: the scenario's, or one of a later
 * configuration.
 */
export const caches = ({ policy, current }) => (policy?.cache ?? "off") !== "off" || Boolean(current?.policy);

export class Moment {
  /**
   * `row` is an event that has a moment already; without one it is the moment on screen: its cycle, or where the run is
   * over a second after it. `timed`: what happens lets time pass, even if none does so far.
   *
   * @param {Playback} playback
   * @param {any} [row]
   * @param {{ timed?: boolean }} [options]
   */
  constructor(playback, row = null, { timed = false } = {}) {
    this.playback = playback;
    this.timed = playback.timed || timed;
    const over = this.timed && !row && timed && playback.complete && playback.wantedCycle >= playback.cycles;
    const time = playback.time ?? 0;
    const now = playback.timed && playback.atEnd ? Math.ceil(time) : Math.ceil((time + LATER - 1) / LATER) * LATER;
    const id = `moment-${(made += 1)}`;
    const index = row?.after ?? playback.wantedCycle;
    const seconds = row ? row.seconds : null;
    this.error = h("small", { class: "field-note stale-text", id: `${id}-error`, role: "alert" });
    this.cycle = h("input", {
      class: "field num",
      inputmode: "numeric",
      size: "6",
      value: String(index),
      "aria-label": "After which cycle",
      "aria-describedby": `${id}-error`,
    });
    this.second = h("input", {
      class: "field num",
      inputmode: "decimal",
      size: "6",
      value: String(seconds ?? (over ? now : Math.ceil(playback.time ?? 0))),
      "aria-label": "Seconds of virtual time",
      "aria-describedby": `${id}-error`,
    });
    this.during = h("input", { type: "checkbox", checked: row?.during || undefined });
    const choice = (value, on, ...content) =>
      h(
        "div",
        { class: "moment-choice" },
        h(
          "label",
          null,
          h("input", { type: "radio", name: id, value, checked: on || undefined, onchange: () => this.#show() }),
          content[0],
        ),
        content.slice(1),
      );
    const inside = h(
      "label",
      { class: "moment-inside" },
      this.during,
      h(
        "span",
        null,
        "inside the next cycle, between evaluating and writing ",
        h("span", { class: "dim", text: "(the stale write of the cache)" }),
      ),
    );
    const byTime = this.timed && (over || seconds !== null);
    const cached = caches(playback) || row?.during;
    this.element = h(
      "fieldset",
      { class: "edit-when moment" },
      h("legend", { text: "When it lands" }),
      choice(
        "cycle",
        !byTime,
        h("span", { text: "After cycle" }),
        this.cycle,
        h("span", { class: "dim", text: `of ${count(playback.cycles)}; 0 is the start` }),
      ),
      this.timed
        ? choice(
            "second",
            byTime,
            h("span", { text: "At a time" }),
            secondsOf(this.second),
            h("span", { class: "dim", text: "of virtual time, whatever runs then" }),
          )
        : cached
          ? inside
          : null,
      this.error,
    );
    this.cycle.addEventListener("focus", () => this.#choose("cycle"));
    this.second.addEventListener("focus", () => this.#choose("second"));
    this.#show();
  }

  get #way() {
    return $("input[type=radio]:checked", this.element)?.value ?? "cycle";
  }

  #choose(way) {
    if (this.#way === way) return;
    const radio = this.element.querySelector(`input[value=${way}]`);
    if (radio) radio.checked = true;
    this.#show();
  }

  #show() {
    this.element.dataset.way = this.#way;
    this.showError("");
  }

  /** @param {string} text */
  showError(text) {
    this.error.textContent = text;
    const field = this.#way === "second" ? this.second : this.cycle;
    for (const other of [this.cycle, this.second])
      other.setAttribute("aria-invalid", String(Boolean(text) && other === field));
    if (text) field.focus();
  }

  /** `{step}` with `during`, or `{seconds, step}`; null, with the error at its field, if it is none. */
  async read() {
    const { playback } = this;
    this.showError("");
    if (this.#way === "second") {
      const text = readSeconds(this.second.value);
      if (text === null) {
        this.showError(SECONDS_WANTED);
        return null;
      }
      const index = playback.marks.firstAt(Number(text));
      return { seconds: text, index: index ? index - 1 : playback.cycles };
    }
    const text = this.cycle.value.trim();
    if (!/^\d+$/.test(text) || Number(text) > playback.cycles) {
      this.showError(`Write the number of a cycle from 0 to ${count(playback.cycles)}.`);
      return null;
    }
    const index = Number(text);
    const step = (await address(playback, index)) || (index ? "" : "1.0");
    if (!step) {
      this.showError("This cycle is not loaded; try once more.");
      return null;
    }
    return { step, index, ...(this.during.checked && !playback.timed ? { during: "evaluation" } : {}) };
  }
}
