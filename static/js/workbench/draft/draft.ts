// The draft that a page edits, which other tabs may edit too. Every edit names the text it was made on; where another
// one was saved since, it is merged with that, or the visitor decides. Nothing is ever saved over an edit that nobody
// here has seen.

import { $ } from "../../lib/dom.ts";
import { topic } from "../../lib/topic.ts";
import { hunks, merge, resolved, spares } from "../../lib/merge.ts";
import { refusalOf } from "../../lib/socket.ts";
import { conflict } from "./conflict.tsx";
import type { LeftOut, Revision } from "../../lib/protocol.js";
import type { Part } from "../../lib/merge.ts";
import type { Socket } from "../../lib/socket.ts";
import type { Choice } from "./conflict.tsx";

/** an edit that was made on a text */
export type Made = { text: string; words?: string; [more: string]: any };
export type Make = (text: string) => Made | Promise<Made>;
export type How = { whole?: boolean; keep?: boolean };
export type Receive = (answer: Response) => Promise<string>;
/** the same once it is saved; `left` of its text was not stored, and `given` is the text with it */
export type Edited = Made & { before: string; merged: boolean; left?: LeftOut; given?: string };

const OUTAGES = new Set([503, 507]); // of the server's storage
const UNLOADED = undefined as any; // in place of a text that no answer has brought yet
const TRIES = 8; // of one edit, while others are saved in between
export const AGAIN = 2_000; // milliseconds after which what failed is tried again, as nobody here can ask for it
export const OVERTAKEN = "draft.overtaken";

/** Why an edit was not saved: somebody decided so. What was typed stays where it was typed. */
function overtaken(message: string) {
  return Object.assign(new Error(message), { code: OVERTAKEN });
}

/** Two texts as parts of a merge: what is the same, and what is not. */
function differing(mine: string, theirs: string): Part[] {
  const [m, t] = [mine, theirs].map((text) => text.split("\n"));
  const parts: Part[] = [];
  let at = 0;
  for (const [from, to, first, last] of hunks(m, t)) {
    parts.push(
      { lines: m.slice(at, from) },
      { base: [], mine: m.slice(from, to), theirs: t.slice(first, last), line: first + 1 },
    );
    at = to;
  }
  return [...parts, { lines: m.slice(at) }];
}

/** The text of an answer, its byte order mark included. */
const whole = async (answer: Response) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(await answer.arrayBuffer());

/**
 * Emits "changed" with `{text, before, simulated}` when another tab's text has taken the place of the one here
 * (`simulated`: the simulation on screen is already of that text), "titled" with a title, and "gone", once.
 */
export class Draft {
  text: string = UNLOADED; // as the server has it
  revision = 0; // the one that the text is of
  titled = 0; // the one that the title is of
  shown = 0; // the one that is simulated
  socket: Socket;
  id: string;
  url: () => string;
  gone: boolean | undefined;
  /** Another tab has saved, which is simulated already or not. */
  readonly changed = topic<[change: { text: string; before: string; simulated: boolean }]>();
  readonly renamed = topic<[title: string]>();
  readonly vanished = topic();
  readonly leaving = topic();
  readonly failed = topic<[error: any]>();
  #turn: Promise<any> = Promise.resolve(); // edits are made one after the other
  #loading: Promise<void> | null = null;
  #newest = 0; // revision in which the text was changed last, as far as is known
  #due = false; // another tab saved while nobody looked at this page

