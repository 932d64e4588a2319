"""Manifests of nodes and workloads for the tests of controllers."""

from __future__ import annotations

from typing import Any


def node(name: str, **meta: Any) -> dict[str, Any]:
    """Write a node with room for everything."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, **meta},
        "status": {"capacity": {"cpu": 1000, "memory": "1000Gi", "pods": 5000}},
    }


def template(app: str, image: str = "one", *, annotations: dict[str, str] | None = None, **spec: Any) -> Any:
    """Write a pod template."""
    meta = {"labels": {"app": app}, "annotations": annotations or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


def workload(kind: str, name: str = "web", *, image: str = "one", **spec: Any) -> dict[str, Any]:
    """Write a controller whose pods have its name as their label ``app``."""
    annotations, policy = spec.pop("annotations", None), spec.pop("restartPolicy", None)
    made = template(name, image, annotations=annotations, **({"restartPolicy": policy} if policy else {}))
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": name}}}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {**selector, "template": made, **spec},
    }
