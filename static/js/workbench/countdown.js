// Timers that count in virtual time. While Play runs, the time from one cycle to the next passes evenly between them;
// else, and where motion is unwelcome, it stands at the cycle that is shown.

import { h } from "../lib/dom.js";
import { age, clock } from "../lib/quantity.js";
/** @import { View } from "./view.js" */

const FOR_EVER = 1e11; // and more seconds
const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * A moment of virtual time: `t = 90s`.
 *
 * @param {number} seconds
 */
export const moment = (seconds) => (seconds > FOR_EVER ? "for ever" : `t = ${clock(seconds)}`);

/** How long something still lasts: a clock that runs down rounds up, so that 10s are left until they are less. */
export function left(until, now) {
  const rest = until - now;
  return until > FOR_EVER
    ? "for ever"
    : rest < 0.05
      ? "now"
      : `${age(rest > 9.95 ? Math.ceil(rest - 0.05) : Math.round(rest * 10) / 10)} left`;
}

/**
 * How long something still lasts, as an element that counts.
 *
 * @param {number} seconds
 * @param {number} now
 * @param {string} [className]
 */
export const until = (seconds, now, className = "") =>
  h("span", {
    class: `num ${className}`.trim(),
    "data-until": seconds,
    title: moment(seconds),
    text: left(seconds, now),
  });

/** A bar from now to a moment, on an axis that ends at `horizon`; it shrinks as time passes. */
export function bar(seconds, now, horizon, className = "") {
  const inner = h("i", { class: className, "data-until-bar": seconds, "data-from": now, "data-horizon": horizon });
  width(inner, now);
  return h("span", { class: "until-bar", "aria-hidden": "true" }, inner);
}

/**
 * @param {HTMLElement} element
 * @param {number} now
 */
function width(element, now) {
  const { untilBar, from, horizon } = element.dataset;
  const span = Math.max(1e-9, Number(horizon) - Number(from));
  element.style.setProperty("width", `${Math.max(0, Math.min(1, (Number(untilBar) - now) / span)) * 100}%`);
}

export class Countdown {
  #frame = 0;
  #since = 0; // when the shown cycle came on screen
  #time = 0;

  /**
   * Count what is in `root`, drawn for a moment that is passed to `stand`.
   *
   * @param {View} view
   */
  constructor(view, root) {
    this.view = view;
    this.root = root;
    view.playback.on(
      "step",
      () => {
        this.#since = performance.now();
      },
      view.panels,
    );
    view.on("pace", () => this.#run(), view.panels);
  }

  /** What is in the root was drawn at this virtual time. */
  stand(time) {
    this.#time = time;
    this.#run();
  }

  #run() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.view.pace && !still.matches && this.root.isConnected)
      this.#frame = requestAnimationFrame(() => {
        this.#tick(this.#now());
        this.#run();
      });
    else if (this.root.isConnected) this.#tick(this.#time);
  }

  #now() {
    const { playback, pace } = this.view;
    const next = playback.light(playback.index + 1)?.time ?? this.#time;
    return this.#time + Math.max(0, next - this.#time) * Math.min(1, (performance.now() - this.#since) / pace);
  }

  /** @param {number} now */
  #tick(now) {
    for (const element of this.root.querySelectorAll("[data-until]")) {
      const text = left(Number(element.dataset.until), now);
      if (element.textContent !== text) element.textContent = text;
    }
    for (const element of this.root.querySelectorAll("[data-until-bar]")) width(element, now);
    for (const element of this.root.querySelectorAll("[data-now]")) {
      const text = moment(now);
      if (element.textContent !== text) element.textContent = text;
    }
  }
}
