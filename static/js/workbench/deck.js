// Transport: first, back, step, play with a speed, last; where we are; and the timeline under it.

import { h, fill, icon, announce, toast } from "../lib/dom.js";
import { clock, count, plural, short } from "../lib/quantity.js";
import { Moments, spoken } from "./moments.js";
import { Timeline } from "./timeline.js";
import { STOPS, UNITS, Walk } from "./walk.js";

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
const BASE = 1100; // milliseconds a step takes at 1×

export class Deck {
  #timer = 0;
  #speed = 2;
  #unit = "";
  #none = null; // the note that there is none

  constructor(host, view) {
    this.view = view;
    this.timeline = new Timeline(view);
    this.moments = new Moments(view);
    this.walk = new Walk(view);
    const { playback } = view;
    const button = (name, label, act, more = "") =>
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
          playback.goto(playback.wanted + 1, event.timeStamp);
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
    // Written to, not made anew: they change with every frame of a scrub.
    this.told = {
      index: h("b"),
      cycles: document.createTextNode(""),
      within: h("span", { class: "at-within", hidden: true }),
      time: h("span", { class: "at-time", hidden: true }),
      step: h("span", {
        class: "at-step",
        hidden: true,
        title: "The scenario's step (it advances with every change from outside), and the attempt within it",
      }),
    };
    this.told.room = h("span", { class: "at-index" }, this.told.index, this.told.cycles);
    this.at = h("span", { class: "at" }, this.told.room, this.told.within, this.told.step, this.told.time);
    this.state = h("span", { class: "at-state", role: "status" });
    const buttons = [
      button("first", "To the start (Home)", (since) => playback.goto(0, since)),
      button("back", "Back (←)", (since) => playback.goto(playback.wanted - 1, since), "back"),
      step,
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
        "aria-label": "Next cycle worth a look",
        title: "Next cycle worth a look (n)",
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
    this.ahead = h("button", {
      type: "button",
      class: "link",
      "data-reveal": true,
      onclick: () => view.seen.reveal(!view.seen.ahead),
    });
    const label = () => {
      const { ahead } = view.seen;
      this.ahead.setAttribute("aria-pressed", String(ahead));
      write(this.ahead, "Show outcomes ahead");
      this.ahead.title = `${ahead ? "Hide" : "Show"} what becomes of cycles that were not visited yet (o)`;
    };
    view.seen.on("changed", label);
    label();
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
        this.at,
        this.state,
        h("span", { class: "grow" }),
        jump,
      ),
      this.timeline.element,
      this.moments.element,
      h(
        "ul",
        { class: "legend", "aria-label": "Marks of the timeline" },
        [
          ["pass", "scheduled"],
          ["fail", "unschedulable"],
          ["victim", "preemption"],
          ["stale", "error"],
          ["stale-hit", "stale cache hit"],
          ["restart", "scheduler restarted"],
          ["quirk", "quirk of v1.11"],
          ["wait", "waiting at Permit"],
          ["group", "PodGroup: new phase"],
          ["group-failed", "PodGroup rejected or timed out"],
        ].map(([name, text]) =>
          h(
            "li",
            {
              "data-mark": name,
              hidden: ["restart", "stale-hit", "quirk", "wait", "group", "group-failed"].includes(name) || undefined,
            },
            h("i", { class: `mark ${name}` }),
            text,
          ),
        ),
        h("li", { class: "reveal", "data-mark": "ahead" }, h("i", { class: "mark ahead" }), this.ahead),
      ),
    );
    const legend = () => this.#legend(host.querySelector(".legend"));
    for (const emitter of [playback, view.seen]) for (const name of ["grew", "changed"]) emitter.on(name, legend);
    playback.on("seek", () => this.#tell());
    playback.on("parts", () => this.#tell());
    playback.on("moment", ({ index }) => {
      this.#tell();
      this.#say(index);
    });
    playback.on("step", ({ index }) => {
      this.#tell();
      this.#say(index);
      if (this.playing) this.#onward(index);
    });
    playback.on("grew", () => this.#tell());
    playback.on("opened", () => {
      this.pause();
      if (!kept()) this.#choose(playback.timed ? "event" : "failure", { keep: false });
      this.#tell();
    });
    view.on("hold", () => this.pause());
  }

  /** Tell what the marks mean that there are, among those that may be told. */
  #legend(list) {
    const { playback, seen } = this.view;
    const { marks } = playback;
    const knows = (index) => index > 0 && seen.knows(index);
    const turns = [...marks.groups].filter(([index]) => knows(index)).flatMap(([, found]) => found);
    const there = {
      restart: marks.restarts.some(knows),
      "stale-hit": knows(marks.seekStale(0, 1)),
      quirk: [...marks.quirks].some(knows),
      wait: knows(marks.seek(0, 1, "w")),
      group: turns.length > 0,
      "group-failed": turns.some(([kind]) => kind !== "phase"),
    };
    for (const [name, shown] of Object.entries(there)) list.querySelector(`[data-mark="${name}"]`).hidden = !shown;
    list.querySelector("[data-mark=ahead]").hidden = playback.complete === true && seen.upto >= playback.cycles;
  }

  /** Let it stop at breakpoints, and offer them. */
  listen({ stops, breakpoints, points }) {
    Object.assign(this, { stops, breakpoints, onPoints: () => points.open() });
    this.timeline.breakpoints = breakpoints;
    const tell = () => this.count(breakpoints.enabled.length);
    breakpoints.on("changed", tell);
    tell();
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

  /** Play on, unless a breakpoint holds of the cycle that is shown now. */
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

  /** Tell those that count virtual time how many milliseconds the shown cycle lasts; 0: it stands still. */
  #pace(ms) {
    this.view.pace = ms;
    this.view.emit("pace");
  }

  #next() {
    const { playback } = this.view;
    if (playback.wanted >= playback.last) {
      if (playback.complete) {
        this.pause();
        announce("The end of the timeline.");
      } else this.#schedule();
      return;
    }
    playback.goto(playback.wanted + 1);
  }

