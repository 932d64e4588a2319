"""The usage of nodes that is shown under v1.37: what its NodeInfo counts, and v1.11's under v1.11."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import load_documents, simulate
from tests.core.v1_37.parts import node, pod


def asking(cpu: str, memory: str = "1Gi", **more: Any) -> dict[str, Any]:
    """Return a container."""
    return {
        "name": f"c{cpu}",
        "image": "app",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
        **more,
    }


PLAIN = [asking("1")]
RESIZED = {
    "containerStatuses": [
        {"name": "c1", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}}}
    ]
}
PODS: dict[str, tuple[dict[str, Any], int, int]] = {
    "containers alone": ({"containers": PLAIN}, 1000, 1000),
    "an init container": ({"containers": PLAIN, "initContainers": [asking("2")]}, 2000, 1000),
    "a sidecar": (
        {"containers": PLAIN, "initContainers": [asking("500m", restartPolicy="Always")]},
        1500,
        1000,
    ),
    "overhead": ({"containers": PLAIN, "overhead": {"cpu": "250m"}}, 1250, 1000),
    "the pod as a whole": ({"containers": PLAIN, "resources": {"requests": {"cpu": "3"}}}, 3000, 1000),
    "a resize": ({"containers": PLAIN, "status": RESIZED}, 2000, 1000),
}


@pytest.mark.parametrize("where", ["scheduled", "bound from the start"])
@pytest.mark.parametrize("case", PODS)
def test_usage_is_what_the_release_counts(case: str, where: str) -> None:
    """In millicores of the only node, under both releases."""
    fields, newest, oldest = PODS[case]
    on = "n" if where == "bound from the start" else ""
    for release, wanted in (("v1.37", newest), ("v1.11", oldest)):
        settings = {"kind": "SimulationSettings", "scheduler": release}
        simulation = simulate(load_documents([settings, node("n", cpu="8"), pod("p", node=on, **fields)]))
        list(simulation)
        assert int(simulation.cluster.used[0, 0]) == wanted
        assert int(simulation.cluster.used[3, 0]) == 1
