// One side: its own connection, since of each kind of request a connection answers only the newest, and what the shown
// cycle decided, with the matrix of predicates or of priorities.

import { $, h, fill } from "../lib/dom.js";
import { count, short } from "../lib/quantity.js";
import { refusalOf, Socket } from "../lib/socket.js";
import { Breakpoints } from "../workbench/breakpoints.js";
import { Finder } from "../workbench/finder.js";
import { Panel } from "../workbench/inspect/panel.tsx";
import { Predicates } from "../workbench/inspect/predicates.tsx";
import { Priorities } from "../workbench/inspect/priorities.tsx";
import { sentence } from "../workbench/inspect/byhand.js";
import { Playback } from "../workbench/playback.js";
import { View } from "../workbench/view.js";
import { Stage } from "./stage.js";
/** @import { ComparedSide } from "../lib/protocol.js" */

/** @type {Record<Tab, (view: View) => { element: HTMLElement, update(): void }>} */
const PANELS = {
  predicates: (view) => new Panel(view, { key: "predicates", component: Predicates }),
  priorities: (view) => new Panel(view, { key: "priorities", part: "priorities", component: Priorities }),
};
/** @typedef {"predicates" | "priorities"} Tab */

/** The page of a source. */
const PATHS = { scenario: "/s/", draft: "/p/", link: "/l/", run: "/runs/" };

/**
 * The address of a cycle of a source.
 *
 * @param {Record<string, any>} source
 * @param {number} index
 */
export function addressOf(source, index) {
  if (source.side) return `/compare/${source.side.replace(/-(left|right)$/, "/$1")}/?step=${index}`;
  const kind = /** @type {keyof typeof PATHS} */ (Object.keys(PATHS).find((one) => one in source));
  const page = `${PATHS[kind]}${source[kind]}/`;
  return kind === "run" ? `${page}at/${index}/` : `${page}?step=${index}`;
}

export class Side {
  /** @type {Map<Tab, { element: HTMLElement, update(): void }>} */
  #panels = new Map();
  #there = true; // whether the shown row has a cycle of this run
  #asked = 0;
  /** @type {Tab} */
  tab = "predicates";
  rule = "";

  /**
   * @param {"left" | "right"} name
   * @param {ComparedSide} asked
   * @param {() => void} changed
   */
  constructor(name, asked, changed) {
    this.name = name;
    this.asked = asked;
    this.socket = new Socket();
    const { source, scheduler } = asked;
    this.playback = new Playback(this.socket, scheduler ? { ...source, scheduler } : source);
    this.view = new View(this.playback);
    this.view.breakpoints = new Breakpoints(this.view, new Finder(this.playback));
    this.title = scheduler ? this.#opener() : h("a", { href: "#", text: asked.title || "Untitled" });
    this.where = h("span", { class: "dim num" });
    this.story = h("div", { class: "story" });
    this.stage = new Stage(this, name === "left" ? "right" : "left");
    this.body = h("div", { class: "compared-body" });
    this.element = h(
      "section",
      { class: "compared", "aria-label": name === "left" ? "Left side" : "Right side" },
      h(
        "header",
        null,
        h("span", { class: "pill", text: name }),
        this.title,
        scheduler || asked.release ? h("span", { class: "pill release", text: scheduler || asked.release }) : null,
        h("span", { class: "grow" }),
        this.where,
      ),
      this.story,
      this.stage.element,
      this.body,
    );
    for (const event of ["step", "parts", "moment", "opened"])
      this.playback.on(/** @type {any} */ (event), () => {
        this.#draw();
        changed();
      });
    this.playback.on("grew", changed);
    this.playback.on("failed", (error) => fill(this.story, h("p", { class: "note error", text: error.message })));
    this.view.on("tab", () => this.onTab?.(this.view.tab));
  }

  /** A button that stores the comparison: only then has a side under another scheduler a page of its own. */
  #opener() {
    const form = /** @type {HTMLFormElement} */ ($("#open-side"));
    return h("button", {
      class: "link",
      form: form.id,
      name: "open",
      value: this.name,
      text: this.asked.title || "Untitled",
      title: `Open under ${this.asked.scheduler}`,
      onclick: () => {
        /** @type {HTMLInputElement} */ (form.elements.namedItem("step")).value = String(this.playback.index);
      },
    });
  }

  /** @type {((tab: string) => void) | null} */
  onTab = null;

  async open() {
    try {
      await this.playback.open();
    } catch (error) {
      fill(this.story, h("p", { class: "note error", text: refusalOf(error).message }));
      throw error;
    }
  }

  /**
   * Show a cycle, `there` whether the row has one of this run: else the one before it is shown.
   *
   * @param {number} index
   * @param {boolean} there
   */
  async goto(index, there) {
    const asked = (this.#asked += 1);
    this.#there = there;
    const { playback } = this;
    if (index > playback.last) {
      fill(this.story, h("p", { class: "dim", text: `Cycle ${count(index)} is being computed…` }));
      await playback.has(index);
      if (asked !== this.#asked) return;
    }
    if (playback.index === index) this.#draw();
    playback.goto(index);
  }

  /** @param {Tab} tab */
  setTab(tab) {
    this.tab = tab;
    this.view.setTab(tab, { push: false });
    this.#draw();
  }

  #draw() {
    const { playback, view } = this;
    const { index } = playback;
    if (index < 0 || !playback.nodes) return;
    if (this.title instanceof HTMLAnchorElement) this.title.href = addressOf(this.asked.source, index);
    this.where.textContent = index ? `cycle ${count(index)} of ${count(playback.cycles)}` : "before the first cycle";
    this.element.classList.toggle("absent", !this.#there);
    const light = playback.current;
    const pod = light ? short(playback.pods.keys[light.pod]) : "";
    fill(
      this.story,
      this.#there
        ? light
          ? light.story.map((parts) => sentence(view, parts))
          : h("p", { class: "dim", text: "The cluster before the first cycle." })
        : h("p", {
            class: "dim",
            text: `This run has no such cycle. ${index ? `Its last one before was ${count(index)}, of ${pod}.` : ""}`,
          }),
    );
    if (!this.#there) {
      fill(this.body);
      return;
    }
    const panel = this.#panel;
    if (panel.element.parentElement !== this.body) fill(this.body, panel.element);
    this.body.className = `compared-body tab-${this.tab}`;
    panel.update();
    this.mark();
  }

  get #panel() {
    const found = this.#panels.get(this.tab) ?? PANELS[this.tab](this.view);
    this.#panels.set(this.tab, found);
    return found;
  }

  /** Mark the rule that decided where it stands in the matrix and in the order. */
  mark() {
    for (const one of this.body.querySelectorAll("thead th, .ladder li"))
      one.classList.toggle("decides", Boolean(this.rule) && nameOf(one) === this.rule);
  }
}

/** @param {Element} one */
const nameOf = (one) => (one.querySelector(".rung-name") ?? one.querySelector("span") ?? one).textContent?.trim() ?? "";
