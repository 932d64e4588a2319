// Transport: first, back, step, play with a speed, last; where we are; and the timeline under it.

import { $, h, fill, icon, announce, toast } from "../lib/dom.js";
import { TimelineLegend } from "./deck/legend.js";
import { Place } from "./deck/place.js";
import { placeWords } from "./deck/words.js";
import { Moments } from "./moments.js";
import { Timeline } from "./timeline.js";
import { STOPS, UNITS, Walk } from "./walk.js";
/** @import { Points } from "./breakpanel.tsx" */
/** @import { Breakpoints } from "./breakpoints.js" */
/** @import { Stops } from "./stops.js" */
/** @import { View } from "./view.js" */

const SPEEDS = [
  ["0.5", "0.5×"],
  ["1", "1×"],
  ["2", "2×"],
  ["5", "5×"],
  ["20", "20×"],
];
const LAST = "To the last cycle (End)";
const END = "To the end (End)"; // which in virtual time comes after it
const UNIT = "podstep.next"; // where the browser keeps what "next" means
// Where the browser keeps that whole cycles were asked for, and the tab which page is stepped by phases.
const BY = "podstep.by";
const BASE = 1100; // milliseconds a step takes at 1×

export class Deck {
  #timer = 0;
  #speed = 2;
  #unit = "";
  #none = null; // the note that there is none
  byPhase = goesByPhase(); // whether Step goes from phase to phase, as a first example asks

