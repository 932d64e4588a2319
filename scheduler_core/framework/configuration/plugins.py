"""The plugins that a KubeSchedulerConfiguration can name, as one table.

A row tells at which extension points a plugin works, which of our predicates and priorities stand for it
there, and in what its rule of today differs from the rule of v1.11 that the engine evaluates.
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
class Plugin:
    """One row. ``until`` is the last version that has the plugin, empty for all; ``instead`` what follows it.

    ``predicates`` are evaluated at filter, ``priority`` at score; without them nothing is, and every node
    passes or scores alike. ``needs`` are points that do not work without the one before them.
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
    Plugin("SchedulingGates", ("preEnqueue",)),
    Plugin("PrioritySort", ("queueSort",)),
    Plugin(
        "NodeUnschedulable",
        ("filter",),
        ("CheckNodeUnschedulable",),
    ),
    Plugin("NodeName", ("filter",), ("HostName",)),
    Plugin(
        "TaintToleration",
        ("filter", *_SCORES),
        ("PodToleratesNodeTaints",),
        "TaintTolerationPriority",
        filter_differs="the message does not name the taint",
        score_differs=_TENTHS,
    ),
    Plugin(
        "NodeAffinity",
        (*_FILTERS, *_SCORES),
        ("MatchNodeSelector",),
        "NodeAffinityPriority",
        score_differs=f"{_TENTHS}; a preferred term's matchFields are not read",
    ),
    Plugin("NodePorts", _FILTERS, ("PodFitsHostPorts",), needs=(("filter", "preFilter"),)),
    Plugin(
        "NodeResourcesFit",
        (*_FILTERS, *_SCORES),
        ("PodFitsResources",),
        "LeastRequestedPriority",
        score_differs="MostAllocated and RequestedToCapacityRatio score whole numbers from 0 to 10, "
        "not 0 to 100",
        needs=(("filter", "preFilter"),),
    ),
    Plugin(
        "VolumeRestrictions", _FILTERS, ("NoDiskConflict",), filter_differs="ReadWriteOncePod is not read"
    ),
    Plugin("EBSLimits", ("filter",), ("MaxEBSVolumeCount",), filter_differs=_MIGRATED),
    Plugin("GCEPDLimits", ("filter",), ("MaxGCEPDVolumeCount",), filter_differs=_MIGRATED),
    Plugin("AzureDiskLimits", ("filter",), ("MaxAzureDiskVolumeCount",), filter_differs=_MIGRATED),
    Plugin("CinderLimits", ("filter",)),
    Plugin("NodeVolumeLimits", _FILTERS),
    Plugin(
        "VolumeBinding",
        (*_FILTERS, *_SCORES, "reserve", "preBind"),
        ("CheckVolumeBinding",),
        filter_differs="the storage capacity of a class that provisions is not read",
        needs=(("filter", "preFilter"), ("reserve", "preFilter"), ("preBind", "reserve")),
    ),
    Plugin(
        "VolumeZone",
        _FILTERS,
        ("NoVolumeZoneConflict",),
        filter_differs="only the labels failure-domain.beta.kubernetes.io/zone and /region are compared",
    ),
    Plugin(
        "PodTopologySpread",
        (*_FILTERS, *_SCORES),
        (),
        "SelectorSpreadPriority",
        score_differs="pods of one Service or controller are spread over nodes and zones; a pod's own "
        "ScheduleAnyway constraints are not read",
        needs=(("filter", "preFilter"), ("score", "preScore")),
    ),
    Plugin(
        "InterPodAffinity",
        (*_FILTERS, *_SCORES),
        ("MatchInterPodAffinity",),
        "InterPodAffinityPriority",
        filter_differs="namespaceSelector is not read",
        score_differs=_TENTHS,
        needs=(("filter", "preFilter"), ("score", "preScore")),
    ),
    Plugin("DynamicResources", ("preEnqueue", *_FILTERS, "postFilter", *_SCORES, "reserve", "preBind")),
    Plugin("DefaultPreemption", ("postFilter",)),
    Plugin(
        "NodeResourcesBalancedAllocation",
        _SCORES,
        priority="BalancedResourceAllocation",
    ),
    Plugin("ImageLocality", ("score",), priority="ImageLocalityPriority", score_differs=_TENTHS),
    Plugin("DefaultBinder", ("bind",)),
    Plugin(
        "NodeResourcesLeastAllocated",
        ("score",),
        priority="LeastRequestedPriority",
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: LeastAllocated}",
    ),
    Plugin(
        "NodeResourcesMostAllocated",
        ("score",),
        priority="MostRequestedPriority",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: MostAllocated}",
    ),
    Plugin(
        "RequestedToCapacityRatio",
        ("score",),
        priority="RequestedToCapacityRatioPriority",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: RequestedToCapacityRatio}",
    ),
    Plugin(
        "NodePreferAvoidPods",
        ("score",),
        priority="NodePreferAvoidPodsPriority",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="taints on the nodes",
    ),
    Plugin(
        "NodeLabel",
        ("filter", "score"),
        ("CheckNodeLabelPresence",),
        "NodeLabel",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="NodeAffinity with addedAffinity",
    ),
    Plugin(
        "ServiceAffinity",
        ("preFilter", "filter", "score"),
        ("CheckServiceAffinity",),
        "ServiceAffinity",
        score_differs=_TENTHS,
        until="v1beta1",
        instead="InterPodAffinity, enabled by default",
    ),
    Plugin(
        "SelectorSpread",
        _SCORES,
        priority="SelectorSpreadPriority",
        score_differs=_TENTHS,
        until="v1beta3",
        instead="PodTopologySpread, enabled by default",
    ),
    Plugin(COSCHEDULING, ("queueSort", "preFilter", "postFilter", "reserve", "permit", "postBind")),
)

PLUGINS: dict[str, Plugin] = {row.name: row for row in _ROWS}
"""Every plugin, by name: those of kube-scheduler itself, and Coscheduling."""

SCORES_ALONE = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
"""What NodeResourcesFit takes over in v1beta2; beside each other they would count twice."""


def base_name(name: str) -> str:
    """Return a plugin's own name: kube-scheduler-simulator wraps each plugin, and names it ``…Wrapped``."""
    stripped = name.removesuffix("Wrapped")
    return stripped if stripped in PLUGINS else name
