// What is still to come: how far the source is read, how many cycles are computed, and the way to a step that is not
// computed yet. It lies over the stage's lower edge, so that nothing moves when it comes or goes.

import { $, announce, fill, h, icon, passFocus, toast } from "../lib/dom.js";
import { Progress, progressOf } from "../lib/progress.js";
import { count, plural } from "../lib/quantity.js";
import { superseded } from "../lib/socket.js";
/** @import { View } from "./view.js" */

const SHOW_AFTER = 500; // milliseconds; most sources are computed sooner
const ANNOUNCE_EVERY = 8000;

export class Computing {
  #since = 0;
  #announced = 0;
  #seeking = null; // {step, controller}: the step that is waited for
  #dismissed = false; // the notice that not all is computed

  /**
   * `host` is the stage's view, over whose lower edge `deck` holds it; `onRun` starts a run of the source.
   *
   * @param {HTMLElement} deck
   * @param {View} view
   */
  constructor(host, deck, view, onRun) {
    this.host = host;
    this.view = view;
    this.onRun = onRun;
    this.element = h("div", { class: "computing", hidden: true });
    this.bar = new Progress("Computing the cycles");
    deck.append(this.element);
    const { playback } = view;
    playback.on("opened", () => {
      this.#since = performance.now();
      this.#dismissed = false;
      this.loaded();
      this.#update();
      setTimeout(() => this.#update(), SHOW_AFTER);
    });
    playback.on("grew", () => this.#update());
    playback.on("later", ({ step, place }) => this.seek(step, place));
    playback.on("seek", () => {
      if (this.#seeking && !this.#seeking.arrived) this.#giveUp();
    });
  }

  // ---- reading the source

  /** Show how far the source is read, before there is a stage. */
  loading(report) {
    this.reading ??= this.#opening();
    this.reading.set(...progressOf(report));
  }

  #opening() {
    const bar = new Progress("Opening the cluster");
    this.cover = h("div", { class: "stage-opening" }, bar.element);
    this.host.append(this.cover);
    announce("The cluster is being read.");
    return bar;
  }

  /** The source is open, or it cannot be. */
  loaded() {
    this.cover?.remove();
    this.cover = this.reading = null;
  }

  // ---- computing cycles

  #update() {
    const { playback } = this.view;
    if (this.#seeking) {
      this.#showSeeking();
      return;
    }
    if (playback.complete === false && !playback.source.run) {
      const late = performance.now() - this.#since > SHOW_AFTER;
      if (late) this.#showComputed();
      return;
    }
    if (playback.stopped && !this.#dismissed) {
      if (this.element.dataset.state !== "stopped") this.#showStopped();
      return;
    }
    this.#hide();
  }

  /**
   * How many cycles there are of how many, in words and as a share; nobody knows how often pods are tried again.
   *
   * @returns {[share: number | null, words: string]}
   */
  #far() {
    const { cycles, expected } = this.view.playback;
    const known = expected > 0 && cycles < expected;
    return [
      known ? cycles / expected : null,
      known
        ? `${count(cycles)} of about ${count(expected)} cycles computed`
        : `${plural(cycles, "cycle")} computed, more to come`,
    ];
  }

  #showComputed() {
    const [share, words] = this.#far();
    this.bar.set(share, words);
    this.#show("far", this.bar.element);
    this.#announce(`${words}. You can step meanwhile.`);
  }

  #showSeeking() {
    const [, words] = this.#far();
    const { step, bar } = this.#seeking;
    const wanted = /^\d+$/.test(step) ? Number(step) : 0;
    bar.set(wanted ? Math.min(1, this.view.playback.cycles / wanted) : null, `Going to step ${step}: ${words}`);
    this.#show("seeking", bar.element);
    this.#announce(`Going to step ${step}: ${words}.`);
  }

  #showStopped() {
    const { stopped } = this.view.playback;
    this.#show(
      "stopped",
      h(
        "div",
        { class: "progress" },
        icon("warn"),
        h("span", { class: "progress-words", text: stopped }),
        h("button", { type: "button", class: "btn", onclick: () => this.onRun() }, icon("chart"), "Run it in a worker"),
        h(
          "button",
          {
            type: "button",
            class: "btn quiet square",
            "aria-label": "Close this notice",
            onclick: () => {
              this.#dismissed = true;
              this.#hide();
            },
          },
          icon("close"),
        ),
      ),
    );
    announce(stopped);
  }

  #show(state, content) {
    if (this.element.firstChild === content && !this.element.hidden) return;
    this.element.dataset.state = state;
    this.element.hidden = false;
    this.#fill(content);
  }

  #hide() {
    this.element.hidden = true;
    delete this.element.dataset.state;
    this.#fill();
  }

  /** Replace what is shown; the stage takes the focus from a button that goes. */
  #fill(...content) {
    passFocus(this.element, $(".stage-body", this.host));
    fill(this.element, ...content);
  }

  /** @param {string} words */
  #announce(words) {
    if (performance.now() - this.#announced < ANNOUNCE_EVERY) return;
    this.#announced = performance.now();
    announce(words, "computing");
  }

  // ---- a step that is not there yet

  /** Go to a step as soon as it is computed, unless it is given up or somebody goes elsewhere before. */
  async seek(step, place) {
    this.#seeking?.controller.abort();
    const { view } = this;
    if (this.#seeking && !place?.linked) view.emit("stayed"); // another step is asked for than that of the address
    view.pending = { step, place };
    view.emit("pending");
    const controller = new AbortController();
    const bar = new Progress(`Going to step ${step}`, {
      onCancel: () => {
        this.#giveUp();
        announce(`Stayed at the current step; the request for step ${step} was cancelled.`);
      },
      cancel: "Stay here",
    });
    const mine = (this.#seeking = { step, controller, bar, arrived: false });
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
      view.pending = null;
      playback.goto(index, undefined, place);
      if (Math.floor(Number(step)) > index)
        toast(`There is no step ${step}; this is the last.`, { name: "warn", ms: 6000 });
    } catch (error) {
      if (!superseded(error)) playback.emit("failed", error);
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
    seeking.controller.abort();
    this.#update();
  }

  /** Nothing is waited for any more, and it was not reached. */
  #stay() {
    this.view.pending = null;
    this.view.emit("stayed");
  }
}
