// What can happen from outside, as the form offers it: what it is about, what else it needs, and what it changes.

/** @param {string} kind */
const named = (kind) => ({ kind, label: kind, placeholder: kind === "Node" ? "n1" : "default/web" });
const WORKLOADS = ["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Job"];
const ROLLED = ["Deployment", "StatefulSet", "DaemonSet"];
const IMAGED = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job"];

/**
 * By name: `about` the kind of object, `revise` the common change, `fields` its key and value, `create` a kind that is
 * typed as YAML, `timed` marks what only controllers know, `atMoment` a value that is the
 * event's moment, `value` one that is always the same.
 */
export const KINDS = {
  cordon: { title: "Cordon a node", about: named("Node"), revise: "cordon" },
  uncordon: { title: "Uncordon a node", about: named("Node"), revise: "uncordon" },
  taint: {
    title: "Taint a node",
    about: named("Node"),
    revise: "taint",
    fields: [
      [
        "key",
        "Taint",
        "maintenance:NoExecute",
        ["dedicated=batch:NoSchedule", "maintenance:NoExecute", "slow:PreferNoSchedule"],
      ],
    ],
  },
  label: {
    title: "Label a node",
    about: named("Node"),
    revise: "label",
    fields: [
      ["key", "Label", "disk", ["disk", "topology.kubernetes.io/zone"]],
      ["value", "Value", "ssd", []],
    ],
  },
  condition: {
    title: "Set a condition of a node",
    about: named("Node"),
    revise: "condition",
    fields: [
      ["key", "Condition", "MemoryPressure", ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"]],
      ["value", "Status", "True", ["True", "False", "Unknown"]],
    ],
  },
  fails: { title: "A node fails", about: named("Node"), revise: "fails", timed: true, atMoment: true },
  recovers: {
    title: "A failed node recovers",
    about: named("Node"),
    revise: "recovers",
    timed: true,
    atMoment: true,
  },
  drain: { title: "Drain a node", about: named("Node"), revise: "drain", timed: true },
  forceDrain: {
    title: "Drain a node, bare pods too",
    about: named("Node"),
    revise: "drain",
    value: "force",
    timed: true,
  },
  deletePod: { title: "Delete a pod", about: named("Pod"), remove: true },
  deleteNode: { title: "Delete a node", about: named("Node"), remove: true },
  scale: {
    title: "Scale a workload",
    about: { kinds: WORKLOADS, label: "Workload", placeholder: "Deployment default/web" },
    revise: "replicas",
    fields: [["value", "Replicas", "5", []]],
  },
  image: {
    title: "Give a workload a new image",
    about: { kinds: IMAGED, label: "Workload", placeholder: "Deployment default/web" },
    revise: "image",
    fields: [["value", "Image", "registry.example/web:2", []]],
  },
  restart: {
    title: "Restart a workload's pods",
    about: { kinds: ROLLED, label: "Workload", placeholder: "Deployment default/web" },
    revise: "restart",
  },
  addNode: { title: "Add a node", create: "Node" },
  addPod: { title: "Add a pod", create: "Pod" },
  addVolume: { title: "Add a PersistentVolume", create: "PersistentVolume" },
  policy: { title: "Another policy", create: "Policy" },
  other: { title: "Change any object (YAML)", about: { label: "Object", placeholder: "Node n1" }, yaml: true },
};

/** `Node n1` of what was typed about a kind: the kind may be typed too, and where there are several it must be. */
export function targetOf({ kind, kinds }, typed) {
  const text = typed.trim();
  if (kind) return text && (text.startsWith(`${kind} `) ? text : `${kind} ${text}`);
  return kinds && text && !text.includes(" ") ? `Deployment ${text}` : text;
}
