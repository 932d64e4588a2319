"""A small cluster with extenders, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.extenders.record import CallRecord, extender_record
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.scheduling.cycle import Cycle
from scheduler_core.simulation.instant import Simulation

URL = "http://extender.test:8888/scheduler"
Document = dict[str, Any]


def node(name: str, cpu: str = "4", gpu: str = "0") -> Document:
    """Return a ready node."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "20", "example.com/gpu": gpu},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, cpu: str = "100m", *, priority: int = 0, on: str = "", gpu: str = "") -> Document:
    """Return a pod, pending unless it is ``on`` a node."""
    amounts = {"cpu": cpu, **({"example.com/gpu": gpu} if gpu else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            **({"nodeName": on} if on else {}),
            "priority": priority,
            "containers": [
                {"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
            ],
        },
    }


def extender(url: str = URL, **fields: Any) -> Document:
    """Return an entry of ``extenders``."""
    return {"urlPrefix": url, "nodeCacheCapable": True, **fields}


def policy(*extenders: Mapping[str, Any], **fields: Any) -> Document:
    """Return a Policy whose priorities score every node alike."""
    return {"apiVersion": "v1", "kind": "Policy", "priorities": [], "extenders": list(extenders), **fields}


def answers(*rows: Mapping[str, Any], url: str = URL) -> Document:
    """Return the answers of one extender."""
    return {
        "apiVersion": "podstep/v1",
        "kind": "ExtenderAnswers",
        "extenders": [{"urlPrefix": url, "answers": list(rows)}],
    }


def settings(**fields: Any) -> Document:
    """Return SimulationSettings."""
    return {"apiVersion": "podstep/v1", "kind": "SimulationSettings", **fields}


NODES = (node("a"), node("b"), node("c"))


def scenario(*documents: Mapping[str, Any], nodes: Sequence[Document] = NODES) -> Scenario:
    """Load nodes and other documents."""
    return load_documents([*nodes, *documents])


def run(*documents: Mapping[str, Any], nodes: Sequence[Document] = NODES, **options: Any) -> list[Cycle]:
    """Return all cycles."""
    return list(Simulation(scenario(*documents, nodes=nodes), **options))


def calls(cycle: Cycle) -> tuple[CallRecord, ...]:
    """Return the calls of a cycle."""
    found = extender_record(cycle)
    assert found is not None
    return found.calls
