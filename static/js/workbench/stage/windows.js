// Where the views of several schedulers differ from what is true: a word on a node's card, and sentences about it.

import { amount, short } from "../../lib/quantity.js";
/** @import { NodeIndex, ViewOutcome, ViewsPart, ViewWindow } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

/** @type {Record<string, string>} */
export const NOTICED = {
  scheduler: "given up by its scheduler",
  apiServer: "rejected by the API server (409)",
  arbiter: "rejected by the arbiter",
  kubelet: "refused by the kubelet",
  nobody: "nobody noticed: it runs",
};
/** @type {Record<string, string>} */
const BRIEF = { scheduler: "given up", apiServer: "409", arbiter: "arbiter", kubelet: "refused" };

/**
 * The note on a node: a word, all of it in sentences, and whether a decision went wrong or will.
 *
 * @typedef {{ word: string, sentences: string[], ill: boolean }} Mark
 */

/** @type {WeakMap<ViewsPart, Map<NodeIndex, Mark>>} */
const made = new WeakMap();

/**
 * The views at what is shown; null where there are none.
 *
 * @param {View} view
 * @returns {ViewsPart | null}
 */
export function viewsOf(view) {
  const part = view.playback.parts?.views;
  return part && "lanes" in part ? part : null;
}

/**
 * The resources of which a node has less than nothing left, once all is bound that was decided for it.
 *
 * @param {ViewWindow} window
 */
export const lacking = ({ free }) => Object.entries(free).filter(([, left]) => left < 0);

/**
 * Whether the room of a node is given away twice.
 *
 * @param {ViewWindow} window
 */
export const isDouble = (window) => lacking(window).length > 0;

/** @param {ViewOutcome} outcome */
export const wentWrong = ({ noticed }) => noticed !== "nobody";

/**
 * The note on a node; undefined where every scheduler knows what is true of it.
 *
 * @param {View} view
 * @param {NodeIndex} node
 */
export function markOf(view, node) {
  const part = viewsOf(view);
  if (!part) return undefined;
  let marks = made.get(part);
  if (!marks) made.set(part, (marks = marksOf(part, view.playback.nodeIndex)));
  return marks.get(node);
}

/**
 * @param {ViewsPart} part
 * @param {Map<string, NodeIndex>} index
 */
function marksOf(part, index) {
  /** @type {Map<NodeIndex, Mark>} */
  const marks = new Map();
  const say = (/** @type {string} */ name, /** @type {string} */ word, /** @type {string} */ sentence, ill = false) => {
    const node = index.get(name);
    if (node === undefined) return;
    const mark = marks.get(node);
    if (!mark) marks.set(node, { word, sentences: [sentence], ill });
    else {
      if (ill && !mark.ill) Object.assign(mark, { word, ill });
      mark.sentences.push(sentence);
    }
  };
  for (const one of part.outcomes)
    if (wentWrong(one)) say(one.node, one.reason || BRIEF[one.noticed], noticed(one), true);
  for (const one of part.windows) {
    const double = isDouble(one);
    const word = double ? "double-booked" : `unseen by ${one.unaware.length > 1 ? one.unaware.length : one.unaware[0]}`;
    say(one.node, word, `${double ? doubled(one) : "window"}: ${unaware(one)}`, double);
  }
  for (const one of part.outcomes) if (!wentWrong(one)) say(one.node, "nobody noticed", noticed(one));
  return marks;
}

/** @param {ViewOutcome} one */
const noticed = ({ pod, noticed: by, reason, scheduler, unseen }) =>
  `${short(pod)} of ${scheduler} ${by === "nobody" ? "runs, and nobody noticed" : NOTICED[by]}`
  + `${reason ? `: ${reason}` : ""}${unseen.length ? `; not counted: ${unseen.map(short).join(", ")}` : ""}`;

/** @param {ViewWindow} one */
const doubled = (one) =>
  `double-booked, ${lacking(one)
    .map(([resource, left]) => `${amount(resource, -left)} ${resource} too little`)
    .join(", ")}`;

/** @param {ViewWindow} one */
function unaware({ promised, unaware: who }) {
  const coming = promised.map(([pod, scheduler]) => `${short(pod)} by ${scheduler}`);
  return (
    `${who.join(" and ")} ${who.length > 1 ? "do" : "does"} not count all of it`
    + `${coming.length ? `; on the way: ${coming.join(", ")}` : ""}`
  );
}
