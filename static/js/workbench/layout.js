// The three regions: widths by mouse and keyboard, collapsing, and one at a time on a phone.

import { $, $$ } from "../lib/dom.js";

const KEY = "podstep.layout";
const REGIONS = { build: { least: 190, most: 640, usual: 268, side: 1 }, inspect: { least: 300, most: 1100, usual: 470, side: -1 } };
const COLLAPSE_BELOW = 120;

export class Layout {
  constructor(root, view) {
    this.root = root;
    let kept = {};
    try { kept = JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { kept = {}; }
    this.widths = { build: kept.build ?? REGIONS.build.usual, inspect: kept.inspect ?? REGIONS.inspect.usual };
    this.collapsed = { build: kept.buildClosed ?? innerWidth < 1100, inspect: kept.inspectClosed ?? false };
    for (const name of Object.keys(REGIONS)) this.#splitter(name);
    for (const button of $$("[data-view-tab]", root)) button.addEventListener("click", () => this.show(button.dataset.viewTab));
    view.on("widen", ([name, width]) => this.widen(name, width));
    view.on("region", (name) => { if (matchMedia("(max-width: 760px)").matches) this.show(name); else if (this.collapsed[name]) this.toggle(name); });
    const seen = new ResizeObserver(() => this.#clear());
    for (const part of [root, ...$$("[data-deck], .phone-tabs", root)]) seen.observe(part);
    this.#apply();
  }

  /** Tell the style sheet how much at the bottom notices must leave free: transport and timeline, or the phone's tabs. */
  #clear() {
    const tops = $$("[data-deck], .phone-tabs", this.root).map((part) => part.getBoundingClientRect()).filter(({ height }) => height).map(({ top }) => top);
    document.body.style.setProperty("--deck", `${Math.max(0, Math.round(innerHeight - Math.min(innerHeight, ...tops)))}px`);
  }

  /** Show one region where there is room for one. */
  show(name) {
    this.root.dataset.view = name;
    for (const button of $$("[data-view-tab]", this.root)) {
      if (button.dataset.viewTab === name) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  /** Make a region at least this wide where there is room, as text to edit needs. */
  widen(name, width) {
    if (this.collapsed[name] || this.widths[name] >= width || innerWidth < 1300) return;
    this.widths[name] = width;
    this.#apply();
  }

  toggle(name) {
    this.collapsed[name] = !this.collapsed[name];
    this.#apply();
    this.#keep();
  }

  #apply() {
    for (const [name, { least }] of Object.entries(REGIONS)) {
      const room = Math.max(least, innerWidth - (name === "inspect" ? 420 : 700));
      const width = this.collapsed[name] ? 0 : Math.min(this.widths[name], room);
      this.root.style.setProperty(`--${name}`, `${width}px`);
      this.root.classList.toggle(`no-${name}`, this.collapsed[name]);
      const splitter = $(`[data-splitter="${name}"]`, this.root);
      splitter.setAttribute("aria-valuenow", Math.round(width));
      splitter.setAttribute("aria-valuetext", this.collapsed[name] ? "collapsed" : `${Math.round(width)} pixels`);
    }
  }

  #keep() {
    try { localStorage.setItem(KEY, JSON.stringify({ ...this.widths, buildClosed: this.collapsed.build, inspectClosed: this.collapsed.inspect })); } catch { /* for this visit only */ }
  }

  #set(name, width) {
    const { least, most } = REGIONS[name];
    this.collapsed[name] = width < COLLAPSE_BELOW;
    if (!this.collapsed[name]) this.widths[name] = Math.max(least, Math.min(most, width));
    this.#apply();
  }

  #splitter(name) {
    const splitter = $(`[data-splitter="${name}"]`, this.root);
    const { side, usual } = REGIONS[name];
    let start = null;
    splitter.addEventListener("pointerdown", (event) => {
      splitter.setPointerCapture(event.pointerId);
      start = { x: event.clientX, width: this.collapsed[name] ? 0 : this.widths[name] };
      this.root.classList.add("resizing");
      event.preventDefault();
      splitter.focus();
    });
    splitter.addEventListener("pointermove", (event) => { if (start) this.#set(name, start.width + (event.clientX - start.x) * side); });
    for (const end of ["pointerup", "pointercancel"]) splitter.addEventListener(end, () => { start = null; this.root.classList.remove("resizing"); this.#keep(); });
    splitter.addEventListener("dblclick", () => this.toggle(name));
    splitter.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 80 : 20;
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        const by = (event.key === "ArrowRight" ? step : -step) * side;
        this.#set(name, this.collapsed[name] ? (by > 0 ? this.widths[name] : 0) : this.widths[name] + by < REGIONS[name].least ? (by < 0 ? 0 : REGIONS[name].least) : this.widths[name] + by);
      } else if (event.key === "Enter") this.collapsed[name] = !this.collapsed[name];
      else if (event.key === "Home") this.widths[name] = usual;
      else return;
      event.preventDefault();
      event.stopPropagation();
      this.#apply();
      this.#keep();
    });
  }
}
