// How the stage is looked at: what colours the pods and by what nodes are grouped. Remembered, and in the address.

import type { Pods } from "../../lib/protocol.js";
import type { Marks } from "./marks.ts";

/** what colours pods, and by what nodes are grouped */
export type Look = { colour: string; group: string };

const KEY = "podstep.stage";
export const USUAL: Look = { colour: "workload", group: "zone" };
const NAMES = Object.keys(USUAL);
const ENOUGH = 1000; // cycles: a scenario whose first ones preempt nobody is not about preemption

/** What was chosen on an earlier visit: nothing of what nobody chose. */
export function kept(): Partial<Look> {
  let found: Record<string, unknown>;
  try {
    found = JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    found = {};
  }
  return Object.fromEntries(NAMES.filter((name) => typeof found[name] === "string").map((name) => [name, found[name]]));
}

export function keep(chosen: Partial<Look>) {
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    /* for this visit only */
  }
}

/** What is known of a run so far. */
type Begun = { pods: Pods; summary: Record<string, number>; marks: Marks; complete: boolean; cycles: number };

/**
 * What colours pods until the visitor chooses, `{colour, sure}`: what the scenario is about. While too few cycles are
 * computed to be sure, it stays as it is `now`: every edit computes all of them again. PodGroups alone are known from
 * the start.
 */
export function fitting({ pods, summary, marks, complete, cycles }: Begun, now: string) {
  if (summary.PodGroup || pods.podGroup?.some((at) => at >= 0)) return { colour: "podgroup", sure: true };
  const first = marks.seek(0, 1, "p");
  if (first && first <= ENOUGH) return { colour: "priority", sure: true };
  const sure = marks.known >= ENOUGH || Boolean(complete && marks.known >= cycles);
  return { colour: sure || now === "podgroup" ? USUAL.colour : now, sure };
}
