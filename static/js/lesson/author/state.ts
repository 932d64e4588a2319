// A lesson as its author's page has it: what the server stores, what is being sent, and what the tests find.

import { batch, computed, signal } from "@preact/signals";
import { $ } from "../../lib/dom.ts";

export type Json = null | string | number | boolean | Json[] | { [key: string]: Json };
export type Path = (string | number)[];

export interface AuthoredStop {
  key: string;
  file: string;
  head: { [key: string]: Json };
  text: string;
  error: string;
  preview: string;
}

export interface Authored {
  id: string;
  url: string;
  title: string;
  folder: string;
  revision: number;
  published: number;
  link: string | null;
  head: { [key: string]: Json };
  error: string;
  notes: string;
  stops: AuthoredStop[];
  scenarios: string[];
}

export interface Found {
  message: string;
  file: string;
  line: number | null;
  path: string;
}

interface Words {
  views: string[];
  tracks: { [key: string]: string };
  terms: string[];
  misconceptions: { [key: string]: string };
  facts: string[];
}

export type Change =
  | { kind: "value"; path: Path; was: Json; now: Json; stop?: string }
  | { kind: "order"; was: string[]; now: string[] }
  | { kind: "remove"; stop: string }
  | { kind: "restore"; stop: string; place: number; text: string; files: Record<string, string> };

/** A value that was changed elsewhere: what this page wanted, and what is there. */
export interface Conflict {
  place: string;
  change: Change;
  message: string;
  current: Json;
}

const given: { state: Authored } & Words = JSON.parse($("#author").textContent ?? "null");
export const words: Words = given;
export const lesson = signal<Authored>(given.state);
/** The key of the stop that is open; "" for what is said of the whole lesson. */
export const open = signal(given.state.stops[0]?.key ?? "");
export const problems = signal<Found[] | null>(null); // null: being looked for
export const checkingFailed = signal("");
export const conflicts = signal<Conflict[]>([]);
export const sending = signal(0);
export const failed = signal(""); // why the last change is not saved
export const undone = signal<Change[]>([]); // the changes that would undo the last ones, the latest last

export const stop = computed(() => lesson.value.stops.find(({ key }) => key === open.value));

const base = given.state.url;
const token = () => ($("input[name=csrfmiddlewaretoken]") as HTMLInputElement).value;

class Refused extends Error {
  body: any;
  status: number;
  constructor(status: number, body: any) {
    super(body?.message ?? `The server answered ${status}.`);
    this.status = status;
    this.body = body;
  }
}

export async function ask(part: string, body?: unknown): Promise<any> {
  let response: Response;
  try {
    response = await fetch(base + part, {
      method: body === undefined ? "GET" : "POST",
      headers: { "X-CSRFToken": token(), ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      keepalive: Boolean(body) && JSON.stringify(body).length < 60_000, // a page that is left sends its last change
    });
  } catch {
    throw new Refused(0, { message: "The server cannot be reached." });
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

/** Where a change is, so that one of its conflicts takes the place of the one before. */
export const placeOf = (change: Change) =>
  change.kind === "value" ? `${change.stop ?? ""}/${change.path.join("/")}` : change.kind;

let queue: Promise<unknown> = Promise.resolve();

/** Send a change after those before it; whether the server has it. */
export function send(change: Change, { undo = true } = {}): Promise<boolean> {
  const sent = queue.then(() => sendNow(change, undo));
  queue = sent;
  return sent;
}

async function sendNow(change: Change, undo: boolean): Promise<boolean> {
  sending.value += 1;
  try {
    const answer = await ask("change", change);
    batch(() => {
      take(answer);
      failed.value = "";
      conflicts.value = conflicts.value.filter(({ place }) => place !== placeOf(change));
      const back = answer.undo ?? inverse(change);
      if (undo && back) undone.value = [...undone.value.slice(-49), back];
    });
    return true;
  } catch (error) {
    const { status, body, message } = error as Refused;
    if (status === 409 && body?.current !== undefined) {
      const place = placeOf(change);
      conflicts.value = [
        ...conflicts.value.filter((one) => one.place !== place),
        { place, change, message, current: body.current },
      ];
    } else failed.value = message;
    return false;
  } finally {
    sending.value -= 1;
  }
}

function inverse(change: Change): Change | null {
  if (change.kind === "value" || change.kind === "order")
    return { ...change, was: change.now, now: change.was } as Change;
  return change.kind === "restore" ? { kind: "remove", stop: change.stop } : null;
}

function take(state: Authored) {
  lesson.value = state;
  if (open.value && !state.stops.some(({ key }) => key === open.value)) open.value = state.stops[0]?.key ?? "";
  void check();
}

/** Undo the last change of this page. */
export async function undo() {
  const last = undone.value.at(-1);
  if (!last) return;
  undone.value = undone.value.slice(0, -1);
  if (!(await send(last, { undo: false }))) return;
  if (last.kind === "restore") open.value = last.stop;
}

/** Settle a conflict: this page's value stays, or the other one. */
export function settle({ place, change, current }: Conflict, mine: boolean) {
  conflicts.value = conflicts.value.filter((one) => one.place !== place);
  if (mine && (change.kind === "value" || change.kind === "order")) return send({ ...change, was: current } as Change);
  return refresh();
}

/** Show what is stored now: another tab may have changed it. */
export async function refresh() {
  try {
    const state: Authored = await ask("state");
    if (state.revision !== lesson.value.revision || state.published !== lesson.value.published) take(state);
  } catch {
    /* the next change will tell */
  }
}

/** What the tests find in a field of the open stop, or of the whole lesson. */
export function wrongIn(stopKey: string, path: Path): Found[] {
  const file = lesson.value.stops.find(({ key }) => key === stopKey)?.file ?? "lesson.yaml";
  return (problems.value ?? []).filter((one) => one.file === file && one.path === path.join("."));
}

let asked = 0;
let looking: Promise<void> = Promise.resolve();

/** Have the tests of lessons look at what is stored, one look at a time: the server bounds those of an author. */
export async function check() {
  const own = ++asked;
  problems.value = null;
  checkingFailed.value = "";
  await new Promise((resolve) => {
    setTimeout(resolve, 250); // one look for several changes
  });
  await looking;
  if (own === asked) await (looking = look(own));
}

async function look(own: number) {
  try {
    const answer = await ask("problems");
    if (own === asked) problems.value = answer.problems;
  } catch (error) {
    if (own === asked) checkingFailed.value = (error as Error).message;
  }
}

/** Publish or withdraw; what was refused is in `failed`. */
export async function act(part: "publish" | "withdraw") {
  sending.value += 1;
  try {
    lesson.value = await ask(part, {});
    failed.value = "";
    return true;
  } catch (error) {
    const { body, message } = error as Refused;
    if (body?.problems) problems.value = body.problems;
    failed.value = message;
    return false;
  } finally {
    sending.value -= 1;
  }
}

export const kindOf = ({ head }: AuthoredStop): string =>
  (head.task && typeof head.task === "object" && !Array.isArray(head.task) && String(head.task.kind)) || "look";
