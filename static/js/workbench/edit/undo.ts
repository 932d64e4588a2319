// What was done to a draft's text in this tab, newest last: Undo leads back one by one and Redo forth again, whether it
// was done by a form, in the Policy tab, in the list of events or in the YAML. It is kept in this tab over a reload,
// and in this browser for the next tab. What other tabs have saved in between is in both lists too, without words: it
// is never taken back. To undo what was done before it is an edit like any other, merged with the current text.

import type { Draft } from "../draft/draft.ts";
import type { View } from "../view/view.ts";

/** what was done to a text, and how */
export type Step = [words: string | null, at: number, gone: string, come: string];

const KEPT = 50; // steps
const HELD = 20_000_000; // characters of all steps together
const STORED = 1_000_000; // characters of all steps and of the text together that outlive a reload
const FORMAT = 2;
const ELSEWHERE = null; // the words of a step that another tab has made
const SAFE = 65_521; // of the checksum: the largest prime below 2^16

/** What turns `before` into `after`: `[at, the characters that go, those that come]`. */
export function splice(before: string, after: string): [at: number, gone: string, come: string] {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at += 1;
  let end = 0;
  while (end < most - at && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end))
    end += 1;
  return [at, before.slice(at, before.length - end), after.slice(at, after.length - end)];
}

/** The text with one piece of it replaced; null if that piece does not stand there. */
export function replaced(text: string, at: number, old: string, put: string) {
  return text.startsWith(old, at) ? text.slice(0, at) + put + text.slice(at + old.length) : null;
}

const size = ([words, , old, put]: Step) => (words ?? "").length + old.length + put.length;

/** Tells texts apart (Adler-32 and the length): whether what is stored belongs to the text that is there. */
function sum(text: string) {
  let a = 1;
  let b = 0;
  for (let i = 0; i < text.length; i += 1) {
    a = (a + text.charCodeAt(i)) % SAFE;
    b = (b + a) % SAFE;
  }
  return `${text.length}.${b}.${a}`;
}

export class Undo {
  change: Draft["change"];
  dirty: () => boolean;
  text: () => Promise<string>;
  store: string;
  #done: Step[] = []; // [what was done, at, the characters that went, those that came]
  #undone: Step[] = []; // the same of undoing, newest last
  #text: string | null = null; // that they lead back from; null where it is not known
  #stands = ""; // its sum; "" while nothing is known
  #busy = false;

  constructor(
    readonly view: View,
    {
      change,
      dirty,
      text,
      store = "",
    }: { change: Draft["change"]; dirty: () => boolean; text: () => Promise<string>; store?: string },
  ) {
    this.change = change;
    this.dirty = dirty;
    this.text = text;
    this.store = store; // under which key of the browser's storages; "" keeps nothing
    this.#recall();
  }

