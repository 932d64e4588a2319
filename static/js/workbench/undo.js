// What was done to a draft's text, newest last: Undo leads back one by one and Redo forth again, whether it was done by a form, in the Policy tab, in the list of events or in the YAML. It is kept in this browser over a reload.

const KEPT = 50; // steps
const HELD = 20_000_000; // characters of all steps together
const STORED = 1_000_000; // characters of all steps together that outlive a reload
const SAFE = 65_521; // of the checksum: the largest prime below 2^16

/** What turns `before` into `after`: `[at, the characters that go, those that come]`. */
export function splice(before, after) {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at += 1;
  let end = 0;
  while (end < most - at && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end += 1;
  return [at, before.slice(at, before.length - end), after.slice(at, after.length - end)];
}

/** The text with one piece of it replaced; null if that piece does not stand there. */
function replaced(text, at, old, put) {
  return text.startsWith(old, at) ? text.slice(0, at) + put + text.slice(at + old.length) : null;
}

const size = ([words, , old, put]) => words.length + old.length + put.length;

/** Tells texts apart (Adler-32 and the length): whether what is stored belongs to the text that is there. */
function sum(text) {
  let a = 1;
  let b = 0;
  for (let i = 0; i < text.length; i += 1) { a = (a + text.charCodeAt(i)) % SAFE; b = (b + a) % SAFE; }
  return `${text.length}.${b}.${a}`;
}

export class Undo {
  #done = []; // [what was done, at, the characters that went, those that came]
  #undone = []; // the same, newest undone last
  #stands = ""; // sum of the text that they lead on from; "" while nothing is known
  #busy = false;

  constructor(view, { apply, dirty, text, now, store = "" }) {
    Object.assign(this, { view, apply, dirty, text, now });
    this.store = store; // under which key of the browser's storage; "" keeps nothing
    this.#recall();
  }

  get last() { return this.#done.at(-1)?.[0] ?? ""; }

  get next() { return this.#undone.at(-1)?.[0] ?? ""; }

  get depth() { return this.#done.length; }

  push(words, before) {
    const after = this.now() ?? before;
    if (this.#stands && this.#stands !== sum(before)) this.#done = []; // somebody else wrote the draft in between
    this.#done.push([words, ...splice(before, after)]);
    this.#undone = [];
    let held = this.#done.reduce((all, step) => all + size(step), 0);
    while (this.#done.length > 1 && (this.#done.length > KEPT || held > HELD)) held -= size(this.#done.shift());
    this.#keep(after);
    this.view.emit("edits");
  }

  /** Bring back the text before the last change; what that was, "" if there is none. */
  back() { return this.#lead(this.#done, this.#undone, ([, at, old, put], text) => replaced(text, at, put, old)); }

  /** Do again what was undone last; what that is, "" if there is nothing. */
  forth() { return this.#lead(this.#undone, this.#done, ([, at, old, put], text) => replaced(text, at, old, put)); }

  async #lead(from, to, change) {
    const step = from.at(-1);
    if (!step || this.#busy) return "";
    if (this.dirty()) throw new Error("The YAML has changes that are not applied. Apply or discard them first.");
    this.#busy = true;
    try {
      const text = await this.text();
      const wanted = this.#stands === sum(text) ? change(step, text) : null;
      if (wanted === null) {
        this.#forget();
        throw new Error("The draft was changed elsewhere since, so what was done here before cannot be taken back.");
      }
      await this.apply(wanted);
      to.push(from.pop());
      this.#keep(wanted);
    } finally {
      this.#busy = false;
      this.view.emit("edits");
    }
    return step[0];
  }

  // ---- over a reload

  #forget() {
    this.#done.length = 0;
    this.#undone.length = 0;
    this.#keep("");
  }

  #keep(text) {
    this.#stands = text ? sum(text) : "";
    if (!this.store) return;
    let room = STORED;
    const fits = (steps) => steps.toReversed().filter((step) => { room -= size(step); return room > 0; }).reverse();
    try {
      const done = fits(this.#done);
      const undone = fits(this.#undone);
      if (done.length || undone.length) this.#put(JSON.stringify({ stands: this.#stands, done, undone }));
      else localStorage.removeItem(this.store);
    } catch { /* storage is full or off: Undo works until the page is left */ }
  }

  /** Where there is no room, the histories of other drafts give way. */
  #put(text) {
    try { localStorage.setItem(this.store, text); } catch {
      const own = this.store.slice(0, this.store.lastIndexOf(".") + 1);
      for (const key of Object.keys(localStorage)) if (key.startsWith(own) && key !== this.store) localStorage.removeItem(key);
      localStorage.setItem(this.store, text);
    }
  }

  #recall() {
    if (!this.store) return;
    try {
      const { stands, done, undone } = JSON.parse(localStorage.getItem(this.store) ?? "{}");
      const sound = (steps) => Array.isArray(steps) && steps.every((step) => Array.isArray(step) && step.length === 4 && typeof step[0] === "string" && Number.isInteger(step[1]) && typeof step[2] === "string" && typeof step[3] === "string");
      if (typeof stands !== "string" || !sound(done) || !sound(undone)) return;
      this.#done = done.slice(-KEPT);
      this.#undone = undone.slice(-KEPT);
      this.#stands = stands;
    } catch { /* nothing that can be read is nothing */ }
  }
}
