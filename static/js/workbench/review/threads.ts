// The threads of a scenario as this page knows them: read once, kept by what the server pushes, with what the visitor
// has not seen yet.

import { signal } from "../../kit/signals.ts";
import { keepName, nameKept } from "../rooms/kept.ts";
import type { Comment, Source, Thread } from "../../lib/protocol.js";
import type { Socket } from "../../lib/socket.ts";

const SEEN = "podstep.comments"; // by scenario: when the newest comment that was seen was written
const MOST = 50; // scenarios

export type Anchor = { step: string; node?: string; pod?: string; rule?: string };

export class Threads {
  scenario: string;
  readOnly: boolean;
  seen: string;
  version = signal(0); // grows with every change
  all: Thread[] = [];
  #own: Set<string> = new Set(); // what this page has written

  constructor(
    readonly socket: Socket,
    readonly source: Source,
  ) {
    this.scenario = source.scenario ?? ""; // of a branch the one that it comes of, once it is known
    this.readOnly = !source.scenario;
    this.seen = seen()[this.scenario] ?? "";
    socket.on("comment.changed", ({ scenario, comment }) => {
      if (scenario === this.scenario) this.#put(comment);
    });
    socket.on("up", (first) => {
      if (!first) this.load();
    });
  }

  async load() {
    const { scenario, threads } = await this.socket.call("comment.watch", { source: this.source });
    if (scenario !== this.scenario) this.seen = seen()[scenario] ?? "";
    this.scenario = scenario;
    this.all = threads;
    this.version.value += 1;
  }

  /** Show none, until all are loaded again. */
  hide() {
    this.all = [];
    this.version.value += 1;
  }

  #put(comment: Comment & Partial<Thread>) {
    const mine = comment.mine || this.#own.has(comment.id);
    const thread = this.all.find(({ id }) => id === (comment.parent ?? comment.id));
    if (!comment.parent) {
      const known = { ...comment, mine: mine || Boolean(thread?.mine) };
      if (thread) Object.assign(thread, known);
      else this.all.push({ ...known, replies: [] } as Thread);
    } else if (thread) {
      const reply = thread.replies.find(({ id }) => id === comment.id);
      const known = { ...comment, mine: mine || Boolean(reply?.mine) };
      if (reply) Object.assign(reply, known);
      else thread.replies.push(known);
      thread.replies = thread.replies.filter(({ removed }) => !removed);
    }
    this.all = this.all.filter(({ removed, replies }) => !removed || replies.length);
    this.version.value += 1;
  }

  /** How many threads are open. */
  get open() {
    return this.all.filter(({ resolved }) => !resolved).length;
  }

  /** How many comments of others the visitor has not seen. */
  get unread() {
    return this.all.flatMap((thread) => [thread, ...thread.replies]).filter((one) => this.isNew(one)).length;
  }

  isNew({ mine, removed, created }: Comment) {
    return !mine && !removed && created > this.seen;
  }

  /** All that is there was seen: it counts as new no more once the page is left, or the panel closed. */
  see() {
    const all = this.all.flatMap((thread) => [thread, ...thread.replies]);
    this.seen = all.reduce((newest, { created }) => (created > newest ? created : newest), this.seen);
    try {
      const kept = Object.entries({ ...seen(), [this.scenario]: this.seen });
      localStorage.setItem(SEEN, JSON.stringify(Object.fromEntries(kept.slice(-MOST))));
    } catch {
      /* for this visit only */
    }
    this.version.value += 1;
  }

  async write(where: Anchor | { parent: string }, text: string, name: string) {
    if (name !== nameKept()) keepName(name);
    const written = await this.socket.call("comment.write", {
      source: this.source,
      ...where,
      text,
      ...(name ? { name } : {}),
    });
    this.#own.add(written.id);
    this.#put(written);
    return written;
  }

  async edit(comment: string, text: string) {
    this.#put(await this.socket.call("comment.edit", { source: this.source, comment, text }));
  }

  async remove(comment: Comment) {
    await this.socket.call("comment.remove", { source: this.source, comment: comment.id });
    this.#put({ ...comment, removed: true, text: "", name: "" });
  }

  async resolve(thread: Thread) {
    const open = thread.resolved;
    const { resolved } = await this.socket.call("comment.resolve", {
      source: this.source,
      comment: thread.id,
      ...(open ? { open } : {}),
    });
    this.#put({ ...thread, resolved });
  }
}

function seen(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(SEEN) ?? "{}") ?? {};
  } catch {
    return {};
  }
}
