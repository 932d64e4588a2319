"""The versions of KubeSchedulerConfiguration: what each supports and enables by default. Tables only."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT, Edition
from scheduler_core.schedulers.v1_22.configuration.plugins import MULTI_POINT, PLUGINS, POINTS
from scheduler_core.settings.release import CONFIGURATION_GROUP

DefaultPlugin = tuple[str, int | None]  # a plugin's name, and its weight if it scores
Defaults = Mapping[str, tuple[DefaultPlugin, ...]]


class Version(Struct, frozen=True):
    """One version. ``replaces``: enabling a default plugin again replaces it at its position.

    ``edition`` is the Coscheduling edition built against kube-scheduler of these releases.
    """

    name: str
    releases: str
    edition: Edition
    points: tuple[str, ...]
    defaults: Defaults
    replaces: bool = True

    @property
    def api_version(self) -> str:
        """Return the apiVersion of a document of this version."""
        return f"{CONFIGURATION_GROUP}/{self.name}"


def _plain(*names: str) -> tuple[DefaultPlugin, ...]:
    return tuple((name, None) for name in names)


_FILTERS = _plain(
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "EBSLimits",
    "GCEPDLimits",
    "NodeVolumeLimits",
    "AzureDiskLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)
_EARLY: Defaults = {
    "queueSort": _plain("PrioritySort"),
    "preFilter": _plain(
        "NodeResourcesFit",
        "NodePorts",
        "PodTopologySpread",
        "InterPodAffinity",
        "VolumeBinding",
        "NodeAffinity",
    ),
    "filter": _FILTERS,
    "postFilter": _plain("DefaultPreemption"),
    "preScore": _plain("InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"),
    "reserve": _plain("VolumeBinding"),
    "preBind": _plain("VolumeBinding"),
    "bind": _plain("DefaultBinder"),
}
_V1BETA1: Defaults = {
    **_EARLY,
    "score": (
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        ("InterPodAffinity", 1),
        ("NodeResourcesLeastAllocated", 1),
        ("NodeAffinity", 1),
        ("NodePreferAvoidPods", 10_000),
        ("PodTopologySpread", 2),
        ("TaintToleration", 1),
    ),
}
_V1BETA2: Defaults = {
    **_EARLY,
    "preFilter": _plain(
        "NodeResourcesFit",
        "NodePorts",
        "VolumeRestrictions",
        "PodTopologySpread",
        "InterPodAffinity",
        "VolumeBinding",
        "NodeAffinity",
    ),
    "score": (
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        ("InterPodAffinity", 1),
        ("NodeResourcesFit", 1),
        ("NodeAffinity", 1),
        ("PodTopologySpread", 2),
        ("TaintToleration", 1),
    ),
}
_SCORING = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
}
_AFTER: tuple[DefaultPlugin, ...] = (
    ("DefaultPreemption", None),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", None),
)
_V1BETA3: Defaults = {
    MULTI_POINT: (
        ("PrioritySort", None),
        *((name, _SCORING.get(name)) for name, _ in _FILTERS),
        *_AFTER,
    )
}
_V1: Defaults = {MULTI_POINT: (("SchedulingGates", None), *_V1BETA3[MULTI_POINT])}

_FIRST_POINTS = tuple(point for point in POINTS if point != "preEnqueue")

VERSIONS: dict[str, Version] = {
    version.name: version
    for version in (
        Version("v1beta1", "1.19 to 1.22", CLASSIC, _FIRST_POINTS, _V1BETA1, replaces=False),
        Version("v1beta2", "1.22 to 1.27", CLASSIC, POINTS, _V1BETA2),
        Version("v1beta3", "1.23 to 1.28", CURRENT, (*POINTS, MULTI_POINT), _V1BETA3),
        Version("v1", "1.25 and later", CURRENT, (*POINTS, MULTI_POINT), _V1),
    )
}
"""By name, oldest first. The v1 defaults are those of 1.27 to 1.30, which still count volumes by cloud."""


def has_plugin(version: Version, name: str) -> bool:
    """Return whether a plugin exists in a version."""
    names = list(VERSIONS)
    until = PLUGINS[name].until
    return not until or names.index(version.name) <= names.index(until)