  /**
   * @param {HTMLElement} host
   * @param {View} view
   */
  constructor(host, view) {
    this.view = view;
    /** @type {Stops | null} */
    this.stops = null;
    /** @type {Breakpoints | null} */
    this.breakpoints = null;
    /** @type {(() => void) | null} */
    this.onPoints = null;
    this.timeline = new Timeline(view);
    this.moments = new Moments(view);
    this.walk = new Walk(view);
    const { playback } = view;
    const button = (
      /** @type {string} */ name,
      /** @type {string} */ label,
      /** @type {(since: number) => void} */ act,
      /** @type {string} */ more = "",
    ) =>
      h(
        "button",
        {
          type: "button",
          class: `btn ${more}`,
          "aria-label": label,
          title: label,
          onclick: (event) => {
            this.pause();
            act(event.timeStamp);
          },
        },
        icon(name),
      );
    this.play = h(
      "button",
      {
        type: "button",
        class: "btn play",
        "data-play": true,
        "aria-label": "Play",
        title: "Play or pause (Space)",
        onclick: () => this.toggle(),
      },
      icon("play"),
      h("span", { text: "Play" }),
    );
    const step = h(
      "button",
      {
        type: "button",
        class: "btn primary step",
        "data-step-forward": true,
        title: "Step (→)",
        onclick: (event) => {
          this.pause();
          this.onward(event.timeStamp);
        },
      },
      h("span", { text: "Step" }),
      icon("step"),
    );
    const speed = h(
      "select",
      {
        class: "field speed",
        "aria-label": "Speed",
        onchange: (event) => {
          this.#speed = Number(event.target.value);
          if (this.playing) this.#schedule();
        },
      },
      SPEEDS.map(([value, text]) => h("option", { value, text, selected: value === "2" || undefined })),
    );
    this.place = new Place(view);
    this.whole = h("button", {
      type: "button",
      class: "btn quiet",
      "data-whole": true,
      title: "Step goes from phase to phase here; let it go from cycle to cycle",
      text: "By whole cycles",
      hidden: !this.byPhase,
      onclick: () => this.#stepByCycle(),
    });
    const buttons = [
      button("first", "To the start (Home)", (since) => playback.goto(0, since)),
      button("back", "Back (←)", (since) => playback.goto(playback.wanted - 1, since), "back"),
      step,
      this.whole,
      this.play,
      (this.toEnd = button("last", LAST, (since) => playback.goto(playback.last, since))),
    ];
    this.unit = h(
      "select",
      {
        class: "field unit",
        "aria-label": "Unit of next and previous",
        title: "What , and . go to",
        onchange: (event) => this.#choose(event.target.value),
      },
      Object.entries(UNITS).map(([value, [text]]) => h("option", { value, text })),
    );
    this.previous = h(
      "button",
      {
        type: "button",
        class: "btn square",
        "data-previous": true,
        onclick: (event) => this.#walk(this.#unit, -1, event.timeStamp),
      },
      icon("left"),
    );
    this.next = h(
      "button",
      {
        type: "button",
        class: "btn",
        "data-next": true,
        onclick: (event) => this.#walk(this.#unit, 1, event.timeStamp),
      },
      h("span", { text: "Next" }),
      icon("right"),
    );
    this.#choose(kept() || "failure", { keep: false });
    this.worth = h(
      "button",
      {
        type: "button",
        class: "btn square",
        "data-interesting": true,
        "aria-label": "Next interesting cycle",
        title: "Next interesting cycle (n)",
        onclick: (event) => this.stops?.run("interesting", 1, event.timeStamp),
      },
      icon("spark"),
    );
    this.points = h(
      "button",
      {
        type: "button",
        class: "btn square points",
        "data-breakpoints": true,
        "aria-haspopup": "dialog",
        onclick: () => this.onPoints?.(),
      },
      icon("break"),
      h("em", { class: "num" }),
    );
    this.count(0);
    const jump = h(
      "div",
      { class: "jump" },
      this.worth,
      this.points,
      h("div", { class: "walk", role: "group", "aria-label": "Walk by a unit" }, this.previous, this.unit, this.next),
      speed,
    );
    fill(
      host,
      h(
        "div",
        { class: "transport", role: "group", "aria-label": "Transport" },
        buttons,
        this.place.element,
        this.place.state,
        h("span", { class: "grow" }),
        jump,
      ),
      this.timeline.element,
      this.moments.element,
      new TimelineLegend(view).element,
    );
    playback.on("seek", () => this.#update());
    playback.on("parts", () => this.#update());
    playback.on("moment", () => {
      this.#update();
      this.#announcePlace();
    });
    playback.on("step", ({ index }) => {
      this.#update();
      this.#announcePlace();
      if (this.playing) this.#onward(index);
    });
    playback.on("grew", () => this.#update());
    playback.on("opened", () => {
      this.pause();
      if (!kept()) this.#choose(playback.timed ? "event" : "failure", { keep: false });
      this.#update();
    });
    view.on("hold", () => this.pause());
  }

  /**
   * Let it stop at breakpoints, and offer them.
   *
   * @param {{ stops: Stops, breakpoints: Breakpoints, points: Points }} parts
   */
  listen({ stops, breakpoints, points }) {
    this.stops = stops;
    this.breakpoints = breakpoints;
    this.onPoints = () => points.open();
    this.timeline.breakpoints = breakpoints;
    const update = () => this.count(breakpoints.enabled.length);
    breakpoints.on("changed", update);
    update();
  }

  get playing() {
    return this.#timer !== 0;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.#start();
  }

  #start() {
    const { playback } = this.view;
    if (!playback.last) return;
    if (playback.wanted >= playback.last && playback.complete) playback.goto(0);
    this.#timer = -1;
    this.#label();
    this.#next();
  }

  pause() {
    if (!this.playing) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#pace(0);
    this.#label();
  }

  #label() {
    fill(this.play, icon(this.playing ? "pause" : "play"), h("span", { text: this.playing ? "Pause" : "Play" }));
    this.play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  #schedule() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), BASE / this.#speed);
    this.#pace(BASE / this.#speed);
  }

  /**
   * Play on, unless a breakpoint holds of the cycle that is shown now.
   *
   * @param {number} index
   */
  async #onward(index) {
    const reasons = this.breakpoints?.enabled.length ? await this.breakpoints.reasons(index).catch(() => []) : [];
    if (!this.playing || this.view.playback.index !== index) return;
    if (!reasons.length) {
      this.#schedule();
      return;
    }
    this.pause();
    this.stops.stopped("break", index, reasons);
  }

