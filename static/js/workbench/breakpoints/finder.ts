// Asks the server for the nearest cycle in which a condition holds, part by part, until it is found, given up or there
// is none.

import { superseded } from "../../lib/socket.ts";
import { follow } from "../playback/store.ts";
import type { Playback } from "../playback/playback.ts";
import type { Commands } from "../../lib/protocol.js";

export const MOST = 20; // conditions of one search

export type Search = Omit<Commands["cycle.find"]["asks"], "source" | "direction"> & { direction: number };

export class Finder {
  onProgress: ((index: number) => void) | null = null; // while something is searched
  #search = 0;

  constructor(readonly playback: Playback) {
    playback.socket.on("cycle.searched", ({ index }) => this.onProgress?.(index));
    follow(playback.store.scenario, () => this.cancel());
  }

  /**
   * Resolves with `{index, why: [[place, text]…]}`; without an index where there is none; with null once it is given
   * up.
   */
  async find({ from, direction, conditions, to, met = [] }: Search, onProgress: (index: number) => void = () => {}) {
    const search = ++this.#search;
    this.onProgress = onProgress;
    const way = direction > 0 ? "forward" : "backward";
    try {
      for (let start = from; ;) {
        const answer = await this.playback.socket.call("cycle.find", {
          source: this.playback.source,
          from: start,
          direction: way,
          conditions,
          met,
          ...(to === undefined ? {} : { to }),
        });
        if (search !== this.#search) return null;
        if (answer.index !== null || answer.over) return answer;
        start = answer.seen;
      }
    } catch (error) {
      if (superseded(error) || search !== this.#search) return null;
      throw error;
    } finally {
      if (search === this.#search) this.onProgress = null;
    }
  }

  /** Give up what is searched, if anything is. */
  cancel() {
    if (!this.onProgress) return;
    this.#search += 1;
    this.onProgress = null;
    this.playback.socket.call("cycle.cancel", {}).catch(() => {}); // on a lost connection nothing is searched either
  }
}
