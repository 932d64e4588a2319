// What each event did when it landed, asked for one after the other and kept until the draft is another.

/** @import { Playback } from "../playback.js" */

const ASKED = 40; // by themselves; the others when they are looked at

export class Outcomes {
  #known = new Map();
  #turn = 0;

  /**
   * @param {Playback} playback
   * @param {(id: string) => void} onKnown
   */
  constructor(playback, onKnown) {
    this.playback = playback;
    this.onKnown = onKnown; // what an event did is known now
  }

  /** @param {string} id */
  of(id) {
    return this.#known.get(id);
  }

  /** Forget what was known and ask about these. */
  async begin(ids) {
    const turn = ++this.#turn;
    this.#known.clear();
    for (const id of ids.slice(0, ASKED)) {
      if (turn !== this.#turn) return;
      await this.ask(id, turn);
    }
  }

  /**
   * @param {string} id
   * @param {number} [turn]
   */
  async ask(id, turn = this.#turn) {
    if (this.#known.has(id)) return;
    const { playback } = this;
    try {
      const { effect, text } = await playback.socket.call("operations.outcome", { source: playback.source, id });
      if (turn !== this.#turn) return;
      this.#known.set(id, { effect, text });
      this.onKnown(id);
    } catch {
      /* the row shows what it is; it is asked again when it is looked at */
    }
  }
}
