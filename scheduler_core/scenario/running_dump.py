"""Whether a bundle is the dump of a cluster that runs: its pods are those that there are, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.kubernetes.fields_workload import WORKLOADS
from scheduler_core.kubernetes.manifests import Document

_MAKERS = frozenset((*WORKLOADS, "ReplicaSet", "CronJob"))
STORED = _MAKERS | {
    "Pod", "Node", "ControllerRevision", "PodDisruptionBudget", "PersistentVolume", "PersistentVolumeClaim",
    "StorageClass", "PriorityClass",
}  # fmt: skip
"""The kinds of which a control plane stores what a dump has."""


def dumped_objects(documents: Iterable[Document], *, said: bool) -> list[dict[str, Any]] | None:
    """Return the objects of a cluster whose pods run and name their controllers; ``None`` for another bundle.

    Workloads without a uid, and pods without one that have no status, are yet to be created. ``said``: the
    settings call it a dump.
    """
    found = [dict(one) for one in documents if one.get("kind") in STORED and not _is_new(one)]
    nodes = any(one["kind"] == "Node" for one in found)
    return found if nodes and (said or any(map(_runs, found))) else None


def _is_new(one: Mapping[str, Any]) -> bool:
    if _meta(one).get("uid"):
        return False
    return one["kind"] in _MAKERS or (one["kind"] == "Pod" and not _part(one, "status").get("phase"))


def _runs(one: Mapping[str, Any]) -> bool:
    """Return whether it is a pod that a kubelet has started for a controller that the API server knows."""
    owners = _meta(one).get("ownerReferences")
    listed = [each for each in owners if isinstance(each, Mapping)] if isinstance(owners, list) else []
    known = any(each.get("controller") and each.get("uid") for each in listed)
    running = _part(one, "status").get("phase") == "Running" and _part(one, "spec").get("nodeName")
    return bool(one["kind"] == "Pod" and known and running)


def _meta(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return _part(one, "metadata")


def _part(one: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = one.get(name)
    return found if isinstance(found, Mapping) else {}
