// Where in the documents a position is: the path to it, and what stands beside it. By indentation, line by line, so that
// a document that is being typed has a place as well as a whole one. Multi-line flow style has none, but for printed JSON.

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s"'{}[\],#&*!|>%@`][^#]*?))\s*:(?:\s+|$)/;
const BELOW = 3000; // lines that are looked at for what comes after

/** One line: `{dashes: [column…], column, key, value, valueAt}`; null for a blank one or a comment. */
export function shape(text) {
  let at = 0;
  while (text[at] === " ") at += 1;
  if (at === text.length || text[at] === "#") return null;
  if (at === 0 && /^(---|\.\.\.)(\s|$)/.test(text)) return { separator: true };
  const dashes = [];
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
  return { dashes, column: at, key, keyEnd: at + key.length + (quoted ? 2 : 0), valueAt, value: plain(text.slice(valueAt)) };
}

/** A value without its comment, a comma of JSON, an anchor or a tag. */
const plain = (text) => text.replace(/(^|\s)#.*$/, "").trim().replace(/,$/, "").replace(/^[&!]\S*\s*/, "");
const opens = (value) => value === "" || /^(\{|\[|\[\s*\{)$/.test(value);

/** The mapping around a line's column: `{steps, map}`; null where none can be, such as inside a text. */
function around(doc, number, column, dashes) {
  const steps = [];
  const inner = { map: new Map(), line: number, column };
  let frame = inner;
  let at = column;
  let listed = false; // at a list's dashes, else at a mapping's keys
  const items = (columns) => {
    for (const dash of [...columns].reverse()) { if (dash >= at) continue; steps.unshift({ step: "[]" }); at = dash; listed = true; }
  };
  items(dashes);
  const start = doc.line(number).from;
  let n = number;
  for (const above = start > 0 ? doc.iterRange(start, 0) : null; above && !above.next().done;) {
    if (above.lineBreak) { n -= 1; continue; }
    const text = above.value;
    let lead = 0;
    while (lead <= at && text[lead] === " ") lead += 1;
    if (lead > at) continue;
    const line = shape(text);
    if (!line) continue;
    if (line.separator) break;
    const has = line.key !== undefined;
    if (listed) {
      if (line.dashes.includes(at)) { items(line.dashes); continue; }
      if (!has || line.column > at || !opens(line.value)) continue;
    } else if (has && line.column === at) {
      frame.map.set(line.key, { value: line.value, line: n });
      items(line.dashes);
      continue;
    } else if (!has) {
      if (line.dashes.length && line.dashes.at(-1) < at && line.column >= text.length) items(line.dashes);
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

/** What a mapping says of a key, looked for below its first lines too. */
export function said(doc, frame, key) {
  if (!frame.whole) {
    frame.whole = true;
    for (let n = frame.line + 1; n <= Math.min(doc.lines, frame.line + BELOW); n += 1) {
      const line = shape(doc.line(n).text);
      if (!line) continue;
      const first = line.separator ? -1 : line.dashes[0] ?? line.column;
      if (first < frame.column) break;
      if (line.column === frame.column && !line.dashes.length && line.key !== undefined && !frame.map.has(line.key)) frame.map.set(line.key, { value: line.value, line: n });
    }
  }
  return frame.map.get(key);
}

/** A position: `{steps, frame, part: "key" | "value", key, from, to, item, flow, column}`; null in comments and texts. */
export function where(doc, at) {
  const line = doc.lineAt(at);
  const { text } = line;
  const column = at - line.from;
  const found = shape(text);
  if (found?.separator || /(^|\s)#/.test(text.slice(0, column).replace(/"[^"]*"|'[^']*'/g, ""))) return null;
  if (!found) {
    const place = around(doc, line.number, column, []);
    return place && { ...place, part: "key", from: at, to: at, item: false, flow: false, column };
  }
  if (column < found.column) return null;
  const place = around(doc, line.number, found.column, found.dashes);
  if (!place) return null;
  const base = { ...place, item: false, flow: false, column: found.column };
  if (found.key === undefined || column <= found.keyEnd) {
    const flow = found.key === undefined && /^[{[]/.test(text.slice(found.column)) && inFlow(text, found.column, column, line.from);
    if (flow) return { ...base, ...flow, steps: [...base.steps, ...flow.inside] };
    const end = found.key === undefined ? text.length : found.keyEnd;
    return { ...base, part: "key", key: found.key, from: line.from + found.column, to: line.from + end, item: found.dashes.length > 0 && found.key === undefined };
  }
  if (column < found.valueAt && text[found.keyEnd] === ":" && column <= found.keyEnd) return null;
  base.frame.map.set(found.key, { value: found.value, line: line.number });
  if (/^[{[]/.test(text.slice(found.valueAt))) {
    const flow = inFlow(text, found.valueAt, column, line.from);
    return flow && { ...base, ...flow, steps: [...base.steps, { step: found.key, frame: base.frame }, ...flow.inside] };
  }
  const from = Math.min(column, found.valueAt);
  return { ...base, part: "value", key: found.key, from: line.from + from, to: line.from + Math.max(column, found.valueAt + found.value.length) };
}

/** The place in `{a: {b: [` up to a column. */
function inFlow(text, start, column, offset) {
  const open = []; // {list, key, frame}
  let token = start;
  let quote = "";
  for (let i = start; i < column; i += 1) {
    const c = text[i];
    const top = open.at(-1);
    if (quote) { if (c === quote) quote = ""; continue; }
    if (c === '"' || c === "'") quote = c;
    else if (c === "{" || c === "[") { open.push({ list: c === "[", key: null, frame: { map: new Map(), line: 0, column: 0, whole: true } }); token = i + 1; }
    else if (c === "}" || c === "]") { open.pop(); token = i + 1; if (!open.length) return null; }
    else if (c === ",") { if (top) { if (top.key) top.frame.map.set(top.key, { value: text.slice(token, i).trim(), line: 0 }); top.key = null; } token = i + 1; }
    else if (c === ":" && top && !top.list && top.key === null && /\s|$/.test(text[i + 1] ?? "")) { top.key = text.slice(token, i).trim().replace(/^["']|["']$/g, ""); token = i + 1; }
  }
  const top = open.at(-1);
  if (!top) return null;
  while (token < column && text[token] === " ") token += 1;
  let end = column;
  while (end < text.length && !/[\s,{}[\]:#]/.test(text[end])) end += 1;
  const rest = /^\s*:(\s|$)/.test(text.slice(end));
  // What comes after in the same braces, as far as it is simple.
  if (!top.list) for (const [, key, value] of text.slice(end).split("}")[0].matchAll(/(?:^|[,{])\s*([\w.-]+):\s+([^,{}[\]]*)/g)) top.frame.map.set(key, { value: value.trim(), line: 0 });
  const inside = open.flatMap(({ list, key, frame }, i) => (list ? [{ step: "[]" }] : i < open.length - 1 ? [{ step: key, frame }] : []));
  const name = text.slice(token, end);
  const asKey = !top.list && top.key === null;
  return { inside, frame: top.frame, flow: true, part: asKey ? "key" : "value", key: asKey ? (rest ? name : undefined) : top.list ? undefined : top.key, item: top.list, from: offset + token, to: offset + end };
}
