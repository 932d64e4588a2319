"""Nodes that are alike for a class of pods are scored once: decisions and records stay those of all nodes."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from scheduler_core import load, simulate
from scheduler_core.record.choice import LateChoice
from scheduler_core.record.cycle import Cycle

ZONE = "failure-domain.beta.kubernetes.io/zone"


def _node(chance: random.Random, number: int) -> str:
    zone = f", {ZONE}: z{chance.randrange(3)}" if chance.random() < 0.9 else ""
    taints = "[{key: a, effect: PreferNoSchedule}]" if chance.random() < 0.2 else "[]"
    return (
        f"kind: Node\napiVersion: v1\nmetadata: {{name: n{chance.randrange(1000):03}-{number}, "
        f"labels: {{disk: {chance.choice(['ssd', 'hdd'])}{zone}}}}}\nspec: {{taints: {taints}}}\n"
        f"status: {{allocatable: {{cpu: '{chance.choice([1, 2])}', memory: 4Gi, pods: '6'}}}}\n"
    )


def _workload(chance: random.Random, number: int) -> str:
    preferred = "[{weight: 5, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]"
    affinity = f"{{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: {preferred}}}}}"
    spread = "podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: disk, "
    apart = f"{{{spread}labelSelector: {{matchLabels: {{app: a9}}}}}}]}}}}"
    wanted = chance.choice(["{}", affinity, "{}", apart if number == 2 else "{}"])
    name, cpu = f"a{number}", chance.choice([50, 200])
    return (
        f"kind: Service\napiVersion: v1\nmetadata: {{name: {name}}}\nspec: {{selector: {{app: {name}}}}}\n"
        f"---\nkind: ReplicaSet\napiVersion: apps/v1\nmetadata: {{name: {name}}}\nspec:\n"
        f"  replicas: {chance.randrange(10, 40)}\n  selector: {{matchLabels: {{app: {name}}}}}\n"
        f"  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      affinity: {wanted}\n"
        f"      containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu}m}}}}}}]\n"
    )


def _played(run: Iterable[Cycle]) -> list[tuple[object, ...]]:
    return [
        (
            cycle.decision,
            cycle.feasible.tolist(),
            None if cycle.totals is None else cycle.totals.tolist(),
            cycle.ties.tolist(),
            cycle.asked,
            cycle.message,
            cycle.choice.counts(),
        )
        for cycle in run
    ]


@pytest.mark.parametrize("seed", range(8))
def test_scoring_one_of_the_nodes_that_are_alike_decides_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision, feasible nodes, totals, ties and checks are those of scoring all, until no node has room."""
    chance = random.Random(seed)
    text = "---\n".join(
        [*(_node(chance, n) for n in range(4 + 3 * seed)), *(_workload(chance, n) for n in range(4))]
    )
    scenario = load(text, scheduler="v1.11")
    expected = _played(simulate(scenario, trace=False))
    for name in ("SCORED_ALONE", "CHOSEN_ALONE", "FEWER_ALIKE"):
        monkeypatch.setattr(f"scheduler_core.schedulers.columns.alike.{name}", 0)
    monkeypatch.setattr("scheduler_core.schedulers.columns.alike.BLOCK", 2)
    assert _played(simulate(scenario, trace=False)) == expected
    assert _played(list(simulate(scenario, trace=False))) == expected  # read after the run has ended
    late = [isinstance(cycle.choice, LateChoice) for cycle in simulate(scenario, trace=False)]
    assert sum(late) > 10
