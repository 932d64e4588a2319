// Where in the documents a position is: the path to it, and what stands beside it. Found by indentation, line by line,
// so that an unfinished document has places as well as a whole one; within braces and brackets by these, over any
// lines.

import { inFlow, opened } from "./flow.ts";
import type { Began, Doc, Frame, Line, Step } from "./line.ts";

/** A place in a document: what is written there, or would be. */
export type Where = {
  steps: Step[];
  frame: Frame;
  /** "key" or "value" */
  part: string;
  key?: string;
  from: number;
  to: number;
  /** whether it is an item of a list */
  item: boolean;
  /** whether it is within braces or brackets */
  flow: boolean;
  quote: string;
  column: number;
};

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s"'{}[\],#&*!|>%@`][^#]*?))\s*:(?:\s+|$)/;
const BELOW = 3000; // lines searched for the following text

/** One line: `{dashes: [column…], column, key, value, valueAt}`; null for a blank one or a comment. */
export function shape(text: string): Line | null {
  let at = 0;
  while (text[at] === " ") at += 1;
  if (at === text.length || text[at] === "#") return null;
  if (at === 0 && /^(---|\.\.\.)(\s|$)/.test(text)) return { separator: true, dashes: [], column: 0 };
  const dashes: number[] = [];
  while (text[at] === "-" && (text[at + 1] === " " || at + 1 === text.length)) {
    dashes.push(at);
    at += 1;
    while (text[at] === " ") at += 1;
  }
  const match = KEY.exec(text.slice(at));
  if (!match) return { dashes, column: at };
  const key = match[1] ?? match[2] ?? match[3];
  const valueAt = at + match[0].length;
  const quoted = match[1] !== undefined || match[2] !== undefined;
  return {
    dashes,
    column: at,
    key,
    keyEnd: at + key.length + (quoted ? 2 : 0),
    valueAt,
    value: plain(text.slice(valueAt)),
  };
}

