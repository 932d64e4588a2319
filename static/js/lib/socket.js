// The one WebSocket connection of a page. Speaks docs/protocol.md.
// Calls made while the connection is down wait, and those whose answer was lost are sent again when it is back:
// nearly every command is a read or safe to repeat. Those in ONCE make something new each time; whether the
// server did so nobody knows, so they fail and the user decides.

const FIRST_WAIT = 250;
const LONGEST_WAIT = 10_000;
const RETRY_CODES = new Set(["rate.limited", "server.busy"]);
const RETRIES = 6;
const UNAVAILABLE = "server.unavailable"; // an outage of the server's storage: asked again however long it lasts
const LONGEST_OUTAGE_WAIT = 30; // seconds
const EARLY = "scenario.open"; // what link-early.js asks for
const ONCE = new Set([
  "branch.create",
  "bundle.open",
  "draft.branch",
  "draft.share",
  "run.start",
  "scenario.fork",
  "why.apply",
  "worth.copy",
]);
const LOST =
  "The connection broke before the server answered. It may have been done all the same: look before you try again.";
const LARGE = 200_000; // characters of a call whose sending is told of
const SENDING_EVERY = 100;
const TOO_LARGE = 1009; // the close code for a frame that the server does not even read

/** Whether an error says no more than that this page has asked for something newer. */
export const superseded = (error) => error.code === "request.superseded";

/** What an `error` frame carries. */
class CommandError extends Error {
  constructor(body) {
    super(body.message || body.code);
    this.code = body.code;
    this.body = body;
  }
}

const givenUp = () => new CommandError({ code: "request.superseded", message: "It was given up." });

export class Socket {
  #socket = null;
  #next = 1;
  #pending = new Map();
  #listeners = new Map();
  #wait = FIRST_WAIT;
  #timer = 0;
  #opened = false;
  #closed = false;
  #waiting = 0; // calls that are sent again until the server's storage is back
  #early = null; // what link-early.js has sent and heard, until it is called for

  constructor(path = "/ws/") {
    const url = new URL(path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.url = url.href;
    this.bytes = 0;
    this.#connect(this.#adopt());
    addEventListener("online", () => this.#now());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#now();
    });
  }

  get connected() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /**
   * Send a command; resolves with the payload of `success`, rejects with a CommandError. An AbortSignal gives it up and
   * stops its work on the server; `progress` is told `{stage, done, of}` while it is sent and worked on.
   */
  call(command, payload = {}, { tries = RETRIES, signal = null, progress = null } = {}) {
    return new Promise((resolve, reject) => {
      this.#call(command, payload, { resolve, reject, tries, signal, progress });
    });
  }

