// Merging two edits of one text, line by line: what only one side changed is taken from it; what both changed
// differently is a conflict.

/** What differs between two lists of lines: a range of each. */
export type Hunk = [from: number, to: number, fromThere: number, toThere: number];
/** what both sides have, or only one has changed */
export type Agreed = { lines: string[] };
export type Conflict = { lines?: undefined; base: string[]; mine: string[]; theirs: string[]; line: number };
export type Part = Agreed | Conflict;
export type Side = "mine" | "theirs" | "both";

const MARK = /^---(\s|$)/;
const CELLS = 250_000; // of the table for lines that have no unique one between them; beyond it they count as changed

/** Lines as numbers, the same line the same number in all texts. */
function numbered(...texts: string[][]) {
  const known: Map<string, number> = new Map();
  return texts.map((lines) =>
    lines.map((line) => {
      const number = known.get(line) ?? known.size;
      known.set(line, number);
      return number;
    }),
  );
}

/** Pairs of indices of the lines unique to both ranges, in their longest common order. */
function anchors(a: number[], b: number[], [a0, a1, b0, b1]: Hunk) {
  // line: its place in a, in b; -1 where it is there again
  const once: Map<number, [a: number | null, b: number | null]> = new Map();
  const note: (lines: number[], from: number, to: number, side: 0 | 1) => void = (lines, from, to, side) => {
    for (let i = from; i < to; i += 1) {
      const found = once.get(lines[i]) ?? [null, null];
      found[side] = found[side] === null ? i : -1;
      once.set(lines[i], found);
    }
  };
  note(a, a0, a1, 0);
  note(b, b0, b1, 1);
  const pairs: [number, number][] = [...once.values()].flatMap(([i, j]) =>
    i !== null && j !== null && i >= 0 && j >= 0 ? [[i, j]] : [],
  );
  const ends: [number, number][] = []; // the last pair of the best chain of each length
  const before: Map<[number, number], [number, number] | undefined> = new Map();
  for (const pair of pairs) {
    // in the order of a
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle][1] < pair[1]) low = middle + 1;
      else high = middle;
    }
    before.set(pair, ends[low - 1]);
    ends[low] = pair;
  }
  const chain: [number, number][] = [];
  for (let pair = ends.at(-1); pair; pair = before.get(pair)) chain.push(pair);
  return chain.reverse();
}

/** Pairs of places of a longest common subsequence; none where the ranges are too long for it. */
function common(a: number[], b: number[], [a0, a1, b0, b1]: Hunk) {
  const [n, m] = [a1 - a0, b1 - b0];
  if (!n || !m || n * m > CELLS) return [];
  const width = m + 1;
  const pairs: [number, number][] = [];
  const table = new Uint32Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i -= 1)
    for (let j = m - 1; j >= 0; j -= 1) {
      table[i * width + j] =
        a[a0 + i] === b[b0 + j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  for (let i = 0, j = 0; i < n && j < m;) {
    if (a[a0 + i] === b[b0 + j]) {
      pairs.push([a0 + i, b0 + j]);
      i += 1;
      j += 1;
    } else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}

/**
 * What differs between two lists of lines: `[from, to, from there, to there]` in order, with at least one equal line
 * between.
 */
export function hunks(before: string[], after: string[]): Hunk[] {
  const [a, b] = numbered(before, after);
  const found: Hunk[] = [];
  const ranges: Hunk[] = [[0, a.length, 0, b.length]];
  for (let next = ranges.pop(); next; next = ranges.pop()) {
    let [a0, a1, b0, b1] = next;
    while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) {
      a0 += 1;
      b0 += 1;
    }
    while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) {
      a1 -= 1;
      b1 -= 1;
    }
    if (a0 === a1 && b0 === b1) continue;
    const range: Hunk = [a0, a1, b0, b1];
    const unique = anchors(a, b, range);
    const pairs = unique.length ? unique : common(a, b, range);
    if (!pairs.length) {
      found.push(range);
      continue;
    }
    const within: Hunk[] = [];
    for (const [i, j] of [...pairs, [a1, b1]]) {
      within.push([a0, i, b0, j]);
      [a0, b0] = [i + 1, j + 1];
    }
    for (const part of within.reverse()) ranges.push(part); // the first is taken first
  }
  return aligned(joined(found), before, after);
}

/**
 * Move insertions and deletions to where a document begins, if the same lines are there: all objects begin and end
 * alike.
 */
function aligned(found: Hunk[], before: string[], after: string[]) {
  found.forEach((range, place) => {
    const [a0, a1, b0, b1] = range;
    if (a0 !== a1 && b0 !== b1) return;
    const [lines, from, to] = a0 === a1 ? [after, b0, b1] : [before, a0, a1];
    const [up, down] = [found[place - 1], found[place + 1]];
    const least = -(up ? Math.min(a0 - up[1], b0 - up[3]) : Math.min(a0, b0));
    const most = down ? Math.min(down[0] - a1, down[2] - b1) : Math.min(before.length - a1, after.length - b1);
    let by = 0;
    while (by > least && !MARK.test(lines[from + by]) && lines[from + by - 1] === lines[to + by - 1]) by -= 1;
    if (!MARK.test(lines[from + by]))
      for (by = 0; by < most && !MARK.test(lines[from + by]) && lines[from + by] === lines[to + by];) by += 1;
    if (by && MARK.test(lines[from + by])) for (let i = 0; i < 4; i += 1) range[i] += by;
  });
  return found;
}

