// Which arguments the predicates, priorities and plugins take, and the fields of the forms for them.

/** @typedef {[path: string, type: string, hint: string | string[]]} Field of an argument; a dot leads into an object */

/** @type {Field} */
const LABELS = ["labels", "labels", "one or more label keys, such as zone, rack"];
/** @type {Field} */
const SHAPE = ["shape", "shape", "points of utilization (0 to 100) and score (0 to 10), ascending"];

/**
 * What can be added to a Policy.
 *
 * @type {{ list: string, kind: string, name: string, label: string, fields: Field[] }[]}
 */
export const CUSTOM = [
  {
    list: "predicates",
    kind: "labelsPresence",
    name: "CheckNodeLabelPresence",
    label: "LabelsPresence: nodes must have, or not have, labels",
    fields: [LABELS, ["presence", "flag", "the labels must be present; off: must be absent"]],
  },
  {
    list: "predicates",
    kind: "serviceAffinity",
    name: "CheckServiceAffinity",
    label: "ServiceAffinity: pods of a Service on nodes alike in labels",
    fields: [LABELS],
  },
  {
    list: "priorities",
    kind: "labelPreference",
    name: "LabelPreference",
    label: "LabelPreference: nodes with, or without, a label",
    fields: [
      ["label", "label", "a label key, such as disk"],
      ["presence", "flag", "prefer nodes with it; off: without it"],
    ],
  },
  {
    list: "priorities",
    kind: "serviceAntiAffinity",
    name: "ServiceAntiAffinity",
    label: "ServiceAntiAffinity: spread a Service over a label’s values",
    fields: [["label", "label", "a label key, such as rack"]],
  },
  {
    list: "priorities",
    kind: "requestedToCapacityRatioArguments",
    name: "RequestedToCapacityRatioPriority",
    label: "RequestedToCapacityRatio: score by a shape over utilization",
    fields: [SHAPE],
  },
];

/** @type {(name: string) => Field} */
const SECONDS = (name) => [name, "number", "seconds"];
/** @type {(name: string) => Field} */
const KEYS = (name) => [name, "labels", "label keys, separated by commas"];
/**
 * Fields of plugins' arguments. What is not here is written as JSON.
 *
 * @type {Record<string, Field[]>}
 */
export const PLUGIN_FIELDS = {
  NodeResourcesFit: [
    ["scoringStrategy.type", "choice", ["", "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]],
    ["scoringStrategy.requestedToCapacityRatio.shape", "shape", "for RequestedToCapacityRatio alone"],
    ["ignoredResources", "labels", "resources that are not checked"],
    ["ignoredResourceGroups", "labels", "prefixes of resources that are not checked"],
  ],
  InterPodAffinity: [["hardPodAffinityWeight", "number", "0 to 100: what a required term of an existing pod weighs"]],
  RequestedToCapacityRatio: [SHAPE],
  NodeLabel: [
    KEYS("presentLabels"),
    KEYS("absentLabels"),
    KEYS("presentLabelsPreference"),
    KEYS("absentLabelsPreference"),
  ],
  ServiceAffinity: [KEYS("affinityLabels"), KEYS("antiAffinityLabelsPreference")],
  VolumeBinding: [SECONDS("bindTimeoutSeconds")],
  DefaultPreemption: [
    ["minCandidateNodesPercentage", "number", "0 to 100"],
    ["minCandidateNodesAbsolute", "number", "nodes"],
  ],
  Coscheduling: [
    SECONDS("permitWaitingTimeSeconds"),
    SECONDS("deniedPGExpirationTimeSeconds"),
    SECONDS("podGroupBackoffSeconds"),
    ["podGroupRejectPercentage", "number", "0 to 100"],
  ],
  PodTopologySpread: null,
  NodeAffinity: null,
  NodeResourcesBalancedAllocation: null,
  NodeResourcesLeastAllocated: null,
  NodeResourcesMostAllocated: null,
};
export const takesArguments = (plugin) => plugin in PLUGIN_FIELDS;
