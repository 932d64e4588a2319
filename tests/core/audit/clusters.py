"""Small clusters, written in a line each, whose audits can be worked out by hand."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import yaml

from scheduler_core import Scenario, load
from scheduler_core.studies.audit.allowance import DEFAULT_BOUNDS, AuditBounds
from scheduler_core.studies.audit.audit import SUBJECTS, audit
from scheduler_core.studies.audit.row import AuditRow

Document = dict[str, Any]


def node(name: str, cpu: int = 4, zone: str = "", **spec: Any) -> Document:
    """Return a node with so many cores and plenty of everything else."""
    labels = {"kubernetes.io/hostname": name} | ({"topology.kubernetes.io/zone": zone} if zone else {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, cpu: str = "1", on: str = "", **spec: Any) -> Document:
    """Return a pod without a controller."""
    placed = {"nodeName": on} if on else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
        "spec": {**_spec(cpu, spec), **placed},
        **({"status": {"phase": "Running"}} if on else {}),
    }


def orphan(name: str, on: str, cpu: str = "1") -> Document:
    """Return a pod that runs, of a ReplicaSet that is not there."""
    made = pod(name, cpu, on)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7", "uid": "u", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    return made


def workload(
    name: str,
    replicas: int,
    cpu: str = "1",
    kind: str = "Deployment",
    more: Document | None = None,
    **spec: Any,
) -> Document:
    """Return a workload; ``more`` are fields of its own spec, the rest are those of its pods."""
    labels = {"app": name}
    count = {} if kind == "DaemonSet" else {"replicas": replicas}
    template = {"metadata": {"labels": labels}, "spec": _spec(cpu, spec)}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**count, "selector": {"matchLabels": labels}, "template": template, **(more or {})},
    }


def _spec(cpu: str, more: Document) -> Document:
    ports = {"ports": more.pop("ports")} if "ports" in more else {}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}, **ports}
    return {"containers": [container], **more}


def budget(name: str, app: str, **spec: Any) -> Document:
    """Return a PodDisruptionBudget of the pods of an app."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def spread(app: str, key: str = "topology.kubernetes.io/zone", **more: Any) -> list[Document]:
    """Return a constraint that keeps the pods of an app even over a key."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
            **more,
        }
    ]


def apart(app: str) -> Document:
    """Return an anti-affinity between the pods of an app on a node."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def cluster(*documents: Document) -> Scenario:
    """Return a scenario of documents."""
    return load(yaml.safe_dump_all(documents))


def audited(scenario: Scenario, *subjects: str, bounds: AuditBounds = DEFAULT_BOUNDS) -> list[AuditRow]:
    """Return the rows of some subjects, or of all."""
    wanted: Collection[str] = subjects or SUBJECTS.keys()
    return list(audit(scenario, bounds, wanted))


def reported(rows: list[AuditRow]) -> list[tuple[str, str]]:
    """Return verdicts and sentences."""
    return [(row.verdict, row.sentence) for row in rows]
