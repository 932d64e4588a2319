// The address bar holds what is on screen, all of it in KEYS. Stepping replaces, selecting pushes, Back works. What an
// address asks for and there is not is named, and the rest is shown.

import { $, debounce, toast } from "../../lib/dom.ts";
import { decoded } from "../../lib/encoded.ts";
import { framing } from "./embedded.ts";
import { isCalm } from "../inspect/ask.tsx";
import { TABS as INSPECT } from "../inspect/tabs.tsx";
import { Lists } from "../view/lists.ts";
import { PHASES } from "../playback/phases.ts";
import { COLOURS } from "../view/colours.ts";
import { choices } from "../view/grouping.ts";
import { MEASURES } from "../stage/shading.ts";
import { follow } from "../playback/store.ts";
import type { View } from "../view/view.ts";

/**
 * What an address asks for: each of KEYS as text, lists as `[key, text]`, the keys that are none, whether it asks for
 * nothing.
 */
export type Wish = {
  lists: [key: string, text: string][];
  others: string[];
  bare: boolean;
  [key: string]: any;
};

const RUN_PATH = /^(\/runs\/[^/]+\/at\/)[^/]*\/?$/;
const TABS = new Set<string>(INSPECT.map(({ key }) => key));
// Tabs with views of their own.
const WITH_VIEWS = new Set(["availability", "cache", "priorities", "podgroups", "session"]);
const WRITE_AFTER = 120; // browsers limit how often the address may change
// Milliseconds after the step is shown; a list that the address names and that is not drawn by then does not exist.
const SETTLED = 1500;
const NAMED = 4; // wrong values that are named
// Keys that ask for an action or for a way to begin, and are removed once it is done.
const ELSEWHERE = new Set(["edit", "create", "by"]);

/**
 * What the address holds beside the lists of the open tab and of the stage (lists.ts), in the order in which it is
 * written: `of` reads it from the screen, "" for the usual; `is` returns whether a text is possible, once the source is
 * open.
 */
/** By key of the address: what it is of a view, and whether a text is valid. */
const KEYS: Record<string, { of: (view: View) => string; is: (text: string, view: View, wish: Wish) => boolean }> = {
  step: { of: stepOf, is: (text) => /^(\d{1,9}(\.\d{1,9})?|end)$/.test(text) },
  at: { of: atOf, is: (text, view, wish) => /^[1-9]\d{0,3}$/.test(text) && Boolean(wish.step) },
  phase: {
    of: ({ playback, pending }) => (pending ? (pending.place?.phase ?? "") : playback.wish.phase),
    is: (text, view, wish) => PHASES.includes(text) && !wish.at && Boolean(wish.step),
  },
  tab: { of: ({ tab }) => (tab === "story" ? "" : tab), is: (text) => TABS.has(text) },
  view: { of: ({ tab, sub }) => (WITH_VIEWS.has(tab) ? sub : ""), is: (text, view, wish) => WITH_VIEWS.has(wish.tab) },
  node: {
    of: ({ playback, node }) => (node >= 0 ? playback.nodes.names[node] : ""),
    is: (text, { playback }, wish) => playback.nodeIndex.has(text) && !wish.pod,
  },
  // A pod that a controller makes may only exist later, so every name is possible.
  pod: { of: ({ playback, pod }) => (pod >= 0 ? playback.pods.keys[pod] : ""), is: () => true },
  colour: {
    of: ({ look, usual }) => (look.colour === usual.colour ? "" : look.colour),
    is: (text) => Object.hasOwn(COLOURS, text),
  },
  group: {
    of: ({ look, usual }) => (look.group === usual.group ? "" : look.group),
    is: (text, { playback }) => choices(playback.nodes).some(([value]) => value === text),
  },
  lit: {
    of: ({ only, colours }) => (only < 0 ? "" : (colours.entries.find(({ code }) => code === only)?.label ?? "")),
    is: (text, { colours }) => colours.entries.some(({ label }) => label === text),
  },
  stage: { of: ({ shown }) => shown.stage, is: (text) => text === "table" },
  shade: { of: ({ shown }) => (shown.shade === "use" ? "" : shown.shade), is: (text) => Object.hasOwn(MEASURES, text) },
  search: { of: ({ shown }) => shown.search, is: (text) => text.length <= 200 },
  present: { of: ({ shown }) => shown.present, is: (text) => text === "1" },
  // The panel names the pod that it has nothing about.
  why: { of: ({ store }) => store.why.peek()?.pod ?? "", is: () => true },
  on: {
    of: ({ store }) => store.why.peek()?.node ?? "",
    is: (text, { playback }, wish) => Boolean(wish.why) && playback.nodeIndex.has(text),
  },
};

