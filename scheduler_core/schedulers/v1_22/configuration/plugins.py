"""The plugins that a KubeSchedulerConfiguration can name, as one table.

A row lists the extension points of a plugin of kube-scheduler; a plugin of the framework's own table and one
that a rule declares need no row. Which of the engine's rules evaluate it there, and how today's
rule differs from the rule of v1.11 that the engine evaluates, is declared by the rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.schedulers.v1_11.predicates import RULES
from scheduler_core.schedulers.v1_11.priorities import RULES as PRIORITY_RULES
from scheduler_core.schedulers.v1_22.plugins.table import FRAMEWORK_PLUGINS

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


class PluginRow(Struct, frozen=True):
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


_ROWS = (
    PluginRow("SchedulingGates", ("preEnqueue",)),
    PluginRow("PrioritySort", ("queueSort",)),
    PluginRow("NodeUnschedulable", ("filter",)),
    PluginRow("NodeName", ("filter",)),
    PluginRow("TaintToleration", ("filter", *_SCORES)),
    PluginRow("NodeAffinity", (*_FILTERS, *_SCORES)),
    PluginRow("NodePorts", _FILTERS, needs=(("filter", "preFilter"),)),
    PluginRow(
        "NodeResourcesFit",
        (*_FILTERS, *_SCORES),
        needs=(("filter", "preFilter"),),
    ),
    PluginRow("VolumeRestrictions", _FILTERS),
    PluginRow("EBSLimits", ("filter",)),
    PluginRow("GCEPDLimits", ("filter",)),
    PluginRow("AzureDiskLimits", ("filter",)),
    PluginRow("CinderLimits", ("filter",)),
    PluginRow("NodeVolumeLimits", _FILTERS),
    PluginRow(
        "VolumeBinding",
        (*_FILTERS, *_SCORES, "reserve", "preBind"),
        needs=(("filter", "preFilter"), ("reserve", "preFilter"), ("preBind", "reserve")),
    ),
    PluginRow("VolumeZone", _FILTERS),
    PluginRow(
        "PodTopologySpread",
        (*_FILTERS, *_SCORES),
        needs=(("filter", "preFilter"), ("score", "preScore")),
    ),
    PluginRow(
        "InterPodAffinity",
        (*_FILTERS, *_SCORES),
        needs=(("filter", "preFilter"), ("score", "preScore")),
    ),
    PluginRow("DynamicResources", ("preEnqueue", *_FILTERS, "postFilter", *_SCORES, "reserve", "preBind")),
    PluginRow("DefaultPreemption", ("postFilter",)),
    PluginRow("NodeResourcesBalancedAllocation", _SCORES),
    PluginRow("ImageLocality", ("score",)),
    PluginRow("DefaultBinder", ("bind",)),
    PluginRow(
        "NodeResourcesLeastAllocated",
        ("score",),
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: LeastAllocated}",
    ),
    PluginRow(
        "NodeResourcesMostAllocated",
        ("score",),
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: MostAllocated}",
    ),
    PluginRow(
        "RequestedToCapacityRatio",
        ("score",),
        until="v1beta1",
        instead="NodeResourcesFit with scoringStrategy {type: RequestedToCapacityRatio}",
    ),
    PluginRow(
        "NodePreferAvoidPods",
        ("score",),
        until="v1beta1",
        instead="taints on the nodes",
    ),
    PluginRow(
        "NodeLabel",
        ("filter", "score"),
        until="v1beta1",
        instead="NodeAffinity with addedAffinity",
    ),
    PluginRow(
        "ServiceAffinity",
        ("preFilter", "filter", "score"),
        until="v1beta1",
        instead="InterPodAffinity, enabled by default",
    ),
    PluginRow(
        "SelectorSpread",
        _SCORES,
        until="v1beta3",
        instead="PodTopologySpread, enabled by default",
    ),
    PluginRow(COSCHEDULING, ("queueSort", "preFilter", "postFilter", "reserve", "permit", "postBind")),
)


def _with_rules() -> Iterator[PluginRow]:
    """Yield the rows with the rules that declare them; others that have code or a rule get their own."""
    filters = [(rule.plugin, rule.key) for rule in RULES if rule.plugin is not None]
    scorers = {
        plugin.name: (plugin.differs, rule.name if rule.run is not None else plugin.name)
        for rule in PRIORITY_RULES
        for plugin in rule.plugins
    }
    named = {row.name for row in _ROWS}
    coded = {entry.name: entry.plugin.points() for entry in FRAMEWORK_PLUGINS}
    added = dict.fromkeys((*(plugin.name for plugin, _ in filters), *scorers, *coded))
    new = (PluginRow(name, coded.get(name, ())) for name in added if name not in named)
    for row in (*_ROWS, *new):
        own = [(plugin, key) for plugin, key in filters if plugin.name == row.name]
        differs, priority = scorers.get(row.name, ("", ""))
        derived = {*coded.get(row.name, ()), *(("filter",) if own else ()), *(("score",) if priority else ())}
        points = row.points if row in _ROWS else tuple(point for point in POINTS if point in derived)
        yield replace(
            row,
            points=points,
            predicates=tuple(key for _, key in own),
            priority=priority,
            filter_differs="; ".join(plugin.differs for plugin, _ in own if plugin.differs),
            score_differs=differs,
        )


PLUGINS: dict[str, PluginRow] = {row.name: row for row in _with_rules()}
"""Every plugin, by name: those of kube-scheduler itself, and Coscheduling."""

SCORES_ALONE = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
"""The plugins that NodeResourcesFit replaces in v1beta2; enabled together they would count twice."""


def base_name(name: str) -> str:
    """Return a plugin's own name: kube-scheduler-simulator wraps each plugin and names it ``…Wrapped``."""
    stripped = name.removesuffix("Wrapped")
    return stripped if stripped in PLUGINS else name
