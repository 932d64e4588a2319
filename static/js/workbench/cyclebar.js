// The line above the stage: the pod in flight, what it asks for, and the phases of its cycle.

import { h, fill, icon } from "../lib/dom.js";
import { clock, cpu, memory, plural, short } from "../lib/quantity.js";
import { breakButton } from "./breakbutton.tsx";
import { condition } from "./conditions.js";
import { PHASES, TAB_OF, phaseWord, phasesOf } from "./phases.js";
/** @import { Layout } from "./layout.js" */
/** @import { View } from "./view.js" */

const TABS = new Set(Object.values(TAB_OF));

export class CycleBar {
  #followed = ""; // the step and phase whose tab was opened

  /**
   * @param {HTMLElement} host
   * @param {View} view
   * @param {Layout} layout
   */
  constructor(host, view, layout) {
    this.host = host;
    this.view = view;
    const toggle = (/** @type {string} */ name, /** @type {string} */ label) =>
      h(
        "button",
        {
          type: "button",
          class: "btn quiet square",
          "aria-label": label,
          title: label,
          onclick: () => layout.toggle(name),
        },
        icon(`panel-${name === "build" ? "left" : "right"}`),
      );
    this.main = h("div", { class: "cycle-main" });
    fill(host, toggle("build", "Hide or show Build ([)"), this.main, toggle("inspect", "Hide or show Inspect (])"));
    for (const name of ["step", "moment"])
      view.playback.on(name, () => {
        this.#follow();
        this.update();
      });
    view.playback.on("parts", () => {
      if (view.playback.partly || view.playback.atEnd) this.update();
    });
    view.playback.on("opened", () => this.update());
  }

  /** Who reads the tab of a phase goes on to the next phase's; an address names its tab itself. */
  #follow() {
    const { index, phase, wish } = this.view.playback;
    const place = `${index}/${phase}`;
    if (place === this.#followed) return;
    this.#followed = place;
    const tab = TAB_OF[phase];
    if (tab && !wish.linked && TABS.has(this.view.tab)) this.view.setTab(tab, { push: false });
  }

  update() {
    const { playback } = this.view;
    const light = playback.current;
    if (playback.atEnd) {
      const time = playback.parts?.time;
      fill(
        this.main,
        h("b", { text: "End" }),
        time === undefined
          ? null
          : h("span", {
              class: "dim num virtual-time",
              title: `virtual time: ${time} seconds since the start`,
              text: clock(time),
            }),
        h("span", {
          class: "dim ends",
          text: playback.cycles ? "the run is over: there are no more cycles" : "no pod was to be scheduled",
        }),
      );
      return;
    }
    if (!light) {
      fill(
        this.main,
        h("b", { text: playback.index === 0 ? "Before the first cycle" : "…" }),
        playback.index === 0
          ? h("span", {
              class: "dim",
              text:
                playback.veiled === 0
                  ? "the first cycle is hidden until the answer is revealed"
                  : playback.cycles
                    ? `${plural(playback.cycles, "cycle")} ${playback.cycles === 1 ? "follows" : "follow"}`
                    : "no pod is waiting",
            })
          : null,
      );
      return;
    }
    const { pods } = playback;
    const { pod } = light;
    const { tried, over } = playback.reached;
    if (!tried) {
      this.#early();
      return;
    }
    const failed = over && light.node === null;
    const waits = light.result === "waiting";
    const { drawn, ran, open } = phasesOf(light, playback.timed);
    const shown = playback.phase || drawn.findLast((phase) => ran.has(phase));
    const { time } = playback;
    const rank = PHASES.indexOf(shown);
    fill(
      this.main,
      h("i", { class: `dot ${this.view.colour(pod)}` }),
      h(
        "button",
        {
          type: "button",
          class: "link plain",
          onclick: () => this.view.selectPod(pod),
          title: pods.priority[pod] ? `${pods.keys[pod]}, priority ${pods.priority[pod]}` : pods.keys[pod],
        },
        h("b", { text: short(pods.keys[pod]) }),
      ),
      light.profile
        ? h("span", {
            class: "dim nowrap asks by-profile",
            title: "The profile that tries it, by spec.schedulerName",
            text: `by ${light.profile}`,
          })
        : null,
      pods.priority[pod] ? h("span", { class: "dim nowrap ranks", text: `priority ${pods.priority[pod]}` }) : null,
      h("span", { class: "dim nowrap asks", text: `${cpu(pods.cpu[pod])} cpu · ${memory(pods.memory[pod])}` }),
      over
        ? h(
            "span",
            { class: `pill outcome ${failed ? "fail" : waits ? "wait" : "pass"}` },
            icon(failed ? "cross" : waits ? "pause" : "check"),
            failed ? light.result : waits ? "waits at Permit" : "scheduled",
          )
        : h("span", { class: "pill outcome accent", text: "in flight" }),
      time || playback.timed
        ? h("span", {
            class: "dim nowrap num virtual-time",
            title: `virtual time: ${time} seconds since the start`,
            text: `t = ${clock(time ?? 0)}`,
          })
        : null,
      breakButton(this.view, condition("cycle", String(playback.index))),
      h("span", { class: "grow" }),
      h(
        "ol",
        { class: "phases", "aria-label": "Phases of this cycle" },
        drawn.map((phase) => {
          const state =
            !ran.has(phase) || PHASES.indexOf(phase) > rank
              ? "off"
              : phase === shown
                ? failed && over
                  ? "now failed"
                  : "now"
                : "done";
          const text = phaseWord(phase, light.release);
          return h(
            "li",
            { class: state, "aria-current": phase === shown && playback.phase ? "step" : undefined },
            TAB_OF[phase]
              ? h("button", { type: "button", onclick: () => this.view.setTab(TAB_OF[phase]), text })
              : h("span", { text }),
          );
        }),
        open
          ? h(
              "li",
              { class: "off" },
              h(
                "span",
                { title: "Later decisions are still open at this moment" },
                h("span", { "aria-hidden": "true", text: "…" }),
                h("span", { class: "sr", text: "later phases are open" }),
              ),
            )
          : null,
      ),
    );
  }

  /** A moment before the attempt: it is open which pod will be tried. */
  #early() {
    const { playback } = this.view;
    const { time } = playback;
    fill(
      this.main,
      h("b", { text: "Before the attempt" }),
      h("span", { class: "pill outcome accent", text: "not tried yet" }),
      playback.timed
        ? h("span", {
            class: "dim nowrap num virtual-time",
            title: `virtual time: ${time} seconds since the start`,
            text: `t = ${clock(time ?? 0)}`,
          })
        : null,
    );
  }
}
