// The Inspect region: tabs over the record of the shown cycle. Only the open tab is drawn.

import { h, fill } from "../../lib/dom.js";
import { releaseOf } from "../../lib/releases.js";
import { keeping } from "../../lib/tables.js";
import { tabs } from "../tabs.js";
import { termsIn } from "../terms.js";
import { Story } from "./story.js";
import { Predicates } from "./predicates.js";
import { Cache } from "./cache.js";
import { percent, rate } from "./cachewords.js";
import { Priorities } from "./priorities.js";
import { Preemption } from "./preemption.js";
import { PodGroups } from "./podgroups.js";
import { Session } from "./session.js";
import { Queue } from "./queue.js";
import { Events } from "./events.js";
import { Hints } from "./hints.js";
import { Views } from "./views.js";
import { Availability } from "./availability.js";
import { Descheduling } from "./descheduling.js";
import { Network } from "./network.js";
import { pointed } from "./nouns.js";
/** @import { View } from "../view.js" */

/** The tabs that are called after what the release has there. */
const RENAMED = { predicates: "filterTab", cache: "cacheTab", priorities: "scoreTab" };

/** @type {[key: string, label: string, panel: new (view: View) => any][]} */
export const TABS = [
  ["story", "Story", Story],
  ["predicates", "Predicates", Predicates],
  ["cache", "Cache", Cache],
  ["priorities", "Priorities", Priorities],
  ["preemption", "Preemption", Preemption],
  ["podgroups", "PodGroups", PodGroups],
  ["queue", "Queue", Queue],
  ["events", "Events", Events],
  ["session", "Session", Session],
  ["network", "Flow", Network],
  ["hints", "Hints", Hints],
  ["views", "Views", Views],
  ["descheduler", "Descheduler", Descheduling],
  ["availability", "Over time", Availability],
];

export class Inspect {
  #panels = new Map();

  /**
   * @param {HTMLElement} region
   * @param {View} view
   */
  constructor(region, view) {
    this.view = view;
    const { views } = /** @type {HTMLElement} */ (region.closest("[data-workbench]")).dataset;
    this.only = views ? new Set(views.split(",")) : null; // a lesson shows the tabs of its stop
    this.body = region.querySelector("[data-inspect]");
    this.strip = tabs(
      region.querySelector("[role=tablist]"),
      TABS.map(([key, label]) => [key, label]),
      this.body,
      (key) => view.setTab(key),
    );
    this.mark = pointed(view, this.body);
    view.on("tab", ({ focus } = {}) => {
      this.#open();
      if (focus) this.strip.focus(view.tab);
    });
    view.playback.on("opened", () => {
      const held = this.body.contains(document.activeElement); // what was pressed there goes with the old source
      this.#clear();
      this.sessions = this.viewed = this.flows = false;
      this.#open();
      if (held) this.strip.focus(this.view.tab);
    });
    view.on("relist", () => {
      this.#clear();
      this.#open();
    });
    for (const name of ["step", "moment"]) view.playback.on(name, () => this.update());
    view.playback.on("parts", () => this.update());
    this.#open();
  }

  /** Make all panels again when they are wanted; the old ones listen to nothing any more. */
  #clear() {
    this.#panels.clear();
    this.view.panels.abort();
    this.view.panels = new AbortController();
  }

  get panel() {
    const key = this.view.tab;
    if (!this.#panels.has(key)) this.#panels.set(key, new (TABS.find(([name]) => name === key)[2])(this.view));
    return this.#panels.get(key);
  }

  #open() {
    this.#offer();
    this.strip.select(this.view.tab);
    if (!this.view.playback.nodes) {
      fill(this.body, h("div", { class: "empty" }, h("span", { text: "Opening…" })));
      return;
    }
    fill(this.body, this.panel.element);
    this.body.className = `region-body tab-${this.view.tab}`;
    this.body.scrollTop = 0;
    this.update();
  }

  update() {
    const { playback } = this.view;
    if (!playback.nodes || playback.index < 0) return;
    this.#count();
    keeping(this.body, () => this.panel.update());
    this.mark();
  }

  /** Without PodGroups, and without Coscheduling, their tab would only take the others' room; so without sessions. */
  #offer() {
    const { podgroups: part, session, views, network } = this.view.playback.parts ?? {};
    if (views && "lanes" in views) this.viewed = true;
    this.strip.offer("availability", this.view.playback.timed || this.view.tab === "availability");
    this.strip.offer("descheduler", Boolean(this.view.playback.descheduler) || this.view.tab === "descheduler");
    this.strip.offer("views", Boolean(this.viewed) || this.view.tab === "views");
    if (network && "number" in network) this.flows = true;
    this.strip.offer("network", Boolean(this.flows) || this.view.tab === "network");
    if (session && "number" in session) this.sessions = true;
    this.strip.offer("session", Boolean(this.sessions) || this.view.tab === "session");
    if (part) this.grouped = "groups" in part && Boolean(part.groups.length || part.coscheduling);
    this.strip.offer("podgroups", this.grouped || this.view.tab === "podgroups");
    const { release, schedulers } = this.view.playback;
    const running = [release, ...(schedulers?.listed ?? []).map(({ runs }) => runs)];
    this.strip.offer("hints", running.some((one) => releaseOf(one).hasHints) || this.view.tab === "hints");
    const terms = termsIn(this.view.playback);
    for (const [key, term] of Object.entries(RENAMED)) this.strip.label(key, terms[term]);
    if (this.only) for (const [key] of TABS) if (!this.only.has(key)) this.strip.offer(key, false);
  }

  #count() {
    this.#offer();
    const { playback } = this.view;
    const light = playback.current;
    this.strip.badge(
      "queue",
      light?.queue && playback.reached.tried
        ? String(light.queue[0] + light.queue[1] + (playback.reached.over && light.node === null ? 1 : 0))
        : "",
    );
    const victims = light?.nominated?.[1].length;
    const waiting = this.view.facts.waiting.size;
    this.strip.badge("podgroups", waiting ? String(waiting) : "", "wait-text");
    this.strip.badge("preemption", victims ? String(victims) : "");
    const [hits, evaluations, , stale] = light?.cache ?? [0, 0, 0, 0];
    this.strip.badge(
      "cache",
      stale ? `${stale} stale` : light?.cache ? percent(rate(hits, evaluations)) : "",
      stale ? "stale-text" : "",
    );
    this.strip.badge(
      "predicates",
      light?.ladder.length || light?.result === "unschedulable"
        ? `${light.ladder.at(-1)?.[2] ?? 0}/${light.ladder[0]?.[1] ?? 0}`
        : "",
    );
  }
}
