"""Predicates: (pod, view) to failure codes. Policies choose from the table below."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.predicates.base import Outcome, Predicate
from scheduler_core.predicates.general import (
    GeneralPredicates,
    HostName,
    MatchNodeSelector,
    PodFitsHostPorts,
    PodFitsResources,
)
from scheduler_core.predicates.interpod import MatchInterPodAffinity
from scheduler_core.predicates.node import CheckNodeCondition, CheckNodeLabelPresence, CheckNodePressure
from scheduler_core.predicates.service import CheckServiceAffinity
from scheduler_core.predicates.storage import CheckVolumeBinding, NoVolumeZoneConflict
from scheduler_core.predicates.taints import PodToleratesNodeTaints
from scheduler_core.predicates.volumes import MaxVolumeCount, NoDiskConflict

PREDICATES: Mapping[str, Predicate] = {
    "CheckNodeCondition": CheckNodeCondition(),
    "GeneralPredicates": GeneralPredicates(),
    "HostName": HostName(),
    "PodFitsHostPorts": PodFitsHostPorts(),
    "PodFitsPorts": PodFitsHostPorts(),
    "MatchNodeSelector": MatchNodeSelector(),
    "PodFitsResources": PodFitsResources(),
    "NoDiskConflict": NoDiskConflict(),
    "PodToleratesNodeTaints": PodToleratesNodeTaints(),
    "MaxEBSVolumeCount": MaxVolumeCount("ebs", 39),
    "MaxGCEPDVolumeCount": MaxVolumeCount("gce", 16),
    "MaxAzureDiskVolumeCount": MaxVolumeCount("azure", 16),
    "CheckVolumeBinding": CheckVolumeBinding(),
    "NoVolumeZoneConflict": NoVolumeZoneConflict(),
    "CheckNodeMemoryPressure": CheckNodePressure("MemoryPressure", best_effort_only=True),
    "CheckNodePIDPressure": CheckNodePressure("PIDPressure"),
    "CheckNodeDiskPressure": CheckNodePressure("DiskPressure"),
    "MatchInterPodAffinity": MatchInterPodAffinity(),
}
"""The predicates registered in v1.11 with default feature gates, by key; a policy's arguments create more."""

__all__ = ["PREDICATES", "CheckNodeLabelPresence", "CheckServiceAffinity", "Outcome", "Predicate"]
