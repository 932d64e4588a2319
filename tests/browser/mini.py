"""The cluster that steps on the start page, as the engine decides it: ``python -m tests.browser.mini`` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scheduler_core import Simulation, load

from tests.parts import REPOSITORY

FILE = REPOSITORY / "static" / "js" / "mini-cluster.json"

#: name, millicores, MiB, taint
NODES = (
    ("node-1", 2000, 4096, ""),
    ("node-2", 2000, 4096, ""),
    ("node-3", 4000, 8192, ""),
    ("node-4", 2000, 4096, ""),
    ("node-5", 1000, 8192, ""),
    ("gpu-1", 4000, 16384, "gpu"),
)
#: workload, replicas, millicores, MiB, tolerates gpu
WORKLOADS = (("web", 5, 600, 700, False), ("db", 2, 1500, 2600, False), ("train", 2, 1500, 4096, True), ("web", 4, 600, 700, False))


def manifests() -> str:
    """Return the cluster as a JSON ``List``."""
    items: list[dict[str, Any]] = []
    for name, cpu, memory, taint in NODES:
        items.append({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "spec": {"taints": [{"key": taint, "effect": "NoSchedule"}]} if taint else {},
            "status": {"allocatable": {"cpu": f"{cpu}m", "memory": f"{memory}Mi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]},
        })  # fmt: skip
    for workload, replicas, cpu, memory, tolerates in WORKLOADS:
        for _ in range(replicas):
            requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
            items.append({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{workload}-{len(items) - len(NODES) + 1}"},
                "spec": {
                    "containers": [{"name": "app", "image": "app", "resources": {"requests": requests}}],
                    "tolerations": [{"key": "gpu", "operator": "Exists"}] if tolerates else [],
                },
            })  # fmt: skip
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def record() -> dict[str, Any]:
    """Return the nodes and, for every cycle, its pod, what stopped each node, the scores and the choice."""
    requests = {workload: (cpu, memory) for workload, _, cpu, memory, _ in WORKLOADS}
    steps = []
    for cycle in Simulation(load(manifests())):
        assert cycle.matrix is not None
        name = cycle.pod.removeprefix("default/")
        workload = name.rsplit("-", 1)[0]
        fails: dict[str, str] = {}
        for row in range(len(cycle.matrix.order)):
            for column, node in enumerate(cycle.nodes):
                code = int(cycle.matrix.codes[row, column])
                if code > 0:
                    fails.setdefault(node, cycle.matrix.reasons[code][0])
        totals = [] if cycle.totals is None else cycle.totals.tolist()
        scores = dict(zip((cycle.nodes[at] for at in cycle.feasible.tolist()), totals, strict=False))
        cpu, memory = requests[workload]
        step = {"pod": name, "workload": workload, "cpu": cpu, "memory": memory, "node": cycle.node}
        steps.append({**step, "fails": fails, "scores": scores, "ties": len(cycle.ties), "message": cycle.message})
    return {"nodes": [{"name": name, "cpu": cpu, "memory": memory} for name, cpu, memory, _ in NODES], "steps": steps}


def text() -> str:
    """Return the file's content."""
    return json.dumps(record(), indent=1) + "\n"


if __name__ == "__main__":
    Path(FILE).write_text(text())
