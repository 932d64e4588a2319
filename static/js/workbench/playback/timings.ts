// How long a step takes from the input to the painted frame, for the browser tests and for the curious.

import { follow } from "./store.ts";
import type { Playback } from "./playback.ts";

const KEPT = 1000;

export type Timing = { index: number; ms: number };

export class Timings {
  steps: (Timing & { complete: boolean })[] = []; // `complete` when the verdicts were painted with it
  parts: Timing[] = []; // until the verdicts were painted, when they came later
  constructor(playback: Playback) {
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

  #painted(done: (ms: number) => void, since: number) {
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

  #keep<T extends Timing>(list: T[], entry: T, name: string) {
    list.push(entry);
    if (list.length > KEPT) list.shift();
    performance.measure?.(name, { start: performance.now() - entry.ms, end: performance.now() });
    if (performance.getEntriesByName(name).length > KEPT) performance.clearMeasures(name);
  }
}
