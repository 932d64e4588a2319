// What can be answered to a question by pressing it.

import type { Question } from "../../lib/protocol.js";
import { cpu, memory, short } from "../../lib/quantity.ts";
import type { View } from "../view/view.ts";
import { optionWorded } from "./worded.ts";

export type Option = { answer: string | boolean | number; label: string; detail?: string };

export function optionsOf(question: Question, view: View): Option[] {
  const { kind, ballot, form, options = [], choices } = question;
  const { nodes, pods, cluster, podIndex } = view.playback;
  if (kind === "fits")
    return [
      { answer: true, label: "Yes" },
      { answer: false, label: "No" },
    ];
  if (kind === "lesson")
    return options.map((one) => ({
      answer: form === "yesno" ? one[0] === "yes" : one[0],
      label: optionWorded(one),
    }));
  if (kind === "choice") return (choices ?? []).map((label, answer) => ({ answer, label }));
  // The ballot is the same for everybody, wherever a page stands; it is null where it would be too long.
  if (kind === "node") {
    const names = ballot?.map(([name]) => name) ?? nodes.names.filter((_, i) => view.exists(i));
    return [...names.map((name) => ({ answer: name, label: name })), { answer: "", label: "No node" }];
  }
  const priority = pods.priority[podIndex.get(question.pod ?? "") ?? -1] ?? Infinity;
  const lower = () =>
    pods.keys.flatMap((key, i): [string, string][] => {
      const node = cluster.placement[i] ?? -1;
      return node >= 0 && (pods.priority[i] ?? 0) < priority ? [[key, nodes.names[node] ?? ""]] : [];
    });
  return (ballot ?? lower()).map(([key, node = ""]) => ({
    answer: key,
    label: short(key),
    detail: sized(view, key, node),
  }));
}

/** Where a pod is, its priority and what it requests, as far as this page knows it. */
function sized({ playback: { pods, podIndex } }: View, key: string, node: string) {
  const pod = podIndex.get(key);
  if (pod === undefined) return node;
  return `${node} · priority ${pods.priority[pod]} · ${cpu(pods.cpu[pod])} cpu · ${memory(pods.memory[pod])}`;
}
