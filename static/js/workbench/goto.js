// The dialog that asks for a step.

import { h, dialog } from "../lib/dom.js";
/** @import { Playback } from "./playback.js" */

/**
 * The index of a step as it is written, NaN for what is none, null for one that is not computed yet.
 *
 * @param {Playback} playback
 * @param {string} text
 */
export async function indexOf(playback, text) {
  if (/^\d+$/.test(text)) return Number(text) > playback.last && playback.complete === false ? null : Number(text);
  if (text.toLowerCase() === "end") return playback.last;
  if (/^\d+\.\d+$/.test(text))
    return (await playback.ask("scenario.open", { source: playback.source, step: text })).index;
  return NaN;
}

/**
 * Ask for a step.
 *
 * @param {Playback} playback
 */
export function askStep(playback) {
  const field = h("input", {
    class: "field",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-label": "Step",
    placeholder: `1 to ${playback.cycles}, ${playback.end ? "end, " : ""}or major.minor as 1.17`,
    value: playback.wanted ? String(playback.wanted > playback.cycles ? "end" : playback.wanted) : "",
  });
  const wrong = h("p", { class: "stale-text", role: "alert" });
  const box = dialog(
    "Go to step",
    h(
      "form",
      {
        method: "dialog",
        onsubmit: async (event) => {
          event.preventDefault();
          const text = field.value.trim();
          let index;
          try {
            index = await indexOf(playback, text);
          } catch (error) {
            wrong.textContent = error.message;
            return;
          }
          if (index === null) {
            box.close();
            playback.emit("later", { step: text, place: undefined });
            return;
          }
          if (!(index >= 0 && index <= playback.last)) {
            wrong.textContent = `There is no step ${text}: this timeline has cycles 1 to ${playback.cycles}.`;
            return;
          }
          box.close();
          playback.goto(index);
        },
      },
      h("div", { class: "copy-row" }, field, h("button", { class: "btn primary", text: "Go" })),
      wrong,
    ),
  );
  field.select();
}