/** A value without its comment, a comma of JSON, an anchor or a tag. */
const plain = (text: string) =>
  text
    .replace(/(^|\s)#.*$/, "")
    .trim()
    .replace(/,$/, "")
    .replace(/^[&!]\S*\s*/, "");
const opens = (value: string) => value === "" || /^(\{|\[|\[\s*\{)$/.test(value);

/** The mapping around a line's column: `{steps, frame}`; null where none can be, such as inside a text. */
function around(doc: Doc, number: number, column: number, dashes: number[]) {
  const steps: Step[] = [];
  const inner: Frame = { map: new Map(), line: number, column };
  let frame = inner;
  let at = column;
  let listed = false; // at a list's dashes, else at a mapping's keys
  const items = (columns: number[]) => {
    for (const dash of [...columns].reverse()) {
      if (dash >= at) continue;
      steps.unshift({ step: "[]" });
      at = dash;
      listed = true;
    }
  };
  items(dashes);
  const start = doc.line(number).from;
  let n = number;
  for (const above = start > 0 ? doc.iterRange(start, 0) : null; above && !above.next().done;) {
    if (above.lineBreak) {
      n -= 1;
      continue;
    }
    const text = above.value;
    let lead = 0;
    while (lead <= at && text[lead] === " ") lead += 1;
    if (lead > at) continue;
    const line = shape(text);
    if (!line) continue;
    if (line.separator) break;
    const has = line.key !== undefined;
    if (listed) {
      if (line.dashes.includes(at)) {
        items(line.dashes);
        continue;
      }
      if (!has || line.column > at || !opens(line.value)) continue;
    } else if (has && line.column === at) {
      frame.map.set(line.key, { value: line.value, line: n });
      items(line.dashes);
      continue;
    } else if (!has) {
      if (line.dashes.length && line.dashes[line.dashes.length - 1] < at && line.column >= text.length)
        items(line.dashes);
      continue;
    } else if (line.column > at) {
      if (line.dashes.length && line.dashes[0] < at) return null;
      continue;
    } else if (!opens(line.value)) return null;
    if (!listed && /\[/.test(line.value)) steps.unshift({ step: "[]" });
    frame = { map: new Map([[line.key, { value: line.value, line: n }]]), line: n, column: line.column };
    steps.unshift({ step: line.key, frame });
    at = line.column;
    listed = false;
    items(line.dashes);
  }
  return { steps, frame: inner };
}

/** The entry of a key in a mapping, looked for below its first lines too. */
export function entryOf(doc: Doc, frame: Frame, key: string) {
  if (!frame.whole) {
    frame.whole = true;
    for (let n = frame.line + 1; n <= Math.min(doc.lines, frame.line + BELOW); n += 1) {
      const line = shape(doc.line(n).text);
      if (!line) continue;
      const first = line.separator ? -1 : (line.dashes[0] ?? line.column);
      if (first < frame.column) break;
      if (line.column === frame.column && !line.dashes.length && line.key !== undefined && !frame.map.has(line.key))
        frame.map.set(line.key, { value: line.value, line: n });
    }
  }
  return frame.map.get(key);
}

/**
 * A position: `{steps, frame, part: "key" | "value", key, from, to, item, flow, quote, column}`; null in comments and
 * texts.
 */
export function where(doc: Doc, at: number): Where | null {
  const line = doc.lineAt(at);
  const { text } = line;
  const column = at - line.from;
  const found = shape(text);
  if (found?.separator || /(^|\s)#/.test(text.slice(0, column).replace(/"[^"]*"|'[^']*'/g, ""))) return null;
  const began = opened(doc, line.number, shape);
  if (began) return flowing(doc, began, at);
  if (!found) {
    const place = around(doc, line.number, column, []);
    return place && { ...place, part: "key", from: at, to: at, item: false, flow: false, quote: "", column };
  }
  if (column < found.column) return null;
  const place = around(doc, line.number, found.column, found.dashes);
  if (!place) return null;
  const base = { ...place, item: false, flow: false, quote: "", column: found.column };
  if (found.key === undefined || column <= found.keyEnd) {
    if (found.key === undefined && /^[{[]/.test(text.slice(found.column))) {
      const flow = flowing(doc, { line: line.number, column: found.column, shape: found }, at);
      if (flow) return flow;
    }
    const end = found.key === undefined ? text.length : found.keyEnd;
    return {
      ...base,
      part: "key",
      key: found.key,
      from: line.from + found.column,
      to: line.from + end,
      item: found.dashes.length > 0 && found.key === undefined,
    };
  }
  if (column < found.valueAt && text[found.keyEnd] === ":" && column <= found.keyEnd) return null;
  if (/^[{[]/.test(text.slice(found.valueAt)))
    return flowing(doc, { line: line.number, column: found.valueAt, shape: found }, at);
  base.frame.map.set(found.key, { value: found.value, line: line.number });
  const quote = /["']/.exec(text[found.valueAt] ?? "")?.[0] ?? "";
  const begins = found.valueAt + (quote && column > found.valueAt ? 1 : 0);
  const from = Math.min(column, begins);
  return {
    ...base,
    part: "value",
    key: found.key,
    quote: begins > found.valueAt ? quote : "",
    from: line.from + from,
    to: line.from + Math.max(column, found.valueAt + found.value.length),
  };
}

/** The place within braces or brackets that began at `began`; null behind their end. */
function flowing(doc: Doc, began: Began, at: number): Where | null {
  const { shape: line } = began;
  const place = around(doc, began.line, line.column, line.dashes);
  const flow = place && inFlow(doc, doc.line(began.line).from + began.column, at);
  if (!flow) return null;
  if (line.key === undefined)
    return { ...place, ...flow, column: line.column, steps: [...place.steps, ...flow.inside] };
  place.frame.map.set(line.key, { value: line.value, line: began.line });
  return {
    ...place,
    ...flow,
    column: line.column,
    steps: [...place.steps, { step: line.key, frame: place.frame }, ...flow.inside],
  };
}
