// The Inspect region: tabs over the record of the shown cycle. Only the open tab is drawn.

import { h, fill } from "../../lib/dom.js";
import { keeping } from "../../lib/tables.js";
import { tabs } from "../tabs.js";
import { termsIn } from "../terms.js";
import { Panel } from "./panel.tsx";
import { pointed } from "./pointed.js";
import { TABS } from "./tabs.tsx";
/** @import { View } from "../view.js" */

export class Inspect {
  #panels = new Map();
  /** @type {Map<string, boolean>} */
  #offered = new Map(); // by tab, as far as it is known

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
      TABS.map(({ key, title }) => [key, title]),
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
      this.#offered.clear();
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
    if (!this.#panels.has(key)) {
      const tab = TABS.find((one) => one.key === key);
      this.#panels.set(key, "panel" in tab ? new tab.panel(this.view) : new Panel(this.view, tab));
    }
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

  /** Offer the tabs that have something to show here, under the names that the release has for them. */
  #offer() {
    const { view, strip } = this;
    const terms = termsIn(view.playback);
    for (const { key, term, offered, stays } of TABS) {
      if (term) strip.label(key, terms[term]);
      const before = this.#offered.get(key) ?? false;
      this.#offered.set(key, !offered || (stays && before) || (offered(view) ?? before));
      strip.offer(key, (this.only?.has(key) ?? true) && (this.#offered.get(key) || view.tab === key));
    }
  }

  #count() {
    this.#offer();
    for (const { key, badge } of TABS) if (badge) this.strip.badge(key, ...[badge(this.view)].flat());
  }
}
