// Asks the server for the nearest cycle in which a condition holds, part by part, until it is found, given up or there
// is none.

import { superseded } from "../lib/socket.js";
/** @import { Playback } from "./playback.js" */

export const MOST = 20; // conditions of one search

export class Finder {
  #search = 0;

  /** @param {Playback} playback */
  constructor(playback) {
    this.playback = playback;
    /** @type {((index: number) => void) | null} */
    this.told = null; // the listener for the newest search's progress
    playback.socket.on("cycle.searched", ({ index }) => this.told?.(index));
    playback.on("opened", () => {
      if (this.told) this.cancel();
    });
  }

  /**
   * Resolves with `{index, why: [[place, text]…]}`; without an index where there is none; with null once it is given
   * up.
   */
  async find({ from, direction, conditions, to, met = [] }, tell = () => {}) {
    const search = ++this.#search;
    this.told = tell;
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
      if (search === this.#search) this.told = null;
    }
  }

  /** Give up what is searched. */
  cancel() {
    if (!this.told) return;
    this.#search += 1;
    /** @type {((index: number) => void) | null} */
    this.told = null;
    this.playback.socket.call("cycle.cancel", {}).catch(() => {}); // who is not heard finds nothing either
  }
}
