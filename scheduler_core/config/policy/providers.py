"""What the DefaultProvider of kube-scheduler v1.11 runs. Tables only."""

from __future__ import annotations

MANDATORY_PREDICATES = ("CheckNodeCondition",)
"""Always run, whether a policy names them or not."""

DEFAULT_PREDICATES = (
    "CheckNodeCondition",
    "GeneralPredicates",
    "NoDiskConflict",
    "PodToleratesNodeTaints",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "CheckVolumeBinding",
    "NoVolumeZoneConflict",
    "CheckNodeMemoryPressure",
    "CheckNodePIDPressure",
    "CheckNodeDiskPressure",
    "MatchInterPodAffinity",
)

DEFAULT_PRIORITIES = (
    ("SelectorSpreadPriority", 1),
    ("InterPodAffinityPriority", 1),
    ("LeastRequestedPriority", 1),
    ("BalancedResourceAllocation", 1),
    ("NodePreferAvoidPodsPriority", 10_000),
    ("NodeAffinityPriority", 1),
    ("TaintTolerationPriority", 1),
)
"""Name and weight; avoided nodes weigh more than everything else together."""

DEFAULT_HARD_POD_AFFINITY_WEIGHT = 1
"""What a required affinity term of an existing pod weighs in InterPodAffinityPriority."""

PROVIDERS = {
    "DefaultProvider": DEFAULT_PRIORITIES,
    "ClusterAutoscalerProvider": tuple(
        ("MostRequestedPriority" if name == "LeastRequestedPriority" else name, weight)
        for name, weight in DEFAULT_PRIORITIES
    ),
}
"""v1.11's algorithm providers with their priorities; both run :data:`DEFAULT_PREDICATES`.

A scenario without a Policy runs the first. The other, which packs nodes so that an autoscaler can take
empty ones away, is written out as a Policy.
"""
