// The rule that two cycles of one pod owe their different nodes to, as scheduler_core/compare/compare.py finds it: the
// predicate that stopped one's node in the other, else the priority that favors one's node by the most that it does not
// in the other.

import { rankedIn } from "../workbench/playback/parts.ts";
import type { View } from "../workbench/view/view.ts";

/** @returns null where it is none: the queue, a tie, or another cluster */
export function decidingRule(left: View, right: View): string | null {
  const [a, b] = [left, right].map(chosen);
  if (!a || !b || a.pod !== b.pod) return null;
  const stopped = stoppedBy(left, right);
  if (stopped) return stopped;
  if (!a.node || !b.node || a.node === b.node) return null;
  const [one, two] = [left, right].map((view) => leads(view, a.node, b.node));
  if (!one.size || !two.size) return null; // one of them did not score both nodes, as where it evaluates only some
  let best = null;
  let most = 0;
  for (const name of new Set([...one.keys(), ...two.keys()])) {
    const gap = Math.abs((one.get(name) ?? 0) - (two.get(name) ?? 0));
    if (gap > most) [best, most] = [name, gap];
  }
  return best;
}

/** The predicate that stopped the node of one side on the other, "" where none did. */
export function stoppedBy(left: View, right: View) {
  const [a, b] = [left, right].map(chosen);
  return (a?.node && stops(right, a.node)) || (b?.node && stops(left, b.node)) || "";
}

function chosen({ playback }: View) {
  const light = playback.current;
  if (!light || !playback.parts) return null;
  return { pod: playback.pods.keys[light.pod], node: light.node === null ? "" : playback.nodes.names[light.node] };
}

/** The first predicate that failed on a node, "" where none did. */
function stops(view: View, name: string) {
  const { verdict } = view.facts;
  const node = view.playback.nodeIndex.get(name) ?? -1;
  return (verdict && node >= 0 && view.exists(node) && verdict.order[verdict.first[node]]) || "";
}

/** By how much each priority favors a node over another, weighted. */
function leads({ playback }: View, node: string, other: string): Map<string, number> {
  const ranked = rankedIn(playback.parts);
  const [one, two] = [node, other].map((name) => ranked?.nodes.indexOf(playback.nodeIndex.get(name) ?? -1) ?? -1);
  if (!ranked || one < 0 || two < 0) return new Map();
  const score = (values: number[] | number, at: number) => (typeof values === "number" ? values : values[at]);
  return new Map(ranked.rows.map((row) => [row.name, row.weight * (score(row.score, one) - score(row.score, two))]));
}
