// Asks the server for the nearest cycle in which a condition holds, part by part, until it is found, given up or there
// is none.

import { superseded } from "../lib/socket.js";
import { follow } from "./store.ts";
/** @import { Playback } from "./playback.js" */
/** @import { Commands } from "../lib/protocol.js" */

export const MOST = 20; // conditions of one search

/** @typedef {Omit<Commands["cycle.find"]["asks"], "source" | "direction"> & { direction: number }} Search */

export class Finder {
  #search = 0;

  /** @param {Playback} playback */
  constructor(playback) {
    this.playback = playback;
    /** @type {((index: number) => void) | null} */
    this.onProgress = null; // while something is searched
    playback.socket.on("cycle.searched", ({ index }) => this.onProgress?.(index));
    follow(playback.store.scenario, () => this.cancel());
  }

  /**
   * Resolves with `{index, why: [[place, text]…]}`; without an index where there is none; with null once it is given
   * up.
   *
   * @param {Search} asked
   * @param {(index: number) => void} [onProgress]
   */
  async find({ from, direction, conditions, to, met = [] }, onProgress = () => {}) {
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
    /** @type {((index: number) => void) | null} */
    this.onProgress = null;
    this.playback.socket.call("cycle.cancel", {}).catch(() => {}); // on a lost connection nothing is searched either
  }
}
