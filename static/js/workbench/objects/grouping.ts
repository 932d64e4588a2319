// How the tree of objects groups nodes and pods.

import { unqualified, workload } from "../view/workload.ts";
import type { Nodes, Pods } from "../../lib/protocol.js";

// The labels by which providers name pools.
const POOLS = [
  "cloud.google.com/gke-nodepool",
  "eks.amazonaws.com/nodegroup",
  "agentpool",
  "node-pool",
  "pool",
  "alibabacloud.com/gpu-card-model",
];
const MOST_POOLS = 60;
// As kubectl abbreviates.
const SHORT: Record<string, string> = {
  ReplicaSet: "rs",
  StatefulSet: "sts",
  DaemonSet: "ds",
  Deployment: "deploy",
  Job: "job",
  ReplicationController: "rc",
};

/** Nodes by a pool label, else by the name without its number. */
export function poolsOf(nodes: Nodes) {
  const label = POOLS.find((name) => nodes.labels?.some((labels) => labels[name]));
  const pools: Map<string, number[]> = new Map();
  nodes.names.forEach((name, node) => {
    const pool = label ? (nodes.labels?.[node][label] ?? "") : name.replace(/[-.]?[a-z]?\d[\w.-]*$/, "") || name;
    const there = pools.get(pool);
    if (there) there.push(node);
    else pools.set(pool, [node]);
  });
  return pools.size > MOST_POOLS ? new Map([["all nodes", nodes.names.map((_, node) => node)]]) : pools;
}

/** The workloads with their pods, `members`, and those of them that are found, `hits`; `matches(text)` finds. */
export function workloadsOf(pods: Pods, matches: (text: string) => boolean) {
  const groups: Map<number, number[]> = new Map();
  pods.group.forEach((group, pod) => {
    const there = groups.get(group);
    if (there) there.push(pod);
    else groups.set(group, [pod]);
  });
  const names = [...groups.keys()].map((group) => workload(pods.groups, group)?.name ?? "");
  return [...groups].map(([group, members]) => {
    const { kind, name, title } = workload(pods.groups, group) ?? { kind: "", name: "" };
    const bare = !kind || kind === "Pod";
    const whole = bare ? name || "no controller" : `${SHORT[kind] ?? kind.toLowerCase()}/${name}`;
    const label = bare ? whole : `${SHORT[kind] ?? kind.toLowerCase()}/${unqualified(name, names)}`;
    const hits = matches(whole) ? members : members.filter((pod) => matches(pods.keys[pod]));
    return { group, members, hits, label, title: bare ? "pods without a controller" : title };
  });
}
