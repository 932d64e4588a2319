"""Clusters and workloads for the end-to-end tests, as the text that a visitor pastes."""

from __future__ import annotations

import json
import re
from typing import Any

SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.11"}
#: How the examples of filtering end, whose clusters and pods any release answers.
ASKS_V1_37 = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.37\n"
CONFIGURES = re.compile(r"SimulationSettings|KubeSchedulerConfiguration|\bPolicy\b")


def any_release(text: str) -> str:
    """Return a bundle without its last document where that only asks for v1.37."""
    return text.removesuffix(ASKS_V1_37)


def asking_v1_11(text: str) -> str:
    """Return a bundle whose last document asks for v1.37, asking for v1.11 instead."""
    assert text.endswith(ASKS_V1_37)
    return text.removesuffix(ASKS_V1_37) + ASKS_V1_37.replace("v1.37", "v1.11")


def by_v1_11(text: str) -> str:
    """Return a bundle that kube-scheduler v1.11 answers, unless it has a configuration of its own."""
    if CONFIGURES.search(text):
        return text
    if text.startswith(('{"', "{\n")):
        document = json.loads(text)
        return bundle(*(document["items"] if document["kind"] == "List" else [document]))
    return f"{text.rstrip()}\n---\n{json.dumps(SETTINGS)}\n"


def node(name: str, cpu: str = "4", memory: str = "16Gi", **labels: str) -> dict[str, Any]:
    """Return a node that is ready."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {
            "allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def deployment(name: str, replicas: int, cpu: str = "100m", memory: str = "64Mi") -> dict[str, Any]:
    """Return a Deployment of one container."""
    labels = {"app": name}
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def bundle(*objects: dict[str, Any]) -> str:
    """Return objects as one List in JSON; v1.11 schedules them, unless they have settings of their own."""
    said = any(one["kind"] == SETTINGS["kind"] for one in objects)
    items = [*objects, *([] if said else [SETTINGS])]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)


def small(name: str, replicas: int = 5) -> str:
    """Return three nodes and a Deployment; the name keeps the scenario apart from those of other tests."""
    return bundle(*(node(f"n{i}") for i in range(3)), deployment(name, replicas))


def long(name: str, nodes: int, replicas: int) -> str:
    """Return a cluster and a Deployment that keep a worker busy for a while."""
    cluster = (node(f"n{i:04d}", cpu="32") for i in range(nodes))
    return bundle(*cluster, deployment(name, replicas, cpu="10m"))


def slow(name: str, nodes: int, replicas: int) -> str:
    """Return a cluster and pods of which no two ask for the same: every cycle looks at every node anew."""
    cluster = (node(f"n{i:04d}", cpu="32") for i in range(nodes))
    return bundle(*cluster, *(deployment(f"{name}-{i}", 1, cpu=f"{10 + i}m") for i in range(replicas)))
