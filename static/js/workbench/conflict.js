// What two tabs changed in the same place: both versions beside each other, and what becomes of them.

import { $, h, dialog, icon } from "../lib/dom.js";
import { count, plural } from "../lib/quantity.js";
import { hunks } from "../lib/merge.js";
/** @import { Part } from "../lib/merge.js" */

/** @typedef {"" | "mine" | "theirs" | "both" | "branch"} Choice */

const PLACES = 20; // that are shown
const LINES = 60; // of one side of a place
const AROUND = 2; // lines above and below a place

/** A side of a place as lines `[sign, text]`: what it has otherwise than both began with. */
function changes(base, side) {
  const out = [];
  let at = 0;
  for (const [from, to, first, last] of hunks(base, side)) {
    for (const text of base.slice(at, from)) out.push([" ", text]);
    for (const text of base.slice(from, to)) out.push(["-", text]);
    for (const text of side.slice(first, last)) out.push(["+", text]);
    at = to;
  }
  for (const text of base.slice(at)) out.push([" ", text]);
  return out;
}

const LOOK = { " ": ["", " "], "-": ["goes", "−"], "+": ["comes", "+"], "…": ["dim", "…"] };

/**
 * @param {string} heading
 * @param {string[]} lines
 * @param {string} label
 */
function version(heading, lines, label) {
  const shown =
    lines.length > LINES ? [...lines.slice(0, LINES), ["…", `${count(lines.length - LINES)} more lines`]] : lines;
  return h(
    "figure",
    null,
    h(
      "figcaption",
      null,
      h("b", { text: heading }),
      lines.some(([sign]) => sign !== " ") ? null : h("span", { class: "dim", text: " as it was" }),
    ),
    h(
      "pre",
      { class: "diff", tabindex: "0", "aria-label": label },
      shown.map(([sign, text]) => h("span", { class: LOOK[sign][0] }, `${LOOK[sign][1]} ${text}\n`)),
    ),
  );
}

function place(part, at, parts) {
  const before = (parts[at - 1]?.lines ?? []).slice(-AROUND).map((text) => [" ", text]);
  const after = (parts[at + 1]?.lines ?? []).slice(0, AROUND).map((text) => [" ", text]);
  const side = (/** @type {string} */ name) => [...before, ...changes(part.base, part[name]), ...after];
  const where = `from line ${count(part.line)}`;
  return h(
    "section",
    { class: "conflict-place" },
    h("h3", { class: "dim", text: `Line ${count(part.line)}` }),
    h(
      "div",
      { class: "conflict-sides" },
      version("Yours, in this tab", side("mine"), `Yours, ${where}`),
      version("In the other tab, saved", side("theirs"), `The other tab’s, ${where}`),
    ),
  );
}

/**
 * Ask what becomes of an edit that overlaps another tab's: resolves with "mine", "theirs", "both", "branch", or "" if
 * the decision is put off.
 *
 * @param {{ parts: Part[], wrong?: string }} given
 * @returns {Promise<Choice>}
 */
export function conflict({ parts, wrong = "" }) {
  const found = parts.flatMap((part, at) => ("mine" in part ? [{ part, at }] : []));
  const additions = !wrong && found.every(({ part }) => !part.base.length);
  return new Promise((resolve) => {
    /** @type {Choice} */
    let choice = "";
    const button = (
      /** @type {Choice} */ value,
      /** @type {string} */ name,
      /** @type {string} */ text,
      /** @type {string} */ look = "",
    ) =>
      h(
        "button",
        {
          type: "button",
          class: `btn ${look}`,
          "data-choice": value,
          onclick: () => {
            choice = value;
            box.close();
          },
        },
        icon(name),
        text,
      );
    const many = found.length > 1 ? `${count(found.length)} places` : "the same place";
    const rest = parts.some(({ lines }) => lines) && !wrong ? " Changes that do not overlap are kept." : "";
    const box = dialog(
      "Changed in another tab too",
      h("p", {
        text: wrong
          ? `The changes are in different lines, but the merged text is invalid: ${wrong} `
            + "Nothing has been saved or lost."
          : `This edit conflicts with one saved by another tab in ${many}. `
            + `Your edit is not saved yet, and nothing is lost.${rest}`,
      }),
      h(
        "div",
        { class: "conflict-places" },
        found.slice(0, PLACES).map(({ part, at }) => place(part, at, parts)),
        found.length > PLACES
          ? h("p", { class: "dim fine", text: `and ${plural(found.length - PLACES, "more place")}` })
          : null,
      ),
      h(
        "div",
        { class: "edit-bar conflict-bar" },
        button("branch", "fork", "Save mine as a branch", "primary"),
        button("mine", "check", wrong ? "Replace theirs by mine" : "Keep mine"),
        button("theirs", "undo", "Take theirs"),
        additions ? button("both", "copy", "Keep both") : null,
        h("span", { class: "grow" }),
        h("button", { type: "button", class: "btn quiet", onclick: () => box.close(), text: "Decide later" }),
      ),
    );
    box.classList.add("conflict");
    box.addEventListener("close", () => resolve(choice));
    $("[data-choice]", box).focus();
  });
}
