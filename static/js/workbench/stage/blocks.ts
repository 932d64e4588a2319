// The pods of a node, a block each as large as what it requests: those on the node, those that come with this cycle and
// those that leave; and the shape of the pod in flight where it would stand.

import { classes, fill, h } from "../../lib/dom.ts";
import { age, short } from "../../lib/quantity.ts";
import { Stairs } from "./stairs.ts";
import type { View } from "../view/view.ts";

export const BLOCKS = 48; // pods on a card; the rest is one block

/** what of a cycle is drawn on a node */
export type Drawn = { chosen: boolean; ghosts: number[]; spot: View["spot"] };

/** The class of a pod's block. */
function blockClass(
  view: View,
  spot: View["spot"],
  pod: number,
  { added = false, victim = false }: { added?: boolean; victim?: boolean },
) {
  return classes("pod", view.colour(pod), {
    added,
    selected: pod === view.pod || pod === spot?.pod,
    hit: view.search.has(pod),
    waiting: waits(view, pod),
    terminating: view.playback.isTerminating(pod),
    victim,
  });
}

/**
 * Draw the pods of a node into `room`, and those that request neither cpu nor memory into `idle`. Returns the stairs,
 * which end where the next pod would stand.
 */
export function fillBlocks(
  view: View,
  room: HTMLElement,
  idle: HTMLElement,
  node: number,
  { chosen, ghosts, spot }: Drawn,
) {
  const { pods, cluster, nodes } = view.playback;
  const { pod: flying, victims, nominated } = view.facts;
  const stairs = new Stairs(nodes.cpu[node], nodes.memory[node]);
  const leaves = (pod: number) => node === nominated && victims.includes(pod);
  const here = [...cluster.podsOn(node)]
    .filter((pod) => !(chosen && pod === flying))
    .sort((a, b) => Number(leaves(a)) - Number(leaves(b)) || pods.group[a] - pods.group[b] || a - b);
  const shown = here.length > BLOCKS ? here.slice(0, BLOCKS - 1) : here;
  const blocks: HTMLElement[] = [];
  const marks: HTMLElement[] = [];
  const add = (pod: number, look: string, title: string, from = stairs) => {
    const block = h("i", { class: look, "data-pod": pod, "data-name": short(pods.keys[pod]), title });
    if (!pods.cpu[pod] && !pods.memory[pod]) marks.push(block);
    else {
      for (const [name, value] of Object.entries(from.add(pods.cpu[pod], pods.memory[pod])))
        block.style.setProperty(name, value);
      blocks.push(block);
    }
  };
  for (const pod of shown.filter((one) => !leaves(one)))
    add(
      pod,
      blockClass(view, spot, pod, {}),
      short(pods.keys[pod]) + waits(view, pod) + (view.playback.isTerminating(pod) ? ", Terminating" : ""),
    );
  if (here.length > shown.length) blocks.push(rest(view, stairs, here.slice(shown.length)));
  const end = stairs.copy(); // victims free their space for the pod in flight
  for (const pod of shown.filter(leaves))
    add(
      pod,
      blockClass(view, spot, pod, { victim: true }),
      `${short(pods.keys[pod])}${waits(view, pod)}, to be deleted for the pod of this cycle`,
    );
  if (chosen)
    add(
      flying,
      blockClass(view, spot, flying, { added: true }),
      `${short(pods.keys[flying])}${waits(view, flying) || ", placed by this cycle"}`,
    );
  const nominates = nominated === node;
  if (nominates) {
    const gone = end.copy();
    for (const pod of victims.filter((one) => cluster.placement[one] < 0).slice(0, BLOCKS))
      add(pod, `pod victim ${view.colour(pod)}`, `${short(pods.keys[pod])}, deleted by this cycle`, gone);
  }
  const coming = nominates ? [flying, ...ghosts.filter((pod) => pod !== flying)] : ghosts;
  const from = nominates ? end.copy() : stairs.copy();
  for (const pod of coming.filter((one) => nominates || one !== flying).slice(0, BLOCKS))
    add(pod, `pod ghost ${view.colour(pod)}`, `${short(pods.keys[pod])}, nominated to this node`, from);
  fill(room, blocks);
  fill(idle, marks);
  return stairs;
}

/** The pods that are too many to distinguish, as one block. */
function rest(view: View, stairs: Stairs, pods: number[]) {
  const { cpu, memory } = view.playback.pods;
  const sum = (of: number[]) => pods.reduce((all, pod) => all + of[pod], 0);
  return h("i", { class: "rest gn", title: `${pods.length} more pods`, style: stairs.add(sum(cpu), sum(memory)) });
}

/**
 * Draw the shape of the pod in flight where it would go on a node; the part that exceeds the free space is marked.
 *
 * @param how a node that was rejected for another reason has no shape
 */
export function fillShape(view: View, host: HTMLElement, stairs: Stairs, { rejected }: { rejected: boolean }) {
  const { pod, cpu, memory } = view.facts;
  const { style, beyond } = stairs.shape(cpu, memory);
  if ((!cpu && !memory) || (rejected && !beyond.length)) {
    fill(host);
    return;
  }
  fill(
    host,
    h("i", { class: `shape ${view.colour(pod)}`, style }),
    beyond.map((place) => h("i", { class: "beyond", style: place })),
  );
}

/** That a pod waits at Permit and until when, or "". */
function waits(view: View, pod: number) {
  const { time, waiting } = view.facts;
  const deadline = waiting.get(pod);
  if (deadline === undefined) return "";
  const left = deadline === null || time === null ? "" : ` for ${age(Math.max(0, deadline - time))} more`;
  return `, waits at Permit${left}`;
}
