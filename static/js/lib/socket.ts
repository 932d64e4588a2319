// The one WebSocket connection of a page. Speaks docs/protocol.md.
// Calls made while the connection is down wait, and those whose answer was lost are sent again when it is back:
// nearly every command is a read or safe to repeat. Those in ONCE make something new each time; whether the
// server did so nobody knows, so they fail and the user decides.

import { topic, type Topic } from "./topic.ts";
import type { Commands, Pushed, Refusal, Report, Source } from "./protocol.js";

export type Command = keyof Commands;
/** What is pushed, and what the connection itself reports. */
export type Heard = Pushed & {
  up: boolean;
  down: number;
  unavailable: { command: string; message: string };
  available: undefined;
};
export type CallOptions = {
  tries?: number;
  signal?: AbortSignal | null;
  progress?: ((report: Report) => void) | null;
};
/**
 * A call that is not answered yet: `sent` is its length once it was sent, `end` ends waiting for the server's storage.
 */
export type Call = {
  command: Command;
  payload: any;
  resolve: (answer: any) => void;
  reject: (error: CommandError) => void;
  tries: number;
  signal: AbortSignal | null;
  progress: ((report: Report) => void) | null;
  end?: () => void;
  outages?: number;
  sent?: number;
};
export type Early = { url: string; socket: WebSocket; frames: string[]; asked: string; claimed?: boolean };

const FIRST_WAIT = 250;
const LONGEST_WAIT = 10_000;
const RETRY_CODES = new Set(["rate.limited", "server.busy"]);
const RETRIES = 6;
const UNAVAILABLE = "server.unavailable"; // an outage of the server's storage: asked again however long it lasts
const LONGEST_OUTAGE_WAIT = 30; // seconds
const EARLY = "scenario.open"; // what link-early.js asks for
const ONCE = new Set([
  "audit.branch",
  "authoring.add",
  "branch.create",
  "branch.replay",
  "branch.try",
  "bundle.open",
  "cluster.create",
  "comment.write",
  "draft.branch",
  "draft.share",
  "link.create",
  "room.again",
  "room.ask",
  "run.start",
  "scenario.fork",
  "why.apply",
  "worth.copy",
]);
const LOST =
  "The connection was lost before the server answered. The request may have succeeded: check before you retry.";
const LARGE = 200_000; // characters from which sending a call reports progress
const SENDING_EVERY = 100;
const NOWHERE = "http://file.invalid/"; // of a document without an address, which a record answers
const TOO_LARGE = 1009; // the close code for a frame that the server does not even read

/** What an `error` frame carries. */
export class CommandError extends Error {
  code: string;
  body: Refusal;
  constructor(body: Refusal) {
    super(body.message || body.code);
    this.code = body.code;
    this.body = body;
  }
}

/** An error as the page shows it: the server's, or one of the browser's own, which has no `code` of the protocol. */
export function refusalOf(error: unknown): { message: string; code?: string; body?: Refusal } {
  if (error instanceof CommandError) return error;
  return { message: error instanceof Error ? error.message : String(error) };
}

/** Whether an error only means that this page has asked for something newer. */
export const superseded = (error: unknown) => refusalOf(error).code === "request.superseded";

const givenUp = () => new CommandError({ code: "request.superseded", message: "The request was cancelled." });

export class Socket {
  bytes = 0;
  url: string;
  #socket: WebSocket | null = null;
  #next = 1;
  #pending: Map<number, Call> = new Map();
  #topics = new Map<keyof Heard, Topic<[value: any]>>();
  #wait = FIRST_WAIT;
  #timer = 0;
  #opened = false;
  #closed = false;
  #waiting = 0; // calls that are sent again until the server's storage is back
  #early: Early | null = null; // what link-early.js has sent and received, until it is called for

