// The pods on a card, a block each: those on the node, those that come with this cycle and those that leave.

import { classes, fill, h } from "../../lib/dom.js";
import { age, short } from "../../lib/quantity.js";
/** @import { View } from "../view.js" */

export const BLOCKS = 36; // pod blocks on a card; the rest is counted

/** The class of a pod's block. */
function blockClass(view, spot, pod, { added = false, victim = false }) {
  return classes("pod", view.colour(pod), {
    added,
    selected: pod === view.pod || pod === spot?.pod,
    hit: view.search.has(pod),
    waiting: waits(view, pod),
    victim,
  });
}

/**
 * Draw the pods of a node into `host`; `ghosts` are those nominated to it, `spot` where the one is that was found or
 * selected.
 */
export function fillBlocks(view, host, node, { chosen, ghosts, spot }) {
  const { pods, cluster } = view.playback;
  const { pod: flying, victims, nominated } = view.facts;
  const leaves = (/** @type {number} */ pod) => node === nominated && victims.includes(pod);
  const here = [...cluster.podsOn(node)]
    .filter((pod) => !(chosen && pod === flying))
    .sort((a, b) => pods.group[a] - pods.group[b] || a - b);
  const shown = here.length > BLOCKS ? here.slice(0, BLOCKS - 1) : here;
  fill(
    host,
    shown.map((pod) =>
      h("i", {
        class: blockClass(view, spot, pod, { victim: leaves(pod) }),
        "data-pod": pod,
        title:
          short(pods.keys[pod]) + waits(view, pod) + (leaves(pod) ? ", to be deleted for the pod of this cycle" : ""),
      }),
    ),
    here.length > shown.length ? h("small", { text: `+${here.length - shown.length}` }) : null,
    chosen
      ? h("i", {
          class: blockClass(view, spot, flying, { added: true }),
          "data-pod": flying,
          title: `${short(pods.keys[flying])}${waits(view, flying) || ", placed by this cycle"}`,
        })
      : null,
    view.facts.nominated === node ? made(view, flying) : null,
    ghosts
      .filter((pod) => pod !== flying)
      .slice(0, BLOCKS)
      .map((pod) => ghost(view, pod)),
    here.length === 0 && !chosen ? h("small", { class: "none", text: "no pods" }) : null,
  );
}

/**
 * That a pod waits at Permit and until when, or "".
 *
 * @param {View} view
 * @param {number} pod
 */
function waits(view, pod) {
  const { time, waiting } = view.facts;
  if (!waiting.has(pod)) return "";
  const deadline = waiting.get(pod);
  const left = deadline === null || time === null ? "" : ` for ${age(Math.max(0, deadline - time))} more`;
  return `, waits at Permit${left}`;
}

/** What preemption did on the nominated node: its victims struck out, and the pod that waits for the room. */
function made(view, flying) {
  const { keys } = view.playback.pods;
  const { placement } = view.playback.cluster;
  const victims = view.facts.victims.filter((pod) => placement[pod] < 0); // the others are still on the node
  return [
    ...victims.slice(0, BLOCKS).map((pod) =>
      h("i", {
        class: `pod victim ${view.colour(pod)}`,
        "data-pod": pod,
        title: `${short(keys[pod])}, deleted by this cycle`,
      }),
    ),
    victims.length > BLOCKS ? h("small", { text: `+${victims.length - BLOCKS}` }) : null,
    ghost(view, flying),
  ];
}

/**
 * @param {View} view
 * @param {number} pod
 */
function ghost(view, pod) {
  return h("i", {
    class: `pod ghost ${view.colour(pod)}`,
    "data-pod": pod,
    title: `${short(view.playback.pods.keys[pod])}, nominated to this node`,
  });
}
