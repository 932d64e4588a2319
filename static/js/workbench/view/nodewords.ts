// A node in words: for tooltips, screen readers, cards and tables.

import type { NodeIndex } from "../../lib/protocol.js";
import type { Verdict } from "../playback/verdict.ts";
import type { View } from "./view.ts";
import { ailments } from "../../lib/ailments.ts";
import { amount, cpu, memory, plural, short } from "../../lib/quantity.ts";
import { markOf } from "./windows.ts";
import { UNREACHED } from "../playback/verdict.ts";

/** One line about a node: for tooltips and screen readers. */
export function describeNode(view: View, node: NodeIndex) {
  const { nodes, cluster } = view.playback;
  const { verdict, totals, chosen, nominated } = view.facts;
  const phrases = [
    nodes.names[node],
    `cpu ${cpu(cluster.cpu[node])} of ${cpu(nodes.cpu[node])}`,
    `memory ${memory(cluster.memory[node])} of ${memory(nodes.memory[node])}`,
    `${cluster.count[node]} of ${nodes.pods[node]} pods`,
  ];
  for (const [resource, amounts] of Object.entries(nodes.extended))
    if (amounts[node])
      phrases.push(
        `${resource} ${amount(resource, cluster.extendedUsed(node, resource))} of ${amount(resource, amounts[node])}`,
      );
  phrases.push(...ailmentsOf(view, node));
  const taints = nodes.taints[node];
  if (taints.length) {
    const more = taints.length > 3 ? ` and ${taints.length - 3} more` : "";
    phrases.push(`tainted ${taints.slice(0, 3).join(" and ")}${more}`);
  }
  phrases.push(...(markOf(view, node)?.sentences ?? []));
  const leaving = terminatingOn(view, node);
  if (leaving) phrases.push(`${leaving} Terminating`);
  const waiting = view.waitingOn(node);
  if (waiting.length) phrases.push(`${waiting.length} waiting at Permit`);
  if (chosen === node) phrases.push("chosen");
  else if (nominated === node) phrases.push(describeNomination(view));
  else if (view.verdictOf(node) === "past") phrases.push(describePast(view, node));
  else if (verdict) phrases.push(verdict.fits(node) ? "fits" : failureOn(verdict, node));
  if (totals?.has(node)) phrases.push(`score ${totals.get(node)}`);
  return phrases.join(", ");
}

/** Why a pod is not placed on a node that is not feasible. */
function failureOn(verdict: Verdict, node: NodeIndex) {
  return verdict.reached(node) ? `does not fit: ${verdict.reasonsOf(node).join(", ")}` : UNREACHED;
}

/** Whether a node that has changed since was feasible, in the past tense. */
export function pastVerdict(verdict: Verdict, node: NodeIndex) {
  return verdict.fits(node) ? "fitted" : verdict.reached(node) ? "did not fit" : "was not evaluated";
}

/** What was found of a node that is otherwise now. */
export function describePast(view: View, node: NodeIndex) {
  const { left, came } = view.facts.since.get(node) ?? { left: 0, came: 0 };
  const since = [left ? `${plural(left, "pod")} left` : "", came ? `${plural(came, "pod")} came` : ""]
    .filter(Boolean)
    .join(" and ");
  const verdict = view.facts.verdict as Verdict; // one is past only where one was found
  return `${pastVerdict(verdict, node)} when tried; ${since || "it changed"} since`;
}

/** What preemption did for the pod of this cycle, in a few words. */
export function describeNomination(view: View) {
  const { pod, victims, nominated } = view.facts;
  const { pods, cluster } = view.playback;
  const still = victims.some((victim) => cluster.placement[victim] === nominated);
  const room = victims.length
    ? `${plural(victims.length, "victim")} ${still ? "to be deleted" : "deleted"}`
    : "no victim";
  return `nominated for ${short(pods.keys[pod])}, ${room}`;
}

/** What is wrong with a node at what is shown. */
export function ailmentsOf({ playback }: View, node: NodeIndex) {
  return ailments(playback.nodes.conditions[node], playback.nodes.unschedulable[node]);
}

/** Whether a reason is what the badges of an ailing node say: it is cordoned, or tainted for its conditions. */
export const isAilment = (reason: string) => /unschedulable|taint/.test(reason);

/** How many pods of a node are Terminating. */
export function terminatingOn({ playback }: View, node: number) {
  if (!playback.terminating.size) return 0;
  return playback.cluster.podsOn(node).filter((pod) => playback.terminating.has(pod)).length;
}

/** A reason of one node, without "node(s)" and with the taint it names. */
export function plainReason(view: View, text: string, node: NodeIndex) {
  if (text === "node(s) were unschedulable") return "cordoned";
  if (/taints that the pod didn't tolerate/.test(text)) {
    const taints = view.playback.nodes.taints[node].filter((taint) => !taint.endsWith(":PreferNoSchedule"));
    if (!taints.length) return "taint not tolerated";
    return `taint ${taints[0]}${taints.length > 1 ? ` or ${taints.length - 1} more` : ""} not tolerated`;
  }
  return text.replace(/^node\(s\) /, "");
}
