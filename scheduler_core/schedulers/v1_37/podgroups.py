"""PodGroups of scheduling.k8s.io as the scheduler reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.readers import At, kind_of, show
from scheduler_core.schedulers.v1_37.change import Manifest

NATIVE = "scheduling.k8s.io"
"""The API group of the PodGroups that kube-scheduler itself reads."""

GATE = "GenericWorkload"
TOPOLOGY_GATE = "TopologyAwareWorkloadScheduling"


def group_of(manifest: Mapping[str, Any]) -> str:
    """Return the API group of a manifest."""
    return str(manifest.get("apiVersion") or "").rpartition("/")[0]


def group_name(pod: Manifest) -> str | None:
    """Return the name of the PodGroup that the pod belongs to."""
    group = (pod.get("spec") or {}).get("schedulingGroup") or {}
    return group.get("podGroupName") or None


def group_key(pod: Manifest) -> str | None:
    """Return ``namespace/name`` of the PodGroup that the pod belongs to."""
    name = group_name(pod)
    return None if name is None else f"{pod['metadata'].get('namespace') or 'default'}/{name}"


def min_count(group: Manifest) -> int:
    """Return ``gang.minCount``; 1 with the basic policy."""
    return int((_policy(group).get("gang") or {}).get("minCount") or 1)


def priority(group: Manifest) -> int:
    """Return the group's priority."""
    return int((group.get("spec") or {}).get("priority") or 0)


OLD_VERSION = f"{NATIVE}/v1alpha2"
OLD_MODES = ("Pod", "PodGroup")


def topology_key(group: Manifest) -> str | None:
    """Return the first topology constraint's key; None without ``schedulingConstraints.topology``."""
    constraints = (group.get("spec") or {}).get("schedulingConstraints") or {}
    rows = constraints.get("topology") or ()
    return rows[0].get("key") if rows else None


def is_constrained(group: Manifest) -> bool:
    """Return whether the group has ``schedulingConstraints``, even empty ones."""
    return (group.get("spec") or {}).get("schedulingConstraints") is not None


def disrupted_as_a_whole(group: Manifest) -> bool:
    """Return whether preemption takes all pods of the group or none."""
    mode = (group.get("spec") or {}).get("disruptionMode") or {}
    return mode == "PodGroup" if isinstance(mode, str) else "all" in mode


def read_disruption_mode(value: Any, at: At) -> Any:
    """Check ``spec.disruptionMode``: a word in v1alpha2 of Kubernetes 1.36, an object since."""
    version = at.root.value.get("apiVersion")
    if isinstance(value, str) and version == OLD_VERSION:
        if value not in OLD_MODES:
            at.error(f"must be one of {', '.join(OLD_MODES)}, not {show(value)}")
    elif not isinstance(value, Mapping):
        older = f"; a word is read in {OLD_VERSION} alone" if isinstance(value, str) else ""
        at.error(f"must be an object, {{single: {{}}}} or {{all: {{}}}}, not {kind_of(value)}{older}")
    return value


def _policy(group: Manifest) -> dict[str, dict[str, int]]:
    return (group.get("spec") or {}).get("schedulingPolicy") or {}
