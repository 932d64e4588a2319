// How far a learner is, kept in this browser: which stops were seen and passed, the receipts of right answers, and the
// cards of predictions that come back. Of who is signed in it is a copy of what the account has (sync.ts); otherwise it
// leaves the browser as a file alone.

/** Where the progress of who is not signed in is kept; that of an account is below it, by the account's tag. */
export const LOCAL = "podstep.lessons";

/** The account that the page is of, and the revision of its progress; null for who is not signed in. */
export const learner: { account: string; revision: number } | null = JSON.parse(
  document.querySelector("#learner")?.textContent ?? "null",
);
export const KEY = learner ? `${LOCAL}.${learner.account}` : LOCAL;
const LONGEST = 400_000; // characters of a file that is imported
const MOST = 500; // lessons, and stops of one

/** What FSRS knows of a prediction, as the server returned it. */
export interface Card {
  state: number;
  step: number | null;
  stability: number | null;
  difficulty: number | null;
  due: string;
  last_review: string | null;
}

export interface StopProgress {
  seen: string;
  tries: number;
  right?: boolean;
  receipt?: string;
}

/** `at` is the stop to go on with, `when` the time of that visit; `code` the completion code, `coded` its time. */
export interface LessonProgress {
  at: string;
  when?: string;
  code?: string;
  coded?: string;
  stops: Record<string, StopProgress>;
}

export interface Progress {
  version: 1;
  lessons: Record<string, LessonProgress>;
  cards: Record<string, Card>;
}

/** A lesson as a page knows it: its stops, and which of them ask something. */
export interface Outline {
  slug: string;
  title: string;
  stops: string[];
  asked: string[];
}

export const nothing = (): Progress => ({ version: 1, lessons: {}, cards: {} });
const isText = (value: unknown): value is string => typeof value === "string" && value.length < 1_000;
const isTime = (value: unknown): value is string => isText(value) && !Number.isNaN(Date.parse(value));
const entries = (value: unknown) =>
  value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value).slice(0, MOST) : [];

function stopOf(value: Record<string, unknown>): StopProgress {
  return {
    seen: isText(value.seen) ? value.seen : "",
    tries: Number.isInteger(value.tries) ? Number(value.tries) : 0,
    ...(value.right === true ? { right: true } : {}),
    ...(isText(value.receipt) ? { receipt: value.receipt } : {}),
  };
}

const isNumber = (value: unknown) => value === null || typeof value === "number";
const isCard = (value: any): value is Card =>
  Boolean(value)
  && [value.state, value.step, value.stability, value.difficulty].every(isNumber)
  && isTime(value.due)
  && (value.last_review === null || isText(value.last_review));

/** Progress out of a text that anybody may have written, without what has another form; null for no progress at all. */
export function read(text: string): Progress | null {
  if (text.length > LONGEST) return null;
  let given: any;
  try {
    given = JSON.parse(text);
  } catch {
    return null;
  }
  if (given?.version !== 1 || typeof given.lessons !== "object") return null;
  const found = nothing();
  for (const [slug, lesson] of entries(given.lessons)) {
    const stops = entries((lesson as any)?.stops).filter(([, stop]) => stop && typeof stop === "object");
    const { at, when, code, coded } = (lesson ?? {}) as Record<string, unknown>;
    found.lessons[slug] = {
      at: isText(at) ? at : "",
      ...(isTime(when) ? { when } : {}),
      ...(isText(code) && code && isTime(coded) ? { code, coded } : {}),
      stops: Object.fromEntries(stops.map(([key, stop]) => [key, stopOf(stop as Record<string, unknown>)])),
    };
  }
  for (const [key, card] of entries(given.cards)) if (isCard(card)) found.cards[key] = card;
  return found;
}

const kept = (key: string) => read(localStorage.getItem(key) ?? "") ?? nothing();

export function load(key = KEY): Progress {
  try {
    return kept(key);
  } catch {
    return nothing(); // storage is off
  }
}

const listeners: (() => void)[] = [];

/** Call back whenever this tab, another one, or another device of the account has gone on. */
export const onChange = (listener: () => void) => void listeners.push(listener);
const changed = () => listeners.forEach((listener) => listener());

addEventListener("storage", ({ key }) => {
  if (key === KEY) changed();
});

/** Keep it; whether the browser does. */
export function keep(progress: Progress, key = KEY): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(progress));
  } catch {
    return false;
  }
  if (key === KEY) changed();
  return true;
}

/** Change what is kept, as it is now: another tab may have gone on meanwhile. */
export function change(alter: (progress: Progress) => void): boolean {
  const progress = load();
  alter(progress);
  return keep(progress);
}

export function stopIn(progress: Progress, slug: string, key: string): StopProgress {
  const lesson = (progress.lessons[slug] ??= { at: "", stops: {} });
  return (lesson.stops[key] ??= { seen: "", tries: 0 });
}

const time = (text: string | null | undefined) => Date.parse(text ?? "") || 0;
const earlier = (one: string, other: string) => (!one || (other && time(other) < time(one)) ? other : one);

/** Both, by the rules of playground/lessons/progress.py: what either has passed is passed. */
export function merge(into: Progress, other: Progress) {
  for (const [slug, lesson] of Object.entries(other.lessons)) {
    for (const [key, stop] of Object.entries(lesson.stops)) {
      const known = stopIn(into, slug, key);
      known.seen = earlier(known.seen, stop.seen);
      known.tries = Math.max(known.tries, stop.tries);
      if (stop.right) known.right = true;
      if (stop.receipt) known.receipt ??= stop.receipt;
    }
    const known = (into.lessons[slug] ??= { at: "", stops: {} });
    if (!known.at || time(lesson.when) > time(known.when)) Object.assign(known, { at: lesson.at, when: lesson.when });
    if (time(lesson.coded) > time(known.coded)) Object.assign(known, { code: lesson.code, coded: lesson.coded });
  }
  for (const [key, card] of Object.entries(other.cards)) {
    const known = into.cards[key];
    const newer = time(card.last_review) - time(known?.last_review);
    if (!known || newer > 0 || (newer === 0 && time(card.due) > time(known.due))) into.cards[key] = card;
  }
}

/** How many stops of a lesson are done: seen, and passed where they ask something. */
export function done(progress: Progress, { slug, stops, asked }: Outline): number {
  const known = progress.lessons[slug]?.stops ?? {};
  return stops.filter((key) => (asked.includes(key) ? known[key]?.right : known[key]?.seen)).length;
}

/** The cards that are due, the longest first. */
export function due(progress: Progress, now = Date.now()): [key: string, card: Card][] {
  return Object.entries(progress.cards)
    .filter(([, card]) => Date.parse(card.due) <= now)
    .sort(([, a], [, b]) => Date.parse(a.due) - Date.parse(b.due));
}
