// Presentation mode: the stage in large type, under it what happens in the words of the story, and beside it the tab of
// Inspect that is open, unless that is the story itself. It is part of the address, and works alone or in a room.

import { render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../kit/button.tsx";
import { Select } from "../../kit/select.tsx";
import { $, $$, announce, focusedNow } from "../../lib/dom.ts";
import type { Sentence } from "../../lib/protocol.js";
import { sentence } from "../view/sentence.tsx";
import type { Layout } from "./layout.ts";
import { spoken } from "../deck/moments.tsx";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

const EVERYWHERE = "story"; // the tab that the caption stands for
const SENTENCES = 2; // the last ones: why, and what came of it

export class Presenting {
  readonly #element = document.createElement("section");

  constructor(
    private readonly stage: HTMLElement,
    private readonly view: View,
    private readonly layout: Layout,
  ) {
    Object.assign(this.#element, { className: "caption", ariaLabel: "Caption", hidden: true });
    $("[data-deck]", stage).before(this.#element);
    follow(view.store.stage, () => this.#show());
    follow(view.store.tab, () => this.#divide());
    follow([view.store.scenario, view.store.step, view.store.moment, view.store.parts], () => this.#draw());
  }

  get on() {
    return this.view.shown.present === "1";
  }

  /** Enter or leave it. */
  toggle(on = !this.on) {
    this.view.setShown({ present: on ? "1" : "" });
  }

  #show() {
    const { body } = document;
    if (body.classList.contains("presenting") === this.on) return;
    body.classList.toggle("presenting", this.on);
    this.#element.hidden = !this.on;
    this.#divide();
    if (this.view.tab !== EVERYWHERE) this.view.actions.relist(); // its rows are as high as their text
    announce(this.on ? "Presentation mode. Page Down steps, Escape leaves." : "Presentation mode is over.");
  }

  /** Give the open tab its place beside the stage, or the stage all of it. */
  #divide() {
    document.body.classList.toggle("evidence", this.on && this.view.tab !== EVERYWHERE);
    this.#draw();
    this.layout.refit();
  }

  #draw() {
    const leave = () => this.toggle(false);
    render(
      this.on ? <Caption view={this.view} stage={this.stage} layout={this.layout} leave={leave} /> : null,
      this.#element,
    );
  }
}

type CaptionProps = { view: View; stage: HTMLElement; layout: Layout; leave: () => void };

/** What happens in what is shown; the deck announces it to screen readers. */
function Caption({ view, stage, layout, leave }: CaptionProps) {
  const text = useRef<HTMLDivElement>(null);
  const [cut, setCut] = useState(""); // what has no room for all: there what came of it is what counts
  const sentences = sentencesOf(view);
  const key = sentences.map(spoken).join("\n");
  const shown = cut === key ? sentences.slice(-1) : sentences;
  useLayoutEffect(() => {
    const from = focusedNow();
    if (layout.single) layout.show("stage");
    if (!from?.checkVisibility()) stage.focus({ preventScroll: true });
    return () => {
      const now = focusedNow();
      if (!now?.checkVisibility() || now === document.body)
        (from?.isConnected ? from : stage).focus({ preventScroll: true });
    };
  }, [layout, stage]);
  useLayoutEffect(() => {
    const { current } = text;
    if (!current) return;
    if (shown.length > 1 && current.scrollHeight > current.clientHeight + 2) setCut(key);
    current.scrollTop = 0;
  }, [key, shown.length]);
  return (
    <>
      <div ref={text} class="caption-text">
        {shown.map((parts) => sentence(view, parts))}
      </div>
      <Select
        class="caption-beside"
        aria-label="Beside the stage"
        title="What is shown beside the stage (1 to 9)"
        options={tabsOffered()}
        value={view.tab}
        onChange={(tab) => view.setTab(tab)}
      />
      <Button
        look="quiet square"
        icon="close"
        label="Leave presentation mode"
        title="Leave presentation mode (Esc)"
        act={leave}
      />
    </>
  );
}

/** The tabs that Inspect offers at this step; the story is under the stage as it is. */
const tabsOffered = () =>
  $$("#region-inspect [role=tab]:not([hidden])").map(({ dataset: { tab = "" }, firstElementChild }) => {
    return [tab, tab === EVERYWHERE ? "Stage alone" : (firstElementChild?.textContent ?? "")] as const;
  });

function sentencesOf({ playback }: View): Sentence[] {
  if (!playback.nodes) return [];
  if (playback.moment) return [playback.moment.text];
  if (playback.atEnd) return (playback.parts?.story ?? []).slice(-SENTENCES);
  const light = playback.current;
  if (!light) return [`${playback.title || "Before the first cycle"}. Page Down steps.`];
  const isHeading = (parts: Sentence) =>
    parts.length === 1 && typeof parts[0] === "object" && parts[0].strong !== undefined;
  return light.story.filter((parts) => !isHeading(parts)).slice(-SENTENCES);
}
