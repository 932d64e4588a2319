// A private link keeps what was decided when it was made. Where the engine decides otherwise now, that is shown, and
// both outcomes are shown.

import { h, dialog, toast } from "../../lib/dom.js";
import { count, plural, short } from "../../lib/quantity.js";
/** @import { LinkCheck, PinnedOutcome } from "../../lib/protocol.js" */
/** @import { Playback } from "../playback.js" */

/** @type {[label: string, of: (outcome: PinnedOutcome) => string][]} */
const ROWS = [
  ["Pod", ({ pod }) => short(pod)],
  ["Result", ({ result }) => result],
  ["Node", ({ node }) => node ?? "none"],
  ["Nominated node", ({ nominated }) => nominated ?? "none"],
  ["Victims", ({ victims }) => victims.map(short).join(", ") || "none"],
];

/**
 * Say where what is on screen is not what the link showed when it was made.
 *
 * @param {Playback} playback
 */
export async function checkPinned(playback) {
  const { link } = playback.source;
  if (!link) return;
  let found;
  try {
    found = await playback.socket.call("link.check", { link });
  } catch (error) {
    playback.emit("failed", error);
    return;
  }
  if (found.same || !found.first) return;
  const note = toast(
    `${plural(found.differing, "cycle")} of ${count(found.compared)} ${found.differing === 1 ? "was" : "were"} decided `
      + "differently when this link was created.",
    { name: "warn", ms: 0 },
  );
  note?.append(
    h("button", { type: "button", class: "btn small", text: "Show both", onclick: () => both(found, playback) }),
    h("button", { type: "button", class: "btn small quiet", text: "Dismiss", onclick: () => note.remove() }),
  );
}

/**
 * @param {LinkCheck} found
 * @param {Playback} playback
 */
function both({ first, pinned, current, changed }, playback) {
  if (!first) return;
  const { index, then, now } = first;
  const cell = (/** @type {PinnedOutcome | null} */ outcome, /** @type {(outcome: PinnedOutcome) => string} */ of) =>
    h("td", { text: outcome ? of(outcome) : "no such cycle" });
  const box = dialog(
    "Then and now",
    h("p", { text: `Cycle ${index} is the first with a different decision.` }),
    h(
      "table",
      { class: "pinned" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("td"),
          h("th", { scope: "col", text: `Then, podstep ${pinned.engine}` }),
          h("th", { scope: "col", text: `Now, podstep ${current.engine}` }),
        ),
      ),
      h(
        "tbody",
        null,
        ROWS.map(([label, of]) => h("tr", null, h("th", { scope: "row", text: label }), cell(then, of), cell(now, of))),
      ),
    ),
    changed.length ? h("p", { class: "dim", text: `Also changed: ${changed.join(", ")}.` }) : null,
    h(
      "div",
      { class: "room-form-end" },
      h("button", {
        type: "button",
        class: "btn primary",
        text: `Go to cycle ${index}`,
        onclick: () => {
          box.close();
          playback.goto(index);
        },
      }),
    ),
  );
}
