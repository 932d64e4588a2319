// The names that a contract may have: of the cluster's workloads, nodes, labels and templates.

import type { Names } from "./names.ts";
import { entryOf } from "./position.ts";
import type { Doc } from "./line.ts";
import type { Where } from "./position.ts";

const WORKLOADS = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job"];
const ROLLED = ["Deployment", "StatefulSet", "DaemonSet"];
const ON_NODES = /^(lose|drain|cordon)$/;
const DOMAINS = { zone: "topology.kubernetes.io/zone", region: "topology.kubernetes.io/region" };

/** Words, each with what it is. */
type Named = [word: string, detail: string][];

/** What a place of a contract may name; nothing elsewhere. */
export function contractNames(doc: Doc, place: Where, names: () => Names): Named {
  const [outer] = [...place.steps.flatMap(({ frame }) => frame ?? []), place.frame];
  if (entryOf(doc, outer, "kind")?.value !== "Contract") return [];
  const map = place.steps.findLast(({ step }) => step !== "[]")?.step ?? "";
  const of = (...kinds: string[]): Named =>
    kinds.flatMap((kind) => [...(names().kinds.get(kind) ?? [])].map((name): [string, string] => [name, kind]));
  if (place.part === "key") return map === "scale" ? of(...WORKLOADS.filter((kind) => kind !== "DaemonSet")) : [];
  const key = place.key ?? "";
  if (key === "name" && map === "for") return of(entryOf(doc, place.frame, "kind")?.value ?? "");
  if (ON_NODES.test(key)) return [...domains(names()), ...of("Node")];
  if (ON_NODES.test(map) && /^(any|each|of)$/.test(key))
    return [["Node", "each node"], ...[...names().labels.keys()].map((label): [string, string] => [label, "label"])];
  if (key === "rollout") return of(...ROLLED);
  if (map === "rollout" && key === "any") return ROLLED.map((kind) => [kind, "kind"]);
  if (map === "arrive" && key === "template") return of("PodTemplate", "Pod", ...WORKLOADS);
  return [];
}

/** Zones and the like, as `zone=a`. */
const domains = (names: Names): Named =>
  Object.entries(DOMAINS).flatMap(([word, label]) =>
    [...(names.labels.get(label) ?? [])].map((value): [string, string] => [`${word}=${value}`, label]),
  );
