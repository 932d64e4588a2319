// Fuzzy search: the letters of what is typed, in their order; words' beginnings and neighbours count more.

const START = 8; // a letter at the beginning of a word
const NEXT = 5; // right after the letter found before
const FIRST = 6; // at the very beginning
const WHOLE = 12; // all letters in one piece
const GAP = 0.1; // for each letter that is passed over, at most once a letter of a name of 50

const begins = (text: string, at: number) => at === 0 || !/[a-z0-9]/.test(text[at - 1]);

/**
 * Where the letters of `typed` (lower case, no blanks) are in a text, the best match first: `{score, at: [index…]}`, or
 * null.
 */
export function match(typed: string, text: string) {
  const lower = text.toLowerCase();
  if (!typed) return { score: 0, at: [] };
  const whole = lower.indexOf(typed);
  if (whole >= 0)
    return {
      score:
        WHOLE
        + typed.length * NEXT
        + (begins(lower, whole) ? START : 0)
        + (whole === 0 ? FIRST : 0)
        - GAP * (lower.length - typed.length),
      at: Array.from(typed, (_, i) => whole + i),
    };
  const at = [];
  let score = 0;
  let from = 0;
  for (const letter of typed) {
    let found = -1;
    for (let i = lower.indexOf(letter, from); i >= 0; i = lower.indexOf(letter, i + 1)) {
      // a word's beginning is worth the way
      if (found < 0) found = i;
      if (i === from || begins(lower, i)) {
        found = i;
        break;
      }
    }
    if (found < 0) return retreat(typed, lower);
    score += found === from && at.length ? NEXT : begins(lower, found) ? START : 0;
    at.push(found);
    from = found + 1;
  }
  return { score: score - GAP * (lower.length - typed.length), at };
}

/** The letters at the first places there are, where going for beginnings of words left too few. */
function retreat(typed: string, lower: string) {
  const at: number[] = [];
  for (const letter of typed) {
    const found = lower.indexOf(letter, (at.at(-1) ?? -1) + 1);
    if (found < 0) return null;
    at.push(found);
  }
  return { score: -GAP * lower.length, at };
}
