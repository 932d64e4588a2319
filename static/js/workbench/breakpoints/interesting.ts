// The next cycle worth looking at: a table of what makes one so, ranked, the most important first.

import { plural, short } from "../../lib/quantity.ts";
import { MOST } from "./finder.ts";
import { LETTERS, turnWords } from "../playback/marks.ts";
import { rankedIn } from "../playback/parts.ts";
import { follow } from "../playback/store.ts";
import type { Marks } from "../playback/marks.ts";
import type { View } from "../view/view.ts";
import type { Finder } from "./finder.ts";

const FAILED = new Set(["u", "e", "p"]);
const UNKNOWN = "The rest is still being computed.";

/** A condition that the server is asked for. */
export type Ask = "quirk" | "tie";
/** A cycle with the reasons to stop there, or why there is none; null once it is given up. */
export type Nearest =
  | { index: number; reasons: string[]; none?: undefined }
  | { index?: undefined; reasons?: undefined; none: string }
  | null;
/** what the marks record about a cycle, and what was seen before it */
export type Facts = Record<string, any>;

/**
 * `marks(facts, index)` decides from the marks alone, in the order of time, so that what was seen before counts; `ask`
 * is the server's condition.
 */
export const REASONS: {
  id: string;
  marks?: (facts: Facts, index: number) => boolean;
  words?: (facts: Facts, index: number) => string;
  ask?: Ask;
}[] = [
  { id: "restart", marks: ({ marks }, i) => marks.restarted(i), words: () => "the scheduler was restarted before it" },
  {
    id: "stale",
    marks: ({ marks }, i) => (marks.caching?.stale[i] ?? 0) > 0,
    words: ({ marks }, i) => `${plural(marks.caching.stale[i], "stale hit")} of the cache`,
  },
  { id: "preemption", marks: ({ letter }) => letter === "p", words: ({ pod }) => `preemption for ${pod}` },
  { id: "error", marks: ({ letter }) => letter === "e", words: ({ pod }) => `${pod} ends in an error` },
  {
    id: "rejected",
    marks: ({ marks }, i) => turns(marks, i).some(([kind]) => kind !== "phase"),
    words: ({ marks }, i) => turnWordsOf(marks, i, false),
  },
  {
    id: "failure",
    marks: ({ letter, workload, failing }) => letter === "u" && failing !== workload,
    words: ({ pod }) => `${pod} is unschedulable`,
  },
  {
    id: "phase",
    marks: ({ marks }, i) => turns(marks, i).some(([kind]) => kind === "phase"),
    words: ({ marks }, i) => turnWordsOf(marks, i, true),
  },
  {
    id: "recovered",
    marks: ({ letter, index, failed }) => letter === "s" && failed.has(index),
    words: ({ pod }) => `${pod} is placed after it had failed`,
  },
  { id: "quirk", ask: "quirk" }, // the first time that each is met
  {
    id: "first",
    marks: ({ letter, workload, placed }) => letter === "s" && !placed.has(workload),
    words: ({ pod, title }) => (title ? `the first pod of ${title} is placed` : `${pod} is placed`),
  },
  { id: "tie", ask: "tie" }, // the first of each workload
];
const BIT = Object.fromEntries(REASONS.map(({ id }, i) => [id, 1 << i]));
const REASONS_SHOWN = 3; // reasons

const turns = (marks: Marks, index: number) => marks.groups.get(index) ?? [];

/** The first turn of a cycle that is one of a phase, or that is none, in words. */
function turnWordsOf(marks: Marks, index: number, ofPhase: boolean) {
  const turn = turns(marks, index).find(([kind]) => (kind === "phase") === ofPhase);
  return turn ? turnWords(turn) : "";
}

export class Interesting {
  #bits = new Uint16Array(0); // by cycle, the reasons that the marks know
  #key = "";
  // quirks that were seen, and workloads of which a tie was
  #met: Record<Ask, Set<string>> = { quirk: new Set(), tie: new Set() };
  // cycles where it stopped, with the reasons: on the way back it stops there again
  #visited: Map<number, string[]> = new Map();

