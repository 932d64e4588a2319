// One side: its own connection, since of each kind of request a connection answers only the newest, and what the shown
// cycle decided, with the matrix of predicates or of priorities.

import type { ComponentChildren } from "preact";
import { Hosted } from "../kit/hosted.tsx";
import { $ } from "../lib/dom.ts";
import type { ComparedSide, Source } from "../lib/protocol.js";
import { count, short } from "../lib/quantity.ts";
import { refusalOf, Socket } from "../lib/socket.ts";
import { Panel } from "../workbench/inspect/panel.tsx";
import { Predicates } from "../workbench/inspect/predicates.tsx";
import { Priorities } from "../workbench/inspect/priorities.tsx";
import { sentence } from "../workbench/view/sentence.tsx";
import { Playback } from "../workbench/playback/playback.ts";
import { View } from "../workbench/view/view.ts";
import { Stage } from "./stage.tsx";
import { follow } from "../workbench/playback/store.ts";

const PANELS = {
  predicates: { key: "predicates", component: Predicates },
  priorities: { key: "priorities", part: "priorities", component: Priorities },
} as const;
export type Tab = keyof typeof PANELS;
export const isTab = (name: string): name is Tab => name in PANELS;

/** The page of a source. */
const PATHS = { scenario: "/s/", draft: "/p/", link: "/l/", run: "/runs/" } as const;

/** The address of a cycle of a source. */
export function addressOf(source: Source & { side?: string }, index: number) {
  if (source.side) return `/compare/${source.side.replace(/-(left|right)$/, "/$1")}/?step=${index}`;
  const kind = (Object.keys(PATHS) as (keyof typeof PATHS)[]).find((one) => one in source) ?? "scenario";
  const page = `${PATHS[kind]}${source[kind]}/`;
  return kind === "run" ? `${page}at/${index}/` : `${page}?step=${index}`;
}

export class Side {
  #panels = new Map<Tab, Panel>();
  #asked = 0;
  readonly socket = new Socket();
  readonly playback: Playback;
  readonly view: View;
  there = true; // whether the shown row has a cycle of this run
  tab: Tab = "predicates";
  rule = "";
  /** What is said instead of the story. */
  said: ComponentChildren = null;

  /** `changed` has it drawn; `living`: with controllers, as the other side has them. */
  constructor(
    readonly name: "left" | "right",
    readonly asked: ComparedSide,
    living: boolean,
    private readonly changed: () => void,
  ) {
    const { source, scheduler } = asked;
    const played = { ...source, ...(scheduler ? { scheduler } : {}), ...(living ? { living } : {}) };
    this.playback = new Playback(this.socket, played);
    this.view = new View(this.playback);
    const { store } = this.playback;
    follow([store.scenario, ...store.shown], () => this.#shown());
    follow(store.known, changed);
    this.playback.failed.on((error) => this.#say(<p class="note error">{error.message}</p>));
  }

  async open() {
    try {
      await this.playback.open();
    } catch (error) {
      this.#say(<p class="note error">{refusalOf(error).message}</p>);
      throw error;
    }
  }

  /** Show a cycle, `there` whether the row has one of this run: else the one before it is shown. */
  async goto(index: number, there: boolean) {
    const asked = (this.#asked += 1);
    this.there = there;
    const { playback } = this;
    if (index > playback.last) {
      this.#say(<p class="dim">{`Cycle ${count(index)} is being computed…`}</p>);
      await playback.has(index);
      if (asked !== this.#asked) return;
    }
    if (playback.index === index) this.#shown();
    playback.goto(index);
  }

  /** The tab is drawn by `update`. */
  setTab(tab: Tab) {
    this.tab = tab;
    this.view.setTab(tab, { push: false });
  }

  get ready() {
    return this.playback.index >= 0 && Boolean(this.playback.nodes);
  }

  /** The matrix; null where this run has no such cycle. */
  get panel() {
    if (!this.ready || !this.there) return null;
    const found = this.#panels.get(this.tab) ?? new Panel(this.view, PANELS[this.tab]);
    this.#panels.set(this.tab, found);
    return found;
  }

  /** Draw the matrix, which is in the page. */
  update() {
    this.panel?.update();
    this.mark();
  }

  /** Mark the rule that decided where it stands in the matrix and in the order. */
  mark() {
    for (const one of this.panel?.element.querySelectorAll("thead th, .ladder li") ?? [])
      one.classList.toggle("decides", Boolean(this.rule) && nameOf(one) === this.rule);
  }

  #say(what: ComponentChildren) {
    this.said = what;
    this.changed();
  }

  #shown() {
    this.#say(null);
    this.update();
  }
}

const nameOf = (one: Element) =>
  (one.querySelector(".rung-name") ?? one.querySelector("span") ?? one).textContent?.trim() ?? "";

export function Compared({ side, flags }: { side: Side; flags: Uint8Array }) {
  const { name, asked, playback, ready, there } = side;
  const { source, scheduler, release, title } = asked;
  const { index } = playback;
  const place = index ? `cycle ${count(index)} of ${count(playback.cycles)}` : "before the first cycle";
  return (
    <section class={there ? "compared" : "compared absent"} aria-label={name === "left" ? "Left side" : "Right side"}>
      <header>
        <span class="pill">{name}</span>
        {scheduler ? (
          <Opener side={side} />
        ) : (
          <a href={ready ? addressOf(source, index) : "#"}>{title || "Untitled"}</a>
        )}
        {scheduler || release ? <span class="pill release">{scheduler || release}</span> : null}
        <span class="grow" />
        <span class="dim num">{ready ? place : ""}</span>
      </header>
      <div class="story">{side.said ?? (ready ? decision(side) : null)}</div>
      <Stage side={side} flags={flags} />
      <Hosted element={side.panel?.element ?? null} class={`compared-body tab-${side.tab}`} />
    </section>
  );
}

/** A button that stores the comparison: only then has a side under another scheduler a page of its own. */
function Opener({ side: { name, asked, playback } }: { side: Side }) {
  const form = $("form#open-side");
  return (
    <button
      class="link"
      form={form.id}
      name="open"
      value={name}
      title={`Open under ${asked.scheduler}`}
      onClick={() => {
        (form.elements.namedItem("step") as HTMLInputElement).value = String(playback.index);
      }}
    >
      {asked.title || "Untitled"}
    </button>
  );
}

/** What the shown cycle decided. */
function decision({ there, playback, view }: Side) {
  const { index, current: light } = playback;
  if (there && light) return light.story.map((parts) => sentence(view, parts));
  if (there) return <p class="dim">The cluster before the first cycle.</p>;
  const last =
    index && light ? ` Its previous cycle was ${count(index)}, of ${short(playback.pods.keys[light.pod])}.` : "";
  return <p class="dim">{`This run has no such cycle.${last}`}</p>;
}
