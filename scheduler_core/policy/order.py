"""The static orders of predicates, and the other names that predicates go by. Tables only."""

from __future__ import annotations

from collections.abc import Mapping

V1_11_ORDER = (
    "CheckNodeCondition",
    "CheckNodeUnschedulable",
    "GeneralPredicates",
    "HostName",
    "PodFitsHostPorts",
    "MatchNodeSelector",
    "PodFitsResources",
    "NoDiskConflict",
    "PodToleratesNodeTaints",
    "PodToleratesNodeNoExecuteTaints",
    "CheckNodeLabelPresence",
    "CheckServiceAffinity",
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
"""predicates.Ordering() of kube-scheduler v1.11, 21 rows."""

UNREGISTERED = frozenset({"CheckNodeUnschedulable", "PodToleratesNodeNoExecuteTaints"})
"""Rows that keep their place in v1.11's order but are not registered with its default feature gates."""

PROPOSAL_ORDER = (
    "CheckNodeConditionPredicate",
    "PodFitsHost",
    "PodFitsHostPorts",
    "PodMatchNodeSelector",
    "PodFitsResources",
    "NoDiskConflict",
    "PodToleratesNodeTaints",
    "PodToleratesNodeNoExecuteTaints",
    "CheckNodeLabelPresence",
    "checkServiceAffinity",
    "MaxPDVolumeCountPredicate",
    "VolumeNodePredicate",
    "VolumeZonePredicate",
    "CheckNodeMemoryPressurePredicate",
    "CheckNodeDiskPressurePredicate",
    "InterPodAffinityMatches",
)
"""The static order of the predicates-ordering proposal, 16 rows, by its own names."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "CheckNodeConditionPredicate": ("CheckNodeCondition",),
    "PodFitsHost": ("HostName",),
    "PodMatchNodeSelector": ("MatchNodeSelector",),
    "checkServiceAffinity": ("CheckServiceAffinity",),
    "MaxPDVolumeCountPredicate": ("MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount"),
    "VolumeNodePredicate": ("CheckVolumeBinding",),
    "VolumeZonePredicate": ("NoVolumeZoneConflict",),
    "CheckNodeMemoryPressurePredicate": ("CheckNodeMemoryPressure",),
    "CheckNodeDiskPressurePredicate": ("CheckNodeDiskPressure",),
    "InterPodAffinityMatches": ("MatchInterPodAffinity",),
}
"""The proposal's names to the keys of v1.11; a name that is not here is a key itself."""


def keys_of(name: str) -> tuple[str, ...]:
    """Return the predicate keys that a name stands for."""
    return ALIASES.get(name, (name,))
