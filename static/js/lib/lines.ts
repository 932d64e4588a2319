// Line ends and a byte order mark, which no editor keeps: what was not typed over gets its own back.

const BOM = "\ufeff";
const LINE = /[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g;
const ENDS = ["\r\n", "\n", "\r"];

/** A text as an editor holds it. */
export const plain = (text: string) => text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");

/** Whether an editor gives a text back as it was. */
const same = (text: string) => !text.includes("\r") && !text.startsWith(BOM);

/**
 * `typed`, made of `given` in an editor, with the line ends of `given`; between the first and the last difference with
 * the most frequent of them.
 */
export function asGiven(given: string, typed: string) {
  if (same(given)) return typed;
  if (typed === plain(given)) return given;
  const mark = given.startsWith(BOM) ? BOM : "";
  const raw = given.slice(mark.length).match(LINE) ?? [];
  const old = raw.map((line) => line.replace(/\r\n?$/, "\n"));
  const now = typed.match(LINE) ?? [];
  const most = Math.min(old.length, now.length);
  let first = 0;
  while (first < most && old[first] === now[first]) first += 1;
  let last = 0;
  while (last < most - first && old[old.length - 1 - last] === now[now.length - 1 - last]) last += 1;
  const ends = raw.map((line) => line.replace(/^[^\r\n]*/, ""));
  const often = (end: string) => ends.filter((one) => one === end).length;
  const usual = ENDS.reduce((best, end) => (often(end) > often(best) ? end : best));
  const middle = now.slice(first, now.length - last).map((line) => line.replace(/\n$/, usual));
  return mark + [...raw.slice(0, first), ...middle, ...raw.slice(raw.length - last)].join("");
}
