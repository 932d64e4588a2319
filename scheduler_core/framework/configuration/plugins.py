"""The plugins that a KubeSchedulerConfiguration can name, as one table.

A row lists the extension points of a plugin, the engine's predicates and priorities that evaluate it there,
and how today's rule differs from the rule of v1.11 that the engine evaluates.
"""

from __future__ import annotations

from dataclasses import dataclass

POINTS = (
    "preEnqueue",
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
"""The extension points in the order in which a pod passes them."""

MULTI_POINT = "multiPoint"
COSCHEDULING = "Coscheduling"

_FILTERS = ("preFilter", "filter")
_SCORES = ("preScore", "score")


@dataclass(frozen=True, slots=True)
class PluginRow:
    """One row. ``until`` is the last version with the plugin, empty for all; ``instead`` is its successor.

    ``predicates`` are evaluated at filter, ``priority`` at score; without them every node passes, or scores
    the same. ``needs`` are pairs of an extension point and the one that it requires.
    """

    name: str
    points: tuple[str, ...]
    predicates: tuple[str, ...] = ()
    priority: str = ""
    filter_differs: str = ""
    score_differs: str = ""
    until: str = ""
    instead: str = ""
    needs: tuple[tuple[str, str], ...] = ()


_TENTHS = "scores are whole numbers from 0 to 10, not 0 to 100"
_MIGRATED = "volumes that a CSI driver took over are counted as what their manifests say"

_ROWS = (
    PluginRow("SchedulingGates", ("preEnqueue",)),
    PluginRow("PrioritySort", ("queueSort",)),
    PluginRow(
        "NodeUnschedulable",
        ("filter",),
        ("CheckNodeUnschedulable",),
    ),
    PluginRow("NodeName", ("filter",), ("HostName",)),
    PluginRow(
        "TaintToleration",
        ("filter", *_SCORES),
        ("PodToleratesNodeTaints",),
        "TaintTolerationPriority",
        filter_differs="the message does not name the taint",
        score_differs=_TENTHS,
    ),
    PluginRow(
        "NodeAffinity",
        (*_FILTERS, *_SCORES),
        ("MatchNodeSelector",),
        "NodeAffinityPriority",
        score_differs=f"{_TENTHS}; a preferred term's matchFields are not read",
    ),
    PluginRow("NodePorts", _FILTERS, ("PodFitsHostPorts",), needs=(("filter", "preFilter"),)),
    PluginRow(
        "NodeResourcesFit",
        (*_FILTERS, *_SCORES),
        ("PodFitsResources",),
        "LeastRequestedPriority",
        score_differs="MostAllocated and RequestedToCapacityRatio score whole numbers from 0 to 10, "
        "not 0 to 100",
        needs=(("filter", "preFilter"),),
    ),
    PluginRow(
        "VolumeRestrictions", _FILTERS, ("NoDiskConflict",), filter_differs="ReadWriteOncePod is not read"
    ),
    PluginRow("EBSLimits", ("filter",), ("MaxEBSVolumeCount",), filter_differs=_MIGRATED),
    PluginRow("GCEPDLimits", ("filter",), ("MaxGCEPDVolumeCount",), filter_differs=_MIGRATED),
    PluginRow("AzureDiskLimits", ("filter",), ("MaxAzureDiskVolumeCount",), filter_differs=_MIGRATED),
    PluginRow("CinderLimits", ("filter",)),
    PluginRow("NodeVolumeLimits", _FILTERS),
    PluginRow(
        "VolumeBinding",
        (*_FILTERS, *_SCORES, "reserve", "preBind"),
        ("CheckVolumeBinding",),
        filter_differs="the storage capacity of a class that provisions is not read",
        needs=(("filter", "preFilter"), ("reserve", "preFilter"), ("preBind", "reserve")),
    ),
    PluginRow(
        "VolumeZone",
        _FILTERS,
        ("NoVolumeZoneConflict",),
        filter_differs="only the labels failure-domain.beta.kubernetes.io/zone and /region are compared",
    ),
    PluginRow(
        "PodTopologySpread",
        (*_FILTERS, *_SCORES),
        (),
        "SelectorSpreadPriority",
        score_differs="pods of one Service or controller are spread over nodes and zones; a pod's own "
        "ScheduleAnyway constraints are not read",
        needs=(("filter", "preFilter"), ("score", "preScore")),
    ),
    PluginRow(
        "InterPodAffinity",
        (*_FILTERS, *_SCORES),
        ("MatchInterPodAffinity",),
        "InterPodAffinityPriority",
        filter_differs="namespaceSelector is not read",
        score_differs=_TENTHS,
        needs=(("filter", "preFilter"), ("score", "preScore")),
    ),
    PluginRow("DynamicResources", ("preEnqueue", *_FILTERS, "postFilter", *_SCORES, "reserve", "preBind")),
    PluginRow("DefaultPreemption", ("postFilter",)),
    PluginRow(
        "NodeResourcesBalancedAllocation",
        _SCORES,
        priority="BalancedResourceAllocation",
    ),
    PluginRow("ImageLocality", ("score",), priority="ImageLocalityPriority", score_differs=_TENTHS),
    PluginRow("DefaultBinder", ("bind",)),
    PluginRow(
        "NodeResourcesLeastAllocated",
        ("score",),
        priority="LeastRequestedPriority",
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: LeastAllocated}",
    ),
    PluginRow(
        "NodeResourcesMostAllocated",
        ("score",),
        priority="MostRequestedPriority",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: MostAllocated}",
    ),
    PluginRow(
        "RequestedToCapacityRatio",
        ("score",),
        priority="RequestedToCapacityRatioPriority",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: RequestedToCapacityRatio}",
    ),
    PluginRow(
        "NodePreferAvoidPods",
        ("score",),
        priority="NodePreferAvoidPodsPriority",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="taints on the nodes",
    ),
    PluginRow(
        "NodeLabel",
        ("filter", "score"),
        ("CheckNodeLabelPresence",),
        "NodeLabel",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="NodeAffinity with addedAffinity",
    ),
    PluginRow(
        "ServiceAffinity",
        ("preFilter", "filter", "score"),
        ("CheckServiceAffinity",),
        "ServiceAffinity",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="InterPodAffinity, enabled by default",
    ),
    PluginRow(
        "SelectorSpread",
        _SCORES,
        priority="SelectorSpreadPriority",
        score_differs=_TENTHS,
        until="v1beta3",
        instead="PodTopologySpread, enabled by default",
    ),
    PluginRow(COSCHEDULING, ("queueSort", "preFilter", "postFilter", "reserve", "permit", "postBind")),
)

PLUGINS: dict[str, PluginRow] = {row.name: row for row in _ROWS}
"""Every plugin, by name: those of kube-scheduler itself, and Coscheduling."""

SCORES_ALONE = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
"""The plugins that NodeResourcesFit replaces in v1beta2; enabled together they would count twice."""


def base_name(name: str) -> str:
    """Return a plugin's own name: kube-scheduler-simulator wraps each plugin and names it ``…Wrapped``."""
    stripped = name.removesuffix("Wrapped")
    return stripped if stripped in PLUGINS else name