  /** Go by the unit that was chosen. */
  step(direction, since) {
    this.#walk(this.#unit, direction, since);
  }

  /** Go by phases. */
  phase(direction, since) {
    this.#walk("phase", direction, since);
  }

  /** Say whether outcomes ahead are shown. */
  tellAhead() {
    announce(this.view.seen.ahead ? "Outcomes ahead are shown." : "Outcomes ahead are hidden.");
  }

  /** Tell how many breakpoints are set. */
  count(set) {
    const label = set ? `Breakpoints: ${set}` : "Breakpoints";
    this.points.querySelector("em").textContent = set ? String(set) : "";
    this.points.setAttribute("aria-label", label);
    this.points.title = `${label} (b)`;
  }

  #choose(unit, { keep = true } = {}) {
    this.#unit = UNITS[unit] ? unit : "failure";
    this.unit.value = this.#unit;
    const [name] = UNITS[this.#unit];
    for (const [button, word, key] of [
      [this.previous, "Previous", ","],
      [this.next, "Next", "."],
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

  #tell() {
    const { playback } = this.view;
    const last = playback.timed ? END : LAST;
    if (this.toEnd.title !== last) {
      this.toEnd.title = last;
      this.toEnd.setAttribute("aria-label", last);
    }
    const shown = playback.index === playback.wanted;
    const light = shown ? playback.current : null;
    const time = shown ? playback.time : null;
    const end = playback.end && playback.wanted > playback.cycles;
    const within = !shown ? "" : playback.phase ? playback.phase : playback.at > 0 ? `moment ${playback.at}` : "";
    const { told } = this;
    const of = end ? "" : ` / ${count(playback.cycles ?? 0)}${playback.complete === false ? "…" : ""}`;
    write(told.index, end ? "End" : count(playback.wanted));
    if (told.cycles.data !== of) told.cycles.data = of;
    // What stands beside it must not move with every digit.
    this.told.room.style.setProperty("min-width", `${2 * count(playback.cycles ?? 0).length + 3}ch`);
    show(told.within, within);
    show(told.step, light ? `scenario step ${light.step}` : "");
    show(
      told.time,
      time === null ? "" : `t = ${clock(time)}`,
      time === null ? "" : `virtual time: ${time} seconds since the start`,
    );
    write(this.state, playback.complete === false ? "computing…" : "");
  }

  #say(index) {
    if (this.playing && this.#speed > 1) return;
    const { playback, stopped } = this.view;
    const say = (text) => announce(text, "place");
    const light = playback.current;
    const { moment } = playback;
    if (moment) {
      say(`Moment ${playback.at} of ${playback.moments.length}, ${clock(moment.time)}: ${spoken(moment.text)}`);
      return;
    }
    if (playback.phase) {
      say(`Cycle ${index}, phase ${playback.phase}.`);
      return;
    }
    if (playback.atEnd) {
      say(`The end, at ${clock(playback.time ?? 0)}.`);
      return;
    }
    if (!light) {
      if (index === 0) say("Before the first cycle.");
      return;
    }
    const pod = short(playback.pods.keys[light.pod]);
    const ended =
      light.result === "waiting"
        ? `waits at Permit on ${playback.nodes.names[light.node]}`
        : light.node === null
          ? light.result
          : `to ${playback.nodes.names[light.node]}`;
    const turns = playback.marks
      .turns(index)
      .slice(0, 3)
      .map((text) => ` PodGroup ${text}.`)
      .join("");
    const why = stopped?.index === index ? ` ${stopped.text}.` : "";
    const stale = light.cache?.[3] ? ` ${plural(light.cache[3], "stale hit")} of the cache.` : "";
    if (light.restart)
      say(`Cycle ${index}, after a restart of the scheduler: ${pod} ${ended}.${why || `${stale}${turns}`}`);
    else say(`Cycle ${index}: ${pod} ${ended}.${why || `${stale}${turns}`}`);
  }
}

/** Change a text that is not this one already. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Show a text, or nothing. */
function show(element, text, title = "") {
  element.hidden = !text;
  if (!text) return;
  write(element, text);
  if (title && element.title !== title) element.title = title;
}

/** What "next" meant when this browser was last here, or "". */
function kept() {
  try {
    return localStorage.getItem(UNIT) ?? "";
  } catch {
    return "";
  }
}
