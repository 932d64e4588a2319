"""Bundles of about so many bytes, each of another kind: what takes the memory differs by a factor of ten."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Documents = list[dict[str, Any]]
VIRTUAL = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}


def node(number: int) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": f"n{number}", "zone": f"z{number % 3}"}
    allocatable = {"cpu": "32", "memory": "64Gi", "pods": "110"}
    metadata = {"name": f"n{number}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable}}


def pod(number: int, **metadata: Any) -> dict[str, Any]:
    requests = {"cpu": "100m", "memory": "64Mi"}
    labels = {"app": f"a{number % 7}"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p{number}", "labels": labels, **metadata},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]},
    }


def pods(size: int) -> Documents:
    """Return many small pods."""
    return [*map(node, range(20)), *map(pod, range(size // 215))]


def virtual(size: int) -> Documents:
    """Return many small pods in virtual time."""
    return [*pods(size), VIRTUAL]


def annotated(size: int) -> Documents:
    """Return one pod with very many annotations."""
    return [node(0), pod(0, annotations={f"k{i}": f"v{i:x}" for i in range(size // 22)})]


def texts(size: int) -> Documents:
    """Return one pod with a few long annotations."""
    return [node(0), pod(0, annotations={f"k{i}": f"{i:05}" * 1_000 for i in range(size // 5_000)})]


def config_maps(size: int) -> Documents:
    """Return objects that scheduling does not read."""
    data = {"a": "b", "c": "d", "e": "f", "g": "h"}
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{i}"}, "data": data}
        for i in range(size // 115)
    ]
    return [node(0), pod(0), *maps]


def operations(size: int) -> Documents:
    """Return a history of pods that are created later."""
    listed = [
        {"id": f"o{i}", "step": {"major": i + 1}, "createOperation": {"object": pod(i)}}
        for i in range(size // 290)
    ]
    history = {
        "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {"operations": listed},
    }
    return [*map(node, range(5)), history]


def workloads(size: int) -> Documents:
    """Return Deployments, whose pods take far more than their text."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod(0)["spec"]}
    made = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": f"d{i}"},
            "spec": {"replicas": 5, "selector": {"matchLabels": {"app": "web"}}, "template": template},
        }
        for i in range(size // 3_000)
    ]
    return [*map(node, range(20)), *made]


KINDS: Mapping[str, Callable[[int], Documents]] = {
    "pods": pods,
    "virtual": virtual,
    "annotations": annotated,
    "texts": texts,
    "configmaps": config_maps,
    "operations": operations,
    "workloads": workloads,
}


def text_of(kind: str, size: int, number: int = 0) -> str:
    """Return the text of a bundle of a kind; another one for each number."""
    documents = KINDS[kind](size)
    documents[0]["metadata"]["labels"] = {**documents[0]["metadata"].get("labels", {}), "number": str(number)}
    return "\n".join(json.dumps(one, separators=(",", ":")) for one in documents)
