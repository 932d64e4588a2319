"""The selector of a pod's services and controller, which default spreading constraints use."""

from __future__ import annotations

from scheduler_core.v1_37.pods import Pod
from scheduler_core.v1_37.selectors import Requirement, Selector, label_selector, map_selector
from scheduler_core.v1_37.state import Cluster

_CONTROLLERS = ("ReplicationController", "ReplicaSet", "StatefulSet")


def default_selector(cluster: Cluster, pod: Pod) -> Selector:
    """Return the AND of the selectors of matching services and of the owner (helper.DefaultSelector)."""
    found: list[Requirement] = []
    for service in cluster.list("Service"):
        selector = service.get("spec", {}).get("selector")
        same = (service["metadata"].get("namespace") or "default") == pod.namespace
        if same and selector and map_selector(selector).matches(pod.labels):
            found.extend(map_selector(selector).requirements)
    owner = next(
        (o for o in pod.manifest["metadata"].get("ownerReferences") or () if o.get("controller")), None
    )
    if owner is not None and owner.get("kind") in _CONTROLLERS:
        controller = cluster.get(owner["kind"], pod.namespace, owner["name"])
        selector = ((controller or {}).get("spec") or {}).get("selector")
        if selector:
            plain = owner["kind"] == "ReplicationController"
            compiled = map_selector(selector) if plain else label_selector(selector)
            found.extend(compiled.requirements)
    return Selector(tuple(dict.fromkeys(found)))
