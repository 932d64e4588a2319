// The three regions: widths by mouse and keyboard, collapsing, and one at a time on a phone.

import { $, $$ } from "../../lib/dom.ts";
import { textScale } from "../../lib/theme.ts";
import type { View } from "../view/view.ts";

const KEY = "podstep.layout";
// Upright or on its side, as in the style sheets.
const phone = matchMedia("(max-width: 760px), (max-width: 960px) and (max-height: 480px)");
const REGIONS: Record<string, { least: number; most: number; usual: number; side: number }> = {
  build: { least: 190, most: 640, usual: 268, side: 1 },
  inspect: { least: 300, most: 1100, usual: 488, side: -1 },
};
const COLLAPSE_BELOW = 120;
const SPLITTERS = 14; // both, in pixels
const STAGE_LEAST = 380; // that the stage keeps while a panel can still give room
const ALL_THREE = 1000; // a window this wide shows all three regions until somebody hides one

export class Layout {
  widths: Record<string, number | undefined>;
  collapsed: Record<string, boolean>;
  constructor(
    readonly root: HTMLElement,
    view: View,
  ) {
    let kept;
    try {
      kept = JSON.parse(localStorage.getItem(KEY) ?? "null") ?? {};
    } catch {
      kept = {};
    }
    this.widths = { build: kept.build, inspect: kept.inspect }; // as somebody has set them
    this.collapsed = { build: kept.buildClosed ?? innerWidth < ALL_THREE, inspect: kept.inspectClosed ?? false };
    for (const name of Object.keys(REGIONS)) this.#splitter(name);
    for (const button of $$("[data-view-tab]", root))
      button.addEventListener("click", () => this.show(button.dataset.viewTab as string));
    view.actions.region.on((name) => {
      if (this.single) this.show(name);
      else if (this.collapsed[name]) this.toggle(name);
    });
    view.actions.maximize.on((on) => {
      root.classList.toggle("large-build", on);
      this.refit();
    });
    const seen = new ResizeObserver(() => this.#clear());
    addEventListener("resize", () => this.#apply());
    for (const part of [root, ...$$("[data-deck], .phone-tabs", root)]) seen.observe(part);
    this.#apply();
  }

  /** The page looks otherwise: work out what there is room for. */
  refit() {
    this.#apply();
    this.#clear();
  }

  /** Whether there is room for one region only. */
  get single() {
    return phone.matches;
  }

  /** How wide a panel is to be: as it was set, else as wide as its text wants on this screen. */
  #width(name: string) {
    return this.widths[name] ?? Math.round(REGIONS[name].usual * textScale());
  }

  /**
   * Tell the style sheet how much space at the bottom notices must leave free: transport and timeline, or the phone's
   * tabs.
   */
  #clear() {
    const tops = $$(".caption, [data-deck], .phone-tabs", this.root)
      .map((part) => part.getBoundingClientRect())
      .filter(({ height }) => height)
      .map(({ top }) => top);
    // On the notices alone: from the body every element of the page would inherit it, and be styled again.
    $("[data-toasts]").style.setProperty(
      "--deck",
      `${Math.max(0, Math.round(innerHeight - Math.min(innerHeight, ...tops)))}px`,
    );
  }

  /** Show one region where there is room for one. */
  show(name: string) {
    this.root.dataset.view = name;
    for (const button of $$("[data-view-tab]", this.root)) {
      if (button.dataset.viewTab === name) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  toggle(name: string) {
    this.collapsed[name] = !this.collapsed[name];
    this.#apply();
    this.#keep();
  }

  /** The widths that there is room for: each panel gives in proportion to what it has above its least. */
  #fitting() {
    const wanted = Object.fromEntries(
      Object.keys(REGIONS).map((name) => [name, this.collapsed[name] ? 0 : this.#width(name)]),
    );
    const over = wanted.build + wanted.inspect + SPLITTERS + STAGE_LEAST - innerWidth;
    const spare = Object.fromEntries(
      Object.entries(REGIONS).map(([name, { least }]) => [name, Math.max(0, wanted[name] - least)]),
    );
    const whole = spare.build + spare.inspect;
    if (over > 0 && whole > 0)
      for (const name of Object.keys(REGIONS)) wanted[name] -= (Math.min(over, whole) * spare[name]) / whole;
    return wanted;
  }

  #apply() {
    const fitting = this.#fitting();
    for (const [name, { most }] of Object.entries(REGIONS)) {
      const width = Math.round(fitting[name]);
      this.root.style.setProperty(`--${name}`, `${width}px`);
      this.root.classList.toggle(`no-${name}`, this.collapsed[name]);
      const splitter = $(`[data-splitter="${name}"]`, this.root);
      splitter.setAttribute("aria-valuemax", String(most));
      splitter.setAttribute("aria-valuenow", String(width));
      splitter.setAttribute("aria-valuetext", this.collapsed[name] ? "collapsed" : `${width} pixels`);
    }
  }

  #keep() {
    try {
      localStorage.setItem(
        KEY,
        JSON.stringify({ ...this.widths, buildClosed: this.collapsed.build, inspectClosed: this.collapsed.inspect }),
      );
    } catch {
      /* for this visit only */
    }
  }

  /** Take the widths on screen for the wanted ones: who moves a splitter begins at what they see. */
  #settle() {
    const fitting = this.#fitting();
    for (const name of Object.keys(REGIONS)) if (!this.collapsed[name]) this.widths[name] = Math.round(fitting[name]);
  }

  #set(name: string, width: number) {
    const { least, most } = REGIONS[name];
    const other = name === "build" ? "inspect" : "build";
    const room = innerWidth - SPLITTERS - STAGE_LEAST - (this.collapsed[other] ? 0 : this.#width(other));
    this.collapsed[name] = width < COLLAPSE_BELOW;
    if (!this.collapsed[name]) this.widths[name] = Math.max(least, Math.min(most, room, width));
    this.#apply();
  }

  #splitter(name: string) {
    const splitter = $(`[data-splitter="${name}"]`, this.root);
    const { side } = REGIONS[name];
    let start: { x: number; width: number } | null = null;
    splitter.addEventListener("pointerdown", (event) => {
      splitter.setPointerCapture(event.pointerId);
      this.#settle();
      start = { x: event.clientX, width: this.collapsed[name] ? 0 : this.#width(name) };
      this.root.classList.add("resizing");
      event.preventDefault();
      splitter.focus();
    });
    splitter.addEventListener("pointermove", (event) => {
      if (start) this.#set(name, start.width + (event.clientX - start.x) * side);
    });
    for (const end of ["pointerup", "pointercancel"])
      splitter.addEventListener(end, () => {
        start = null;
        this.root.classList.remove("resizing");
        this.#keep();
      });
    splitter.addEventListener("dblclick", () => this.toggle(name));
    splitter.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 80 : 20;
      this.#settle();
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        const by = (event.key === "ArrowRight" ? step : -step) * side;
        this.#set(
          name,
          this.collapsed[name]
            ? by > 0
              ? this.#width(name)
              : 0
            : this.#width(name) + by < REGIONS[name].least
              ? by < 0
                ? 0
                : REGIONS[name].least
              : this.#width(name) + by,
        );
      } else if (event.key === "Enter") this.collapsed[name] = !this.collapsed[name];
      else if (event.key === "Home") delete this.widths[name];
      else return;
      event.preventDefault();
      event.stopPropagation();
      this.#apply();
      this.#keep();
    });
  }
}