  /**
   * Tell those that count virtual time how many milliseconds the shown cycle lasts; 0: it stands still.
   *
   * @param {number} ms
   */
  #pace(ms) {
    this.view.pace = ms;
    this.view.emit("pace");
  }

  #next() {
    const { playback } = this.view;
    if (playback.onward > playback.last) {
      if (playback.complete) {
        this.pause();
        announce("The end of the timeline.");
      } else this.#schedule();
      return;
    }
    playback.goto(playback.onward);
  }

  /**
   * A step on: by a phase on a first example, else to the rest of the shown cycle or the next one.
   *
   * @param {number} since
   */
  onward(since) {
    this.pause();
    const { playback } = this.view;
    if (this.byPhase) this.#walk("phase", 1, since);
    else playback.goto(playback.onward, since);
  }

  /** From now on, and on every later example, step by whole cycles. */
  #stepByCycle() {
    this.byPhase = false;
    this.whole.hidden = true;
    try {
      localStorage.setItem(BY, "cycle");
      sessionStorage.removeItem(BY);
    } catch {
      /* for this visit only */
    }
    announce("Step goes from cycle to cycle.");
  }

  /**
   * Go by the unit that was chosen.
   *
   * @param {number} direction
   * @param {number} since
   */
  step(direction, since) {
    this.#walk(this.#unit, direction, since);
  }

  /**
   * Go by phases.
   *
   * @param {number} direction
   * @param {number} since
   */
  phase(direction, since) {
    this.#walk("phase", direction, since);
  }

  /** Announce whether outcomes ahead are shown. */
  announceAhead() {
    announce(this.view.seen.ahead ? "Outcomes ahead are shown." : "Outcomes ahead are hidden.");
  }

  /** Show how many breakpoints are set. */
  count(set) {
    const label = set ? `Breakpoints: ${set}` : "Breakpoints";
    $("em", this.points).textContent = set ? String(set) : "";
    this.points.setAttribute("aria-label", label);
    this.points.title = `${label} (b)`;
  }

  #choose(unit, { keep = true } = {}) {
    this.#unit = UNITS[unit] ? unit : "failure";
    this.unit.value = this.#unit;
    const [name] = UNITS[this.#unit];
    for (const { button, word, key } of [
      { button: this.previous, word: "Previous", key: "," },
      { button: this.next, word: "Next", key: "." },
    ]) {
      button.setAttribute("aria-label", `${word} ${name}`);
      button.title = `${word} ${name} (${key})`;
    }
    if (keep)
      try {
        localStorage.setItem(UNIT, this.#unit);
      } catch {
        /* for this visit only */
      }
  }

  /**
   * @param {string} unit
   * @param {number} direction
   * @param {number} since
   */
  async #walk(unit, direction, since) {
    if (!this.view.playback.nodes) return;
    this.pause();
    if (STOPS.has(unit)) {
      this.stops?.run(unit, direction, since);
      return;
    }
    const walking = (this.view.walking = Symbol(unit)); // for the browser tests: until it is known where it leads
    try {
      const none = await this.walk.go(unit, direction, since);
      this.#none?.remove(); // one is enough, however often it is asked
      if (none) this.#none = toast(none);
    } catch (error) {
      this.view.playback.emit("failed", error);
    }
    if (this.view.walking === walking) this.view.walking = null;
  }

  #update() {
    const { playback } = this.view;
    const last = playback.timed ? END : LAST;
    if (this.toEnd.title !== last) {
      this.toEnd.title = last;
      this.toEnd.setAttribute("aria-label", last);
    }
    this.place.update();
  }

  /** Announce the current position, unless it is played faster than it can be spoken. */
  #announcePlace() {
    if (this.playing && this.#speed > 1) return;
    const text = placeWords(this.view);
    if (text) announce(text, "place");
  }
}

/** Whether this page was opened to be stepped by phases, and nobody has asked for whole cycles. */
function goesByPhase() {
  const asked = new URLSearchParams(location.search).get("by") === "phase";
  try {
    if (localStorage.getItem(BY) === "cycle") return false;
    if (asked) sessionStorage.setItem(BY, location.pathname); // the address is soon rewritten without it
    return asked || sessionStorage.getItem(BY) === location.pathname;
  } catch {
    return asked;
  }
}

/** What "next" stood for when this browser was last here, or "". */
function kept() {
  try {
    return localStorage.getItem(UNIT) ?? "";
  } catch {
    return "";
  }
}
