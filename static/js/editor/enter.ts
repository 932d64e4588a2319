// A new line begins where the next field would: inside a field that opens one, else beside the one before.

import { EditorSelection, closeCompletion, selectedCompletion } from "../../vendor/codemirror.js";
import { shape } from "./position.ts";
import type { StateCommand } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

const OPEN = /:\s*([|>][+-]?)?\s*$/;

/** How many braces and brackets a line leaves open; quoted ones and those of comments do not count. */
function depth(text: string) {
  let open = 0;
  for (const [one] of text.replace(/"(?:\\.|[^"\\])*"|'[^']*'|(?:^|\s)#.*$/g, "").matchAll(/[{}[\]]/g))
    open += "{[".includes(one) ? 1 : -1;
  return open;
}

/** How many blanks a text begins with. */
const lead = (text: string) => text.length - text.trimStart().length;

/** The column at which a line after this text begins. */
export function indentAfter(text: string) {
  const line = shape(text);
  if (!line || line.separator) return lead(text);
  if (depth(text) > 0) return line.column + 2;
  const start = line.key === undefined && line.dashes.length ? line.dashes[0] : line.column;
  return line.key !== undefined && OPEN.test(text.replace(/\s+#.*$/, "")) ? line.column + 2 : start;
}

/** The command of Enter. */
export const enter: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  dispatch(
    state.update(
      state.changeByRange((range) => {
        const line = state.doc.lineAt(range.from);
        const before = line.text.slice(0, range.from - line.from);
        const blank = /^\s*$/.test(before);
        const insert = `\n${" ".repeat(blank ? before.length : indentAfter(before))}`;
        const last = state.doc.lineAt(range.to);
        const rest = lead(last.text.slice(range.to - last.from));
        // Between a brace and the one that closes it, that one goes to a line of its own.
        const around = /(\{\}|\[\])$/.test(
          `${before.trimEnd().slice(-1)}${last.text.slice(range.to - last.from + rest)[0] ?? ""}`,
        );
        const after = around ? `\n${" ".repeat(shape(before)?.column ?? 0)}` : "";
        return {
          changes: { from: range.from, to: range.to + (blank ? 0 : rest), insert: insert + after },
          range: EditorSelection.cursor(range.from + insert.length),
        };
      }),
      { scrollIntoView: true, userEvent: "input" },
    ),
  );
  return true;
};

/** Enter where the completion that is offered stands there already: a new line, for there is nothing to take. */
export function enterTyped(view: EditorView) {
  const found = selectedCompletion(view.state);
  if (!found) return false;
  const text = typeof found.apply === "string" ? found.apply : found.label;
  const { head } = view.state.selection.main;
  if (view.state.sliceDoc(head - text.length, head) !== text) return false;
  closeCompletion(view);
  return enter(view);
}
