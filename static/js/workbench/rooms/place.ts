// Where somebody is, as a room shares it: read off the view of who leads, and brought onto the screens of the others.

import { indexOf } from "../goto.tsx";
import { TABS } from "../inspect/tabs.tsx";
import type { Position } from "../../lib/protocol.js";
import type { Address } from "../address.ts";
import type { View } from "../view.ts";

export type Where = Omit<Position, "seq">;

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
  return where;
}

/** A place as indices: what a view is at once it is there. */
export type Target = { index: number; at: number; phase: string; tab: string; sub: string; node: number; pod: number };

export async function targetOf(
  view: View,
  { step, at = 0, phase = "", tab = "story", view: sub = "", node = "", pod = "" }: Where,
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
  };
}

/** Bring the view to a place. */
export function bring(view: View, { index, at, phase, tab, sub, node, pod }: Target) {
  const { playback } = view;
  view.setTab(tab, { push: false });
  if (sub) view.setSub(sub, { push: false });
  view.selectNode(node, { push: false });
  view.selectPod(pod, { push: false });
  const place = at ? { at, linked: true } : { phase, linked: true };
  if (index > playback.last && playback.complete === false) playback.emit("later", { step: String(index), place });
  else playback.goto(index, undefined, place);
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
