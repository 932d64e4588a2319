// Where somebody is, as a room shares it: read off the view of who leads, and brought onto the screens of the others.

import { indexOf } from "../deck/goto.tsx";
import { TABS } from "../inspect/tabs.tsx";
import type { Address } from "../address/address.ts";
import type { Look } from "../playback/look.ts";
import type { View } from "../view/view.ts";
import type { Where } from "./where.ts";

/** Where this page is, by what its address would hold. */
export function placeOf(address: Address): Where {
  const query = new URL(address.href("/"), location.origin).searchParams;
  const where: Where = { step: query.get("step") ?? "0", tab: query.get("tab") ?? "story" };
  const at = Number(query.get("at"));
  if (at > 0) where.at = at;
  for (const key of ["phase", "view", "node", "pod"] as const) {
    const text = query.get(key);
    if (text) where[key] = text;
  }
  // An address leaves out what is usual, which another page may not know yet.
  const { look, shown } = address.view;
  return { ...where, ...look, shade: shown.shade };
}

/** A place as indices: what a view is at once it is there, and how the stage is looked at. */
export type Target = {
  index: number;
  at: number;
  phase: string;
  tab: string;
  sub: string;
  node: number;
  pod: number;
  look: { colour?: string; group?: string; shade: string };
};

export async function targetOf(
  view: View,
  { step, at = 0, phase = "", tab = "story", view: sub = "", node = "", pod = "", colour, group, shade }: Where,
): Promise<Target> {
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
    look: { colour, group, shade: shade ?? "use" },
  };
}

/** Bring the view to a place; colours of one's own stay until the leader's are others than `before`. */
export function bring(view: View, { index, at, phase, tab, sub, node, pod, look }: Target, before: Target | null) {
  const { playback } = view;
  if (JSON.stringify(look) !== JSON.stringify(before?.look)) {
    view.lookAs(look as Partial<Look>);
    view.setShown({ shade: look.shade });
  }
  view.setTab(tab, { push: false });
  if (sub) view.setSub(sub, { push: false });
  view.selectNode(node, { push: false });
  view.selectPod(pod, { push: false });
  const place = at ? { at, linked: true } : { phase, linked: true };
  if (index > playback.last && playback.complete === false) playback.later({ step: String(index), place });
  else playback.goto(index, undefined, place);
}

/** Why a view is not where it was brought to, "" where it is. */
export function missed({ playback, pending }: View, { index }: Target) {
  const { complete, last, veiled } = playback;
  if (complete && veiled === null && index > last) return `there is no cycle ${index} in what this page shows`;
  const there = playback.index === Math.min(index, last) && !pending;
  return there ? "" : `cycle ${index} has not arrived`;
}

/** Whether the view has been taken elsewhere than the target. */
export function elsewhere(view: View, { index, at, phase, tab, node, pod }: Target) {
  const { playback } = view;
  if (view.pending) return false; // on the way
  const { wish } = playback;
  const there = playback.wanted === Math.min(index, playback.last);
  const inside = wish.at === at && (wish.phase === phase || !wish.phase);
  return !there || !inside || view.tab !== tab || view.node !== node || view.pod !== pod;
}