/** Ranges that touch are one. */
function joined(found: Hunk[]): Hunk[] {
  const out: Hunk[] = [];
  for (const range of found) {
    const last = out.at(-1);
    if (last && last[1] === range[0] && last[3] === range[2]) [, last[1], , last[3]] = range;
    else out.push([...range]);
  }
  return out;
}

/** Whether a document begins at a line, or the text ends there. */
const boundary = (lines: string[], at: number) =>
  at >= lines.length || MARK.test(lines[at]) || (at === lines.length - 1 && !lines[at]);

/** Whether a change puts in whole YAML documents, between others or at the end: what is above them does not matter. */
const documents = (base: string[], side: string[], [from, to, first]: Hunk) =>
  from === to && MARK.test(side[first]) && boundary(base, from);

/** Whether what a change leaves begins with a document, so that others may come before it. */
const begins = (base: string[], side: string[], [, to, first, last]: Hunk) =>
  first < last ? MARK.test(side[first]) : boundary(base, to);

/**
 * Whether two changes, each with its side, cannot both be made: they overlap, or one inserts where the other begins or
 * ends.
 */
function clash(base: string[], one: Hunk, oneSide: string[], other: Hunk, otherSide: string[]) {
  const [a0, a1, b0, b1] = one;
  const [c0, c1, d0, d1] = other;
  const [from, to] = [Math.max(a0, c0), Math.min(a1, c1)];
  if (from !== to) return from < to;
  const beside: (added: Hunk, addedSide: string[], change: Hunk, side: string[]) => boolean = (
    added,
    addedSide,
    change,
    side,
  ) =>
    documents(base, addedSide, added)
    && (added[0] === change[1] && change[0] < change[1] ? true : begins(base, side, change));
  if (beside(one, oneSide, other, otherSide) || beside(other, otherSide, one, oneSide)) return false;
  // Adjacent lines that both replace one by one, as two fields of an object.
  const lineForLine = a1 > a0 && a1 - a0 === b1 - b0 && c1 > c0 && c1 - c0 === d1 - d0;
  return !lineForLine;
}

/** The lines that a side has in the place of `from` to `to` of what both began with. */
function sideOf(base: string[], lines: string[], changes: Hunk[], from: number, to: number) {
  let out: string[] = [];
  let at = from;
  for (const [b0, b1, s0, s1] of changes) {
    out = out.concat(base.slice(at, b0), lines.slice(s0, s1));
    at = b1;
  }
  return out.concat(base.slice(at, to));
}

/**
 * Merge two edits of `base`: `{parts, conflicts}`. A part is `{lines}`, or where both sides have something else
 * `{base, mine, theirs, line}`, lists of lines and the line of theirs at which it begins.
 */
export function merge(base: string, mine: string, theirs: string): { parts: Part[]; conflicts: Conflict[] } {
  const [b, m, t] = [base, mine, theirs].map((text) => text.split("\n"));
  const left = [hunks(b, m), hunks(b, t)];
  const sides = [m, t];
  const parts: Part[] = [];
  let at = 0;
  const same = (to: number) => {
    if (to > at) parts.push({ lines: b.slice(at, to) });
  };
  while (left[0].length || left[1].length) {
    const first = !left[1].length || (left[0].length && left[0][0][0] < left[1][0][0]) ? 0 : 1;
    const group: Hunk[][] = [[], []];
    group[first].push(...left[first].splice(0, 1));
    for (let side = 1 - first, idle = 0; idle < 2; side = 1 - side) {
      const next = left[side][0];
      if (next && group[1 - side].some((other) => clash(b, next, sides[side], other, sides[1 - side]))) {
        group[side].push(...left[side].splice(0, 1));
        idle = 0;
      } else idle += 1;
    }
    const all = [...group[0], ...group[1]];
    const [from, to] = [Math.min(...all.map(([low]) => low)), Math.max(...all.map(([, high]) => high))];
    same(from);
    const [ours, others] = [sideOf(b, m, group[0], from, to), sideOf(b, t, group[1], from, to)];
    const line = (group[1][0] ? group[1][0][2] - (group[1][0][0] - from) : 0) + 1;
    if (!group[1].length) parts.push({ lines: ours });
    else if (!group[0].length || (ours.length === others.length && ours.every((text, i) => text === others[i])))
      parts.push({ lines: others });
    else parts.push({ base: b.slice(from, to), mine: ours, theirs: others, line });
    at = to;
  }
  same(b.length);
  return { parts, conflicts: parts.filter((part) => "mine" in part) };
}

const SIDES: Record<Side, (conflict: Conflict) => string[]> = {
  mine: ({ mine }) => mine,
  theirs: ({ theirs }) => theirs,
  both: ({ mine, theirs }) => [...theirs, ...mine],
};

/** The merged text, with one side of each conflict, or both one after the other. */
export function resolved(parts: Part[], side: Side = "theirs") {
  return parts.flatMap((part) => ("mine" in part ? SIDES[side](part) : part.lines)).join("\n");
}

/**
 * Whether an edit of `now` leaves every line by which `now` differs from `before` as it is, except for quotes: an
 * object that is changed is written out again.
 */
export function spares(before: string, now: string, after: string) {
  const [b, n, a] = [before, now, after].map((text) =>
    text.split("\n").map((line) => line.replace(/"([^"'\\]*)"/g, "'$1'")),
  );
  const others = hunks(b, n).map(([, , from, to]) => [from, to]);
  return hunks(n, a).every(
    ([from, to]) =>
      from === to
      || others.every(([low, high]) => (low === high ? to <= low || low <= from : to <= low || high <= from)),
  );
}
