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
