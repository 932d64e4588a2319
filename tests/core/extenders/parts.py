"""A small cluster with extenders, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.extenders.record import CallRecord, extender_record

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


UNSCORED = {"plugins": {"score": {"disabled": [{"name": "*"}]}}}
"""A profile without score plugins."""


def configuration(*extenders: Mapping[str, Any], **fields: Any) -> Document:
    """Return a KubeSchedulerConfiguration for v1.37 whose plugins score every node alike."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [UNSCORED],
        "extenders": list(extenders),
        **fields,
    }


class Release(Struct, frozen=True):
    """A release that asks extenders: its configuration, its simulation, and how it writes a duration."""

    name: str
    configured: Callable[..., Document]
    simulation: Callable[..., Any]
    duration: Callable[[float], int | str]


V1_11 = Release("v1.11", policy, Simulation, lambda seconds: int(seconds * 1e9))
V1_37 = Release("v1.37", configuration, V1_37Simulation, lambda seconds: f"{seconds}s")
RELEASES = [V1_11, V1_37]


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


def run_now(*documents: Mapping[str, Any], nodes: Sequence[Document] = NODES) -> list[Cycle]:
    """Return all cycles of v1.37."""
    return list(V1_37Simulation(scenario(*documents, nodes=nodes)))


def calls(cycle: Cycle) -> tuple[CallRecord, ...]:
    """Return the calls of a cycle."""
    found = extender_record(cycle)
    assert found is not None
    return found.calls


def replays(simulate: Callable[..., Stepper], whole: Scenario, cycles: list[Cycle]) -> None:
    """Assert that cycles are the same without a trace, and after a replay of those before them."""
    fast = list(simulate(whole, trace=False))
    assert [cycle.decision for cycle in fast] == [cycle.decision for cycle in cycles]
    for at, expected in enumerate(cycles):
        again = simulate(whole)
        again.replay(cycle.decision for cycle in cycles[:at])
        cycle = again.fork(trace=True).step()
        assert cycle is not None
        assert trace_line(cycle) == trace_line(expected)


def only_binding_is_answered(
    simulate: type[Simulation | V1_37Simulation], loaded: Scenario, node: str
) -> None:
    """Assert that an extender whose filter nothing answers is named, and has no effect."""
    assert [problem.path for problem in loaded.warnings] == ["extenders[0]"]
    assert f"extender {URL} is not called to filter: its URL is not approved" in loaded.warnings[0].message
    (cycle,) = simulate(loaded)
    assert [(call.verb, call.outcome) for call in calls(cycle)] == [
        ("filter", "not called"),
        ("bind", "answered"),
    ]
    assert cycle.node == node