  #call(command, payload, { resolve, reject, tries, signal, progress, end, outages }) {
    if (signal?.aborted) {
      reject(givenUp());
      return;
    }
    const early = command === EARLY && this.#claim(payload);
    const id = early ? 1 : this.#next++;
    this.#pending.set(id, {
      command,
      payload,
      resolve,
      reject,
      tries,
      signal,
      progress,
      end,
      outages,
      ...(early ? { sent: 1 } : {}),
    });
    signal?.addEventListener("abort", () => this.#abandon(id), { once: true });
    if (!early && this.connected) this.#send(id);
  }

  /** Want no answer any more to a call, and have the server stop what it does for it. */
  #abandon(id) {
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
   * Say that something waits for the server's storage, until the returned function is called: emits "unavailable" with
   * `{command, message}`, and "available" once nothing waits any more.
   */
  waits(command, message = "") {
    this.#waiting += 1;
    this.#emit("unavailable", { command, message });
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#waiting -= 1;
      if (!this.#waiting) this.#emit("available");
    };
  }

  /**
   * Listen to pushed frames by name, to "unavailable" and "available", and to "down" and "up" (true the first time),
   * until the returned function is called or `signal` aborts.
   */
  on(name, listener, { signal } = {}) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    const end = () => this.#listeners.get(name).delete(listener);
    signal?.addEventListener("abort", end, { once: true });
    return end;
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

  #emit(name, value) {
    for (const listener of this.#listeners.get(name) ?? []) listener(value);
  }

  /** The connection that the page's head made, if it lives. */
  #adopt() {
    const early = window.podstepEarly;
    window.podstepEarly = null; // also where there is none: a script that comes late must not make a second one
    if (early?.url !== this.url || early.socket.readyState > WebSocket.OPEN) return null;
    this.#next = 2;
    this.#early = early;
    this.#opened = early.socket.readyState === WebSocket.OPEN;
    return early.socket;
  }

  /** Whether this very thing was asked for early. Whether or not, what came on the connection is heard from now on. */
  #claim(payload) {
    const early = this.#early;
    if (!early || early.claimed) return false;
    early.claimed = true;
    const asked = early.asked === JSON.stringify(payload);
    early.asked ||= "-"; // it is too late for that
    this.#drain();
    return asked;
  }

  /**
   * Receive what came before it was asked for, one frame after the other as if it came now; what comes meanwhile waits
   * its turn.
   */
  async #drain() {
    const { frames } = this.#early;
    await null; // the caller has the promise first
    while (frames.length) {
      this.#receive(frames.shift());
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

  #connect(made = null) {
    this.#giveUp();
    const socket = made ?? new WebSocket(this.url);
    this.#socket = socket;
    const asks = socket.onopen; // what link-early.js does once it is open
    socket.onopen = () => {
      asks?.call(socket);
      const first = !this.#opened;
      this.#opened = true;
      this.#emit("up", first);
      for (const [id, { sent }] of this.#pending) if (!made || !sent) this.#send(id);
    };
    socket.onmessage = (event) => {
      if (this.#early?.socket === socket) this.#early.frames.push(event.data);
      else this.#receive(event.data);
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket || this.#closed) return;
      if (event.code === TOO_LARGE) this.#refuseLargest();
      this.#giveUp();
      this.#emit("down", this.#wait);
      const jitter = this.#wait * (0.75 + Math.random() / 2);
      this.#timer = setTimeout(() => this.#connect(), jitter);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    };
  }

  #send(id) {
    const call = this.#pending.get(id);
    const text = JSON.stringify([call.command, id, call.payload]);
    call.sent = text.length;
    this.#socket.send(text);
    if (call.progress && text.length > LARGE) this.#watchSending(id, this.#socket, this.#socket.bufferedAmount);
  }

  /** Tell how much of a large call has left the browser. */
  #watchSending(id, socket, of) {
    const call = this.#pending.get(id);
    const left = socket.bufferedAmount;
    if (!call || socket !== this.#socket || !of) return;
    call.progress({ stage: "sending", done: Math.max(0, of - left), of });
    if (left) setTimeout(() => this.#watchSending(id, socket, of), SENDING_EVERY);
  }

  #fail(id, code, message) {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    call.reject(new CommandError({ code, message }));
  }

  /** Fail the calls that were sent on the connection before and must not be sent twice. */
  #giveUp() {
    for (const [id, { command, sent }] of this.#pending)
      if (sent && ONCE.has(command)) this.#fail(id, "connection.lost", LOST);
  }

  /** Fail the longest call: sent again, it would end the next connection too. */
  #refuseLargest() {
    const sent = [...this.#pending].filter(([, call]) => call.sent).sort((a, b) => b[1].sent - a[1].sent);
    if (sent.length) this.#fail(sent[0][0], "frame.too-large", "This is too large to be sent at once.");
  }

  #receive(text) {
    this.bytes += text.length;
    this.#wait = FIRST_WAIT;
    const [name, id, payload] = JSON.parse(text);
    if (id === null) {
      if (name === "request.progress") this.#pending.get(payload.request)?.progress?.(payload);
      else this.#emit(name, payload);
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
      setTimeout(
        () => this.call(call.command, call.payload, { ...call, tries: call.tries - 1 }).then(call.resolve, call.reject),
        wait,
      );
      return;
    }
    call.reject(new CommandError(payload));
  }

  /** Send a call again until the server's storage is back, ever less often. */
  #retryOutage(call, { message, retryAfter = 1 }) {
    const end = call.end ?? this.waits(call.command, message);
    const outages = (call.outages ?? 0) + 1;
    const settle = (act) => (value) => {
      end();
      act(value);
    };
    const resolve = call.end ? call.resolve : settle(call.resolve);
    const reject = call.end ? call.reject : settle(call.reject);
    // Jitter: pages that wait for one server do not all come back at once.
    const wait = Math.min(retryAfter * 1.5 ** (outages - 1), LONGEST_OUTAGE_WAIT) * (0.75 + Math.random() / 2) * 1000;
    const timer = setTimeout(
      () => this.#call(call.command, call.payload, { ...call, resolve, reject, end, outages }),
      wait,
    );
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
