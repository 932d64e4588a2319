// An event in the list: when it lands, what it does, what came of it, and what can be done with it.

import { fill, h, icon } from "../../lib/dom.js";
import { count } from "../../lib/quantity.js";
import { Handle } from "./handle.js";
/** @import { Operation } from "../../lib/protocol.js" */
/** @import { Scale } from "./scale.js" */
/** @import { Playback } from "../playback.js" */

/**
 * Words with places to break them: the paths of fields are longer than the list is wide.
 *
 * @param {string} words
 */
const breakable = (words) => words.split(/(?<=[./:@])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));

/**
 * When an event lands, in full.
 *
 * @param {Operation} event
 * @param {boolean} timed
 * @param {Scale} scale
 */
function landing({ after, during, pinned, seconds }, timed, scale) {
  const whole = after ? `after cycle ${after}` : "before the first cycle";
  const place = during ? `inside cycle ${after + 1}, between evaluating and writing` : whole;
  if (pinned) return place;
  return `${place}, ${timed ? scale.words(seconds) : "when nothing was left to schedule"}`;
}

/**
 * When it lands, in a word or two.
 *
 * @param {Operation} event
 * @param {boolean} timed
 * @param {Scale} scale
 * @param {Playback} playback
 */
function short({ after, action, during, seconds }, timed, scale, playback) {
  if (after === null) {
    if (action === "done") return "end";
    return playback.complete === false ? "…" : "no effect";
  }
  if (during) return `in ${count(after + 1)}`;
  if (timed) return scale.short(seconds);
  return after ? `after ${count(after)}` : "start";
}

/**
 * The row of an event. `own`: it can be changed, by `acts` `{edit, here, again, remove, choose(on), moveTo(value)}`;
 * `first`: it has the tab stop of the list; `outcome` is what it did, as far as that is known.
 */
export function eventRow(row, { playback, scale, own, first, chosen, outcome, acts }) {
  const { id, words, after, during, seconds } = row;
  const timed = scale.timed && seconds !== null && after !== null;
  const when = short(row, timed, scale, playback);
  const title = after === null ? words : landing(row, timed, scale);
  const pill = h("span", { class: `pill ${during ? "victim" : ""}`, text: when });
  const go = h(
    "button",
    {
      type: "button",
      class: "history-go",
      "data-event": id,
      tabindex: first ? "0" : "-1",
      title,
      disabled: after === null || undefined,
      onclick: () => playback.goto(after === null ? 0 : after + 1),
    },
    pill,
    h("span", { class: "history-words" }, breakable(words)),
  );
  const item = h("li", { "data-row": id });
  const place = h("p", { class: "event-outcome", "data-outcome": true, hidden: true });
  if (!own) {
    fill(item, h("div", { class: "event-line" }, go), place);
    showOutcome(place, outcome);
    return item;
  }
  const button = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ act) =>
    h(
      "button",
      {
        type: "button",
        class: "btn quiet square tiny",
        "aria-label": `${label}: ${words}`,
        title: label,
        tabindex: "-1",
        onclick: act,
      },
      icon(name),
    );
  const tools = h(
    "span",
    { class: "history-tools" },
    button("edit", "Change what it does", acts.edit),
    button("here", "Move it to the step on screen", acts.here),
    button("copy", "Once more", acts.again),
    button("cross", "Take it out", acts.remove),
  );
  const choose = h("input", {
    type: "checkbox",
    tabindex: "-1",
    "aria-label": `Choose: ${words}`,
    checked: chosen || undefined,
    onchange: (event) => acts.choose(event.target.checked),
  });
  const handle = new Handle(scale, row, {
    seen: (value) => {
      pill.textContent = value === null ? when : scale.short(value);
    },
    moved: acts.moveTo,
  });
  if (first) handle.element.tabIndex = 0;
  fill(item, h("div", { class: "event-line" }, choose, go, tools), place, handle.track);
  showOutcome(place, outcome);
  return item;
}

/** Write what an event did into its place. */
export function showOutcome(place, found) {
  const text = found ? (found.effect ? found.text : `no effect: ${found.text}`) : "";
  place.hidden = !text;
  place.classList.toggle("none", Boolean(found && !found.effect));
  fill(place, found && !found.effect ? icon("warn") : null, text);
}
