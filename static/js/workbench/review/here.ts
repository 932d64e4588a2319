// Where a comment belongs in what is open, which may be a branch or decided otherwise by now: at the same cycle if it
// still decides about the same pod, else where that pod is tried first.

import { count, short } from "../../lib/quantity.ts";
import { LETTERS, RESULTS } from "../playback/marks.ts";
import type { Thread } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";

/**
 * The cycle that a thread is about, and how it is decided here where that differs from when it was written; -1
 * where it cannot be known before more is computed, or the thread is about no decision.
 */
export function hereOf(
  { marks, nodes, pods, podIndex, cycles, complete }: Playback,
  { about }: Thread,
): { index: number; words: string } {
  if (!about?.pod || !nodes) return { index: -1, words: "" };
  const keyAt = (index: number) => (index > 0 && index <= marks.known ? (pods.keys[marks.pod[index]] ?? "") : "");
  const outcome = (index: number) =>
    marks.node[index] >= 0
      ? `goes to ${nodes.names[marks.node[index]]}`
      : `is ${RESULTS[LETTERS[marks.result[index]]]}`;
  if (keyAt(about.index) === about.pod) {
    const node = nodes.names[marks.node[about.index]] ?? null;
    const words =
      node === about.node ? "" : `Here cycle ${count(about.index)} is decided otherwise: it ${outcome(about.index)}.`;
    return { index: about.index, words };
  }
  if (about.index > marks.known && !(complete && marks.known >= cycles)) return { index: -1, words: "" };
  const index = marks.ofPod(podIndex.get(about.pod) ?? -1);
  return index
    ? { index, words: `Here ${short(about.pod)} is tried in cycle ${count(index)}, and ${outcome(index)}.` }
    : { index: -1, words: complete ? `Here ${short(about.pod)} is not tried at all.` : "" };
}
