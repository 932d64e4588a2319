// A new line begins where the next field would: inside a field that opens one, else beside the one before.

import { EditorSelection, closeCompletion, selectedCompletion } from "../../vendor/codemirror.js";
import { shape } from "./position.js";

const OPEN = /:\s*([|>][+-]?)?\s*$/;

/** The column at which a line after this text begins. */
export function indentAfter(text) {
  const line = shape(text);
  if (!line || line.separator) return /^\s*/.exec(text)[0].length;
  const start = line.key === undefined && line.dashes.length ? line.dashes[0] : line.column;
  return line.key !== undefined && OPEN.test(text.replace(/\s+#.*$/, "")) ? line.column + 2 : start;
}

/** The command of Enter. */
export function enter({ state, dispatch }) {
  if (state.readOnly) return false;
  dispatch(state.update(state.changeByRange((range) => {
    const line = state.doc.lineAt(range.from);
    const before = line.text.slice(0, range.from - line.from);
    const blank = /^\s*$/.test(before);
    const insert = `\n${" ".repeat(blank ? before.length : indentAfter(before))}`;
    const last = state.doc.lineAt(range.to);
    const rest = /^\s*/.exec(last.text.slice(range.to - last.from))[0].length;
    return { changes: { from: range.from, to: range.to + (blank ? 0 : rest), insert }, range: EditorSelection.cursor(range.from + insert.length) };
  }), { scrollIntoView: true, userEvent: "input" }));
  return true;
}

/** Enter where the completion that is offered stands there already: a new line, for there is nothing to take. */
export function enterTyped(view) {
  const found = selectedCompletion(view.state);
  if (!found) return false;
  const text = found.apply ?? found.label;
  const { head } = view.state.selection.main;
  if (view.state.sliceDoc(head - text.length, head) !== text) return false;
  closeCompletion(view);
  return enter(view);
}
