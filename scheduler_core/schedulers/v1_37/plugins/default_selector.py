"""The selector of a pod's services and controller, which default spreading constraints use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.model import Requirement
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.selectors import Selector, label_selector, map_selector
from scheduler_core.schedulers.v1_37.state import ClusterState

_CONTROLLERS = {"ReplicationController": "v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1"}
"""The owners that are asked, with the one version of each that is known."""

_KINDS = ("Service", *_CONTROLLERS)


def default_selector(cluster: ClusterState, pod: CompiledPod) -> Selector:
    """Return the AND of the selectors of matching services and of the owner (helper.DefaultSelector)."""
    owner: Mapping[str, Any] = next(
        (o for o in pod.manifest["metadata"].get("ownerReferences") or () if o.get("controller")), {}
    )
    named = owner.get("kind"), owner.get("name"), owner.get("apiVersion", "absent")
    key = "default selector", pod.namespace, frozenset(pod.labels.items()), named
    found: Selector = cluster.derived(_KINDS, key, lambda: _selector(cluster, pod, owner))
    return found


def _selector(cluster: ClusterState, pod: CompiledPod, owner: Mapping[str, Any]) -> Selector:
    pairs: dict[str, str] = {}
    found: tuple[Requirement, ...] = ()
    for service in cluster.list("Service"):
        selector = service.get("spec", {}).get("selector")
        same = (service["metadata"].get("namespace") or "default") == pod.namespace
        if same and selector and map_selector(selector).matches(pod.labels):
            pairs.update(selector)
    version = _CONTROLLERS.get(owner.get("kind") or "")
    if version is not None and owner.get("apiVersion", version) == version:
        controller = cluster.get(owner["kind"], pod.namespace, owner["name"])
        selector = ((controller or {}).get("spec") or {}).get("selector")
        if selector and owner["kind"] == "ReplicationController":
            pairs.update(selector)
        elif selector:
            found = label_selector(selector).requirements
    return Selector(tuple(dict.fromkeys((*map_selector(pairs).requirements, *found))))
