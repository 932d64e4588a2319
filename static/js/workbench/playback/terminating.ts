// The pods that are Terminating at what is shown: deleted, and there until their kubelet has ended them.

import type { PodIndex, TerminatingChange } from "../../lib/protocol.js";
import type { Position } from "./position.ts";

const NONE: Set<PodIndex> = new Set();

/** The pods that are Terminating after what `playback` shows; of a cycle that is shown in part, before it. */
export function terminatingIn(playback: Position): Set<PodIndex> {
  const { index, cycles, partly, records } = playback;
  const cycle = Math.min(index, cycles);
  const window = records.window(Math.max(cycle, 1));
  if (!window) return NONE;
  const pods = new Set(window.terminating);
  const take = (changes: TerminatingChange[]) => {
    for (const [pod, is] of changes) pods[is ? "add" : "delete"](pod);
  };
  const whole = index > cycles || !partly ? cycle : cycle - 1;
  for (let i = window.from; i <= whole; i += 1) take(window.cycles[i - window.from]?.terminating ?? []);
  if (index > cycles && !partly) take(playback.heavy(index)?.terminating ?? []);
  return pods.size ? pods : NONE;
}
