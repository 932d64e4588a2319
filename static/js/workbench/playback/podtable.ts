// The table of pods grows at its end: controllers make pods while a run goes on.

import type { LaterPods, PodIndex, Pods } from "../../lib/protocol.js";

const FIELDS = ["cpu", "memory", "priority", "node"] as const;

/** Add the pods that `came` to the table and its index by key; whether there were any that it did not have. */
export function meet(pods: Pods, podIndex: Map<string, PodIndex>, came: LaterPods) {
  const skip = pods.keys.length - came.from;
  if (skip < 0 || skip >= came.keys.length) return false;
  const known = new Map(pods.groups.map(({ kind, name }, i) => [`${kind}/${name}`, i]));
  for (const { kind, name } of came.groups)
    if (!known.has(`${kind}/${name}`)) known.set(`${kind}/${name}`, pods.groups.push({ kind, name }) - 1);
  for (const resource of Object.keys(came.extended)) pods.extended[resource] ??= pods.keys.map(() => 0);
  for (let i = skip; i < came.keys.length; i += 1) {
    const { kind, name } = came.groups[came.group[i]];
    podIndex.set(came.keys[i], pods.keys.length);
    pods.keys.push(came.keys[i]);
    for (const field of FIELDS) pods[field].push(came[field][i]);
    pods.group.push(known.get(`${kind}/${name}`) ?? -1);
    pods.podGroup?.push(numbered(pods.podGroups, came.podGroups?.[came.podGroup[i]]));
    for (const resource of Object.keys(pods.extended)) pods.extended[resource].push(came.extended[resource]?.[i] ?? 0);
  }
  return true;
}

/** The number of a PodGroup, which may be new; -1: none. */
function numbered(podGroups: string[], key: string | undefined) {
  if (!key) return -1;
  const at = podGroups.indexOf(key);
  return at >= 0 ? at : podGroups.push(key) - 1;
}
