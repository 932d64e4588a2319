"""Plugins that kube-scheduler is not built with: named with their project, and left out of a configuration.

A kube-scheduler without them would not start with such a configuration. What differs from a plugin that is
known by no more than a typing error stays an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.names import nearest
from scheduler_core.kubernetes.readers import At, show

_PROJECTS: Mapping[str, str] = {
    "kubernetes-sigs/scheduler-plugins": "CapacityScheduling CrossNodePreemption LoadVariationRiskBalancing "
    "LowRiskOverCommitment NetworkOverhead NodeMetadata NodeResourcesAllocatable NodeResourceTopologyMatch "
    "Peaks PodState PreemptionToleration QOSSort SySched TargetLoadPacking TopologicalSort",
    "koordinator-sh/koordinator": "DefaultPreBind DeviceShare ElasticQuota LoadAwareScheduling "
    "NodeNUMAResource NodeResourcesFitPlus Reservation ScarceResourceAvoidance SchedulingHint",
    "gocrane/crane-scheduler": "Dynamic NodeResourceTopologyMatch",
    "apache/yunikorn-k8shim": "YuniKornPlugin",
    "alibaba/open-simulator": "Open-Gpu-Share Open-Local Simon",
    "kubernetes-sigs/kube-scheduler-simulator": "NodeNumber",
}
PROJECT_OF: Mapping[str, str] = {
    name: project for project, names in reversed([*_PROJECTS.items()]) for name in names.split()
}
"""The project of each plugin that is known by name and not simulated."""


@cache
def _known() -> frozenset[str]:
    from scheduler_core.schedulers.v1_22.configuration.plugin_merge import EVERYTHING
    from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS
    from scheduler_core.schedulers.v1_37.plugins.table import DECLARED

    return frozenset(PLUGINS) | {row.key for row in DECLARED} | {EVERYTHING}


_TYPING_ERROR = 0.8
"""How alike a name has to be to that of a known plugin to be taken for it."""

_NEEDED = ("queueSort", "bind")
"""Extension points that a profile cannot be without."""


def without_out_of_tree(policy: Document, at: At) -> Document:
    """Return a KubeSchedulerConfiguration without plugins from outside of kube-scheduler; warn of each."""
    profiles = policy.get("profiles")
    if not isinstance(profiles, list):
        return policy
    warned: set[str] = set()
    made = [
        _profile(one, at.child("profiles").child(index), warned) if isinstance(one, Mapping) else one
        for index, one in enumerate(profiles)
    ]
    return {**policy, "profiles": made} if warned else policy


def _profile(profile: Mapping[str, Any], at: At, warned: set[str]) -> Document:
    made = {**profile}
    plugins, configs = profile.get("plugins"), profile.get("pluginConfig")
    if isinstance(plugins, Mapping):
        place = at.child("plugins")
        sets = {point: _set(listed, place.child(point), warned) for point, listed in plugins.items()}
        made["plugins"] = {
            point: listed
            for point, listed in sets.items()
            if not (point in _NEEDED and listed != plugins[point] and not listed.get("enabled"))
        }
    if isinstance(configs, list):
        made["pluginConfig"] = _kept(configs, at.child("pluginConfig"), warned)
    return made


def _set(listed: Any, at: At, warned: set[str]) -> Any:
    if not isinstance(listed, Mapping):
        return listed
    return {
        which: _kept(entries, at.child(which), warned) if isinstance(entries, list) else entries
        for which, entries in listed.items()
    }


def _kept(entries: list[Any], at: At, warned: set[str]) -> list[Any]:
    return [one for index, one in enumerate(entries) if not _is_foreign(one, at.child(index), warned)]


def _is_foreign(entry: Any, at: At, warned: set[str]) -> bool:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(name, str) or not name or name in _known():
        return False
    project = PROJECT_OF.get(name)
    if project is None and nearest(name, _known(), _TYPING_ERROR):
        return False
    if name not in warned:
        warned.add(name)
        whose = (
            f"is a plugin of {project}, not of kube-scheduler"
            if project
            else "is no plugin of kube-scheduler, nor of a project that is known here"
        )
        at.child("name").warn(
            f"{show(name)} {whose}: a kube-scheduler without it would not start with this configuration. It "
            "is left out, and decisions are those of the other plugins"
        )
    return True
