// The line above the stage: the pod in flight, what it asks for, and the phases of its cycle.

import { h, fill, icon } from "../lib/dom.js";
import { age, cpu, memory, plural, short } from "../lib/quantity.js";

const PHASES = ["queue", "predicates", "priorities", "select", "preemption", "assume", "bind"];
const TIMED = ["queue", "preFilter", "predicates", "priorities", "preemption", "postFilter", "permit", "bind"]; // the framework's that decide something; those that ran are shown
const TAB_OF = { queue: "queue", predicates: "predicates", priorities: "priorities", preemption: "preemption", preFilter: "podgroups", permit: "podgroups", postFilter: "podgroups" };

export class CycleBar {
  constructor(host, view, layout) {
    this.host = host;
    this.view = view;
    const toggle = (name, label) => h("button", { type: "button", class: "btn quiet square", "aria-label": label, title: label, onclick: () => layout.toggle(name) }, icon(`panel-${name === "build" ? "left" : "right"}`));
    this.main = h("div", { class: "cycle-main" });
    fill(host, toggle("build", "Hide or show Build ([)"), this.main, toggle("inspect", "Hide or show Inspect (])"));
    view.playback.on("step", () => this.update());
    view.playback.on("opened", () => this.update());
  }

  update() {
    const { playback } = this.view;
    const light = playback.current;
    if (!light) {
      fill(this.main, h("b", { text: playback.index === 0 ? "Before the first cycle" : "…" }), playback.index === 0 ? h("span", { class: "dim", text: playback.cycles ? `${plural(playback.cycles, "cycle")} ${playback.cycles === 1 ? "follows" : "follow"}` : "no pod is waiting" }) : null);
      return;
    }
    const { pods } = playback;
    const { pod } = light;
    const failed = light.node === null;
    const ran = new Set(light.phases);
    const waits = light.result === "waiting";
    const timed = ran.has("permit") || ran.has("preFilter") || ran.has("postFilter") || Boolean(playback.parts?.queue?.timed);
    const phases = timed ? TIMED.filter((phase) => ran.has(phase)) : PHASES.filter((phase) => phase !== "preemption" || ran.has(phase));
    const last = timed ? phases.at(-1) : light.phases.at(-1);
    fill(this.main,
      h("i", { class: `dot ${this.view.colour(pod)}` }),
      h("button", { type: "button", class: "link plain", onclick: () => this.view.selectPod(pod), title: pods.priority[pod] ? `${pods.keys[pod]}, priority ${pods.priority[pod]}` : pods.keys[pod] }, h("b", { text: short(pods.keys[pod]) })),
      pods.priority[pod] ? h("span", { class: "dim nowrap ranks", text: `priority ${pods.priority[pod]}` }) : null,
      h("span", { class: "dim nowrap asks", text: `${cpu(pods.cpu[pod])} cpu · ${memory(pods.memory[pod])}` }),
      h("span", { class: `pill outcome ${failed ? "fail" : waits ? "wait" : "pass"}` }, icon(failed ? "cross" : waits ? "pause" : "check"), failed ? light.result : waits ? "waits at Permit" : "scheduled"),
      light.time ? h("span", { class: "dim nowrap num virtual-time", title: `virtual time: ${light.time} seconds since the start`, text: `t = ${age(light.time)}` }) : null,
      h("span", { class: "grow" }),
      h("ol", { class: "phases", "aria-label": "Phases of this cycle" }, phases.map((phase) => {
        const state = !ran.has(phase) ? "off" : phase === last ? (failed ? "now failed" : "now") : "done";
        return h("li", { class: state }, TAB_OF[phase] ? h("button", { type: "button", onclick: () => this.view.setTab(TAB_OF[phase]), text: phase }) : h("span", { text: phase }));
      })));
  }
}
