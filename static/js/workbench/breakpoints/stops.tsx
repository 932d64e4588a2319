// Running to the next break or to the next cycle worth a look: the search, the stop, and the note with the reason.

import { render, type ComponentChild } from "preact";
import { Button } from "../../kit/button.tsx";
import { Icon } from "../../kit/icon.tsx";
import { announce, toast } from "../../lib/dom.ts";
import { count } from "../../lib/quantity.ts";
import type { Breakpoints } from "./breakpoints.ts";
import type { Finder } from "./finder.ts";
import type { Interesting } from "./interesting.ts";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

type Parts = { deck: { pause(): void }; finder: Finder; breakpoints: Breakpoints; interesting: Interesting };

const SHOWN_AFTER = 250; // milliseconds: a search that is over sooner shows nothing
const BREAK = { icon: "break", before: "stopped: ", again: "Next break", key: "r" };
const INTERESTING = { icon: "spark", before: "", again: "Next", key: "n" };

export class Stops {
  #run = 0; // of the newest wish
  #none: HTMLElement | undefined; // the note that there is none
  #note = document.createElement("div");
  #at = 0; // where the stop of the note is

  constructor(
    host: HTMLElement,
    readonly view: View,
    readonly parts: Parts,
  ) {
    this.#note.className = "stop-note";
    this.#note.hidden = true;
    host.prepend(this.#note);
    follow(view.store.wanted, (wanted) => wanted.index !== this.#at && this.hide());
    follow(view.store.moment, () => view.playback.partly && this.hide());
    follow(view.store.scenario, () => this.hide());
  }

  /** Go to the nearest break, or cycle worth a look, in a direction. */
  async run(kind: string, direction: number, since?: number) {
    const { view, parts } = this;
    const { playback } = view;
    if (!playback.nodes) return;
    parts.deck.pause();
    const run = ++this.#run;
    const running = (view.walking = Symbol(kind)); // for the browser tests: until it is known where it leads
    const from = playback.wanted;
    const searching = (index: number) => {
      if (run === this.#run) this.#searching(direction, index);
    };
    const wait = setTimeout(() => searching(0), SHOWN_AFTER);
    try {
      const found = await (kind === "break" ? parts.breakpoints : parts.interesting).next(direction, searching);
      if (run !== this.#run || from !== playback.wanted) return;
      this.hide();
      this.#none?.remove();
      if (found?.none !== undefined) this.#none = toast(found.none);
      else if (found) {
        this.stopped(kind, found.index, found.reasons);
        playback.goto(found.index, since);
      }
    } catch (error) {
      this.hide();
      playback.failed(error);
    } finally {
      clearTimeout(wait);
      if (view.walking === running) view.walking = null;
    }
  }

  /** Say why one stands at a cycle. */
  stopped(kind: string, index: number, reasons: string[]) {
    const { icon, before, again, key } = kind === "break" ? BREAK : INTERESTING;
    const text = `${before}${reasons.join("; ") || `cycle ${count(index)}`}`;
    const onward = (event: Event) => void this.run(kind, 1, event.timeStamp);
    this.#show(
      index,
      <>
        <Icon name={icon} />
        <span class="stop-text">
          <b class="num">{count(index)}</b> {text}
        </span>
        <span class="grow" />
        <Button key={kind} look="small" title={`${again} (${key})`} onClick={onward}>
          {again}
          <Icon name="right" />
        </Button>
        <button
          type="button"
          class="btn quiet square small"
          aria-label="Hide why it stopped"
          onClick={() => this.hide()}
        >
          <Icon name="close" />
        </button>
      </>,
    );
    this.view.stopped = { index, text }; // the deck announces it together with the cycle
    if (this.view.playback.index === index) announce(`Cycle ${index}, ${text}`, "place");
  }

  #searching(direction: number, index: number) {
    const { wanted, cycles } = this.view.playback;
    const place = index ? `: cycle ${count(index)} of ${count(cycles)}` : "…";
    this.#show(
      wanted,
      <>
        <Icon name="search" />
        <span key="searching" class="stop-text" role="status">
          {`searching ${direction > 0 ? "on" : "back"}${place}`}
        </span>
        <span class="grow" />
        <Button key="cancel" look="small" act={() => this.hide()}>
          Cancel
        </Button>
      </>,
    );
  }

  #show(at: number, note: ComponentChild) {
    this.#at = at;
    render(note, this.#note);
    this.#note.hidden = false;
  }

  /** Take the note away, and give up what is searched. */
  hide() {
    this.parts.finder.cancel();
    this.#note.hidden = true;
    this.view.stopped = null;
    this.#at = 0;
  }
}
