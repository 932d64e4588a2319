// What a workload is called on the stage and in the tree: its Deployment, as people know it, where the pods here belong
// to one of its ReplicaSets; the ReplicaSet, while a roll-out has two.

import { short } from "../../lib/quantity.ts";

import type { Owner } from "../../lib/protocol.js";

export type Named = { kind: string; name: string; title: string };

// A Deployment's name and the pod-template-hash, in the alphabet of rand.SafeEncodeString.
const HASHED = /^(.+)-[2456789bcdfghjklmnpqrstvwxz]{7,10}$/;
// by the groups: the table grows while controllers make pods
const known: WeakMap<Owner[], { length: number; names: Named[] }> = new WeakMap();

/** The Deployment that a ReplicaSet's name tells, "" if it tells none. */
export const deploymentOf = ({ kind, name }: { kind: string; name: string }) =>
  kind === "ReplicaSet" ? (HASHED.exec(name)?.[1] ?? "") : "";

function named(groups: Owner[]): Named[] {
  const kept = known.get(groups);
  if (kept?.length === groups.length) return kept.names;
  const found = groups.map(deploymentOf);
  const often = new Map();
  for (const name of found) often.set(name, (often.get(name) ?? 0) + 1);
  const names = groups.map(({ kind, name }, at) => {
    const deployment = found[at];
    if (!deployment || (often.get(deployment) ?? 0) > 1) return { kind, name: short(name), title: `${kind} ${name}` };
    return { kind: "Deployment", name: short(deployment), title: `Deployment ${deployment}, ReplicaSet ${name}` };
  });
  known.set(groups, { length: groups.length, names });
  return names;
}

/** The kind, the short name and the whole title of one of a table's groups; pods of no controller have no name. */
export const workload = (groups: Owner[], at: number): Named | undefined => named(groups)[at];

/** A name without its namespace, where no other of them has that name. */
export function unqualified(name: string, others: string[]) {
  const bare = (text: string) => text.slice(text.lastIndexOf("/") + 1);
  return others.some((other) => other !== name && bare(other) === bare(name)) ? name : bare(name);
}
