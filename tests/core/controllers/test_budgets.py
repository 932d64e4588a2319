"""PodDisruptionBudgets: what may be disrupted follows from the pods that are Running and ready."""

from __future__ import annotations

from scheduler_core.run.simulation import TimedSimulation
from tests.core.timed.parts import VIRTUAL, ended
from tests.core.timed.parts import node as text_node


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
