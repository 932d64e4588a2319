// What a tab of Inspect shows where it has nothing to show yet.

import { Empty } from "../../kit/empty.tsx";
import { plural } from "../../lib/quantity.ts";
import { PENDING } from "../playback/cluster.ts";
import type { View } from "../view/view.ts";

/** What is decided at a later moment of the shown cycle. */
export function Later({ view, title, text = "" }: { view: View; title: string; text?: string }) {
  const { phase, index } = view.playback;
  return (
    <Empty title={title} class="later">
      {text ? <span>{text}</span> : null}
      <span class="dim">
        {phase ? `Cycle ${index} is at the phase ${phase}. ` : `Cycle ${index} is shown at a moment. `}
        <kbd>Shift</kbd> <kbd>→</kbd> leads on.
      </span>
    </Empty>
  );
}

/** No pod is tried: before the first cycle, and after the last. */
export function Before({ view }: { view: View }) {
  const { playback } = view;
  if (playback.atEnd)
    return (
      <Empty title="No pod is tried here: the run is over.">
        Story, PodGroups, Queue and Events show the final state, and what happened since the last cycle.
      </Empty>
    );
  if (playback.cycles > 0 || !playback.complete)
    return (
      <Empty title="This is the cluster before the first cycle.">
        <span class="by-oneself">
          Press <kbd>→</kbd> or Step to schedule the first pod.
        </span>
      </Empty>
    );
  const left = playback.cluster.placement.filter((node: number) => node === PENDING).length;
  return left ? (
    <Empty title={`${plural(left, "pod")} pending, and none is scheduled.`}>
      Pods with spec.schedulingGates stay out of the queue, and pods whose spec.schedulerName matches no profile belong
      to another scheduler: remove the gates, or add a profile to the KubeSchedulerConfiguration.
    </Empty>
  ) : (
    <Empty title="No pod is waiting to be scheduled.">
      <span>Pods without spec.nodeName are pending. Add one to the YAML, or delete a pod's nodeName, and apply.</span>
      <button type="button" class="btn" onClick={() => view.setTab("ask")}>
        Ask the cluster
      </button>
    </Empty>
  );
}
