// The threads of a scenario as this page knows them: read once, kept by what the server pushes, with what the visitor
// has not seen yet.

import { signal } from "../../kit/signals.ts";
import { keepName, nameKept } from "../rooms/kept.js";
/** @import { Comment, Source, Thread } from "../../lib/protocol.js" */
/** @import { Socket } from "../../lib/socket.js" */

const SEEN = "podstep.comments"; // by scenario: when the newest comment that was seen was written
const MOST = 50; // scenarios

/** @typedef {{ step: string, node?: string, pod?: string, rule?: string }} Anchor */

export class Threads {
  version = signal(0); // grows with every change
  /** @type {Thread[]} */
  all = [];
  /** @type {Set<string>} */
  #own = new Set(); // what this page has written

  /**
   * @param {Socket} socket
   * @param {Source} source
   */
  constructor(socket, source) {
    this.socket = socket;
    this.source = source;
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

  /** @param {Comment & Partial<Thread>} comment */
  #put(comment) {
    const mine = comment.mine || this.#own.has(comment.id);
    const thread = this.all.find(({ id }) => id === (comment.parent ?? comment.id));
    if (!comment.parent) {
      const known = { ...comment, mine: mine || Boolean(thread?.mine) };
      if (thread) Object.assign(thread, known);
      else this.all.push(/** @type {Thread} */ ({ ...known, replies: [] }));
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

  /** @param {Comment} comment */
  isNew({ mine, removed, created }) {
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

  /**
   * @param {Anchor | { parent: string }} where
   * @param {string} text
   * @param {string} name
   */
  async write(where, text, name) {
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

  /**
   * @param {string} comment
   * @param {string} text
   */
  async edit(comment, text) {
    this.#put(await this.socket.call("comment.edit", { source: this.source, comment, text }));
  }

  /** @param {Comment} comment */
  async remove(comment) {
    await this.socket.call("comment.remove", { source: this.source, comment: comment.id });
    this.#put({ ...comment, removed: true, text: "", name: "" });
  }

  /** @param {Thread} thread */
  async resolve(thread) {
    const open = thread.resolved;
    const { resolved } = await this.socket.call("comment.resolve", {
      source: this.source,
      comment: thread.id,
      ...(open ? { open } : {}),
    });
    this.#put({ ...thread, resolved });
  }
}

/** @returns {Record<string, string>} */
function seen() {
  try {
    return JSON.parse(localStorage.getItem(SEEN) ?? "{}") ?? {};
  } catch {
    return {};
  }
}
