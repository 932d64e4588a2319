"""PodDisruptionBudgets: what may be disrupted follows from the pods that are Running and ready."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.kubernetes.model import PodDisruptionBudget
from scheduler_core.run.simulation import TimedSimulation
from tests.core.controllers.driver import World, node, workload
from tests.core.timed.parts import VIRTUAL, ended
from tests.core.timed.parts import node as text_node


def budget(name: str = "web", **spec: Any) -> dict[str, Any]:
    """Write a budget of the pods of that name."""
    spec = {"selector": {"matchLabels": {"app": name}}, **spec}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": spec,
    }


def allowed(world: World) -> int:
    """Return what the budget allows now."""
    found = world.get("PodDisruptionBudget", "web")
    assert isinstance(found, PodDisruptionBudget)
    return found.disruptions_allowed


ROWS = [
    ({"minAvailable": 3}, 5, 2),
    ({"minAvailable": "50%"}, 5, 2),  # of 5, rounded up: 3 have to stay
    ({"maxUnavailable": 1}, 5, 1),
    ({"minAvailable": 7}, 5, 0),
]


@pytest.mark.parametrize(("spec", "replicas", "expected"), ROWS)
def test_a_budget_allows_what_goes_beyond_it(spec: dict[str, Any], replicas: int, expected: int) -> None:
    """Once all pods run, as many may go as leave what the budget wants."""
    world = World(node("n1"), workload("ReplicaSet", replicas=replicas), budget(**spec))
    assert allowed(world) == expected


def test_a_pod_that_is_not_ready_is_not_to_be_lost_besides() -> None:
    """A node that stops answering takes its pods' readiness, and the budget what it allowed."""
    failing = node("n2", annotations={"podstep/fails-at": "30"})
    world = World(node("n1"), failing, workload("ReplicaSet", replicas=4), budget(minAvailable=2))
    assert allowed(world) == 2
    world.run(100)
    assert allowed(world) == 0


def test_a_budget_follows_its_pods_labels_and_goes() -> None:
    """It counts the pods that it selects at each moment; a deleted one is asked no more."""
    world = World(node("n1"), workload("ReplicaSet", replicas=2), budget(minAvailable=1))
    other = budget(minAvailable=1, selector={"matchLabels": {"app": "nobody"}})
    world.apply(other)
    assert allowed(world) == 0


def test_preemption_counts_with_the_budget_as_it_stands() -> None:
    """Of two victims the one whose budget still allows it goes, though its budget was written for none."""
    simulation = _preempted()
    assert "default/a" not in simulation.framework.pods
    assert "default/b" in simulation.framework.pods


def _preempted() -> TimedSimulation:
    pods = [
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\n"
        "spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}\n"
        for name in ("a", "b")
    ]
    budgets = [
        f"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}}}\n"
        f"spec: {{minAvailable: {least}, selector: {{matchLabels: {{app: {name}}}}}}}\n"
        for name, least in (("a", 0), ("b", 1))
    ]
    spec = "{priority: 10, containers: [{name: c, resources: {requests: {cpu: 3}}}]}"
    great = f"{{apiVersion: v1, kind: Pod, metadata: {{name: great}}, spec: {spec}}}"
    late = (
        "apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\n"
        "metadata: {name: s}\nspec:\n  operations:\n"
        f"  - {{time: 30, createOperation: {{object: {great}}}}}\n"
    )
    simulation, _ = ended(VIRTUAL, text_node("m"), text_node("n"), *pods, *budgets, late)
    return simulation
