"""The shapes of generated workloads: their kind, size, and affinity."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from scheduler_core.authoring.forms.fields import Values
from scheduler_core.authoring.forms.meta import manifest
from scheduler_core.authoring.forms.pods import pod_rule
from scheduler_core.authoring.forms.workloads import QUEUE_LABEL
from scheduler_core.cluster.controllers.annotations import RUN
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.quantity import format_resource

CLASSES: Mapping[str, int] = {"low": -100, "high": 1_000, "critical": 100_000}
"""The PriorityClasses that generated pods may name, and their values."""

GPU = "nvidia.com/gpu"
_MIB, _GIB = 2**20, 2**30
BATCH_SECONDS = "600"


class WorkloadShape(Struct, frozen=True):
    """A shape of workload: its kind, and the ranges of a pod's requests.

    ``replicas`` and ``gpus`` are counts, ``cpu`` millicores, ``memory`` bytes.
    """

    name: str
    text: str
    kind: str
    replicas: tuple[int, int]
    cpu: tuple[int, int]
    memory: tuple[int, int]
    gpus: tuple[int, int] = (0, 0)
    affinity: str = ""


SHAPES: Mapping[str, WorkloadShape] = {
    shape.name: shape
    for shape in (
        WorkloadShape(
            "web",
            "web: Deployments with a Service",
            "Deployment",
            (2, 10),
            (100, 1_000),
            (128 * _MIB, _GIB),
            affinity="preferred-hostname",
        ),
        WorkloadShape(
            "stateful",
            "stateful: one pod a node",
            "StatefulSet",
            (3, 5),
            (500, 2_000),
            (2 * _GIB, 8 * _GIB),
            affinity="required-hostname",
        ),
        WorkloadShape(
            "batch", "batch: Jobs that end", "Job", (2, 20), (500, 4_000), (512 * _MIB, 8 * _GIB), (0, 0), ""
        ),
        WorkloadShape(
            "gpu", "gpu: Jobs on GPUs", "Job", (1, 4), (2_000, 8_000), (8 * _GIB, 32 * _GIB), (1, 4), ""
        ),
        WorkloadShape(
            "daemon", "daemon: one on each node", "DaemonSet", (1, 1), (50, 200), (64 * _MIB, 256 * _MIB)
        ),
    )
}


class Drawn(Struct, frozen=True):
    """One randomly drawn workload, in millicores and bytes."""

    name: str
    replicas: int
    cpu: int
    memory: int
    gpus: int
    priority: str


def workload_documents(drawn: Drawn, shape: WorkloadShape, row: Values, namespace: str) -> list[Manifest]:
    """Return the manifests of a workload: its Service first, then the controller of its pods."""
    labels = {"app": drawn.name}
    queued = {QUEUE_LABEL: row["team"]} if row["team"] else {}
    meta = {"name": drawn.name, "namespace": namespace, "labels": {"shape": shape.name, **queued}}
    spec = _pod_spec(drawn, shape, row, labels)
    selector = {"matchLabels": labels}
    template = {"metadata": {"labels": labels}, "spec": spec}
    body = _BODIES[shape.kind](drawn, selector, template)
    version = "batch/v1" if shape.kind == "Job" else "apps/v1"
    made = [manifest(version, shape.kind, meta, spec=body)]
    if shape.name == "web":
        exposed = {"selector": labels, "ports": [{"port": 80}]}
        named = {"name": drawn.name, "namespace": namespace}
        made.insert(0, manifest("v1", "Service", named, spec=exposed))
    return made


def _pod_spec(drawn: Drawn, shape: WorkloadShape, row: Values, labels: dict[str, str]) -> Manifest:
    resources: Manifest = {
        "requests": {
            "cpu": format_resource("cpu", drawn.cpu),
            "memory": format_resource("memory", drawn.memory),
        }
    }
    if drawn.gpus:
        resources["limits"] = {GPU: str(drawn.gpus)}
    spec: Manifest = {"priorityClassName": drawn.priority} if drawn.priority else {}
    if shape.kind == "Job":
        spec["restartPolicy"] = "Never"
    if row["nodeSelector"]:
        spec["nodeSelector"] = dict(row["nodeSelector"])
    if row["tolerations"]:
        spec["tolerations"] = list(row["tolerations"])
    how, _, where = shape.affinity.partition("-")
    if where:
        kind = "podAffinity" if how == "together" else "podAntiAffinity"
        rule = f"preferred-{where}" if how == "together" else shape.affinity
        spec["affinity"] = {kind: pod_rule(rule, labels)}
    spec["containers"] = [{"name": "main", "resources": resources}]
    return spec


def _replicated(drawn: Drawn, selector: Manifest, template: Manifest) -> Manifest:
    return {"replicas": drawn.replicas, "selector": selector, "template": template}


def _stateful(drawn: Drawn, selector: Manifest, template: Manifest) -> Manifest:
    return {"serviceName": drawn.name, **_replicated(drawn, selector, template)}


def _daemons(drawn: Drawn, selector: Manifest, template: Manifest) -> Manifest:
    del drawn
    return {"selector": selector, "template": template}


def _job(drawn: Drawn, selector: Manifest, template: Manifest) -> Manifest:
    del selector
    metadata = {**template["metadata"], "annotations": {RUN: BATCH_SECONDS}}
    return {
        "parallelism": drawn.replicas,
        "completions": drawn.replicas,
        "template": {**template, "metadata": metadata},
    }


_BODIES: Mapping[str, Callable[[Drawn, Manifest, Manifest], Manifest]] = {
    "Deployment": _replicated,
    "StatefulSet": _stateful,
    "DaemonSet": _daemons,
    "Job": _job,
}
