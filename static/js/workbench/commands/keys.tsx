// The keyboard: which command a key event means, and the help that lists them, both from the table of commands.

import { openDialog } from "../../kit/dialog.tsx";
import { typing } from "../../lib/dom.ts";
import { COMMANDS, available } from "./commands.ts";
import type { Row } from "./commands.ts";
import type { Context } from "./context.ts";

const NAMES: Record<string, string> = {
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

/** A key event as the table writes it: "Shift+ArrowRight", "Mod+k", "?"; "" for what no command has. */
function keyOf(event: KeyboardEvent) {
  if (event.altKey) return "";
  const letter = event.key.length === 1 && event.key.toLowerCase() !== event.key.toUpperCase();
  // A sign such as "?" includes the Shift that it takes.
  const shift = event.shiftKey && (letter || event.key.length > 1) ? "Shift+" : "";
  return `${event.ctrlKey || event.metaKey ? "Mod+" : ""}${shift}${letter ? event.key.toLowerCase() : event.key}`;
}

/** A key of the table as people read it. */
const shown = (key: string) =>
  key
    .split("+")
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ")
    .replace(/^(.)$/, (letter) => letter.toLowerCase());

/** The key caps of a command. */
export const Caps = ({ keys, between = "" }: { keys: string[]; between?: string }) => (
  <>{keys.map((key) => [<kbd>{shown(key)}</kbd>, between])}</>
);

/** All keys, in groups. */
export function help(context: Context) {
  const rows = COMMANDS.filter((row) => row.keys?.length && !row.many);
  const box = openDialog("Keys", (close) => (
    <>
      <div class="key-groups">
        {[...new Set(rows.map(({ group }) => group))].map((group) => (
          <section>
            <h3>{group}</h3>
            <dl class="keys">
              {rows
                .filter((row) => row.group === group)
                .map(({ span, keys = [], help, name }) => [
                  <dt>
                    {span ? (
                      <>
                        <kbd>{span[0]}</kbd> … <kbd>{span[1]}</kbd>
                      </>
                    ) : (
                      <Caps keys={keys} between=" " />
                    )}
                  </dt>,
                  <dd>{help ?? name}</dd>,
                ])}
            </dl>
          </section>
        ))}
      </div>
      <p class="dim fine">
        In a matrix, the tree, the stage and the timeline the arrow keys move within it, and keys do nothing while a
        field is typed in. Space activates the focused button. Ctrl Enter in the YAML applies it.
      </p>
      <p class="dim fine">
        {"Every command is also in the palette: "}
        <button
          type="button"
          class="link"
          onClick={() => {
            close();
            context.palette.open();
          }}
        >
          open it
        </button>
        .
      </p>
    </>
  ));
  box.classList.add("keys-dialog");
}

/** Listen; `context` is what commands work on. */
export function keys(context: Context) {
  const table = new Map<string, Row>(
    COMMANDS.flatMap((row) => (row.elsewhere ? [] : (row.keys ?? []).map((key): [string, Row] => [key, row]))),
  );
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