  constructor({ socket, id, url }: { socket: Socket; id: string; url: () => string }) {
    this.socket = socket;
    this.id = id;
    this.url = url;
    if (!id) return;
    socket.on("draft.changed", (message) => {
      if (message.draft === id) this.#received(message);
    });
    socket.on("draft.gone", ({ draft }) => {
      if (draft === id) this.#gone();
    });
    socket.on("up", () => this.#watch());
    if (socket.connected) this.#watch();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#due) this.refresh();
    });
  }

  async #watch() {
    try {
      this.#received(await this.socket.call("draft.watch", { draft: this.id }));
    } catch (error) {
      if (refusalOf(error).code === "source.not-found") this.#gone();
      // A lost connection asks by itself once it is back; else nothing would be heard of other tabs any more.
      else setTimeout(() => this.socket.connected && void this.#watch(), AGAIN);
    }
  }

  /** Say it once: every connection that comes back asks for the draft again. */
  #gone() {
    if (this.gone) return;
    this.gone = true;
    this.vanished();
  }

  #received({ text, titled, title }: Revision) {
    if (titled > this.titled) {
      this.titled = titled;
      this.renamed(title);
    }
    this.#newest = Math.max(this.#newest, text);
    this.#look();
  }

  /** Which revision is simulated. */
  opened(revision?: number | null) {
    this.shown = revision ?? 0;
    this.#look();
  }

  /** Take over what another tab has saved, once somebody looks. */
  #look() {
    if (!this.shown || this.#newest <= Math.min(this.shown, this.text === undefined ? Infinity : this.revision)) return;
    if (document.hidden) this.#due = true;
    else this.refresh();
  }

  /** The text as it is here; loaded once, its answer read by `receive` where that is given. */
  async load(receive: Receive = whole): Promise<string> {
    if (this.text === undefined)
      await (this.#loading ??= this.#load(receive).finally(() => {
        this.#loading = null;
      }));
    return this.text;
  }

  async #load(receive: Receive) {
    const { text, revision } = await this.#fetch(receive);
    if (revision >= this.revision) Object.assign(this, { text, revision });
    this.#look(); // another tab may have saved while it was on its way
  }

  async #fetch(receive: Receive = whole) {
    const answer = await this.#answered();
    if (!answer.ok)
      throw new Error(answer.status === 404 ? "it no longer exists" : `the server answered ${answer.status}`);
    const revision = Number(/\d+/.exec(answer.headers.get("ETag") ?? "")?.[0] ?? 0);
    return { text: await receive(answer), revision };
  }

  /** The answer with the text; asked for again until the server's storage is back. */
  async #answered() {
    let end = null;
    try {
      for (;;) {
        const answer = await fetch(this.url(), { headers: { Accept: "text/plain" }, cache: "no-store" });
        if (!OUTAGES.has(answer.status)) return answer;
        end ??= this.socket.waits("draft.load");
        await new Promise((resolve) => {
          setTimeout(resolve, 1000 * (Number(answer.headers.get("Retry-After")) || 5));
        });
      }
    } finally {
      end?.();
    }
  }

  /** Take over what another tab has saved. */
  refresh() {
    this.#due = false;
    return this.#inTurn(() => this.#refresh()).catch((error) => {
      this.failed(error);
      setTimeout(() => !this.gone && this.#look(), AGAIN);
    });
  }

  async #refresh() {
    const before = this.text;
    if (before !== undefined && this.revision < this.#newest) {
      const { text, revision } = await this.#fetch();
      if (revision > this.revision) Object.assign(this, { text, revision });
      this.#newest = Math.max(this.#newest, revision);
    }
    const simulated = this.shown >= this.#newest;
    if (simulated && this.text === before) return;
    this.shown = Math.max(this.shown, this.#newest); // the listeners simulate that one
    this.changed({ text: this.text, before, simulated });
  }

  #inTurn<T>(act: () => T | Promise<T>): Promise<T> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => {});
    return done;
  }

  /**
   * Make an edit and save it. `make(text)` answers `{text, …}`: the edit made on a text. `based` is the text that
   * whoever edits has seen, the newest one without it. `whole`: the answer of `make` is a text that was typed, which
   * means nothing on another one; `keep`: env values, command lines and Secrets' data are stored. Resolves with what
   * `make` answered, `before` (the text that was saved over), `text`, and `merged`: whether another tab's edit is in it
   * that this one was not made on.
   */
  change(make: Make, { based, ...how }: { based?: string } & How = {}): Promise<Edited> {
    return this.#inTurn(() => this.#change(make, based, how));
  }

  async #change(make: Make, seen: string | undefined, { whole = false, keep = false }: How): Promise<Edited> {
    await this.load();
    const based = seen ?? this.text;
    const own = await make(based);
    for (let tries = 1; ; tries += 1) {
      const before = this.text;
      const merged = before !== based && before !== own.text;
      const made = merged ? await this.#merged(make, { based, own, now: before, whole }) : own;
      if (made.text === before) return { ...made, before, merged };
      try {
        const { revision, left, ...stored } = await this.socket.call("draft.save", {
          draft: this.id,
          text: made.text,
          base: this.revision,
          keep: keep ? "yes" : "",
        });
        const text = stored.text ?? made.text;
        Object.assign(this, { text, revision });
        this.#newest = Math.max(this.#newest, revision);
        this.shown = revision; // whoever makes an edit simulates it
        return { ...made, text, before, merged, left, given: made.text };
      } catch (error) {
        const { code, body } = refusalOf(error);
        if (code !== "draft.stale" || tries >= TRIES) throw error;
        this.#newest = Math.max(this.#newest, Number(body?.text));
        await this.#refresh();
      }
    }
  }

  /** An edit that was made on `based`, on what is there now. Throws where the visitor decides against it. */
  async #merged(
    make: Make,
    { based, own, now, whole }: { based: string; own: Made; now: string; whole: boolean },
  ): Promise<Made> {
    if (!whole) {
      try {
        const again = await make(now); // the same command once more: it knows objects where a merge knows lines
        if (spares(based, now, again.text)) return again;
      } catch {
        /* it cannot be made on that: the texts are looked at */
      }
    }
    const { parts, conflicts } = merge(based, own.text, now);
    const text = resolved(parts);
    if (!conflicts.length) {
      const wrong = await this.#wrong(text, own.text);
      return wrong ? this.#asked(own, now, wrong) : { ...own, text };
    }
    // The other lines of a typed text are still intended; a form's edit is made or it is not.
    return this.#decided(await conflict({ parts }), own, now, {
      parts,
      theirs: whole ? resolved(parts, "theirs") : now,
    });
  }

  /** What is wrong with a merged text that was not with the one that is merged, "" if nothing. */
  async #wrong(text: string, own: string) {
    const errors = async (asked: string) => (await this.socket.call("bundle.check", { text: asked })).errors;
    const [first] = await errors(text);
    return first && !(await errors(own)).length ? first.message : "";
  }

  /** Ask about two texts that cannot be one. */
  async #asked(own: Made, now: string, wrong: string): Promise<Made> {
    return this.#decided(await conflict({ parts: differing(own.text, now), wrong }), own, now);
  }

  async #decided(
    choice: Choice,
    own: Made,
    now: string,
    { parts = null, theirs = now }: { parts?: Part[] | null; theirs?: string } = {},
  ): Promise<Made> {
    if (choice === "branch") {
      await this.branch(own.text);
      throw overtaken("It is kept as a branch.");
    }
    if (!choice) throw overtaken("Nothing was saved: the draft has been changed in another tab.");
    const text = choice === "theirs" ? theirs : parts ? resolved(parts, choice) : own.text;
    if (text === now) throw overtaken("The other tab’s change was kept, and this one was discarded.");
    const wrong = parts ? await this.#wrong(text, own.text) : "";
    return wrong ? this.#asked(own, now, wrong) : { ...own, text, choice };
  }

  /** Save a text as a branch of this draft, and go there. */
  async branch(text: string) {
    const title = $("input[data-title]")?.value || "Untitled";
    const { url } = await this.socket.call("draft.branch", {
      draft: this.id,
      text,
      title: `${title}, from another tab`,
    });
    this.leaving();
    location.assign(`${url}${location.search}`);
  }

  /** Save a title. Throws `draft.stale` where another tab has given it one since. */
  async rename(title: string) {
    const { revision } = await this.socket.call("draft.save", { draft: this.id, title, base: this.titled });
    this.titled = Math.max(this.titled, revision);
  }
}
