// Bringing a form on a page into view.

import { $ } from "../lib/dom.ts";

const SETTLES = 4000; // milliseconds in which the page above the box settles
const MARGIN = 12; // pixels that stay free above and below what is turned to

/** Show the box, also while what is above it still grows, until somebody scrolls or types. */
export function keepInView(form: HTMLElement, box: HTMLElement) {
  const settle = new ResizeObserver(() => reveal(form, box));
  const stop = () => settle.disconnect();
  reveal(form, box);
  settle.observe(document.body);
  for (const name of ["wheel", "touchmove", "keydown", "pointerdown"])
    addEventListener(name, stop, { once: true, passive: true, capture: true });
  setTimeout(stop, SETTLES);
}

/**
 * Scroll as little as it takes to show the form's heading and the box under it; where there is no room for both, with
 * the heading on top.
 */
function reveal(form: HTMLElement, box: HTMLElement) {
  const heading = $("h2", form);
  const above = Math.max(0, $(".topbar")?.getBoundingClientRect().bottom ?? 0) + MARGIN;
  const { top } = heading.getBoundingClientRect();
  const below = box.getBoundingClientRect().bottom + MARGIN - innerHeight;
  const by = top < above ? top - above : Math.max(0, Math.min(below, top - above));
  if (by) scrollBy({ top: by, behavior: "instant" });
}
