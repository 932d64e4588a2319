// Which arguments the predicates, priorities and plugins take that no catalogue declares.

import type { DeclaredArgument } from "../../lib/protocol.js";

type Type = DeclaredArgument["type"];

const EMPTY: Partial<Record<Type, unknown>> = { names: [], shape: [], text: "" };

const field = (path: string, type: Type, text: string, more: Partial<DeclaredArgument> = {}): DeclaredArgument => ({
  path,
  type,
  text,
  default: EMPTY[type] ?? null,
  choices: [],
  least: 0,
  most: 0,
  only: {},
  ...more,
});

const SHAPE = field("shape", "shape", "points of utilization (0 to 100) and score (0 to 10), ascending");
const LABELS = field("labels", "names", "one or more label keys, such as zone, rack");

type Custom = {
  list: "predicates" | "priorities";
  kind: string;
  name: string;
  label: string;
  fields: DeclaredArgument[];
  /** What a new one begins with. */
  fresh?: Record<string, unknown>;
};

/** What can be added to a Policy. */
export const CUSTOM: Custom[] = [
  {
    list: "predicates",
    kind: "labelsPresence",
    name: "CheckNodeLabelPresence",
    label: "LabelsPresence: nodes must have, or not have, labels",
    fields: [LABELS, field("presence", "flag", "the labels must be present; off: must be absent")],
    fresh: { presence: true },
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
      field("label", "text", "a label key, such as disk"),
      field("presence", "flag", "prefer nodes with it; off: without it"),
    ],
    fresh: { presence: true },
  },
  {
    list: "priorities",
    kind: "serviceAntiAffinity",
    name: "ServiceAntiAffinity",
    label: "ServiceAntiAffinity: spread a Service over a label’s values",
    fields: [field("label", "text", "a label key, such as rack")],
  },
  {
    list: "priorities",
    kind: "requestedToCapacityRatioArguments",
    name: "RequestedToCapacityRatioPriority",
    label: "RequestedToCapacityRatio: score by a shape over utilization",
    fields: [SHAPE],
    fresh: {
      shape: [
        { utilization: 0, score: 10 },
        { utilization: 100, score: 0 },
      ],
    },
  },
];

const whole = (path: string, text: string) => field(path, "integer", text);
const keys = (path: string) => field(path, "names", "label keys, separated by commas");

/** The arguments of plugins of v1.22. Where there is null, they are written as JSON. */
export const PLUGIN_ARGUMENTS: Record<string, DeclaredArgument[] | null> = {
  NodeResourcesFit: [
    field("scoringStrategy.type", "choice", "", {
      choices: ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"],
      default: "LeastAllocated",
    }),
    field("scoringStrategy.requestedToCapacityRatio.shape", "shape", "points, ascending", {
      only: { "scoringStrategy.type": "RequestedToCapacityRatio" },
    }),
    field("ignoredResources", "names", "resources that are not checked"),
    field("ignoredResourceGroups", "names", "prefixes of resources that are not checked"),
  ],
  InterPodAffinity: [whole("hardPodAffinityWeight", "0 to 100: what a required term of an existing pod weighs")],
  RequestedToCapacityRatio: [SHAPE],
  NodeLabel: [
    keys("presentLabels"),
    keys("absentLabels"),
    keys("presentLabelsPreference"),
    keys("absentLabelsPreference"),
  ],
  ServiceAffinity: [keys("affinityLabels"), keys("antiAffinityLabelsPreference")],
  VolumeBinding: [whole("bindTimeoutSeconds", "seconds")],
  DefaultPreemption: [whole("minCandidateNodesPercentage", "0 to 100"), whole("minCandidateNodesAbsolute", "nodes")],
  Coscheduling: [
    whole("permitWaitingTimeSeconds", "seconds"),
    whole("deniedPGExpirationTimeSeconds", "seconds"),
    whole("podGroupBackoffSeconds", "seconds"),
    whole("podGroupRejectPercentage", "0 to 100"),
  ],
  PodTopologySpread: null,
  NodeAffinity: null,
  NodeResourcesBalancedAllocation: null,
  NodeResourcesLeastAllocated: null,
  NodeResourcesMostAllocated: null,
};
