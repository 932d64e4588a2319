// Where somebody is, as a room shares it: read off the view of who leads, and brought onto the screens of the others.

import { indexOf } from "../goto.tsx";
import { TABS } from "../inspect/tabs.tsx";
/** @import { Position } from "../../lib/protocol.js" */
/** @import { Address } from "../address.js" */
/** @import { View } from "../view.js" */

/** @typedef {Omit<Position, "seq">} Where */

/**
 * Where this page is, by what its address would hold.
 *
 * @param {Address} address
 * @returns {Where}
 */
export function placeOf(address) {
  const query = new URL(address.href("/"), location.origin).searchParams;
  /** @type {Where} */
  const where = { step: query.get("step") ?? "0", tab: query.get("tab") ?? "story" };
  const at = Number(query.get("at"));
  if (at > 0) where.at = at;
  for (const key of /** @type {const} */ (["phase", "view", "node", "pod"])) {
    const text = query.get(key);
    if (text) where[key] = text;
  }
  return where;
}

/**
 * A place as indices: what a view is at once it is there.
 *
 * @typedef {{ index: number, at: number, phase: string, tab: string, sub: string, node: number, pod: number }} Target
 */

/**
 * @param {View} view
 * @param {Where} where
 * @returns {Promise<Target>}
 */
export async function targetOf(view, { step, at = 0, phase = "", tab = "story", view: sub = "", node = "", pod = "" }) {
  const { playback } = view;
  const index = /^\d+$/.test(step) ? Number(step) : ((await indexOf(playback, step)) ?? playback.last);
  const found = node ? (playback.nodeIndex.get(node) ?? -1) : -1;
  const known = TABS.some(({ key }) => key === tab); // the room may be of a newer server
  return {
    index,
    at,
    phase,
    tab: known ? tab : "story",
    sub: known ? sub : "",
    node: found,
    pod: pod ? (playback.podIndex.get(pod) ?? -1) : -1,
  };
}

/**
 * Bring the view to a place.
 *
 * @param {View} view
 * @param {Target} target
 */
export function bring(view, { index, at, phase, tab, sub, node, pod }) {
  const { playback } = view;
  view.setTab(tab, { push: false });
  if (sub) view.setSub(sub, { push: false });
  view.selectNode(node, { push: false });
  view.selectPod(pod, { push: false });
  const place = at ? { at, linked: true } : { phase, linked: true };
  if (index > playback.last && playback.complete === false) playback.emit("later", { step: String(index), place });
  else playback.goto(index, undefined, place);
}

/**
 * Whether the view has been taken elsewhere than the target.
 *
 * @param {View} view
 * @param {Target} target
 */
export function elsewhere(view, { index, at, phase, tab, node, pod }) {
  const { playback } = view;
  if (view.pending) return false; // on the way
  const { wish } = playback;
  const there = playback.wanted === Math.min(index, playback.last);
  const inside = wish.at === at && (wish.phase === phase || !wish.phase);
  return !there || !inside || view.tab !== tab || view.node !== node || view.pod !== pod;
}
