// The progress of who is signed in, exchanged with the account: what this browser has changed since, for what other
// devices have. One request as a page opens and one when the learner pauses, rather than one per click; what cannot be
// sent waits in this browser for the next page.

import { $ } from "../lib/dom.ts";
import {
  keep,
  KEY,
  learner,
  load,
  LOCAL,
  merge,
  nothing,
  onChange,
  read,
  type LessonProgress,
  type Progress,
} from "./progress.ts";
import { gettext } from "./words.ts";

const PAUSE = 15_000; // milliseconds without a change
const PATIENCE = 2_500; // that a page waits for what another device has
const CARRIED = 60_000; // characters that a browser sends from a page that is left
const COPY = /^podstep\.lessons\.\w{12}$/;
const NAME = /^[\w-]+(\/[\w-]+)?$/; // what a platform launched is that platform's
const sentOf = (key: string) => `${key}.sent`;

/** What the account is known to have: a revision, and its progress. */
interface Sent {
  revision: number;
  progress: Progress;
}

function known(key = KEY): Sent {
  try {
    const found = JSON.parse(localStorage.getItem(sentOf(key)) ?? "null");
    return { revision: Number(found?.revision) || 0, progress: read(JSON.stringify(found?.progress)) ?? nothing() };
  } catch {
    return { revision: 0, progress: nothing() };
  }
}

/** What has changed since. */
function unsent(key = KEY): Progress {
  const { lessons, cards } = known(key).progress;
  const mine = load(key);
  const fresh = <V>(ours: Record<string, V>, theirs: Record<string, V>) =>
    Object.fromEntries(
      Object.entries(ours).filter(
        ([key, one]) => NAME.test(key) && JSON.stringify(one) !== JSON.stringify(theirs[key]),
      ),
    );
  return { version: 1, lessons: fresh(mine.lessons, lessons), cards: fresh(mine.cards, cards) };
}

const isEmpty = ({ lessons, cards }: Progress) => !Object.keys(lessons).length && !Object.keys(cards).length;

/** The same without what is not known, which a file writes as "". */
function wire({ version, lessons, cards }: Progress) {
  const full = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
  const lesson = (one: LessonProgress) => ({
    ...full(one),
    stops: Object.fromEntries(Object.entries(one.stops).map(([key, stop]) => [key, full(stop)])),
  });
  return {
    version,
    lessons: Object.fromEntries(Object.entries(lessons).map(([slug, one]) => [slug, lesson(one)])),
    cards,
  };
}

// --- what this browser had before it was signed in, and what others left in it

/** What the browser had without an account is the account's, as everything else that it made. */
function claim() {
  if (!learner || localStorage.getItem(LOCAL) === null) return;
  const mine = load();
  merge(mine, load(LOCAL));
  if (keep(mine)) localStorage.removeItem(LOCAL);
}

const copies = () => Object.keys(localStorage).filter((key) => COPY.test(key) && key !== KEY);

function drop(key: string) {
  localStorage.removeItem(key);
  localStorage.removeItem(sentOf(key));
}

/** Forget the copies of accounts that the browser is signed out of, unless one has what its account has not. */
const forget = () =>
  copies()
    .filter((key) => isEmpty(unsent(key)))
    .forEach(drop);

/** The progress of an account that was deleted is this browser's. */
export function inherit(account: string) {
  const key = `${LOCAL}.${account}`;
  const mine = load(LOCAL);
  merge(mine, load(key));
  if (keep(mine, LOCAL)) drop(key);
}

let settled = false;

function settle() {
  if (settled) return;
  settled = true;
  try {
    claim();
    forget();
  } catch {
    // storage is off
  }
}

// --- exchanging

const watchers: ((message: string) => void)[] = [];
/** Call back with why the account does not take what the browser has. */
export const onTrouble = (watcher: (message: string) => void) => void watchers.push(watcher);

let ended = false; // by another sign-in, which only another page knows of
let pause: ReturnType<typeof setTimeout> | undefined;
let exchange: Promise<void> | null = null;

function later(milliseconds: number) {
  clearTimeout(pause);
  pause = setTimeout(() => void sync(), milliseconds);
}

/** Send what has changed, and take what other devices have. */
export function sync(): Promise<void> {
  settle();
  clearTimeout(pause);
  pause = undefined;
  exchange ??= send()
    .catch(() => {}) // offline: the next page or the next change sends it
    .finally(() => {
      exchange = null;
    });
  return exchange;
}

async function send() {
  if (!learner || ended) return;
  const before = known();
  const part = unsent();
  if (isEmpty(part) && before.revision === learner.revision) return;
  const body = JSON.stringify({ account: learner.account, revision: before.revision, progress: wire(part) });
  const response = await fetch("/learn/progress", {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-CSRFToken": ($("input[name=csrfmiddlewaretoken]") as HTMLInputElement).value,
    },
    body,
    keepalive: body.length < CARRIED,
  });
  if (response.ok) return take(await response.json(), before, part);
  if (response.status === 429 || response.status === 503)
    later(1_000 * (Number(response.headers.get("Retry-After")) || 60));
  else if (response.status === 413 || response.status === 507)
    watchers.forEach((tell) =>
      tell(gettext("The account takes no more progress. It stays in this browser; export it as a file.")),
    );
  else ended = true;
}

function take(given: { revision: number; progress: unknown }, before: Sent, part: Progress) {
  const others = given.progress ? read(JSON.stringify(given.progress)) : null;
  if (!others) merge(before.progress, part);
  const sent = JSON.stringify({ revision: given.revision, progress: others ?? before.progress });
  localStorage.setItem(sentOf(KEY), sent);
  learner!.revision = given.revision;
  if (!others) return;
  merge(others, load()); // which may have gone on since
  keep(others);
}

/** Wait a moment for what another device has, if it has anything. */
export async function caughtUp() {
  settle();
  if (!learner || known().revision === learner.revision) return;
  await Promise.race([sync(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}

if (learner) {
  let onward = false; // to another page of this server, which sends what this one has not
  onChange(() => later(PAUSE));
  addEventListener("online", () => void sync());
  document.addEventListener("click", ({ target }) => {
    const link = (target as Element).closest("a");
    onward = link?.origin === location.origin && !link.target;
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && pause && !onward) void sync();
  });
}
