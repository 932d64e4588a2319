// Which cycles of a run have been on screen: the timeline reveals nothing of the others until it is asked to. A cycle
// is known once it, or a later one, was shown to its end, for the later one's cluster, queues and events already hold
// its outcome.

import { Emitter } from "../lib/emitter.js";
/** @import { Source } from "../lib/protocol.js" */
/** @import { Playback } from "./playback.js" */

const SEEN = "podstep.seen"; // where the browser keeps how far each source was seen, the latest last
const AHEAD = "podstep.ahead"; // and whether outcomes ahead are shown
const SOURCES = 60;
const LONGEST = 200; // characters of a source's name

export class Seen extends Emitter {
  #opened = false;

  /** @param {Playback} playback */
  constructor(playback) {
    super();
    this.playback = playback;
    this.upto = 0; // the last cycle that is known
    this.ahead = read(AHEAD) === "shown"; // whether those that are not are shown all the same
    playback.on("opened", () => {
      // Another text of a draft has other cycles: of those none was seen.
      if (this.#opened) keep(playback.source, 0);
      this.upto = this.#opened ? 0 : Math.min(kept(playback.source), playback.cycles || Infinity);
      this.#opened = true;
      this.emit("changed");
    });
    for (const name of ["step", "moment", "parts"]) playback.on(name, () => this.#reach(playback.settled));
  }

  /**
   * Whether the outcome of a cycle may be shown.
   *
   * @param {number} index
   */
  knows(index) {
    return this.ahead || index <= this.upto;
  }

  /** The last cycle whose outcome may be shown. */
  get last() {
    return this.ahead ? (this.playback.cycles ?? 0) : this.upto;
  }

  /** @param {number} index */
  #reach(index) {
    if (!(index > this.upto)) return;
    this.upto = index;
    keep(this.playback.source, index);
    this.emit("changed");
  }

  /**
   * Show outcomes ahead, or hide them; the browser remembers.
   *
   * @param {boolean} ahead
   */
  reveal(ahead) {
    this.ahead = ahead;
    write(AHEAD, ahead ? "shown" : "hidden");
    this.emit("changed");
  }
}

/** @param {string} name */
function read(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}
/**
 * @param {string} name
 * @param {string} text
 */
function write(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    /* for this visit only */
  }
}

/**
 * How far each source was seen, as `[source, cycle]`; what somebody else wrote there counts for nothing.
 *
 * @returns {[source: string, cycle: number][]}
 */
function all() {
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

/** @param {Source} source */
const nameOf = (source) => JSON.stringify(source).slice(0, LONGEST);
/** @param {Source} source */
const kept = (source) => all().find(([name]) => name === nameOf(source))?.[1] ?? 0;
/**
 * @param {Source} source
 * @param {number} index
 */
const keep = (source, index) =>
  write(
    SEEN,
    JSON.stringify([...all().filter(([name]) => name !== nameOf(source)), [nameOf(source), index]].slice(-SOURCES)),
  );
