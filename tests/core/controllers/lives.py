"""Lives of a v1.37 cluster for the tests of its controllers: manifests, steps and what happens."""

from __future__ import annotations

from typing import Any

from scheduler_core.run.living.records import answer

Facts = dict[str, Any]
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "10"}


def node(name: str, **status: Any) -> Facts:
    """Return a node with room for ten pods."""
    return {
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": ROOM, "capacity": ROOM, **status},
    }


def template(image: str = "app:1", policy: str = "Always", **marks: Any) -> Facts:
    """Return a pod template; ``marks`` are its annotations, ``run`` for ``podstep/run-seconds``."""
    annotations = {f"podstep/{key.replace('_', '-')}": str(value) for key, value in marks.items()}
    spec = {"containers": [{"name": "main", "image": image}], "restartPolicy": policy}
    return {"metadata": {"labels": {"app": "a"}, "annotations": annotations}, "spec": spec}


def workload(kind: str, name: str = "a", **spec: Any) -> Facts:
    """Return a workload of ``apps/v1`` or ``batch/v1`` in the namespace default."""
    group = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    if group == "apps/v1":
        spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template(), **spec}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": group, "kind": kind, "metadata": meta, "spec": spec}


def live(objects: list[Facts], *steps: Facts | int) -> Facts:
    """Return a life's ``expect``; a number is that many seconds."""
    taken = [{"do": "advance", "seconds": one} if isinstance(one, int) else one for one in steps]
    return answer({"id": "x", "config": None, "objects": objects, "steps": taken})["expect"]


def seconds(expect: Facts, what: str, **fields: Any) -> list[int]:
    """Return at which seconds something happens, as often as it does."""
    found = [one for one in expect["timeline"] if one["what"] == what]
    found = [one for one in found if all(one.get(key) == value for key, value in fields.items())]
    return [one["time"] for one in found for _ in range(one.get("count", 1))]
