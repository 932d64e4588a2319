// Pods, nodes and PodGroups as links. Pointing at one, or focusing it, shows on the stage where it is.

import { h } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { short } from "../../lib/quantity.js";

const pointing = (view, node) => {
  if (node < 0) return {};
  const on = () => view.hover(node);
  const off = () => view.hover(-1);
  return { onpointerenter: on, onpointerleave: off, onfocus: on, onblur: off };
};

/** A pod by its key, with the colour of its workload where `dot` says so. */
export function podLink(view, key, { dot = true } = {}) {
  const { playback } = view;
  const pod = playback.podIndex.get(key) ?? -1;
  const node = pod >= 0 ? playback.cluster.placement[pod] ?? -1 : -1;
  return inline(() => view.selectPod(pod), { title: `pod ${key}`, ...pointing(view, node) }, dot && pod >= 0 ? h("i", { class: `dot ${view.colour(pod)}` }) : null, short(key));
}

/** A node by its name. */
export function nodeLink(view, name) {
  const node = view.playback.nodeIndex.get(name) ?? -1;
  return inline(() => view.selectNode(node), { title: `node ${name}`, ...pointing(view, node) }, name);
}

/** Nodes that light up on the stage together, as long as nothing else is lit. */
export function nodesLink(view, text, names, label) {
  const nodes = names.map((name) => view.playback.nodeIndex.get(name) ?? -1).filter((node) => node >= 0);
  return nodes.length ? inline(() => view.light(nodes, label), { title: "light them up on the stage" }, text) : text;
}
