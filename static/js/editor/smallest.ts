// The smallest changes that make one text of another: what stands between them keeps its place, and so does the cursor.

const MOST = 40_000; // lines that are compared one by one; longer differences are one change

export type Change = { from: number; to: number; insert: string };

/** Changes in positions of `before`, ascending and apart. */
export function changesBetween(before: string, after: string): Change[] {
  if (before === after) return [];
  let start = 0;
  const most = Math.min(before.length, after.length);
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < most - start && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end))
    end += 1;
  // Whole lines, for between them lines are matched.
  start = start ? before.lastIndexOf("\n", start - 1) + 1 : 0;
  const from = before.slice(start, lineEnd(before, before.length - end)).split("\n");
  const to = after.slice(start, lineEnd(after, after.length - end)).split("\n");
  const pairs = from.length + to.length > MOST ? [] : anchors(from, to);
  const changes: Change[] = [];
  let [a, b, at] = [0, 0, start];
  for (const [x, y] of [...pairs, [from.length, to.length]]) {
    const last = x === from.length;
    const removed = from.slice(a, x);
    const length = removed.reduce((sum, line) => sum + line.length + 1, 0) - (last && removed.length ? 1 : 0);
    const added = to.slice(b, y);
    if (last) {
      if (removed.length || added.length) changes.push(ending(at, length, removed, added));
    } else {
      if (removed.join("\n") !== added.join("\n") || removed.length !== added.length)
        changes.push({ from: at, to: at + length, insert: added.map((line) => `${line}\n`).join("") });
      at += length + from[x].length + 1;
    }
    [a, b] = [x + 1, y + 1];
  }
  return changes;
}

/** The change of the last lines, after which there is no line break to keep. */
function ending(at: number, length: number, removed: string[], added: string[]): Change {
  if (removed.length && added.length) return { from: at, to: at + length, insert: added.join("\n") };
  if (added.length) return { from: at - 1, to: at - 1, insert: `\n${added.join("\n")}` };
  return { from: Math.max(0, at - 1), to: at + length, insert: "" };
}

function lineEnd(text: string, at: number) {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Lines unique to both sides, in their longest common order: `[[index, index]…]`. */
function anchors(from: string[], to: string[]) {
  const once = (lines: string[]) => {
    const seen: Map<string, number> = new Map();
    lines.forEach((line, i) => seen.set(line, seen.has(line) ? -1 : i));
    return seen;
  };
  const right = once(to);
  const shared: [from: number, to: number][] = [];
  for (const [line, i] of once(from)) {
    const j = right.get(line) ?? -1;
    if (i >= 0 && j >= 0) shared.push([i, j]);
  }
  shared.sort((a, b) => a[0] - b[0]);
  // The longest rising run of the second number.
  const tails: number[] = [];
  const previous = shared.map(() => -1);
  shared.forEach(([, j], at) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shared[tails[middle]][1] < j) low = middle + 1;
      else high = middle;
    }
    previous[at] = low ? tails[low - 1] : -1;
    tails[low] = at;
  });
  const run: typeof shared = [];
  for (let at = tails.length ? tails[tails.length - 1] : -1; at >= 0; at = previous[at]) run.unshift(shared[at]);
  return run;
}