  constructor(
    readonly view: View,
    readonly finder: Finder,
  ) {
    follow(view.store.scenario, () => {
      this.#key = "";
      this.#visited.clear();
      for (const met of Object.values(this.#met)) met.clear();
    });
    follow([view.store.step, view.store.parts], ({ index }) => this.#see(index));
  }

  /** Take note of what is on screen. */
  #see(index: number) {
    const { playback } = this.view;
    const light = playback.light(index);
    for (const [id] of light?.quirks ?? []) this.#met.quirk.add(id);
    if (light && (rankedIn(playback.heavy(index))?.ties.length ?? 0) > 1) this.#met.tie.add(this.#workload(light.pod));
  }

  /** The owner of a pod as the server names it; the pod itself where it has none. */
  #workload(pod: number) {
    const { pods } = this.view.playback;
    const group = pods.groups[pods.group[pod]];
    return group?.name ? `${group.kind} ${group.name}` : `Pod ${pods.keys[pod]}`;
  }

  get #marked() {
    const { playback } = this.view;
    const { marks, pods } = playback;
    const key = `${marks.version}/${marks.known}`;
    if (key === this.#key) return this.#bits;
    this.#key = key;
    const bits = new Uint16Array(marks.known + 1);
    const failed = new Set(); // pods
    const placed = new Set(); // workloads, by the number of their group, or the pod's below zero
    let failing = null; // the workload whose failures come one after the other
    for (let i = 1; i <= marks.known; i += 1) {
      const index = marks.pod[i];
      const group = pods.group[index];
      const workload = pods.groups[group]?.name ? group : -1 - index;
      const letter = LETTERS[marks.result[i]];
      const facts = { marks, letter, index, workload, failed, placed, failing };
      for (const { id, marks: holds } of REASONS) if (holds?.(facts, i)) bits[i] |= BIT[id];
      failing = FAILED.has(letter) ? workload : null;
      if (FAILED.has(letter)) failed.add(index);
      if (letter === "s") {
        placed.add(workload);
        failed.delete(index);
      }
    }
    this.#bits = bits;
    return bits;
  }

  /**
   * Why a cycle is worth looking at: what the marks record and what the server found, `[id, text]…`, the most important
   * first.
   */
  #reasons(index: number, found: (readonly [id: string, text: string])[] = []) {
    const { playback } = this.view;
    const { marks, pods } = playback;
    const bits = this.#marked[index] ?? 0;
    const pod = marks.pod[index];
    const group = pods.groups[pods.group[pod]];
    const facts = {
      marks,
      pod: short(pods.keys[pod] ?? ""),
      title: group?.name ? `${group.kind} ${short(group.name)}` : "",
    };
    const texts = new Map(found);
    return REASONS.map(({ id, words }) => texts.get(id) ?? ((bits & BIT[id] && words?.(facts, index)) || ""))
      .filter(Boolean)
      .slice(0, REASONS_SHOWN);
  }

  /** The nearest one after (direction 1) or before (-1) where one stands: as `Breakpoints.next`. */
  async next(direction: number, onProgress?: (index: number) => void): Promise<Nearest> {
    const found = await this.#next(direction, onProgress);
    if (found?.index) this.#visited.set(found.index, found.reasons);
    return found;
  }

  async #next(direction: number, onProgress?: (index: number) => void): Promise<Nearest> {
    const { playback } = this.view;
    const from = playback.wanted;
    const near = this.#near(from, direction);
    const asked = this.#asked();
    if (asked.length && (near || (direction > 0 ? from < playback.cycles : from > 1))) {
      const found = await this.finder.find(
        {
          from,
          direction,
          conditions: asked,
          to: near || undefined,
          met: asked.flatMap((kind) => [...this.#met[kind]]),
        },
        onProgress,
      );
      if (!found) return null;
      if (found.index && !this.#visited.has(found.index))
        return {
          index: found.index,
          reasons: this.#reasons(
            found.index,
            found.why.map(([place, text]) => [asked[place], text.replace(/\.$/, "")] as const),
          ),
        };
    }
    if (near) return { index: near, reasons: this.#visited.get(near) ?? this.#reasons(near) };
    if (direction > 0 && !playback.complete) return { none: UNKNOWN };
    return {
      none:
        direction > 0
          ? "No later cycle is interesting: each places its pod as the ones before."
          : "No earlier cycle is interesting.",
    };
  }

  /** What the server is asked for, of which the marks know nothing. Who has met very much has seen enough. */
  #asked() {
    const { playback } = this.view;
    const { quirk, tie } = this.#met;
    const wanted = {
      quirk: !playback.timed && playback.policy?.quirks !== "fixed",
      tie: quirk.size + tie.size <= MOST,
    };
    return REASONS.flatMap(({ ask }) => (ask && wanted[ask] ? [ask] : []));
  }

  #near(from: number, direction: number) {
    const bits = this.#marked;
    for (
      let i = direction > 0 ? from + 1 : Math.min(from - 1, bits.length - 1);
      i >= 1 && i < bits.length;
      i += direction
    )
      if (bits[i] || this.#visited.has(i)) return i;
    return 0;
  }
}
