// Where a pod is at what is shown, in a few words: on a node, or in which queue it waits.

import { ABSENT } from "../playback/cluster.ts";
import { ghosts } from "./ghosts.ts";
import type { View } from "../view/view.ts";

const QUEUES: Record<string, string> = {
  active: "in the active queue",
  backoff: "backing off",
  unschedulable: "in the unschedulable queue",
  gated: "held back by its scheduling gates",
  waiting: "at Permit",
};

/** `{node, text}`: the node that the pod is on, or may get, -1 for none; and the words before the node's name. */
export function whereIs(view: View, pod: number) {
  const { playback, facts } = view;
  const at = playback.cluster.placement[pod];
  if (at >= 0)
    return {
      node: at,
      text: facts.waiting.has(pod) ? "waits at Permit on" : playback.isTerminating(pod) ? "Terminating on" : "on",
    };
  if (at === ABSENT) return { node: -1, text: "does not exist at this step" };
  for (const [node, pods] of ghosts(view).nominated)
    if (pods.includes(pod)) return { node, text: "pending, nominated to" };
  return { node: -1, text: `pending, ${queueOf(view, pod)}` };
}

/** Which queue a pod without a node waits in, as the parts of the cycle on screen show it. */
function queueOf(view: View, pod: number) {
  const { playback } = view;
  const key = playback.pods.keys[pod];
  const queue = playback.parts?.queue;
  const light = playback.current;
  if (light?.pod === pod)
    return light.node === null && !playback.at && !playback.phase
      ? `tried in this cycle: ${light.result}`
      : "in flight in this cycle";
  if (queue?.timed) {
    const entry = queue.timed.entries.find(([name]) => name === key);
    if (entry) return QUEUES[entry[1]] ?? "not on a node";
  }
  for (const name of ["active", "unschedulable"] as const) {
    const place = queue?.[name]?.findIndex(([other]) => other === key) ?? -1;
    if (place < 0) continue;
    return name === "active" ? `${QUEUES.active}, number ${place + 1} of ${queue?.activeCount}` : QUEUES.unschedulable;
  }
  return "not on a node yet";
}
