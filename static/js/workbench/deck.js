// Transport: first, back, step, play with a speed, last; where we are; and the timeline under it.

import { h, fill, icon, announce, toast } from "../lib/dom.js";
import { age, count, plural, short } from "../lib/quantity.js";
import { Timeline } from "./timeline.js";

const SPEEDS = [["0.5", "0.5×"], ["1", "1×"], ["2", "2×"], ["5", "5×"], ["20", "20×"]];
const BASE = 1100; // milliseconds a step takes at 1×

export class Deck {
  #timer = 0;
  #speed = 2;

  constructor(host, view) {
    this.view = view;
    this.timeline = new Timeline(view);
    const { playback } = view;
    const button = (name, label, act, more = "") => h("button", { type: "button", class: `btn ${more}`, "aria-label": label, title: label, onclick: (event) => { this.pause(); act(event.timeStamp); } }, icon(name));
    this.play = h("button", { type: "button", class: "btn play", "data-play": true, "aria-label": "Play", title: "Play or pause (Space)", onclick: () => this.toggle() }, icon("play"), h("span", { text: "Play" }));
    const step = h("button", { type: "button", class: "btn primary step", "data-step-forward": true, title: "Step (→)", onclick: (event) => { this.pause(); playback.goto(playback.wanted + 1, event.timeStamp); } }, h("span", { text: "Step" }), icon("step"));
    const speed = h("select", { class: "field speed", "aria-label": "Speed", onchange: (event) => { this.#speed = Number(event.target.value); if (this.playing) this.#schedule(); } },
      SPEEDS.map(([value, text]) => h("option", { value, text, selected: value === "2" || undefined })));
    this.at = h("span", { class: "at" });
    this.state = h("span", { class: "at-state", role: "status" });
    const buttons = [button("first", "To the start (Home)", (since) => playback.goto(0, since)), button("back", "Back (←)", (since) => playback.goto(playback.wanted - 1, since), "back"),
      step, this.play, button("last", "To the last cycle (End)", (since) => playback.goto(playback.cycles, since))];
    const jump = h("div", { class: "jump" }, h("button", { type: "button", class: "btn quiet", "data-next-failure": true, title: "Next cycle that did not place its pod, or used a stale answer of the cache (.)", onclick: (event) => this.nextFailure(event.timeStamp) }, h("span", { text: "Next failure" }), h("kbd", { text: "." })), speed);
    fill(host,
      h("div", { class: "transport", role: "group", "aria-label": "Transport" }, buttons, this.at, this.state, h("span", { class: "grow" }), jump),
      this.timeline.element,
      h("ul", { class: "legend", "aria-label": "Marks of the timeline" }, [["pass", "scheduled"], ["fail", "unschedulable"], ["victim", "preemption"], ["stale", "error"], ["stale-hit", "stale cache hit"], ["restart", "scheduler restarted"], ["quirk", "quirk of v1.11"], ["wait", "waiting at Permit"], ["group", "PodGroup: new phase"], ["group-failed", "PodGroup rejected or timed out"]].map(([name, text]) => h("li", { "data-mark": name, hidden: ["restart", "stale-hit", "quirk", "wait", "group", "group-failed"].includes(name) || undefined }, h("i", { class: `mark ${name}` }), text))));
    playback.on("grew", () => {
      host.querySelector("[data-mark=restart]").hidden = !playback.marks.restarts.length;
      host.querySelector("[data-mark=stale-hit]").hidden = !playback.marks.staleCycles;
      host.querySelector("[data-mark=quirk]").hidden = !playback.marks.quirks.size;
      host.querySelector("[data-mark=wait]").hidden = !playback.marks.seek(0, 1, "w");
      const turns = [...playback.marks.groups.values()].flat();
      host.querySelector("[data-mark=group]").hidden = !turns.length;
      host.querySelector("[data-mark=group-failed]").hidden = turns.every(([kind]) => kind === "phase");
    });
    playback.on("seek", () => this.#tell());
    playback.on("step", ({ index }) => { this.#tell(); this.#say(index); if (this.playing) this.#schedule(); });
    playback.on("grew", () => this.#tell());
    playback.on("opened", () => { this.pause(); this.#tell(); });
    view.on("hold", () => this.pause());
  }

  get playing() { return this.#timer !== 0; }

  toggle() { if (this.playing) this.pause(); else this.#start(); }

  #start() {
    const { playback } = this.view;
    if (!playback.cycles) return;
    if (playback.wanted >= playback.cycles && playback.complete) playback.goto(0);
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

  /** Tell those that count virtual time how many milliseconds the shown cycle lasts; 0: it stands still. */
  #pace(ms) {
    this.view.pace = ms;
    this.view.emit("pace");
  }

  #next() {
    const { playback } = this.view;
    if (playback.wanted >= playback.cycles) {
      if (playback.complete) { this.pause(); announce("The end of the timeline."); } else this.#schedule();
      return;
    }
    playback.goto(playback.wanted + 1);
  }

  nextFailure(since) {
    const { playback } = this.view;
    this.pause();
    const stale = playback.marks.seekStale(playback.wanted, 1);
    const failed = playback.marks.seek(playback.wanted, 1, "uep");
    const found = stale && failed ? Math.min(stale, failed) : stale || failed;
    if (found) playback.goto(found, since);
    else toast("No later cycle failed.");
  }

  #tell() {
    const { playback } = this.view;
    const light = playback.index === playback.wanted ? playback.current : null;
    fill(this.at, h("b", { text: count(playback.wanted) }), h("span", { text: ` / ${count(playback.cycles ?? 0)}${playback.complete === false ? "…" : ""}` }),
      light ? h("span", { class: "at-time", title: "The scenario's step (it advances with every change from outside), the attempt within it, and the virtual time", text: ` · scenario step ${light.step} · ${age(light.time)}` }) : null);
    this.state.textContent = playback.complete === false ? "computing…" : "";
  }

  #say(index) {
    if (this.playing && this.#speed > 1) return;
    const { playback } = this.view;
    const light = playback.current;
    if (!light) { if (index === 0) announce("Before the first cycle."); return; }
    const pod = short(playback.pods.keys[light.pod]);
    const ended = light.result === "waiting" ? `waits at Permit on ${playback.nodes.names[light.node]}` : light.node === null ? light.result : `to ${playback.nodes.names[light.node]}`;
    const turns = playback.marks.turns(index).slice(0, 3).map((text) => ` PodGroup ${text}.`).join("");
    const stale = light.cache?.[3] ? ` ${plural(light.cache[3], "stale hit")} of the cache.` : "";
    if (light.restart) announce(`Cycle ${index}, after a restart of the scheduler: ${pod} ${ended}.${stale}${turns}`);
    else announce(`Cycle ${index}: ${pod} ${ended}.${stale}${turns}`);
  }
}
