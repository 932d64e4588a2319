// What is still to come: how far the source is read, how many cycles are computed, and the way to a step that is not
// computed yet. It lies over the stage's lower edge, so that nothing moves when it comes or goes.

import { render, type ComponentChild, type ComponentChildren } from "preact";
import { Button } from "../../kit/button.tsx";
import { usePassing } from "../../kit/focus.ts";
import { Hosted } from "../../kit/hosted.tsx";
import { Icon } from "../../kit/icon.tsx";
import { Progress } from "../../kit/progress.tsx";
import { $, announce, toast } from "../../lib/dom.ts";
import { progressOf } from "../../lib/progress.ts";
import type { Report } from "../../lib/protocol.js";
import { count, plural } from "../../lib/quantity.ts";
import { superseded } from "../../lib/socket.ts";
import type { Place } from "../playback/place.ts";
import type { View } from "../view/view.ts";
import { follow } from "../playback/store.ts";

const SHOW_AFTER = 500; // milliseconds; most sources are computed sooner
const ANNOUNCE_EVERY = 8000;

/** The step that is waited for. */
type Seeking = { step: string; controller: AbortController; bar: Progress; arrived: boolean };
type State = "far" | "seeking" | "stopped";

export class Computing {
  readonly #element = document.createElement("div");
  readonly #bar = new Progress("Computing the cycles");
  #since = 0;
  #announced = 0;
  #seeking: Seeking | null = null;
  #dismissed = false; // the notice that not all is computed
  #reading: { bar: Progress; cover: HTMLElement } | null = null;

