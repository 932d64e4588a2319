// When an edit lands: after the cycle on screen, inside the next one, at a second of virtual time, or from the start.

import { $, h } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
import { SECONDS_WANTED, caches, readSeconds } from "../events/moment.tsx";
/** @import { Playback } from "../playback.js" */

/**
 * When it lands: `{element, read()}`; `read` returns the fields for `bundle.operate`, null if a second is needed and
 * none was written.
 *
 * @param {Playback} playback
 */
export function landing(playback, index, { settled, start }) {
  const after = index ? `after cycle ${count(index)}` : "before the first cycle";
  if (settled)
    return {
      element: h("p", { class: "edit-when dim", text: `The scheduler restarts with it ${after}.` }),
      read: () => ({}),
    };
  const last = playback.complete && playback.cycles <= index;
  const cached = caches(playback);
  const inside = cached && !(playback.timed && last);
  const first = `${after[0].toUpperCase()}${after.slice(1)}`;
  const shown = last
    ? `No later cycle exists yet: a cycle that it triggers will show it${playback.end ? ", else the End" : ""}. `
      + "Earlier cycles are unchanged."
    : index
      ? "and before the next one, which is the first to show it. Earlier cycles are unchanged."
      : "and the first one shows it.";
  if (!playback.timed && !inside && !start)
    return {
      element: h("p", { class: "edit-when dim" }, h("b", { text: `It lands ${after}` }), `${last ? "." : ""} ${shown}`),
      read: () => ({}),
    };
  const choice = (value, label, hint) =>
    h(
      "label",
      null,
      h("input", {
        type: "radio",
        name: "edit-when",
        value,
        checked: value === (start ? "start" : "after") || undefined,
      }),
      h("span", null, h("b", { text: label }), hint ? [" ", h("span", { class: "dim", text: hint })] : null),
    );
  const error = h("small", { class: "field-note stale-text", id: "edit-second-error", role: "alert" });
  const second = h("input", {
    class: "field num",
    inputmode: "decimal",
    size: 6,
    value: String(Math.ceil(playback.time ?? 0)),
    "aria-label": "Virtual second at which it takes effect",
    "aria-describedby": "edit-second-error",
  });
  const element = h(
    "fieldset",
    { class: "edit-when moment" },
    h("legend", { text: "When it lands" }),
    start ? choice("start", "From the start", "its manifest is changed; no event") : null,
    choice("after", start ? `${first}, as an event` : first, shown),
    playback.timed
      ? [
          h(
            "div",
            { class: "moment-choice" },
            choice("second", "At a time", ""),
            h(
              "span",
              { class: "moment-second" },
              h("span", { class: "dim", text: "t =" }),
              second,
              h("span", { class: "dim", text: "s" }),
            ),
            h("span", { class: "dim", text: "of virtual time, whatever runs then" }),
          ),
          error,
        ]
      : null,
    inside
      ? choice(
          "inside",
          `Inside cycle ${count(index + 1)}, between evaluating and writing`,
          "The predicates have run on the old state when the change takes effect, and then write their results to the "
            + "equivalence cache: a stale write.",
        )
      : null,
  );
  const way = () => $("input:checked", element).value;
  const showError = (/** @type {string} */ text) => {
    error.textContent = text;
    second.setAttribute("aria-invalid", String(Boolean(text)));
    if (text) second.focus();
  };
  second.addEventListener("focus", () => {
    $("input[value=second]", element).checked = true;
  });
  element.addEventListener("change", () => showError(""));
  return {
    element,
    read: () => {
      if (way() !== "second") return { inside: { during: "evaluation" }, start: { start: true }, after: {} }[way()];
      const seconds = readSeconds(second.value);
      showError(seconds === null ? SECONDS_WANTED : "");
      return seconds === null ? null : { seconds };
    },
  };
}
