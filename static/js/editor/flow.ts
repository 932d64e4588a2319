// Flow style, {a: [b]}, over any number of lines: where what is open at a line began, and the place within it. JSON is
// read the same way.

import type { Began, Doc, Frame, Line } from "./line.ts";

/**
 * A brace or bracket that is open, with the key that was read last; and how far a text is read, with where the word
 * that is being read began.
 */
export type Open = { list: boolean; key: string | null; frame: Frame };
export type Reading = { open: Open[]; at: number; token: number; quote: string };

const ABOVE = 4000; // lines that are read for where it began; printed JSON that is longer has its indentation
const AFTER = 20_000; // characters behind a position that are read for what stands beside it
const LINES_AFTER = 400;
const SEPARATOR = /^(---|\.\.\.)(\s|$)/;

/**
 * What is open at the beginning of a line, if it began on an earlier one: `{line, column, shape}` of its outermost
 * brace or bracket, else null.
 */
export function opened(doc: Doc, number: number, shape: (text: string) => Line | null): Began | null {
  const above = [""]; // from below; the iterator has nothing for an empty line
  if (number === 1) return null;
  for (const lines = doc.iterRange(doc.line(number).from - 1, 0); !lines.next().done;) {
    if (lines.lineBreak) {
      if (above.push("") > ABOVE) return null;
      continue;
    }
    above[above.length - 1] = lines.value;
    if (SEPARATOR.test(lines.value)) break;
  }
  let began: Began | null = null;
  let state: Reading | null = null;
  let text = -1; // the column of the field whose value is a text of several lines
  const first = number - above.length;
  for (const [i, line] of above.reverse().entries()) {
    if (state) {
      read(`${line}\n`, line.length + 1, Object.assign(state, { at: 0, token: 0 }));
      if (!state.open.length) state = null;
      continue;
    }
    if (text >= 0 && (!line.trim() || line.search(/\S/) > text)) continue;
    text = -1;
    const found = shape(line);
    if (!found || found.separator) continue;
    let column = found.valueAt ?? found.column;
    column += /^[&!]\S*\s+/.exec(line.slice(column))?.[0].length ?? 0;
    if (/[|>]/.test(line[column] ?? ""))
      text = found.key === undefined ? (found.dashes.at(-1) ?? found.column) : found.column;
    if (!/[{[]/.test(line[column] ?? "")) continue;
    state = { open: [], at: column, token: column, quote: "" };
    read(`${line}\n`, line.length + 1, state);
    if (state.open.length) began = { line: first + i, column, shape: found };
    else state = null;
  }
  return state ? began : null;
}

const plain = (text: string) => text.replace(/(^|\s)#.*$/gm, "").trim();
/** The last word of what stands before a colon: a half of a name may stand before it, without its own. */
const nameOf = (text: string) => (plain(text).split(/\s+/).at(-1) ?? "").replace(/^["']|["']$/g, "");

/**
 * Read on up to a place: `state` is `{open: [{list, key, frame}], at, token, quote}`; a frame holds the entries of its
 * mapping.
 */
function read(text: string, to: number, state: Reading) {
  const { open } = state;
  const settle = (top: Open | undefined, end: number) => {
    if (top && !top.list && top.key)
      top.frame.map.set(top.key, { value: plain(text.slice(state.token, end)), line: 0 });
  };
  for (; state.at < to; state.at += 1) {
    const i = state.at;
    const c = text[i];
    const top = open.at(-1);
    if (state.quote) {
      if (c === "\\" && state.quote === '"') state.at += 1;
      else if (c === state.quote) state.quote = "";
    } else if ((c === '"' || c === "'") && /[\s,{[:]/.test(text[i - 1] ?? " ")) state.quote = c;
    else if (c === "#" && /\s/.test(text[i - 1] ?? " ")) {
      const end = text.indexOf("\n", i);
      state.at = (end < 0 || end > to ? to : end) - 1;
    } else if (c === "{" || c === "[") {
      open.push({ list: c === "[", key: null, frame: { map: new Map(), line: 0, column: 0, whole: true } });
      state.token = i + 1;
    } else if (c === "}" || c === "]") {
      settle(top, i);
      open.pop();
      state.token = i + 1;
      if (!open.length) return;
    } else if (c === ",") {
      settle(top, i);
      if (top) top.key = null;
      state.token = i + 1;
    } else if (
      c === ":"
      && top
      && !top.list
      && top.key === null
      && (/\s/.test(text[i + 1] ?? " ") || /["']/.test(text[i - 1]))
    ) {
      top.key = nameOf(text.slice(state.token, i));
      state.token = i + 1;
    }
  }
}

/**
 * The place `at` within what begins at `from`: its steps `inside`, its frame, and the part that is being written; null
 * behind the end.
 */
export function inFlow(doc: Doc, from: number, at: number) {
  const last = doc.lineAt(at).number + LINES_AFTER;
  const until = Math.min(doc.length, at + AFTER, last < doc.lines ? doc.line(last).to : doc.length);
  const text = doc.sliceString(from, until).replace(/\n(---|\.\.\.)(\s[^]*|$)/, "\n");
  const column = at - from;
  const state: Reading = { open: [], at: 0, token: 0, quote: "" };
  read(text, column, state);
  const open = state.open.map(({ list, key, frame }) => ({ list, key, frame }));
  const top = open.at(-1);
  if (!top) return null;
  let begins = state.token;
  while (begins < column && /\s/.test(text[begins])) begins += 1;
  begins += /^[^]*\n\s*/.exec(text.slice(begins, column))?.[0].length ?? 0; // a word that nothing ended is not this one
  const quote = begins < column ? (/["']/.exec(text[begins])?.[0] ?? "") : "";
  if (quote) begins += 1;
  let end = column;
  while (end < text.length && !/[\s,{}[\]:#"']/.test(text[end])) end += 1;
  const name = text.slice(begins, end);
  const closed = Boolean(quote) && text[end] === quote;
  const rest = /^["']?\s*:(\s|$)/.test(text.slice(end, end + 40));
  // The text that follows, in the same braces and in those around them.
  Object.assign(state, { at: closed ? end + 1 : end, token: end, quote: "" });
  read(text, text.length, state);
  const inside = open.flatMap(({ list, key, frame }, i) =>
    list ? [{ step: "[]" }] : i < open.length - 1 ? [{ step: key ?? "", frame }] : [],
  );
  const asKey = !top.list && top.key === null;
  return {
    inside,
    frame: top.frame,
    flow: true,
    quote,
    part: asKey ? "key" : "value",
    key: asKey ? (rest ? name : undefined) : top.list ? undefined : (top.key ?? undefined),
    item: top.list,
    from: from + begins,
    to: from + end + (closed && asKey ? 1 : 0),
  };
}
