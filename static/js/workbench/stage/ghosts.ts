// Pods that are not bound yet have a place on the stage: those that wait at Permit hold room on a node, those that
// preemption nominated may get it.

import type { View } from "../view/view.ts";

/** `{waiting, nominated}`: of each node that has any the pods, at the shown cycle. */
export function ghosts(view: View) {
  const { facts, playback } = view;
  const { placement } = playback.cluster;
  const waiting = new Map();
  const nominated = new Map();
  const put = (to: Map<number, number[]>, node: number, pod: number) => {
    if (node >= 0 && pod >= 0) to.set(node, [...(to.get(node) ?? []), pod]);
  };
  for (const pod of facts.waiting.keys()) put(waiting, placement[pod] ?? -1, pod);
  put(nominated, facts.nominated, facts.pod);
  // In virtual time those of earlier cycles are known too: they are in the queues, but for the pod in flight.
  for (const [key, , , , , , , , , , node] of playback.heavy(playback.index)?.queue?.timed?.entries ?? []) {
    const pod = playback.podIndex.get(key) ?? -1;
    if (node && placement[pod] < 0) put(nominated, playback.nodeIndex.get(node) ?? -1, pod);
  }
  return { waiting, nominated };
}
