// The keyboard: which command a key event means, and the help that lists them, both from the table of commands.

import { h, dialog, typing } from "../lib/dom.js";
import { COMMANDS, available } from "./commands.js";
/** @import { Row } from "./commands.js" */

const NAMES = {
  ArrowRight: "→",
  ArrowLeft: "←",
  " ": "Space",
  Escape: "Esc",
  PageDown: "Page Down",
  PageUp: "Page Up",
  Mod: /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl",
};
const CONTROLS = "button, a, summary, input, [role=tab], [role=treeitem], [role=option]";
const ANYWHERE = "Mod+k"; // works while a field is being typed in: it types nothing

/**
 * A key event as the table writes it: "Shift+ArrowRight", "Mod+k", "?"; "" for what no command has.
 *
 * @param {KeyboardEvent} event
 */
function keyOf(event) {
  if (event.altKey) return "";
  const letter = event.key.length === 1 && event.key.toLowerCase() !== event.key.toUpperCase();
  // A sign such as "?" includes the Shift that it takes.
  const shift = event.shiftKey && (letter || event.key.length > 1) ? "Shift+" : "";
  return `${event.ctrlKey || event.metaKey ? "Mod+" : ""}${shift}${letter ? event.key.toLowerCase() : event.key}`;
}

/**
 * A key of the table as people read it.
 *
 * @param {string} key
 */
export const shown = (key) =>
  key
    .split("+")
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ")
    .replace(/^(.)$/, (letter) => letter.toLowerCase());

/** The key caps of a command. */
export const caps = (keys) => keys.map((key) => h("kbd", { text: shown(key) }));

/** All keys, in groups. */
function help(context) {
  const groups = [...new Set(COMMANDS.map(({ group }) => group))];
  const rows = (group) => COMMANDS.filter((row) => row.group === group && row.keys?.length && !row.many);
  dialog(
    "Keys",
    h(
      "div",
      { class: "key-groups" },
      groups
        .filter((group) => rows(group).length)
        .map((group) =>
          h(
            "section",
            null,
            h("h3", { text: group }),
            h(
              "dl",
              { class: "keys" },
              rows(group).flatMap((row) => [
                h(
                  "dt",
                  null,
                  row.span
                    ? [h("kbd", { text: row.span[0] }), " … ", h("kbd", { text: row.span[1] })]
                    : caps(row.keys).flatMap((cap) => [cap, " "]),
                ),
                h("dd", { text: row.help ?? row.name }),
              ]),
            ),
          ),
        ),
    ),
    h("p", {
      class: "dim fine",
      text:
        "In a matrix, the tree, the stage and the timeline the arrow keys move within it, and keys do nothing while a "
        + "field is typed in. Space activates the focused button. Ctrl Enter in the YAML applies it.",
    }),
    h(
      "p",
      { class: "dim fine" },
      "Every command is also in the palette: ",
      h(
        "button",
        {
          type: "button",
          class: "link",
          onclick: (event) => {
            event.target.closest("dialog").close();
            context.palette.open();
          },
        },
        "open it",
      ),
      ".",
    ),
  ).classList.add("keys-dialog");
}

/** Listen; `context` is what commands work on. */
export function keys(context) {
  context.help = () => help(context);
  /** @type {Map<string, Row>} */
  const table = new Map(COMMANDS.flatMap((row) => (row.elsewhere ? [] : (row.keys ?? []).map((key) => [key, row]))));
  addEventListener("keydown", (event) => {
    const key = keyOf(event);
    const row = table.get(key);
    if (!row || event.defaultPrevented || document.querySelector("dialog[open]") || (typing(event) && key !== ANYWHERE))
      return;
    if (key === " " && event.target instanceof HTMLElement && event.target.matches(CONTROLS)) return;
    if (!available(row, context)) return;
    event.preventDefault();
    row.run(context, { since: event.timeStamp, target: event.target, key });
  });
}
