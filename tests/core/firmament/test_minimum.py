"""The flow that a round finds is a minimum of the whole network, by a second solver."""

from __future__ import annotations

from random import Random

import pytest

from scheduler_core.schedulers.firmament import solver
from scheduler_core.schedulers.firmament.classes import State, arcs_of, classes_of
from scheduler_core.schedulers.firmament.machines import Machines
from scheduler_core.schedulers.firmament.residents import Residents
from scheduler_core.schedulers.firmament.rounds import run_round
from scheduler_core.schedulers.firmament.tasks import task_of
from tests.core.firmament.networks import node, pod, random_cluster, whole_network

CHUNK = 60


@pytest.mark.parametrize("chunk", range(5))
def test_the_flow_is_a_minimum(chunk: int) -> None:
    """On 300 random networks its cost is that of successive shortest paths over every node and arc."""
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        state, tasks = random_cluster(Random(seed))
        expected = whole_network(state, tasks).cost("source", "sink")
        roots = {task.job: task.pod for task in reversed(tasks)}
        done = run_round(tasks, roots, state, {})
        assert sum(phase.total_cost for phase in done.phases) == expected, seed


def crowded(random: Random, classes: int, each: int, machines: int) -> tuple[State, list[int], list]:
    """Return classes of similar requests that want the same machines."""
    nodes = [node(f"n{number}", random.choice([4000, 8000]), 16_000, 110) for number in range(machines)]
    state = State(Machines.of(nodes, ()), Residents(machines))
    tasks = [
        task_of(pod(f"p{kind}-{number}", 100 + 10 * kind, 100 + 50 * (kind % 3), job=f"j{kind}"))
        for kind in range(classes)
        for number in range(each)
    ]
    arcs = [arcs_of(one, state) for one in classes_of(tasks, state)]
    return state, [len(one.of.tasks) for one in arcs], arcs


@pytest.mark.parametrize(("classes", "each", "machines"), [(1, 40, 5), (6, 12, 3), (12, 5, 8), (2, 150, 3)])
def test_arcs_that_are_left_out_change_nothing(
    classes: int, each: int, machines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the fewest arcs to begin with, the cost is that of all arcs."""
    for name in ("FIRST_INDICES", "SPARE", "ADDED"):
        monkeypatch.setattr(solver, name, 1)
    _, sizes, arcs = crowded(Random(7), classes, each, machines)
    found = solver.minimum(arcs, sizes)
    every = [solver.every(one) for one in arcs]
    used = solver.flow([one.names for one in every], [one.costs for one in every], sizes)
    assert [len(one) for one in found] == [int(at.sum()) for at in used]
    assert sum(int(one.costs.sum()) for one in found) == sum(
        int(one.costs[at].sum()) for one, at in zip(every, used, strict=True)
    )