/** The tab that opens where the address names none: questions, where there is nothing to step through. */
function usualTab(view: View) {
  const { views, room } = $("[data-workbench]")?.dataset ?? {};
  const framed = location.pathname.startsWith("/e/");
  return !views && !room && !framed && isCalm(view) ? "ask" : "story";
}

/** The step that is shown or waited for, "" at the start. */
function stepOf({ playback, pending }: View) {
  if (pending) return pending.step;
  const { wanted } = playback;
  if (playback.awaitsEnd || (playback.end && wanted > playback.cycles)) return "end";
  return wanted > 0 ? String(wanted) : "";
}

function atOf({ playback, pending }: View) {
  const at = pending ? (pending.place?.at ?? 0) : playback.wanted === playback.index ? playback.at : playback.wish.at;
  return at > 0 ? String(at) : "";
}

export class Address {
  replace: { (): void; cancel(): void };
  warn: { (): void; cancel(): void };
  settling: number | undefined;
  #pushed = "";
  #wrong: Set<string> = new Set();
  // of an address, until the step is there
  #awaited: { step: number; pod: string; phase: string; at: number; late?: boolean } | null = null;
  #selecting = false; // what an address asks for is being shown, but not its step yet

  constructor(readonly view: View) {
    this.replace = debounce(() => this.#put("replaceState"), WRITE_AFTER);
    this.warn = debounce(() => this.#warn(), 50);
    const { playback, store } = view;
    follow([store.step, store.moment, store.parts], (reached) => {
      this.#arrived(reached === store.parts.peek());
      this.replace();
    });
    follow([store.selection, store.tab, store.subs], ({ push }) => this.#write(push));
    follow(store.why, (why) => this.#write(why?.push ?? false));
    follow([store.look, store.lists, store.stage, store.only], () => {
      if (playback.nodes) this.#write(false);
    });
    view.actions.wrong.on((text) => this.wrong(text));
    follow(store.pending, (pending) => {
      if (!pending) return;
      if (this.#awaited) this.#awaited.late = true;
      this.replace();
    });
    view.actions.stayed.on(() => {
      if (this.#awaited?.late) this.#awaited = null;
      this.replace();
    }); // what belongs to a step that is given up is nobody's error
    follow(store.pods, () => this.#await());
    addEventListener("popstate", () => this.#back());
  }

  /**
   * What the address asks for: each of KEYS as text, `lists` as `[key, text]`, and `others`, the unknown keys. `bare`:
   * it asks for nothing.
   */
  static read(fallback = ""): Wish {
    const query = new URLSearchParams(location.search || $("[data-workbench]")?.dataset.query);
    const run = RUN_PATH.exec(location.pathname);
    const inPath = run ? decoded(location.pathname.slice(run[1].length).replace(/\/$/, "")) : "";
    const wish: Wish = { lists: [], others: [], bare: !query.size && !inPath };
    for (const [key] of framing()) query.delete(key);
    for (const key of Object.keys(KEYS)) wish[key] = query.get(key) ?? "";
    wish.step ||= inPath || fallback;
    for (const [key, text] of query)
      if (Lists.is(key)) wish.lists.push([key, text]);
      else if (!(key in KEYS) && !ELSEWHERE.has(key)) wish.others.push(key);
    return wish;
  }

  /** The moment or phase of a wish, as `Playback.goto` takes it: an address names the open tab itself. */
  static place({ at, phase }: { at?: string; phase?: string } | Wish) {
    return /^[1-9]\d{0,3}$/.test(at)
      ? { at: Number(at), linked: true }
      : { phase: PHASES.includes(phase) ? phase : "", linked: true };
  }

  /** This view as a link, on `path` (that of the page, unless a share has its own). */
  href(path = location.pathname) {
    const { view } = this;
    const query = new URLSearchParams();
    const run = RUN_PATH.exec(path);
    for (const [key, { of }] of Object.entries(KEYS)) {
      const text = run && key === "step" ? "" : of(view);
      if (text) query.set(key, text);
    }
    if (path === location.pathname) for (const [key, text] of framing()) query.set(key, text);
    for (const tab of [view.tab, "stage"]) for (const [key, text] of view.lists.entries(tab)) query.set(key, text);
    const search = query.toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
    return (run ? run[1] + (stepOf(view) || "0") : path) + (search ? `?${search}` : "");
  }

  /** The same for somebody else: it asks for something, so that nothing of theirs takes the place of what is usual. */
  link(path?: string) {
    const href = this.href(path);
    return href.includes("?") || RUN_PATH.test(href) ? href : `${href}?step=0`;
  }

  /** Something that the address asks for is not there. */
  wrong(text: string) {
    this.#wrong.add(text);
    this.warn();
    this.replace(); // it goes from the address
  }

  #warn() {
    const all = [...this.#wrong].map((text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text));
    this.#wrong.clear();
    if (!all.length) return;
    const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : "";
    toast(
      `The address refers to something that does not exist: ${all.slice(0, NAMED).join(", ")}${more}. `
        + "Everything else is shown.",
      {
        name: "warn",
        ms: 9000,
      },
    );
  }

  #write(push: boolean) {
    if (this.#selecting) return; // a reload would lose the step
    this.replace.cancel();
    const href = this.href();
    const pushes = push && href !== this.#pushed && href !== location.pathname + location.search;
    this.#put(pushes ? "pushState" : "replaceState", href);
    this.#pushed = href;
  }

  #put(how: "pushState" | "replaceState", href: string = this.href()) {
    try {
      history[how](null, "", href);
    } catch {
      /* a document of another document's, as a frame of srcdoc, has no address of its own */
    }
    this.view.actions.address(href);
  }

  /** Show everything that the address asks for but the step. */
  select(wish: Wish) {
    this.#selecting = true;
    try {
      this.#select(wish);
    } finally {
      this.#selecting = false;
    }
  }

  #select(wish: Wish) {
    const { view } = this;
    const { playback } = view;
    for (const key of wish.others) this.wrong(key);
    const valid: Record<string, string> = {};
    for (const [key, { is }] of Object.entries(KEYS)) {
      const text = wish[key];
      valid[key] = text && is(text, view, wish) ? text : "";
      if (text && !valid[key]) this.wrong(`${key}=${text}`);
    }
    const { tab, view: sub, node, pod, colour, group, lit, stage, shade, search, present } = valid;
    if (!wish.bare) view.lookAs({ colour, group });
    view.setShown({ stage, shade: shade || "use", search, present });
    const open = tab || usualTab(view);
    const own = wish.lists.filter(([key]) => key.endsWith(".stage"));
    const changed = view.lists.put({ stage: own, [open]: wish.lists.filter((one) => !own.includes(one)) });
    view.setTab(open, { push: false });
    if (!tab && open === "ask") view.actions.region("inspect"); // on a phone as well
    view.setSub(sub, { push: false });
    if (changed) view.actions.relist();
    view.selectNode(playback.nodeIndex.get(node) ?? -1, { push: false });
    view.selectPod(playback.podIndex.get(pod) ?? -1, { push: false });
    view.lightColour(lit ? (view.colours.entries.find(({ label }) => label === lit)?.code ?? -1) : -1);
    const step = Number(valid.step);
    this.#awaited = {
      step: Number.isInteger(step) ? step : -1,
      pod: pod && view.pod < 0 ? pod : "",
      phase: valid.at ? "" : valid.phase,
      at: Number(valid.at),
    };
  }

  /** A pod that controllers made in the meantime. */
  #await() {
    const { view } = this;
    const awaited = this.#awaited;
    const at = awaited?.pod ? (view.playback.podIndex.get(awaited.pod) ?? -1) : -1;
    if (!awaited || at < 0) return;
    awaited.pod = "";
    view.selectPod(at, { push: false });
  }

  /**
   * The step is there: report what the address asks for and it does not have.
   *
   * @param whole its parts as well
   */
  #arrived(whole: boolean) {
    const { playback } = this.view;
    const wanted = this.#awaited;
    if (!wanted || this.view.pending || playback.index < 0 || playback.index !== playback.wanted) return;
    if (wanted.phase && playback.phase !== wanted.phase) this.wrong(`phase=${wanted.phase}`);
    wanted.phase = "";
    if (!whole && playback.index > 0 && !playback.parts) return;
    this.#awaited = null;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.#settle(), SETTLED);
    if (wanted.pod) this.wrong(`pod=${wanted.pod}`);
    if (wanted.at && playback.at !== wanted.at && (wanted.step < 0 || wanted.step === playback.index))
      this.wrong(`at=${wanted.at}`);
  }

  /** What is on screen has drawn its lists: those that the address names beside them are not there. */
  #settle() {
    const { tab, shown, lists } = this.view;
    lists.settle(shown.stage ? [tab, "stage"] : [tab]);
  }

  /** Open or close Why? as the address asks. */
  ask({ why, on }: { why?: string; on?: string } | Wish) {
    this.view.actions.why(why ? { pod: why, node: on ?? null, push: false } : null);
  }

  #back() {
    const { playback } = this.view;
    if (!playback.nodes) return;
    this.replace.cancel();
    const wish = Address.read();
    const index = wish.step === "" ? 0 : wish.step === "end" ? playback.last : Number(wish.step);
    const href = location.pathname + location.search;
    const later = (wish.step === "end" || index > playback.last) && playback.complete === false;
    this.select(wish);
    if (later) playback.later({ step: wish.step, place: Address.place(wish) });
    else if (Number.isInteger(index)) playback.goto(index, undefined, Address.place(wish));
    this.ask(wish);
    this.#pushed = href;
    this.replace();
    this.view.actions.address(href);
  }
}
