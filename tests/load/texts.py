"""Bundles of any size, the same each time."""

from __future__ import annotations

import json

JOB_PODS = 10_000
ALLOCATABLE = {"cpu": "32", "memory": "64Gi", "pods": "110"}


def cluster(nodes: int, pods: int, *, prefix: str = "p", scheduler: str = "") -> str:
    """Return a bundle as a JSON List; the pods' names begin with ``prefix``, and a release may be named."""
    items: list[dict[str, object]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{at}", "labels": {"zone": f"z{at % 3}"}},
            "status": {"allocatable": ALLOCATABLE},
        }
        for at in range(nodes)
    ]
    requests = {"cpu": "100m", "memory": "100Mi"}
    items += [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{prefix}{at}", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]},
        }
        for at in range(pods)
    ]
    if scheduler:
        items.append({"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": scheduler})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, separators=(",", ":"))


def batch(nodes: int, pods: int, scheduler: str) -> str:
    """Return a bundle as a JSON List: nodes, and pods of which every 10,000 are of one Job."""
    made = json.loads(cluster(nodes, 0, scheduler=scheduler))
    requests = {"cpu": "100m", "memory": "100Mi"}
    containers = [{"name": "c", "image": "i", "resources": {"requests": requests}}]
    for first in range(0, pods, JOB_PODS):
        count = min(JOB_PODS, pods - first)
        spec = {"restartPolicy": "Never", "containers": containers}
        made["items"].append(
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": f"j{first}", "namespace": "default"},
                "spec": {"completions": count, "parallelism": count, "template": {"spec": spec}},
            }
        )
    return json.dumps(made, separators=(",", ":"))


def pods_of(size: int) -> str:
    """Return YAML of about ``size`` bytes: pods, each a document of its own."""
    made: list[str] = []
    length = 0
    while length < size:
        at = len(made)
        made.append(
            f'apiVersion: v1\nkind: Pod\nmetadata: {{name: p{at}, labels: {{a: "{at}"}}}}\n'
            "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}\n"
        )
        length += len(made[-1]) + 4
    return "---\n".join(made)