  get last() {
    return newest(this.#done)?.[0] ?? "";
  }

  get next() {
    return newest(this.#undone)?.[0] ?? "";
  }

  get depth() {
    return this.#done.length;
  }

  /** Note what has just been done to a text. */
  push(words: string, before: string, after: string) {
    if (!this.#follow(before)) this.#done = [];
    this.#done.push([words, ...splice(before, after)]);
    this.#undone = [];
    this.#trim();
    this.#keep(after);
    this.view.store.edits.value = {};
  }

  /** Take back the last change of this tab; what that was, "" if there is none. */
  back() {
    return this.#lead(this.#done, this.#undone);
  }

  /** Do again what was undone last; what that is, "" if there is nothing. */
  forth() {
    return this.#lead(this.#undone, this.#done);
  }

  async #lead(from: Step[], to: Step[]) {
    if (!newest(from) || this.#busy) return "";
    if (this.dirty()) throw new Error("The YAML has changes that are not applied. Apply or discard them first.");
    this.#busy = true;
    try {
      const text = await this.text();
      const followed = this.#follow(text);
      const way = followed ? this.#way(from, text) : null;
      if (!way) {
        this.#forget();
        throw new Error("The draft was changed elsewhere in the meantime, so earlier changes here cannot be undone.");
      }
      const { based, wanted, words, taken } = way;
      const answer = await this.change(() => ({ text: wanted }), { based, whole: true });
      this.#follow(answer.before); // of another tab's that came while it was made
      from.splice(from.length - taken - (answer.before === text ? 0 : 1));
      if (answer.text !== wanted) from.push([ELSEWHERE, ...splice(wanted, answer.text)]);
      if (answer.text !== answer.before) to.push([words, ...splice(answer.before, answer.text)]);
      this.#trim();
      this.#keep(answer.text);
      return words;
    } finally {
      this.#busy = false;
      this.view.store.edits.value = {};
    }
  }

  /** The last step of one's own: the text that it led to, the one that it came from, and how many steps that takes. */
  #way(steps: Step[], text: string) {
    let based = text;
    for (let i = steps.length - 1; i >= 0; i -= 1) {
      const [words, at, old, put] = steps[i];
      const before = replaced(based, at, put, old);
      if (before === null) return null;
      if (words !== ELSEWHERE) return { based, wanted: before, words, taken: steps.length - i };
      based = before;
    }
    return null;
  }

  /** Take note of what another tab has saved; false where it is not known from what. */
  #follow(text: string) {
    if (this.#text === text || (!this.#stands && !this.#done.length && !this.#undone.length)) {
      this.#text = text;
      return true;
    }
    if (this.#text === null) {
      if (this.#stands !== sum(text)) return false;
    } else {
      const step: Step = [ELSEWHERE, ...splice(this.#text, text)];
      for (const steps of [this.#done, this.#undone]) if (steps.length) steps.push(step);
    }
    this.#text = text;
    this.#stands = sum(text);
    return true;
  }

  #trim() {
    for (const steps of [this.#done, this.#undone]) {
      let held = steps.reduce((all, step) => all + size(step), 0);
      while (steps.length > 1 && (steps.length > KEPT || held > HELD)) held -= size(steps.shift() as Step);
    }
  }

  // ---- over a reload

  #forget() {
    this.#done.length = 0;
    this.#undone.length = 0;
    this.#keep("");
  }

  #keep(text: string) {
    this.#text = text || null;
    this.#stands = text ? sum(text) : "";
    if (!this.store) return;
    let room = STORED;
    const fits = (steps: Step[]) =>
      steps
        .toReversed()
        .filter((step) => {
          room -= size(step);
          return room > 0;
        })
        .reverse();
    const done = fits(this.#done);
    const undone = fits(this.#undone);
    const kept =
      done.length || undone.length
        ? JSON.stringify({
            format: FORMAT,
            stands: this.#stands,
            done,
            undone,
            ...(text.length < room ? { text } : {}),
          })
        : null;
    try {
      if (kept) sessionStorage.setItem(this.store, kept);
      else sessionStorage.removeItem(this.store);
    } catch {
      /* storage is full or off: what the browser keeps may do */
    }
    try {
      if (kept) this.#put(kept);
      else localStorage.removeItem(this.store);
    } catch {
      /* storage is full or off: Undo works until the page is left */
    }
  }

  /** Where there is no room, the histories of other drafts give way. */
  #put(text: string) {
    try {
      localStorage.setItem(this.store, text);
    } catch {
      const own = this.store.slice(0, this.store.lastIndexOf(".") + 1);
      for (const key of Object.keys(localStorage))
        if (key.startsWith(own) && key !== this.store) localStorage.removeItem(key);
      localStorage.setItem(this.store, text);
    }
  }

  #recall() {
    if (!this.store) return;
    try {
      const { format, stands, done, undone, text } = JSON.parse(
        sessionStorage.getItem(this.store) ?? localStorage.getItem(this.store) ?? "{}",
      );
      const sound = (steps: unknown) =>
        Array.isArray(steps)
        && steps.every(
          (step) =>
            Array.isArray(step)
            && step.length === 4
            && (step[0] === ELSEWHERE || typeof step[0] === "string")
            && Number.isInteger(step[1])
            && typeof step[2] === "string"
            && typeof step[3] === "string",
        );
      if (format !== FORMAT || typeof stands !== "string" || !sound(done) || !sound(undone)) return;
      this.#done = done.slice(-KEPT);
      this.#undone = undone.slice(-KEPT);
      this.#stands = stands;
      if (typeof text === "string" && sum(text) === stands) this.#text = text;
    } catch {
      /* nothing that can be read is nothing */
    }
  }
}

/** The last step of one's own. */
const newest = (steps: Step[]) => steps.findLast(([words]) => words !== ELSEWHERE);
