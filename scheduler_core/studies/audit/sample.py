"""A pod that somebody asks about, as the API server and controllers would make it in this cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.compare.again import unbound
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.scenario.history_entries import creating
from scheduler_core.studies.audit.cluster import AuditedCluster, PlayedRun

SAMPLE = "sample"
TEMPLATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job", "DaemonSet")


class NoPodError(ValueError):
    """There is no pod to ask about."""


def chosen(documents: Iterable[Document]) -> Document:
    """Return the first Pod, or the first workload with a pod template. Raises NoPodError."""
    listed = list(documents)
    for kinds in (("Pod",), TEMPLATED):
        for one in listed:
            if one.get("kind") in kinds:
                return one
    there = ", ".join(sorted({str(one.get("kind")) for one in listed})) or "nothing"
    raise NoPodError(f"no pod to count: a Pod or a {', '.join(TEMPLATED)} is expected, not {there}")


def sample(cluster: AuditedCluster, document: Document) -> Document:
    """Return the pod's manifest with all defaults, without a node.

    It is created in a case, a workload with one replica; nothing of it stays.

    Raises:
        BundleError: It cannot be read.
        NoPodError: No pod comes of it.
    """
    made = _alone(document)
    case = cluster.after([{"time": cluster.second, **creating(made)}])
    found = _found(case, made)
    if found is None:
        raise NoPodError(f"no pod comes of {made['kind']} {document.get('metadata', {}).get('name')}")
    name = str((document.get("metadata") or {}).get("name") or SAMPLE)
    return {**found, "metadata": {**found["metadata"], "name": name}}


def _alone(document: Document) -> dict[str, Any]:
    meta = {**(document.get("metadata") or {})}
    meta["name"] = f"{str(meta.get('name') or SAMPLE)[:50]}-{SAMPLE}"
    for name in ("uid", "resourceVersion", "creationTimestamp", "ownerReferences", "generateName"):
        meta.pop(name, None)
    spec = {name: value for name, value in (document.get("spec") or {}).items() if name != "nodeName"}
    count = {"replicas": 1} if "template" in spec and document["kind"] not in ("Job", "DaemonSet") else {}
    rest = {name: value for name, value in document.items() if name != "status"}
    return {**rest, "metadata": meta, "spec": {**spec, **count}}


def _found(case: PlayedRun, made: Document) -> Document | None:
    run = case.run
    assert isinstance(run, V1_37Stepper)
    name = made["metadata"]["name"]
    namespace = made["metadata"].get("namespace") or "default"
    for pod in run.run.cluster.pods.values():
        if pod.namespace == namespace and (pod.name == name or pod.name.startswith(f"{name}-")):
            manifest: Document = pod.manifest
            return unbound(manifest)
    return None
