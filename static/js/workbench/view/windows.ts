// Where the views of several schedulers differ from what is true: a word on a node's card, and sentences about it.

import { amount, short } from "../../lib/quantity.ts";
import type { NodeIndex, ViewOutcome, ViewsPart, ViewWindow } from "../../lib/protocol.js";
import type { View } from "./view.ts";

export const NOTICED: Record<string, string> = {
  scheduler: "abandoned by its scheduler",
  apiServer: "rejected by the API server (409)",
  arbiter: "rejected by the arbiter",
  kubelet: "refused by the kubelet",
  nobody: "nobody noticed: it runs",
};
const BRIEF: Record<string, string> = {
  scheduler: "abandoned",
  apiServer: "409",
  arbiter: "arbiter",
  kubelet: "refused",
};

/** The note on a node: a word, all of it in sentences, and whether a decision went wrong or will. */
export type Mark = { word: string; sentences: string[]; ill: boolean };

const made: WeakMap<ViewsPart, Map<NodeIndex, Mark>> = new WeakMap();

/** The views at what is shown; null where there are none. */
export function viewsOf(view: View): ViewsPart | null {
  const part = view.playback.parts?.views;
  return part && "lanes" in part ? part : null;
}

/** The resources of which a node has less than nothing left, once all is bound that was decided for it. */
export const lacking = ({ free }: ViewWindow) => Object.entries(free).filter(([, left]) => left < 0);

/** Whether the room of a node is given away twice. */
export const isDouble = (window: ViewWindow) => lacking(window).length > 0;

export const wentWrong = ({ noticed }: ViewOutcome) => noticed !== "nobody";

/** The note on a node; undefined where every scheduler knows what is true of it. */
export function markOf(view: View, node: NodeIndex) {
  const part = viewsOf(view);
  if (!part) return undefined;
  let marks = made.get(part);
  if (!marks) made.set(part, (marks = marksOf(part, view.playback.nodeIndex)));
  return marks.get(node);
}

function marksOf(part: ViewsPart, index: Map<string, NodeIndex>) {
  const marks: Map<NodeIndex, Mark> = new Map();
  const say = (name: string, word: string, sentence: string, ill = false) => {
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

const noticed = ({ pod, noticed: by, reason, scheduler, unseen }: ViewOutcome) =>
  `${short(pod)} of ${scheduler} ${by === "nobody" ? "runs, and nobody noticed" : NOTICED[by]}`
  + `${reason ? `: ${reason}` : ""}${unseen.length ? `; not counted: ${unseen.map(short).join(", ")}` : ""}`;

const doubled = (one: ViewWindow) =>
  `double-booked, ${lacking(one)
    .map(([resource, left]) => `${amount(resource, -left)} ${resource} too little`)
    .join(", ")}`;

function unaware({ promised, unaware: who }: ViewWindow) {
  const coming = promised.map(([pod, scheduler]) => `${short(pod)} by ${scheduler}`);
  return (
    `${who.join(" and ")} ${who.length > 1 ? "do" : "does"} not count all of it`
    + `${coming.length ? `; on the way: ${coming.join(", ")}` : ""}`
  );
}