  constructor(path = "/ws/") {
    const url = new URL(path, /^(about|blob|data):/.test(location.href) ? NOWHERE : location.href);
    const framed = /^\/e\/([^/]+)\/$/.exec(location.pathname);
    if (framed) {
      // What a frame may ask is bounded by the server, too: as in link-early.js.
      const query = new URLSearchParams(location.search);
      url.searchParams.set("frame", framed[1]);
      if (query.get("lock") === "1") {
        url.searchParams.set("lock", "1");
        url.searchParams.set("step", query.get("step") ?? "");
      } else if (query.get("veil"))
        for (const key of ["veil", "upto"]) if (query.has(key)) url.searchParams.set(key, query.get(key) ?? "");
    }
    const room = /^\/r\/([^/]+)\/$/.exec(location.pathname);
    if (room) url.searchParams.set("room", room[1]); // of which nothing is answered before it is joined
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.url = url.href;
    this.#connect(this.#adopt());
    addEventListener("online", () => this.#now());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#now();
    });
  }

  /** How many calls wait for their answer. */
  get unanswered() {
    return this.#pending.size;
  }

  get connected() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /**
   * Send a command; resolves with the payload of `success`, rejects with a CommandError. An AbortSignal gives it up and
   * stops its work on the server; `progress` receives how far it is while it is sent and worked on.
   */
  call<C extends Command>(
    command: C,
    payload: Commands[C]["asks"],
    { tries = RETRIES, signal = null, progress = null }: CallOptions = {},
  ): Promise<Commands[C]["answers"]> {
    return new Promise((resolve, reject) => {
      this.#call({ command, payload, resolve, reject, tries, signal, progress });
    });
  }

  #call(call: Call) {
    if (call.signal?.aborted) {
      call.reject(givenUp());
      return;
    }
    const early = call.command === EARLY && this.#claim(call.payload);
    const id = early ? 1 : this.#next++;
    this.#pending.set(id, { ...call, sent: early ? 1 : undefined });
    call.signal?.addEventListener("abort", () => this.#abandon(id), { once: true });
    if (!early && this.connected) this.#send(id);
  }

  /** Want no answer any more to a call, and have the server stop what it does for it. */
  #abandon(id: number) {
    const call = this.#pending.get(id);
    if (!call) return;
    this.#pending.delete(id);
    if (call.sent && this.connected)
      this.call("request.cancel", { request: id }).catch(() => {
        /* the connection is gone, and its work with it */
      });
    call.reject(givenUp());
  }

  /**
   * Say that something waits for the server's storage, until the returned function is called: "unavailable" is heard
   * with `{command, message}`, and "available" once nothing waits any more.
   */
  waits(command: string, message = "") {
    this.#waiting += 1;
    this.#topic("unavailable")({ command, message });
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#waiting -= 1;
      if (!this.#waiting) this.#topic("available")(undefined);
    };
  }

  /**
   * Listen to pushed frames by name, to "unavailable" and "available", and to "down" and "up" (true the first time),
   * until the returned function is called or `signal` aborts.
   */
  on<N extends keyof Heard>(name: N, listener: (value: Heard[N]) => void, options?: { signal?: AbortSignal }) {
    return this.#topic(name).on(listener, options);
  }

  #topic<N extends keyof Heard>(name: N): Topic<[value: Heard[N]]> {
    const found = this.#topics.get(name) ?? topic<[value: Heard[N]]>();
    this.#topics.set(name, found);
    return found;
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  /** Drop the connection as a failing network would (used by the browser tests). */
  drop() {
    this.#socket?.close();
  }

  /** The connection that the page's head made, if it lives. */
  #adopt() {
    const early = window.podstepEarly;
    window.podstepEarly = null; // also where there is none: a script that comes late must not make a second one
    if (!early || early.url !== this.url || early.socket.readyState > WebSocket.OPEN) return null;
    this.#next = 2;
    this.#early = early;
    this.#opened = early.socket.readyState === WebSocket.OPEN;
    return early.socket;
  }

  /** Whether this very thing was asked for early. Either way, messages on the connection are handled from now on. */
  #claim(payload: { source: Source; step?: string }) {
    const early = this.#early;
    if (!early || early.claimed) return false;
    early.claimed = true;
    const asked = early.asked === JSON.stringify(payload);
    early.asked ||= "-"; // it is too late for that
    this.#drain(early);
    return asked;
  }

  /** Deliver the frames buffered before the subscription, in order; those that arrive meanwhile wait their turn. */
  async #drain({ frames }: Early) {
    await null; // the caller has the promise first
    for (let text = frames.shift(); text !== undefined; text = frames.shift()) {
      this.#receive(text);
      await new Promise((resolve) => {
        setTimeout(resolve);
      });
    }
    this.#early = null;
  }

  #now() {
    if (this.connected || this.#closed || this.#socket?.readyState === WebSocket.CONNECTING) return;
    clearTimeout(this.#timer);
    this.#wait = FIRST_WAIT;
    this.#connect();
  }

  /** @param made one that is there already */
  #connect(made: WebSocket | null = null) {
    this.#giveUp();
    const socket = made ?? new WebSocket(this.url);
    this.#socket = socket;
    const asks = socket.onopen; // what link-early.js does once it is open
    socket.onopen = (event) => {
      asks?.call(socket, event);
      const first = !this.#opened;
      this.#opened = true;
      const waiting = [...this.#pending].filter(([, { sent }]) => !made || !sent);
      this.#topic("up")(first); // who hears of it sends by itself
      for (const [id] of waiting) this.#send(id);
    };
    socket.onmessage = (event) => {
      if (this.#early?.socket === socket) this.#early.frames.push(event.data);
      else this.#receive(event.data);
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket || this.#closed) return;
      if (event.code === TOO_LARGE) this.#refuseLargest();
      this.#giveUp();
      this.#topic("down")(this.#wait);
      const jitter = this.#wait * (0.75 + Math.random() / 2);
      this.#timer = setTimeout(() => this.#connect(), jitter);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    };
  }

  #send(id: number) {
    const call = this.#pending.get(id);
    const socket = this.#socket;
    if (!call || !socket) return;
    const text = JSON.stringify([call.command, id, call.payload]);
    call.sent = text.length;
    socket.send(text);
    if (call.progress && text.length > LARGE) this.#watchSending(id, socket, socket.bufferedAmount);
  }

  /** Tell how much of a large call has left the browser. */
  #watchSending(id: number, socket: WebSocket, of: number) {
    const call = this.#pending.get(id);
    const left = socket.bufferedAmount;
    if (!call?.progress || socket !== this.#socket || !of) return;
    call.progress({ stage: "sending", done: Math.max(0, of - left), of });
    if (left) setTimeout(() => this.#watchSending(id, socket, of), SENDING_EVERY);
  }

  #fail(id: number, code: string, message: string) {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    call?.reject(new CommandError({ code, message }));
  }

  /** Fail the calls that were sent on the connection before and must not be sent twice. */
  #giveUp() {
    for (const [id, { command, sent }] of this.#pending)
      if (sent && ONCE.has(command)) this.#fail(id, "connection.lost", LOST);
  }

  /** Fail the longest call: sent again, it would end the next connection too. */
  #refuseLargest() {
    const sent = [...this.#pending].map(([id, call]) => ({ id, size: call.sent ?? 0 })).filter(({ size }) => size);
    const [longest] = sent.sort((a, b) => b.size - a.size);
    if (longest) this.#fail(longest.id, "frame.too-large", "This is too large for one message.");
  }

  #receive(text: string) {
    this.bytes += text.length;
    this.#wait = FIRST_WAIT;
    const [name, id, payload] = JSON.parse(text);
    if (id === null) {
      if (name === "request.progress") this.#pending.get(payload.request)?.progress?.(payload);
      else this.#topic(name)(payload);
      return;
    }
    const call = this.#pending.get(id);
    if (!call) return;
    this.#pending.delete(id);
    if (name === "success") {
      call.resolve(payload);
      return;
    }
    if (payload.code === UNAVAILABLE && !ONCE.has(call.command)) {
      this.#retryOutage(call, payload);
      return;
    }
    if (RETRY_CODES.has(payload.code) && call.tries > 0) {
      const wait = (payload.retryAfter ?? 0.4 * 2 ** (RETRIES - call.tries)) * 1000;
      setTimeout(() => this.#call({ ...call, tries: call.tries - 1 }), wait);
      return;
    }
    call.reject(new CommandError(payload));
  }

  /** Send a call again until the server's storage is back, ever less often. */
  #retryOutage(call: Call, { message, retryAfter = 1 }: Refusal) {
    const end = call.end ?? this.waits(call.command, message);
    const outages = (call.outages ?? 0) + 1;
    const settle: <T>(act: (value: T) => void) => (value: T) => void = (act) => (value) => {
      end();
      act(value);
    };
    const resolve = call.end ? call.resolve : settle(call.resolve);
    const reject = call.end ? call.reject : settle(call.reject);
    // Jitter: pages that wait for one server do not all come back at once.
    const wait = Math.min(retryAfter * 1.5 ** (outages - 1), LONGEST_OUTAGE_WAIT) * (0.75 + Math.random() / 2) * 1000;
    const timer = setTimeout(() => this.#call({ ...call, resolve, reject, end, outages }), wait);
    call.signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(givenUp());
      },
      { once: true },
    );
  }
}
