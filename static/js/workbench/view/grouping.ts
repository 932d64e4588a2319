// By what nodes stand together: their zone, any label that distinguishes them, or nothing.

import type { NodeIndex, Nodes } from "../../lib/protocol.js";

export type Group = [heading: string, members: NodeIndex[]];

export const ZONE = "zone";
export const NONE = "none";
const VALUES = 200; // of a label; one with more distinguishes single nodes, not groups
const KEYS = 60; // that are offered
const POOLS = [
  "cloud.google.com/gke-nodepool",
  "eks.amazonaws.com/nodegroup",
  "alpha.eksctl.io/nodegroup-name",
  "karpenter.sh/nodepool",
  "kubernetes.azure.com/agentpool",
  "agentpool",
  "nodepool",
  "node-pool",
  "pool",
];
const ZONES = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];

const natural = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });

/** A group in words; a value that begins with the word itself, as zone-a does, says enough. */
export const worded = (word: string, value: string) =>
  value.toLowerCase().startsWith(word.toLowerCase()) ? value : `${word} ${value}`;

/** The part of a label's key that people use. */
export const brief = (key: string) => key.slice(key.lastIndexOf("/") + 1);

/** What can be chosen, as `[value, words]`. */
export function choices(nodes: Nodes): [value: string, words: string][] {
  const values = new Map();
  for (const labels of nodes.labels)
    for (const [key, value] of Object.entries(labels)) {
      if (!values.has(key)) values.set(key, new Set());
      if (values.get(key).size <= VALUES) values.get(key).add(value);
    }
  const keys = [...values.keys()]
    .filter((key) => !ZONES.includes(key) && values.get(key).size <= VALUES)
    .sort((a, b) => Number(POOLS.includes(b)) - Number(POOLS.includes(a)) || natural(a, b))
    .slice(0, KEYS);
  return [
    [ZONE, "zone"],
    ...keys.map((key) => [key, POOLS.includes(key) ? `node pool (${key})` : key] as [string, string]),
    [NONE, "nothing"],
  ];
}

/** How the nodes stand, for those who do not see it. */
export const wordsOf = (by: string) => (by === NONE ? "Nodes" : `Nodes by ${by}`);

/** Nodes by group: `[[heading, nodes]…]`; zones in the order they first appear, values of a label in theirs. */
export function grouped(nodes: Nodes, by: string): Group[] {
  const found: Map<string, NodeIndex[]> = new Map();
  const valueOf = (node: NodeIndex) =>
    by === NONE ? "" : by === ZONE ? nodes.zone[node] : (nodes.labels[node][by] ?? "");
  nodes.names.forEach((_, node) => {
    const value = valueOf(node);
    const members = found.get(value);
    if (members) members.push(node);
    else found.set(value, [node]);
  });
  const rows = [...found];
  if (by !== ZONE) rows.sort(([a], [b]) => Number(a === "") - Number(b === "") || natural(a, b));
  const word = by === ZONE ? "zone" : brief(by);
  return rows.map(([value, members]) => [
    value ? worded(word, value) : rows.length === 1 ? "nodes" : `no ${word}`,
    members,
  ]);
}
