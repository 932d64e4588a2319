// What can happen from outside, as the form offers it: operators' verbs by the engine's table, and other changes.

import { canDo, verbs, zones } from "../verbs/table.ts";
import type { Verb, VerbArgument } from "../../lib/protocol.js";
import type { View } from "../view/view.ts";

const OFFERED = 200;

/**
 * What an event is about: the field that names it, and what can be chosen, first what is selected on the page. One row
 * of the form: a verb, a common change (`revise`) with its fields, a deletion, or an object as YAML, of a kind
 * or any.
 */
export type About = {
  label: string;
  placeholder: string;
  kind?: string;
  known: (view: View) => string[] | Promise<string[]>;
  selected?: (view: View) => string;
};
export type EventKind = {
  title: string;
  group: string;
  about?: About;
  fields?: [name: string, label: string, placeholder: string, known: string[], optional?: boolean, value?: string][];
  verb?: Verb;
  revise?: string;
  remove?: boolean;
  create?: string;
  yaml?: boolean;
};

const NODE: About = {
  kind: "Node",
  label: "Node",
  placeholder: "n1",
  known: ({ playback }) => playback.nodes.names.slice(0, OFFERED),
  selected: ({ playback, node }) => playback.nodes.names[node] ?? "",
};
const NODES: About = {
  label: "Nodes",
  placeholder: "zone=a",
  known: (view) => [...zones(view).flatMap(({ targets }) => targets), "*"],
};
const POD: About = {
  kind: "Pod",
  label: "Pod",
  placeholder: "default/web-1",
  known: ({ playback }) => playback.pods.keys.slice(0, OFFERED),
  selected: ({ playback, pod }) => playback.pods.keys[pod] ?? "",
};

/** The objects of some kinds, of all without any. */
const listed =
  (kinds?: string[], separator = " ") =>
  async ({ playback }: View) => {
    const asked = { source: playback.source, step: String(playback.wantedCycle) };
    const found = await playback.socket.call("objects.list", asked).catch(() => ({ kinds: [] }));
    return found.kinds
      .filter(([kind]) => !kinds || kinds.includes(kind))
      .flatMap(([kind, , names]) => names.map((name) => (name === kind ? kind : `${kind}${separator}${name}`)));
  };

function aboutOf({ kinds, about }: Verb): About {
  if (kinds[0] === "Node") return about === "domain" ? NODES : NODE;
  if (kinds[0] === "Pod") return POD;
  return { label: "Workload", placeholder: `${kinds[0]}/default/web`, known: listed(kinds, "/") };
}

const valueOf = ({ label, example, default: given }: VerbArgument): Exclude<EventKind["fields"], undefined>[number] => [
  "value",
  label,
  example,
  [],
  Boolean(given),
  given,
];

function eventOf(verb: Verb): EventKind {
  const about = aboutOf(verb);
  return {
    title: verb.title,
    group: `${about.label.replace(/s$/, "")}s`,
    about,
    verb,
    fields: verb.value ? [valueOf(verb.value)] : [],
  };
}

const CONDITIONS = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];
const TAINTS = ["dedicated=batch:NoSchedule", "maintenance:NoExecute", "slow:PreferNoSchedule"];

const OTHERS: [string, EventKind][] = [
  [
    "taint",
    {
      title: "Taint",
      group: "Nodes",
      about: NODE,
      revise: "taint",
      fields: [["key", "Taint", "maintenance:NoExecute", TAINTS]],
    },
  ],
  [
    "label",
    {
      title: "Label",
      group: "Nodes",
      about: NODE,
      revise: "label",
      fields: [
        ["key", "Label", "disk", ["disk", "topology.kubernetes.io/zone"]],
        ["value", "Value", "ssd", [], true],
      ],
    },
  ],
  [
    "condition",
    {
      title: "Set a condition",
      group: "Nodes",
      about: NODE,
      revise: "condition",
      fields: [
        ["key", "Condition", "MemoryPressure", CONDITIONS],
        ["value", "Status", "True", ["True", "False", "Unknown"]],
      ],
    },
  ],
  ["deleteNode", { title: "Delete the node", group: "Nodes", about: NODE, remove: true }],
  ["deletePod", { title: "Delete the pod", group: "Pods", about: POD, remove: true }],
  ["addNode", { title: "Add a node", group: "Objects", create: "Node" }],
  ["addPod", { title: "Add a pod", group: "Objects", create: "Pod" }],
  ["addVolume", { title: "Add a PersistentVolume", group: "Objects", create: "PersistentVolume" }],
  ["policy", { title: "Another policy", group: "Objects", create: "Policy" }],
  [
    "other",
    {
      title: "Change any object (YAML)",
      group: "Objects",
      about: { label: "Object", placeholder: "Node n1", known: listed() },
      yaml: true,
    },
  ],
];

/**
 * What the scheduler of the scenario can be shown, by name: first what is for nodes, then workloads, pods and others.
 */
export function kindsFor(view: View) {
  const rows = verbs().filter((verb) => canDo(view, verb));
  return new Map([...(rows.map((verb) => [verb.verb, eventOf(verb)]) as [string, EventKind][]), ...OTHERS]);
}

/** `Node n1` of what was typed about a kind, which may be typed too. */
export const targetOf = ({ kind }: About, typed: string) =>
  !kind || typed.startsWith(`${kind} `) ? typed : `${kind} ${typed}`;
