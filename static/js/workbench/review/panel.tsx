// Comments on a shared scenario, over Inspect: threads about a step, a node, a pod or a rule, and a form for another.

import { render } from "preact";
import { Button } from "../../kit/button.tsx";
import { signal, type Signal } from "../../kit/signals.ts";
import { $, h } from "../../lib/dom.ts";
import type { Thread } from "../../lib/protocol.js";
import { plural } from "../../lib/quantity.ts";
import { refusalOf } from "../../lib/socket.ts";
import { indexOf } from "../deck/goto.tsx";
import { cellAt } from "../view/cells.ts";
import type { Timeline } from "../deck/timeline.tsx";
import type { View } from "../view/view.ts";
import { Flags } from "./flags.tsx";
import { CommentForm } from "./form.tsx";
import { hereOf } from "./here.ts";
import { anchored, ThreadItem } from "./thread.tsx";
import { Threads, type Anchor } from "./threads.ts";
import { follow } from "../playback/store.ts";

const LINKED = /^#comment-([\w-]{1,32})$/;
const ORIGIN = "Comments on the shared scenario that this is a branch of, and what became of their places here.";
const NONE = "Nothing yet. Say what you think of this step, or select a node or pod first.";

export class Review {
  readonly element = h("aside", { class: "review", "aria-label": "Comments", hidden: true });
  readonly #number = h("em", { class: "num" });
  readonly #threads: Threads;
  readonly #places = signal<Places>({ anchors: [], at: 0 }); // what a comment can be about
  #rule = ""; // the column of the matrix cell that had the focus last
  #all = false; // resolved threads too
  #decided = ""; // how what they are about is decided here, as far as it is known
  #error = "";

