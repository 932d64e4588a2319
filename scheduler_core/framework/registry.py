"""The plugins that a KubeSchedulerConfiguration can name: the points they extend, and the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

POINTS = (
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
)
"""The extension points, in the order in which a pod passes them."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A row: ``points`` it extends; ``default`` tells whether it is enabled there from the beginning.

    ``weight`` is its weight as a default Score plugin, ``predicates`` and ``priority`` what v1.11 called it.
    """

    name: str
    points: tuple[str, ...]
    default: bool = True
    weight: int = 1
    predicates: tuple[str, ...] = ()
    priority: str = ""


_ROWS = (
    Registered("PrioritySort", ("queueSort",)),
    Registered("NodeUnschedulable", ("filter",), predicates=("CheckNodeUnschedulable",)),
    Registered("NodeName", ("filter",), predicates=("HostName",)),
    Registered(
        "TaintToleration",
        ("filter", "preScore", "score"),
        predicates=("PodToleratesNodeTaints",),
        priority="TaintTolerationPriority",
    ),
    Registered(
        "NodeAffinity",
        ("preFilter", "filter", "preScore", "score"),
        predicates=("MatchNodeSelector",),
        priority="NodeAffinityPriority",
    ),
    Registered("NodePorts", ("preFilter", "filter"), predicates=("PodFitsHostPorts",)),
    Registered(
        "NodeResourcesFit",
        ("preFilter", "filter", "score"),
        predicates=("PodFitsResources",),
        priority="LeastRequestedPriority",
    ),
    Registered("VolumeRestrictions", ("preFilter", "filter"), predicates=("NoDiskConflict",)),
    Registered("EBSLimits", ("filter",), predicates=("MaxEBSVolumeCount",)),
    Registered("GCEPDLimits", ("filter",), predicates=("MaxGCEPDVolumeCount",)),
    Registered("NodeVolumeLimits", ("filter",)),
    Registered("AzureDiskLimits", ("filter",), predicates=("MaxAzureDiskVolumeCount",)),
    Registered(
        "VolumeBinding", ("preFilter", "filter", "reserve", "preBind"), predicates=("CheckVolumeBinding",)
    ),
    Registered("VolumeZone", ("filter",), predicates=("NoVolumeZoneConflict",)),
    Registered(
        "PodTopologySpread",
        ("preFilter", "filter", "preScore", "score"),
        weight=2,
        priority="SelectorSpreadPriority",
    ),
    Registered(
        "InterPodAffinity",
        ("preFilter", "filter", "preScore", "score"),
        predicates=("MatchInterPodAffinity",),
        priority="InterPodAffinityPriority",
    ),
    Registered("DefaultPreemption", ("postFilter",)),
    Registered("NodeResourcesBalancedAllocation", ("score",), priority="BalancedResourceAllocation"),
    Registered("ImageLocality", ("score",), priority="ImageLocalityPriority"),
    Registered("DefaultBinder", ("bind",)),
    Registered(
        "Coscheduling",
        ("queueSort", "preFilter", "postFilter", "permit", "reserve", "postBind"),
        default=False,
    ),
)
REGISTRY: Mapping[str, Registered] = {row.name: row for row in _ROWS}


def defaults() -> dict[str, dict[str, int]]:
    """Return what is enabled at each point without any configuration: plugin name to weight, in order."""
    return {
        point: {row.name: row.weight for row in _ROWS if row.default and point in row.points}
        for point in POINTS
    }
