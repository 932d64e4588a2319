// What a tab of Inspect shows where it has nothing to show yet.

import { h } from "../../lib/dom.js";
import { plural } from "../../lib/quantity.js";
import { PENDING } from "../cluster.js";
/** @import { View } from "../view.js" */

/**
 * What a tab shows of what is decided at a later moment of the shown cycle.
 *
 * @param {View} view
 * @param {string} what
 * @param {string} [text]
 */
export function later(view, what, text = "") {
  const { phase, index } = view.playback;
  return h(
    "div",
    { class: "empty later" },
    h("b", { text: what }),
    text ? h("span", { text }) : null,
    h(
      "span",
      { class: "dim" },
      phase ? `Cycle ${index} is at the phase ${phase}. ` : `Cycle ${index} is shown at a moment. `,
      h("kbd", { text: "Shift" }),
      " ",
      h("kbd", { text: "→" }),
      " leads on.",
    ),
  );
}

/**
 * What a tab shows where no pod is tried: before the first cycle, and after the last.
 *
 * @param {View} view
 */
export function before(view) {
  const { playback } = view;
  if (playback.atEnd)
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "No pod is tried here: the run is over." }),
      h("span", {
        text: "Story, PodGroups, Queue and Events show the final state, and what happened since the last cycle.",
      }),
    );
  if (playback.cycles === 0 && playback.complete) {
    const left = playback.cluster.placement.filter((node) => node === PENDING).length;
    if (left)
      return h(
        "div",
        { class: "empty" },
        h("b", { text: `${plural(left, "pod")} pending, and none is scheduled.` }),
        h("span", {
          text:
            "Pods with spec.schedulingGates stay out of the queue, and pods whose spec.schedulerName matches no "
            + "profile belong to another scheduler: remove the gates, or add a profile to the "
            + "KubeSchedulerConfiguration.",
        }),
      );
    return h(
      "div",
      { class: "empty" },
      h("b", { text: "No pod is waiting to be scheduled." }),
      h("span", {
        text: "Pods without spec.nodeName are pending. Add one to the YAML, or delete a pod's nodeName, and apply.",
      }),
    );
  }
  return h(
    "div",
    { class: "empty" },
    h("b", { text: "This is the cluster before the first cycle." }),
    h("span", null, "Press ", h("kbd", { text: "→" }), " or Step to schedule the first pod."),
  );
}
