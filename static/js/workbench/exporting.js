// Steps as files: the stage, a matrix, the ladder or a chart as a picture, and a range of steps as a slide deck; the
// server draws them. The film of a range is in film/.

import { $, dialog, h } from "../lib/dom.js";
import { THEMES, theme } from "../lib/theme.js";
import { capital, termsIn } from "./terms.js";
/** @import { Terms } from "../lib/protocol.js" */
/** @import { Playback } from "./playback.js" */

export const SLIDES = 60; // of a deck, as the server bounds it
/** @type {(terms: Terms) => [view: string, label: string][]} */
const viewsOf = ({ filter, scorer }) => [
  ["matrix", `Node × ${filter} matrix`],
  ["scores", `Node × ${scorer} matrix`],
  ["ladder", `${capital(filter)} ladder`],
  ["chart", "Chart of all cycles"],
  ["stage", "Stage"],
];

/**
 * What the server calls the source of what is played, as its addresses name it.
 *
 * @param {Playback} playback
 */
export function sourceOf({ source }) {
  const { revision: _, ...named } = source;
  const [[kind, id]] = Object.entries(named);
  return `${kind}:${id}`;
}

/**
 * Download the stage after the step on screen.
 *
 * @param {Playback} playback
 * @param {"svg" | "png"} format
 */
export function exportStage(playback, format) {
  const query = new URLSearchParams({ source: sourceOf(playback), step: String(playback.wantedCycle), format });
  location.assign(`/picture?${query}`);
}

/**
 * Ask which view of the step on screen becomes a picture, and in which format; the tab that is open comes first.
 *
 * @param {Playback} playback
 * @param {string} tab
 */
export function exportView(playback, tab) {
  const step = playback.wantedCycle;
  const first = { predicates: "matrix", priorities: "scores" }[tab] ?? (step ? "matrix" : "chart");
  const format = (/** @type {string} */ value) =>
    h("button", { class: value === "svg" ? "btn primary" : "btn", name: "format", value, text: value.toUpperCase() });
  const box = dialog(
    "Export as a picture",
    h("p", {
      class: "dim",
      text: step ? `Of step ${step}, as a file.` : "Of the state before the first step, as a file.",
    }),
    h(
      "form",
      { class: "deck-form", method: "get", action: "/picture", onsubmit: () => setTimeout(() => box.close()) },
      h("input", { type: "hidden", name: "source", value: sourceOf(playback) }),
      h("input", { type: "hidden", name: "step", value: String(step) }),
      h(
        "label",
        null,
        "View ",
        h(
          "select",
          { class: "field", name: "view" },
          viewsOf(termsIn(playback)).map(([value, text]) =>
            h("option", { value, text, selected: value === first || undefined }),
          ),
        ),
      ),
      ["svg", "png"].map(format),
    ),
  );
  $("select", box).focus();
}

/**
 * Two fields for a range of steps: the next ones from the step on screen.
 *
 * @param {Playback} playback
 */
export function rangeFields(playback) {
  const from = Math.max(0, Math.min(playback.wantedCycle, playback.cycles - 1));
  const to = Math.min(playback.cycles, from + 9);
  const number = (/** @type {string} */ name, /** @type {string} */ label, /** @type {number} */ value) =>
    h(
      "label",
      null,
      label,
      h("input", { class: "field", type: "number", name, min: 0, max: playback.cycles, value, required: true }),
    );
  return [number("from", "From step ", from), number("to", "To step ", to)];
}

/** A choice between dark and light, the page's own first. */
export const themeField = () =>
  h(
    "label",
    null,
    "Theme ",
    h(
      "select",
      { class: "field", name: "theme" },
      THEMES.map((value) =>
        h("option", { value, text: value === "dark" ? "Dark" : "Light", selected: value === theme() || undefined }),
      ),
    ),
  );

/**
 * Ask for the range of a slide deck, the next steps from the one on screen.
 *
 * @param {Playback} playback
 */
export function exportDeck(playback) {
  const box = dialog(
    "Slide deck",
    h("p", {
      class: "dim",
      text: `One HTML file with a slide for each step, at most ${SLIDES}. It prints a page a slide.`,
    }),
    h(
      "form",
      { class: "deck-form", method: "get", action: "/deck", onsubmit: () => setTimeout(() => box.close()) },
      h("input", { type: "hidden", name: "source", value: sourceOf(playback) }),
      rangeFields(playback),
      themeField(),
      h("button", { class: "btn primary", text: "Download" }),
    ),
  );
  $("input[type=number]", box).focus();
}
