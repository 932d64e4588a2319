// Pods, nodes and PodGroups as links. Pointing at one, or focusing it, shows on the stage where it is; so do rows about
// a node.

import { targetOf, h } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { ellipsis, short } from "../../lib/quantity.js";
/** @import { View } from "../view.js" */

/**
 * @param {View} view
 * @param {number} node
 */
const pointing = (view, node) => {
  if (node < 0) return {};
  const on = () => view.hover(node);
  const off = () => view.hover(-1);
  return { "data-points": true, onpointerenter: on, onpointerleave: off, onfocus: on, onblur: off };
};

/** A pod by its key, with the colour of its workload where `dot` is set; `whole`: also the namespace default. */
export function podLink(view, key, { dot = true, whole = false } = {}) {
  const name = whole ? key : short(key);
  const { playback } = view;
  const pod = playback.podIndex.get(key) ?? -1;
  if (pod < 0) return h("span", { title: `pod ${key}`, text: name });
  return inline(
    () => view.selectPod(pod),
    { title: `pod ${key}`, ...pointing(view, playback.cluster.placement[pod] ?? -1) },
    dot ? h("i", { class: `dot ${view.colour(pod)}` }) : null,
    name,
  );
}

/** A node by its name or number, cut in the middle to `max` characters. */
export function nodeLink(view, which, max = Infinity) {
  const { nodes, nodeIndex } = view.playback;
  const node = typeof which === "number" ? which : (nodeIndex.get(which) ?? -1);
  const name = typeof which === "number" ? (nodes.names[which] ?? "") : which;
  if (node < 0) return h("span", { title: `node ${name}`, text: name });
  const text = ellipsis(name, max);
  return inline(
    () => view.selectNode(node),
    {
      class: node === view.node ? "link selected" : "link",
      "data-at": node,
      title: `node ${name}`,
      ...pointing(view, node),
      ...(text === name ? {} : { "aria-label": name }),
    },
    text,
  );
}

/**
 * Nodes that light up on the stage together, as long as nothing else is lit.
 *
 * @param {View} view
 * @param {string} text
 * @param {string[]} names
 * @param {string} label
 */
export function nodesLink(view, text, names, label) {
  const nodes = names.map((name) => view.playback.nodeIndex.get(name) ?? -1).filter((node) => node >= 0);
  return nodes.length ? inline(() => view.light(nodes, label), { title: "light them up on the stage" }, text) : text;
}

/**
 * The attributes of a row about a node: pointing at it lights the node, a click beside its links selects it. Null: it
 * is about none.
 */
export function aboutNode(view, which) {
  const node = typeof which === "number" ? which : (view.playback.nodeIndex.get(which) ?? -1);
  return node < 0 ? {} : { "data-of": node };
}

/**
 * A text in which the names of pods and nodes are links.
 *
 * @param {View} view
 * @param {string} text
 */
export function linked(view, text) {
  const { nodeIndex, podIndex } = view.playback;
  return text.split(/([A-Za-z0-9][\w.-]*(?:\/[\w.-]*\w)?)/).map((part, i) => {
    if (i % 2 === 0) return part;
    const [, name, dot] = /^(.*?)(\.*)$/.exec(part); // the full stop of a sentence
    return name.includes("/") && podIndex.has(name)
      ? [podLink(view, name, { dot: false, whole: true }), dot]
      : nodeIndex.has(name)
        ? [nodeLink(view, name), dot]
        : part;
  });
}

/**
 * Connect everything in `body` that is about a node with that node, to light it, be lit by it and select it: `data-of`
 * rows, and `data-at` links.
 */
export function pointed(view, body) {
  const about = (/** @type {HTMLElement} */ target) =>
    target.closest("[data-points]") ? null : target.closest("[data-of]");
  const on = (/** @type {Event} */ event) => {
    const row = about(targetOf(event));
    if (row) view.hover(Number(row.dataset.of));
  };
  const off = (/** @type {PointerEvent | FocusEvent} */ event) => {
    const row = targetOf(event).closest("[data-of]");
    if (row && !row.contains(/** @type {Node | null} */ (event.relatedTarget))) view.hover(-1);
  };
  body.addEventListener("pointerover", on);
  body.addEventListener("pointerout", off);
  body.addEventListener("focusin", on);
  body.addEventListener("focusout", off);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("a, button, [role=button], input, select, summary, label")
      ? null
      : event.target.closest("[data-of]");
    if (row && !String(getSelection())) view.selectNode(Number(row.dataset.of));
  });
  const mark = (
    /** @type {string} */ selector,
    /** @type {string} */ key,
    /** @type {string} */ name,
    /** @type {number} */ node,
  ) => {
    for (const one of body.querySelectorAll(selector)) one.classList.toggle(name, Number(one.dataset[key]) === node);
  };
  view.on("hover", (node) => mark("[data-of]", "of", "is-hovered", node));
  const selected = () => {
    mark("[data-of]", "of", "is-selected", view.node);
    mark("[data-at]", "at", "selected", view.node);
  };
  view.on("selection", selected);
  return selected;
}
