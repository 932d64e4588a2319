// Which cycles of a run have been on screen: the timeline reveals nothing of the others until it is asked to. A cycle
// is known once it, or a later one, was shown to its end, for the later one's cluster, queues and events already hold
// its outcome.

import { follow } from "../playback/store.ts";
import type { Source } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";
import type { Store } from "../playback/store.ts";

const SEEN = "podstep.seen"; // where the browser keeps how far each source was seen, the latest last
const AHEAD = "podstep.ahead"; // and whether outcomes ahead are shown
const SOURCES = 60;
const LONGEST = 200; // characters of a source's name

export class Seen {
  store: Store;
  #opened = false;

  constructor(readonly playback: Playback) {
    this.store = playback.store;
    const { fresh } = playback;
    this.#keep({ ahead: !fresh && read(AHEAD) === "shown" });
    follow(playback.store.scenario, () => {
      // Another text of a draft has other cycles: of those none was seen.
      if (this.#opened && !fresh) keep(playback.source, 0);
      this.#keep({ upto: this.#opened || fresh ? 0 : Math.min(kept(playback.source), playback.cycles || Infinity) });
      this.#opened = true;
    });
    follow([playback.store.step, playback.store.moment, playback.store.parts], () => this.#reach(playback.settled));
  }

  #keep(now: Partial<{ upto: number; ahead: boolean }>) {
    const { seen } = this.store;
    seen.value = { ...seen.peek(), ...now };
  }

  /** The last cycle that is known. */
  get upto() {
    return this.store.seen.peek().upto;
  }

  /** Whether the outcomes of those that are not are shown all the same. */
  get ahead() {
    return this.store.seen.peek().ahead;
  }

  /** Whether the outcome of a cycle may be shown. */
  knows(index: number) {
    return this.ahead || index <= this.upto;
  }

  /** The last cycle whose outcome may be shown. */
  get last() {
    return this.ahead ? (this.playback.cycles ?? 0) : this.upto;
  }

  #reach(index: number) {
    if (!(index > this.upto)) return;
    this.#keep({ upto: index });
    if (!this.playback.fresh) keep(this.playback.source, index);
  }

  /** Show outcomes ahead, or hide them; the browser remembers. */
  reveal(ahead: boolean) {
    write(AHEAD, ahead ? "shown" : "hidden");
    this.#keep({ ahead });
  }
}

function read(name: string) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}
function write(name: string, text: string) {
  try {
    localStorage.setItem(name, text);
  } catch {
    /* for this visit only */
  }
}

/** How far each source was seen, as `[source, cycle]`; what somebody else wrote there counts for nothing. */
function all(): [source: string, cycle: number][] {
  try {
    const found = JSON.parse(read(SEEN) || "[]");
    return Array.isArray(found)
      ? found
          .filter((row) => Array.isArray(row) && typeof row[0] === "string" && Number.isInteger(row[1]) && row[1] > 0)
          .slice(-SOURCES)
      : [];
  } catch {
    return [];
  }
}

const nameOf = (source: Source) => JSON.stringify(source).slice(0, LONGEST);
const kept = (source: Source) => all().find(([name]) => name === nameOf(source))?.[1] ?? 0;
const keep = (source: Source, index: number) =>
  write(
    SEEN,
    JSON.stringify([...all().filter(([name]) => name !== nameOf(source)), [nameOf(source), index]].slice(-SOURCES)),
  );
