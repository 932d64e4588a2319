// A WebSocket's face before a record: frames are answered from the file, and what it does not hold needs an engine.

import type { Commands } from "../lib/protocol.js";
import type { Match, Recorded } from "./record.ts";

type Payload = { [key: string]: any };
type Answer = string | Promise<string>;

/** The code and the words of what no file can answer. */
const CODE = "recording.no-engine";
export const WORDS = "This file is a recording without an engine. Open it live to compute this.";
const NOTHING = "{}";
/** What ends work of the server's, of which there is none. */
const ENDS = new Set(["request.cancel", "cycle.cancel", "worth.cancel"]);
/** Of a source that nobody keeps: there are none. */
const NONE: Record<string, string> = {
  "branch.list": '{"root":null,"branches":[]}',
  "comment.watch": '{"scenario":"","threads":[]}',
};
const KEYLESS = new Set(["source", "pods"]); // which key_of of playground/recordings/recorder.py leaves out too

class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const keyOf = (command: string, payload: Payload) =>
  JSON.stringify([
    command,
    Object.fromEntries(
      Object.keys(payload)
        .filter((name) => !KEYLESS.has(name))
        .sort()
        .map((name) => [name, payload[name]]),
    ),
  ]);

/** Answers commands from a record, as the server would. */
export class Answers {
  /** What was asked for and is not in the record: the browser tests look at it. */
  readonly missed: string[] = [];

  constructor(
    readonly record: Recorded,
    readonly onMissed: (command: string) => void,
  ) {}

  async answer(command: string, payload: Payload): Promise<string> {
    const own: Record<string, (payload: any) => Answer> = {
      "scenario.open": (asked) => this.#open(asked),
      "step.locate": ({ step }) => JSON.stringify({ index: this.#reached(step) }),
      "cycle.get": (asked) => this.#cycle(asked),
      "cycle.find": (asked) => this.#find(asked),
      "events.list": (asked) => this.#events(asked),
    };
    if (ENDS.has(command)) return NOTHING;
    return own[command]?.(payload) ?? this.#kept(command, payload);
  }

  async #kept(command: string, payload: Payload) {
    const place = this.record.head.answers[keyOf(command, payload)];
    if (place !== undefined) return this.record.text(place);
    if (NONE[command]) return NONE[command];
    return this.#miss(command, payload);
  }

  #miss(command: string, payload: Payload): never {
    this.missed.push(keyOf(command, payload));
    this.onMissed(command);
    throw new Refused(CODE, WORDS);
  }

  get #last() {
    return this.record.head.steps.length;
  }

  get #end() {
    return this.record.head.answers[keyOf("end", {})];
  }

  /** The index of a step, which is a cycle's index, `major.minor`, or "end"; null beyond the last. */
  #located(step: string): number | null {
    const { steps } = this.record.head;
    if (this.#end !== undefined && (step === "end" || step === String(this.#last + 1))) return this.#last + 1;
    if (/^\d{1,9}$/.test(step)) return Number(step) <= this.#last ? Number(step) : null;
    if (!/^\d{1,9}\.\d{1,9}$/.test(step)) throw new Refused("payload.invalid", "A step is an index or major.minor.");
    const found = steps.indexOf(step) + 1;
    return found || (step === "1.0" ? 0 : null);
  }

  #reached(step: string) {
    return this.#located(step) ?? this.#last;
  }

  async #open({ step }: { step?: string }) {
    const opened = JSON.parse(await this.#kept("scenario.open", {}));
    return JSON.stringify({ ...opened, index: step ? this.#reached(step) : 0 });
  }

  /** The parts of a step: texts of the record, put together without reading them. */
  async #cycle({ step, parts }: Commands["cycle.get"]["asks"]) {
    const index = this.#located(step);
    if (index && index === this.#last + 1) return this.record.text(this.#end as number);
    if (!index) throw new Refused("step.out-of-range", `There is no cycle ${step}; there are ${this.#last}.`);
    const { parts: all, steps } = this.record.head;
    const wanted = parts.flatMap((name) =>
      name === "inspect" ? Object.keys(all).filter((one) => !OTHERS.has(one)) : [name],
    );
    const texts = wanted.map(async (name) => {
      const place = all[name]?.[index - 1];
      return place === undefined
        ? this.#miss("cycle.get", { step, parts: [name] })
        : `,${JSON.stringify(name)}:${await this.record.text(place)}`;
    });
    return `{"index":${index},"step":${JSON.stringify(steps[index - 1])}${(await Promise.all(texts)).join("")}}`;
  }

  /** The newest events up to a cycle, newest first. */
  async #events({ to, count }: Commands["events.list"]["asks"]) {
    const cycles = Math.min(to, this.#last);
    const first = Math.max(1, cycles - count + 1);
    const listed: unknown[][] = [];
    for (let index = first; index <= cycles; index += 1) {
      const place = this.record.head.parts.events?.[index - 1] ?? -1;
      for (const event of JSON.parse(await this.record.text(place))) listed.push([index, ...event]);
    }
    if (to > this.#last && this.#end !== undefined)
      for (const event of JSON.parse(await this.record.text(this.#end)).events) listed.push([to, ...event]);
    return JSON.stringify({ events: listed.reverse().slice(0, count), more: first > 1 || listed.length > count });
  }

  /** The nearest cycle in which one of the conditions holds. */
  #find({ from = 0, direction, conditions, to, met = [] }: Commands["cycle.find"]["asks"]) {
    const back = direction === "backward";
    const held = conditions.map((text) => this.record.head.found[text] ?? this.#miss("cycle.find", { conditions }));
    const within = ([index, , about]: Match) =>
      (back ? index < from && index >= (to ?? 1) : index > from && index <= (to ?? Infinity))
      && !(about && met.includes(about));
    const near = held.flatMap((matches) => matches.filter(within)).map(([index]) => index);
    if (!near.length) return JSON.stringify({ index: null, why: [], seen: to ?? (back ? 0 : this.#last), over: true });
    const index = back ? Math.max(...near) : Math.min(...near);
    const why = held.flatMap((matches, place) => {
      const texts = matches.filter((one) => one[0] === index && within(one)).map(([, text]) => text);
      return texts.length ? [[place, texts.join(" ")]] : [];
    });
    return JSON.stringify({ index, why, seen: index, over: false });
  }
}

const OTHERS = new Set(["moments", "cuts", "policy", "events"]); // parts of a cycle that belong to no tab

/** What a page may put in the place of `WebSocket`. */
export class RecordedSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 3;
  static answers: Answers;

  readyState: number = RecordedSocket.CONNECTING;
  readonly bufferedAmount = 0;
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly url: string) {
    queueMicrotask(() => {
      this.readyState = RecordedSocket.OPEN;
      this.onopen?.(new Event("open"));
    });
  }

  async send(text: string) {
    const [command, id, payload] = JSON.parse(text);
    let frame: string;
    try {
      frame = `["success",${id},${await RecordedSocket.answers.answer(command, payload)}]`;
    } catch (error) {
      const { code = "server.error", message } = error as Refused;
      frame = JSON.stringify(["error", id, { code, message }]);
    }
    if (this.readyState === RecordedSocket.OPEN) this.onmessage?.({ data: frame });
  }

  close() {
    if (this.readyState === RecordedSocket.CLOSED) return;
    this.readyState = RecordedSocket.CLOSED;
    this.onclose?.({ code: 1000 });
  }
}