  /** `host` is the stage's view, over whose lower edge `deck` holds it; `onRun` starts a run of the source. */
  constructor(
    private readonly host: HTMLElement,
    deck: HTMLElement,
    private readonly view: View,
    private readonly onRun: () => void,
  ) {
    Object.assign(this.#element, { className: "computing", hidden: true });
    deck.append(this.#element);
    const { playback } = view;
    follow(playback.store.scenario, () => {
      this.#since = performance.now();
      this.#dismissed = false;
      this.loaded();
      this.#update();
      setTimeout(() => this.#update(), SHOW_AFTER);
    });
    follow(playback.store.known, () => this.#update());
    playback.later.on(({ step, place }) => this.seek(step, place));
    follow(playback.store.wanted, () => {
      if (this.#seeking && !this.#seeking.arrived) this.#giveUp();
    });
  }

  // ---- reading the source

  /** Show how far the source is read, before there is a stage. */
  loading(report: Report) {
    if (!this.#reading) {
      const bar = new Progress("Opening the cluster");
      const cover = Object.assign(document.createElement("div"), { className: "stage-opening" });
      cover.append(bar.element);
      this.host.append(cover);
      this.#reading = { bar, cover };
      announce("The cluster is being read.");
    }
    this.#reading.bar.set(...progressOf(report));
  }

  /** The source is open, or it cannot be. */
  loaded() {
    this.#reading?.cover.remove();
    this.#reading = null;
  }

  // ---- computing cycles

  #update() {
    const { complete, source, stopped } = this.view.playback;
    if (this.#seeking) this.#showSeeking(this.#seeking);
    else if (complete === false && !source.run) {
      if (performance.now() - this.#since > SHOW_AFTER) this.#showComputed();
    } else if (stopped && !this.#dismissed) this.#showStopped(stopped);
    else this.#show(null, null);
  }

  /** How many cycles there are of how many, in words and as a share; nobody knows how often pods are tried again. */
  #far(): [share: number | null, words: string] {
    const { cycles, expected } = this.view.playback;
    return expected && cycles < expected
      ? [cycles / expected, `${count(cycles)} of about ${count(expected)} cycles computed`]
      : [null, `${plural(cycles, "cycle")} computed, more to come`];
  }

  #showComputed() {
    const [share, words] = this.#far();
    this.#bar.set(share, words);
    this.#show("far", <Hosted element={this.#bar.element} />);
    this.#announce(`${words}. You can step meanwhile.`);
  }

  #showSeeking({ step, bar }: Seeking) {
    const [, words] = this.#far();
    const wanted = /^\d+$/.test(step) ? Number(step) : 0;
    bar.set(wanted ? Math.min(1, this.view.playback.cycles / wanted) : null, `Going to step ${step}: ${words}`);
    this.#show("seeking", <Hosted element={bar.element} />);
    this.#announce(`Going to step ${step}: ${words}.`);
  }

  #showStopped(stopped: string) {
    if (this.#element.dataset.state !== "stopped") announce(stopped);
    const dismiss = () => {
      this.#dismissed = true;
      this.#update();
    };
    this.#show(
      "stopped",
      <div class="progress">
        <Icon name="warn" />
        <span class="progress-words">{stopped}</span>
        <Button icon="chart" act={this.onRun}>
          Run it in a worker
        </Button>
        <Button look="quiet square" icon="close" label="Close this notice" act={dismiss} />
      </div>,
    );
  }

  /** Draw what is to be known now; the stage takes the focus from a button that goes. */
  #show(state: State | null, content: ComponentChild) {
    const key = this.#seeking?.step ?? state;
    const to = $(".stage-body", this.host);
    const notice = (
      <Notice key={key} to={to}>
        {content}
      </Notice>
    );
    render(state && notice, this.#element);
    this.#element.hidden = !state;
    this.#element.dataset.state = state ?? "";
  }

  #announce(words: string) {
    if (performance.now() - this.#announced < ANNOUNCE_EVERY) return;
    this.#announced = performance.now();
    announce(words, "computing");
  }

  // ---- a step that is not there yet

  /** Go to a step as soon as it is computed, unless it is given up or somebody goes elsewhere before. */
  async seek(step: string, place?: Partial<Place>) {
    this.#seeking?.controller.abort();
    const { view } = this;
    if (this.#seeking && !place?.linked) view.actions.stayed(); // another step is asked for than that of the address
    view.store.pending.value = { step, place };
    const controller = new AbortController();
    const bar = new Progress(`Going to step ${step}`, {
      onCancel: () => {
        this.#giveUp();
        announce(`Stayed at the current step; the request for step ${step} was cancelled.`);
      },
      cancel: "Stay here",
    });
    const mine: Seeking = { step, controller, bar, arrived: false };
    this.#seeking = mine;
    this.#announced = 0;
    this.#update();
    const { playback } = view;
    try {
      const { index } = await playback.socket.call(
        "step.locate",
        { source: playback.source, step },
        { signal: controller.signal },
      );
      if (this.#seeking !== mine) return;
      mine.arrived = true;
      await playback.has(index);
      if (this.#seeking !== mine) return;
      view.store.pending.value = null;
      playback.goto(index, undefined, place);
      if (Math.floor(Number(step)) > index)
        toast(`There is no step ${step}; this is the last.`, { name: "warn", ms: 6000 });
    } catch (error) {
      if (!superseded(error)) playback.failed(error);
    } finally {
      if (this.#seeking === mine) {
        this.#seeking = null;
        if (view.pending) this.#stay();
        this.#update();
        if (playback.complete === false) this.#showComputed();
      }
    }
  }

  #giveUp() {
    const seeking = this.#seeking;
    this.#seeking = null;
    this.#stay();
    seeking?.controller.abort();
    this.#update();
  }

  /** Nothing is waited for any more, and it was not reached. */
  #stay() {
    this.view.store.pending.value = null;
    this.view.actions.stayed();
  }
}

/** What goes passes the focus that it has on to `to`. */
function Notice({ to, children }: { to: HTMLElement; children: ComponentChildren }) {
  return (
    <div ref={usePassing<HTMLDivElement>(to)} class="hosted">
      {children}
    </div>
  );
}
