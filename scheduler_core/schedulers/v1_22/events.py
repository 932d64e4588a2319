"""Cluster events that make a retry of unschedulable pods worthwhile, by the plugins that register them.

The table holds the events that plugins of Kubernetes 1.22 register (EventsToRegister). An event moves a pod
if one of the plugins that rejected it registered that event; a pod without a rejecting plugin is moved by
every event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

EventName = Literal[
    "AssignedPodAdd",
    "AssignedPodUpdate",
    "AssignedPodDelete",
    "UnscheduledPodAdd",
    "NodeAdd",
    "NodeUpdate",
    "NodeDelete",
    "PodGroupAdd",
    "PodGroupUpdate",
    "PvAdd",
    "PvUpdate",
    "PvcAdd",
    "PvcUpdate",
    "StorageClassAdd",
    "ServiceAdd",
    "ServiceUpdate",
    "ServiceDelete",
    "UnschedulableTimeout",
]
WILDCARDS = frozenset({"UnschedulableTimeout"})

_NODES = frozenset({"NodeAdd", "NodeUpdate"})
_PODS = frozenset({"AssignedPodAdd", "AssignedPodUpdate", "AssignedPodDelete"})
_FREED = _NODES | {"AssignedPodDelete"}
_STORAGE = _NODES | {"PvAdd", "PvUpdate", "PvcAdd", "PvcUpdate", "StorageClassAdd"}

PLUGIN_EVENTS: Mapping[str, frozenset[str]] = {
    "NodeUnschedulable": _NODES,
    "NodeName": _NODES,
    "NodeAffinity": _NODES,
    "TaintToleration": _NODES,
    "NodePorts": _FREED,
    "NodeResourcesFit": _FREED,
    "VolumeRestrictions": _FREED | {"PvcAdd"},
    "NodeVolumeLimits": _FREED,
    "VolumeZone": _STORAGE,
    "VolumeBinding": _STORAGE,
    "PodTopologySpread": _NODES | _PODS | {"NodeDelete"},
    "InterPodAffinity": _NODES | _PODS,
}

# Prefixes of the predicates' failure reasons, and the plugin of 1.22 that reports them.
_SPEAKERS = (
    ("Insufficient ", "NodeResourcesFit"),
    ("node(s) didn't have free ports", "NodePorts"),
    ("node(s) didn't match node selector", "NodeAffinity"),
    ("node(s) didn't match scheduler-enforced node affinity", "NodeAffinity"),
    ("node(s) didn't match the requested hostname", "NodeName"),
    ("node(s) had taints", "TaintToleration"),
    ("node(s) were unschedulable", "NodeUnschedulable"),
    # nodes with a bad condition are tainted since 1.12
    ("node(s) were not ready", "TaintToleration"),
    ("node(s) were out of disk space", "TaintToleration"),
    ("node(s) had unavailable network", "TaintToleration"),
    ("node(s) had unknown conditions", "TaintToleration"),
    ("node(s) had disk pressure", "TaintToleration"),
    ("node(s) had memory pressure", "TaintToleration"),
    ("node(s) had pid pressure", "TaintToleration"),
    ("node(s) didn't match pod affinity", "InterPodAffinity"),
    ("node(s) didn't match pod anti-affinity", "InterPodAffinity"),
    ("node(s) didn't satisfy existing pods anti-affinity", "InterPodAffinity"),
    ("node(s) had no available disk", "VolumeRestrictions"),
    ("node(s) exceed max volume count", "NodeVolumeLimits"),
    ("node(s) had no available volume zone", "VolumeZone"),
    ("node(s) had volume node affinity conflict", "VolumeBinding"),
    ("node(s) didn't find available persistent volumes", "VolumeBinding"),
)


def plugin_of(reason: str) -> str | None:
    """Return the plugin of Kubernetes 1.22 that reports a failure reason, ``None`` if there is none."""
    return next((plugin for beginning, plugin in _SPEAKERS if reason.startswith(beginning)), None)
