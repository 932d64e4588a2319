"""The texts of the Firmament reference page that accompany the engine's tables."""

from __future__ import annotations

from collections.abc import Mapping

PHASES: Mapping[str, str] = {
    "batch": "All jobs without affinity between pods are one flow problem.",
    "affinity": "Jobs with affinity between pods that do not conflict are one flow problem a group.",
    "queue": "What is left is placed one pod at a time, on its cheapest arc.",
}

TERMS: Mapping[str, str] = {
    "load": "The mean of the used parts of cpu and of memory, each scaled to ω: least requested.",
    "balance": "The variance of the two used parts, scaled to ω: ((cpu − memory) / 2)².",
    "nodeAffinity": "ω minus the matching weights of preferred node affinity, as a share of the largest sum.",
    "podAffinity": "ω minus ω on the machine with the best score between pods, and nothing elsewhere: "
    "the original divides integers.",
    "taints": "The untolerated PreferNoSchedule taints, as a share of the most on any machine.",
    "avoid": "ω if preferAvoidPods names the pod's ReplicationController or ReplicaSet.",
}
"""The terms of an arc's cost. All but the first two are the same for every index of a machine."""

REFUSALS: Mapping[str, str] = {
    "node selector or node affinity": "A label of nodeSelector is missing, or no required term matches. "
    "matchFields are ignored.",
    "affinity between pods": "A required term fails on that very machine, whatever the topology key; "
    "only pods that Firmament placed count.",
    "taints": "A NoSchedule or NoExecute taint is not tolerated. Tolerations count only from the third on, "
    "because admission adds two.",
    "resources or the number of pods": "(i + 1) requests are not less than what is available: "
    "an exact fit is refused.",
}
"""Why a class has no arc to a machine, in the order of the checks."""
