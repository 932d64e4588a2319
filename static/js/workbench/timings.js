// How long a step takes from the input to the painted frame, for the browser tests and for the curious.

import { follow } from "./store.ts";
/** @import { Playback } from "./playback.js" */

const KEPT = 1000;

/** @typedef {{ index: number, ms: number }} Timing */

export class Timings {
  /** @param {Playback} playback */
  constructor(playback) {
    /** @type {(Timing & { complete: boolean })[]} */
    this.steps = []; // `complete` when the verdicts were painted with it
    /** @type {Timing[]} */
    this.parts = []; // until the verdicts were painted, when they came later
    follow(playback.store.step, ({ index, since, heavy }) =>
      this.#painted((ms) => this.#keep(this.steps, { index, ms, complete: heavy }, "podstep:step"), since),
    );
    follow(playback.store.parts, ({ index, since }) =>
      this.#painted((ms) => this.#keep(this.parts, { index, ms }, "podstep:parts"), since),
    );
  }

  clear() {
    this.steps.length = 0;
    this.parts.length = 0;
  }

  /**
   * @param {(ms: number) => void} done
   * @param {number} since
   */
  #painted(done, since) {
    requestAnimationFrame(() => {
      // The frame is painted after this callback; a message is handled right after that.
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        done(performance.now() - since);
      };
      channel.port2.postMessage(0);
    });
  }

  /**
   * @template {Timing} T
   * @param {T[]} list
   * @param {T} entry
   * @param {string} name
   */
  #keep(list, entry, name) {
    list.push(entry);
    if (list.length > KEPT) list.shift();
    performance.measure?.(name, { start: performance.now() - entry.ms, end: performance.now() });
    if (performance.getEntriesByName(name).length > KEPT) performance.clearMeasures(name);
  }
}