  /** `hash` of the address that the page was opened with may name a comment. */
  constructor(
    private readonly view: View,
    root: HTMLElement,
    private readonly button: HTMLElement,
    hash: string,
    timeline: Timeline,
  ) {
    const { playback } = view;
    button.append(this.#number);
    const threads = (this.#threads = new Threads(playback.socket, playback.source));
    follow(playback.store.veil, () => {
      if (playback.veiled === null) threads.load().catch((error) => playback.failed(error));
      else threads.hide();
    });
    new Flags(view, timeline, threads, (ids, index) => {
      view.actions.hold();
      playback.goto(index);
      this.#show(ids[0]);
    });
    root.append(this.element);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.toggle();
    });
    $("[data-inspect]", root).addEventListener("focusin", (event) => {
      const cell = event.target instanceof Element ? cellAt(event.target) : null;
      this.#rule = cell?.[2] ?? "";
      this.#offer();
    });
    button.addEventListener("click", () => this.toggle());
    follow(threads.version, () => this.#draw());
    follow(playback.store.known, () => {
      const decided = threads.all.map((thread) => hereOf(playback, thread).words).join("\n");
      if (decided !== this.#decided) this.#draw();
      this.#decided = decided;
    });
    follow(view.store.selection, () => this.#offer());
    follow([playback.store.step, playback.store.parts], () => this.#offer());
    const [, linked] = LINKED.exec(hash) ?? [];
    threads.load().then(
      () => linked && this.#show(linked),
      (error) => {
        this.#error = refusalOf(error).message;
        this.#draw();
      },
    );
    this.#draw();
  }

  toggle() {
    const open = this.element.hidden;
    this.element.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) {
      this.#offer();
      this.#draw();
      $(this.#threads.readOnly ? "header a" : "form textarea", this.element).focus();
    } else {
      this.#threads.see();
      this.button.focus();
    }
  }

  /** What a comment can be about now, the narrowest last. */
  #anchors() {
    const { playback, node, pod } = this.view;
    const step = playback.wanted > playback.cycles ? "end" : String(playback.wanted);
    const found: Anchor[] = [{ step }];
    const name = playback.nodes?.names[node];
    if (name) found.push({ step, node: name });
    if (pod >= 0) found.push({ step, pod: playback.pods.keys[pod] });
    const rules = [...playback.policy.predicates, ...playback.policy.priorities.map(([one]) => one)];
    if (rules.includes(this.#rule)) found.push({ step, ...(name ? { node: name } : {}), rule: this.#rule });
    return found;
  }

  #offer() {
    if (this.element.hidden || !this.view.playback.nodes) return;
    const anchors = this.#anchors();
    this.#places.value = { anchors, at: anchors.length - 1 };
  }

  #draw() {
    const threads = this.#threads;
    this.#number.textContent = threads.open ? String(threads.open) : "";
    this.button.classList.toggle("unread", threads.unread > 0);
    const unread = threads.unread ? `, ${threads.unread} new` : "";
    this.button.setAttribute("aria-label", `Comments: ${plural(threads.open, "open thread")}${unread}`);
    if (!this.element.hidden) render(this.#content(), this.element);
  }

  #content() {
    const threads = this.#threads;
    const resolved = threads.all.length - threads.open;
    const shown = threads.all.filter((thread) => this.#all || !thread.resolved);
    const go = (thread: Thread) => void this.#go(thread);
    const filter = () => {
      this.#all = !this.#all;
      this.#draw();
    };
    const send = (text: string, name: string) => {
      const anchors = this.#anchors();
      return threads.write(anchors[this.#places.value.at] ?? (anchors[0] as Anchor), text, name);
    };
    return (
      <>
        <header>
          <h2>Comments</h2>
          <span class="grow" />
          <Button look="small" hidden={!resolved} act={filter}>
            {this.#all ? "Hide resolved" : `Show ${resolved} resolved`}
          </Button>
          <a class="btn small" href={`/s/${threads.scenario}/review/`}>
            All
          </a>
          <Button look="quiet square" icon="close" label="Close the comments" act={() => this.toggle()} />
        </header>
        <div class="review-body">
          {threads.readOnly ? <p class="dim">{ORIGIN}</p> : null}
          <CommentForm label="Write a comment" action="Comment" hidden={threads.readOnly} send={send}>
            <About places={this.#places} />
          </CommentForm>
          <ul class="threads">
            {shown.map((thread) => (
              <ThreadItem
                key={thread.id}
                {...{ thread, threads, go }}
                here={hereOf(this.view.playback, thread).words}
              />
            ))}
            {this.#error ? <li class="note error">{this.#error}</li> : null}
            {shown.length || this.#error ? null : <li class="dim">{NONE}</li>}
          </ul>
        </div>
      </>
    );
  }

  /** Go to what a thread is about. */
  async #go(thread: Thread) {
    const { step, node, pod } = thread;
    const { playback } = this.view;
    const { index: here } = hereOf(playback, thread);
    const index = here >= 0 ? here : await indexOf(playback, step);
    if (index !== null && index <= playback.last) playback.goto(index);
    else playback.later({ step, place: undefined });
    this.view.selectNode(node ? (playback.nodeIndex.get(node) ?? -1) : -1);
    this.view.selectPod(pod ? (playback.podIndex.get(pod) ?? -1) : -1);
  }

  /** Show the comment that an address names. */
  #show(id: string) {
    this.#all = this.#threads.all.some(
      (thread) => thread.resolved && [thread, ...thread.replies].some((one) => one.id === id),
    );
    if (this.element.hidden) this.toggle();
    else this.#draw();
    const found = document.getElementById(`comment-${id}`);
    found?.scrollIntoView({ block: "center" });
    found?.focus({ preventScroll: true });
  }
}

type Places = { anchors: Anchor[]; at: number };

function About({ places }: { places: Signal<Places> }) {
  const { anchors, at } = places.value;
  return (
    <select
      class="field"
      aria-label="About"
      onChange={({ currentTarget }) => (places.value = { anchors, at: currentTarget.selectedIndex })}
    >
      {anchors.map((anchor, i) => (
        <option selected={i === at}>{`About ${anchored(anchor)}`}</option>
      ))}
    </select>
  );
}
