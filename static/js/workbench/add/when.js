// When something is created or changed: from the start, or after the cycle on screen.

import { h } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
/** @import { Playback } from "../playback.js" */

const TRIES = 20;
const AGAIN = 160;

/**
 * The major.minor of a cycle, "" if it cannot be had: then only the start is offered. The stage may ask for the same
 * one, and the newer question wins.
 *
 * @param {Playback} playback
 * @param {number} index
 */
export async function address(playback, index) {
  if (!index) return "";
  for (let tried = 0; tried < TRIES; tried += 1) {
    const known = playback.light(index)?.step;
    if (known) return known;
    try {
      return (await playback.socket.call("cycle.get", { source: playback.source, step: String(index), parts: [] }))
        .step;
    } catch (error) {
      if (error.code !== "request.superseded") break;
      await new Promise((done) => {
        setTimeout(done, AGAIN);
      });
    }
  }
  return "";
}

/** Two choices, or one sentence before the first cycle; `changed(step)` gets "" for the start. */
export function when(index, step, legend, changed, text = "It exists from the start.") {
  if (!step) return h("p", { class: "edit-when dim", text });
  const choice = (value, label, hint) =>
    h(
      "label",
      null,
      h("input", {
        type: "radio",
        name: "add-when",
        checked: value === "" || undefined,
        onchange: () => changed(value),
      }),
      h("span", null, h("b", { text: label }), " ", h("span", { class: "dim", text: hint })),
    );
  return h(
    "fieldset",
    { class: "edit-when" },
    h("legend", { text: legend }),
    choice("", "From the start", "before the first cycle"),
    choice(step, `After cycle ${count(index)}`, "at the step on screen"),
  );
}
