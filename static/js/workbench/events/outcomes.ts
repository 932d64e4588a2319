// What each event did when it landed, asked for one after the other and kept until the draft is another.

import { signal } from "../../kit/signals.ts";
import type { OperationEffect } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";

const ASKED = 40; // by themselves; the others when they are looked at

export class Outcomes {
  /** By the id of the event. */
  readonly known = signal<ReadonlyMap<string, OperationEffect>>(new Map());
  #turn = 0;

  constructor(private readonly playback: Playback) {}

  /** Forget what was known and ask about these. */
  async begin(ids: string[]) {
    const turn = ++this.#turn;
    this.known.value = new Map();
    for (const id of ids.slice(0, ASKED)) {
      if (turn !== this.#turn) return;
      await this.ask(id, turn);
    }
  }

  async ask(id: string, turn = this.#turn) {
    if (this.known.peek().has(id)) return;
    const { playback } = this;
    try {
      const found = await playback.socket.call("operations.outcome", { source: playback.source, id });
      if (turn === this.#turn) this.known.value = new Map(this.known.peek()).set(id, found);
    } catch {
      /* the row shows what it is; it is asked again when it is looked at */
    }
  }
}
