// The equivalence cache's settings, as rows: what each can be and what that does. The Policy tab draws them.

import type { Policy } from "../../lib/protocol.js";

/**
 * A setting: its choices with what each does, and why it has no effect for a profile, "" where it has. The two choices
 * true and false make a switch.
 */
export type CacheSetting = {
  key: "cache" | "equivalenceClass" | "staleWrites" | "audit";
  label: string;
  idle: (profile: Policy) => string;
  choices: [value: string, text: string, does: string][];
};

const WITHOUT: Record<string, string> = {
  off: "Nothing is cached, so it has no effect.",
  batching: "Batching keeps rankings and no results, so it has no effect.",
};

export const CACHE_SETTINGS: CacheSetting[] = [
  {
    key: "cache",
    label: "Cache mode",
    idle: () => "",
    choices: [
      ["off", "off", "Every predicate is evaluated on every node that it reaches; nothing is kept."],
      [
        "designed",
        "designed",
        "Results are kept, and an event invalidates what the proposal’s rows say. Some rows are missing: "
          + "answers can be stale.",
      ],
      [
        "v1.11",
        "v1.11",
        "Results are kept, and an event invalidates what v1.11 did, with its bugs: answers can be stale.",
      ],
      [
        "sound",
        "sound",
        "Results are kept, and events invalidate everything they affect: decisions are the same as without a cache.",
      ],
      [
        "batching",
        "batching",
        "KEP-5598: one pod’s ranked nodes are offered to the next pods with the same signature.",
      ],
    ],
  },
  {
    key: "equivalenceClass",
    label: "Equivalence class",
    idle: ({ cache }) => WITHOUT[cache] ?? "",
    choices: [
      [
        "controller",
        "by controller",
        "Pods of one controller with the same claims share results; a pod without a controller bypasses the cache.",
      ],
      [
        "attributes",
        "by attributes",
        "Pods whose namespace, labels, affinity, containers, node, tolerations and volumes are alike share results.",
      ],
    ],
  },
  {
    key: "audit",
    label: "Audit every hit",
    idle: ({ cache }) => WITHOUT[cache] ?? "",
    choices: [
      ["true", "on", "Each cached answer is also evaluated; one that differs is shown as a stale hit with its cause."],
      ["false", "off", "Stale answers are not detected."],
    ],
  },
  {
    key: "staleWrites",
    label: "Stale writes",
    idle: ({ cache }) => WITHOUT[cache] ?? "",
    choices: [
      [
        "none",
        "no remedy",
        "A result is written even if an event overtook its evaluation (operations with during: evaluation).",
      ],
      [
        "isUpToDate",
        "IsUpToDate",
        "#63040: a result is not written if its own node changed meanwhile; an event elsewhere goes unnoticed.",
      ],
      [
        "generations",
        "generations",
        "#67308: a result is not written if an event invalidated the results of its node and predicate meanwhile.",
      ],
    ],
  },
];
