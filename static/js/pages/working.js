// What the server does for a form: how far it is, and stopping it.

import { Progress } from "../kit/progress.tsx";
import { progressOf } from "../lib/progress.js";

const REPORT_EVERY = 8000; // milliseconds

export class Working {
  #now = null; // {controller, bar} of what it does now

  /** `place` takes the bar, `say(text)` receives the progress, and `stopped(text)` that the button cancelled it. */
  constructor({ place, say, stopped }) {
    this.place = place;
    this.say = say;
    this.stopped = stopped;
  }

  /** The bar, while it is shown. */
  get bar() {
    return this.#now?.bar.element.isConnected ? this.#now.bar : null;
  }

  /**
   * Begin something, in place of what was begun before; `left` is the text about what it leaves when it is stopped.
   *
   * @param {string} label
   * @param {string} left
   */
  begin(label, left) {
    this.stop();
    const controller = new AbortController();
    const bar = new Progress(label, {
      onCancel: () => {
        this.stop();
        this.stopped(left);
      },
    });
    const mine = { controller, bar };
    this.#now = mine;
    let reported = performance.now();
    const progress = (report) => {
      if (this.#now !== mine) return;
      const [share, words] = progressOf(report);
      bar.set(share, words);
      if (!bar.element.isConnected) this.place.append(bar.element);
      if (performance.now() - reported < REPORT_EVERY) return;
      reported = performance.now();
      this.say(`${label}: ${Math.round(share * 100)} %.`);
    };
    return {
      signal: controller.signal,
      progress,
      done: () => {
        if (this.#now !== mine) return;
        bar.element.remove();
        this.#now = null;
      },
    };
  }

  /** Stop it. */
  stop() {
    if (!this.#now) return;
    const { controller, bar } = this.#now;
    this.#now = null;
    bar.element.remove();
    controller.abort();
  }

  /** Stop it as its button does. */
  cancel() {
    this.#now?.bar.button.click();
  }
}
