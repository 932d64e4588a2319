// Operators' verbs as the engine's table has them, and what they are about: nodes, all nodes of a label, workloads
// and pods.

import { $ } from "../../lib/dom.ts";
import { releaseOf } from "../../lib/releases.ts";
import { short } from "../../lib/quantity.ts";
import { NONE, worded, ZONE } from "../view/grouping.ts";
import { deploymentOf } from "../view/workload.ts";
import type { Verb } from "../../lib/protocol.js";
import type { View } from "../view/view.ts";
import type { About } from "../view/about.ts";

const TOPOLOGY = "topology.kubernetes.io/zone";
const LEGACY = "failure-domain.beta.kubernetes.io/zone";
const MOST = 500; // nodes that are named one by one

let listed: Verb[] | undefined;

export const verbs = (): Verb[] => (listed ??= JSON.parse($("#verbs").textContent));

/** Whether the scheduler of the scenario runs with controllers, at least where they have something to do. */
export const controlled = (view: View) => releaseOf(view.playback.release).hasControllers;

/** Whether the scheduler of the scenario can do it. */
export const canDo = (view: View, verb: Verb) =>
  (!verb.timed || controlled(view)) && (verb.needs !== "descheduler" || Boolean(view.playback.descheduler));

/** Why it cannot. */
export function whyNot(view: View, { title, needs }: Verb) {
  const { release } = view.playback;
  if (!controlled(view))
    return `${title} needs controllers, and under ${release} no time passes. Choose v1.37 in Build, Policy.`;
  return `${title} needs a ${needs}: add a DeschedulerPolicy, and descheduler to the SimulationSettings, in the YAML.`;
}

/** The verbs for something, in the order of the table, without those that would change nothing. */
export function verbsFor(view: View, { kind, domain = false, cordoned = null, failed = null }: About) {
  const states: Record<string, boolean> = {
    cordoned: cordoned === true,
    schedulable: cordoned === false,
    answering: failed === false,
  };
  return verbs().filter(
    (verb) =>
      verb.kinds.includes(kind)
      && verb.about !== (domain ? "one" : "domain")
      && !states[verb.idle]
      && canDo(view, verb),
  );
}

export function aboutNode(view: View, node: number): About {
  const { names, unschedulable, conditions } = view.playback.nodes;
  const failed = conditions[node].some((text) => text.startsWith("Ready="));
  return {
    kind: "Node",
    targets: [names[node]],
    label: `node ${names[node]}`,
    cordoned: Boolean(unschedulable[node]),
    failed,
  };
}

/** All nodes of a group of the stage: of a zone, of another label's value, or by name. */
export function aboutGroup(view: View, label: string, members: number[]): About | null {
  const { nodes } = view.playback;
  const by = view.look.group;
  const [first] = members;
  const key = by === ZONE ? (nodes.labels[first]?.[TOPOLOGY] ? TOPOLOGY : LEGACY) : by;
  const value = by === NONE ? "" : (nodes.labels[first]?.[key] ?? "");
  if (value) {
    const short_ = key === TOPOLOGY ? "zone" : key;
    return { kind: "Node", targets: [`${short_}=${value}`], label, domain: true };
  }
  if (members.length === nodes.names.length) return { kind: "Node", targets: ["*"], label: "all nodes", domain: true };
  return members.length <= MOST ? aboutNodes(view, members, label) : null;
}

export const aboutNodes = (view: View, members: number[], label: string): About => ({
  kind: "Node",
  targets: members.map((node) => view.playback.nodes.names[node]),
  label,
  domain: true,
});

/** The zone of a node, null if it has none. */
export function aboutZone(view: View, node: number): About | null {
  const labels = view.playback.nodes.labels[node] ?? {};
  const key = labels[TOPOLOGY] ? TOPOLOGY : LEGACY;
  const zone = labels[key];
  if (!zone) return null;
  return {
    kind: "Node",
    targets: [`${key === TOPOLOGY ? "zone" : key}=${zone}`],
    label: worded("zone", zone),
    domain: true,
  };
}

/** The controller of a pod, null if it has none. */
export function aboutOwner(view: View, pod: number): About | null {
  const { pods } = view.playback;
  return aboutWorkload(pods.groups[pods.group[pod]]);
}

/** A workload of the table of pods: the Deployment of a ReplicaSet that has its hash. */
export function aboutWorkload(group: { kind: string; name: string } | undefined): About | null {
  if (!group?.kind || group.kind === "Pod" || !group.name) return null;
  const deployment = deploymentOf(group);
  const [kind, name] = deployment ? ["Deployment", deployment] : [group.kind, group.name];
  return { kind, targets: [`${kind}/${name}`], label: `${kind} ${short(name)}` };
}

/** An object of the tree, such as `Deployment default/web`. */
export function aboutTarget(target: string) {
  const [kind, name = ""] = target.split(" ");
  return aboutWorkload({ kind, name });
}

export function aboutPod(view: View, pod: number): About {
  const key = view.playback.pods.keys[pod];
  return { kind: "Pod", targets: [key], label: `pod ${short(key)}` };
}

/** All zones of the cluster. */
export function zones(view: View): About[] {
  const { nodes } = view.playback;
  const first = new Map();
  nodes.zone.forEach((zone, node) => {
    if (zone && !first.has(zone)) first.set(zone, node);
  });
  return [...first.values()].map((node) => aboutZone(view, node)).filter((about) => about !== null);
}
