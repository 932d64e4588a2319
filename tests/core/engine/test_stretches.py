"""A run of v1.11 goes back and forth over plain cycles, and is everywhere as if each had been stepped."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.run.instant import Simulation
from scheduler_core.run.packs import pack, unpack
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.columns import late_pods
from tests.core.engine.builders import node, operation, pod
from tests.core.engine.builders import scenario as read
from tests.core.trials import trials
from tests.core.v1_37.test_stretches import scenario
from tests.costs import ROUNDS, least_costs

SEEDS = trials(6)
OPENED = 25


def mixed(seed: int) -> Scenario:
    """Return a cluster with preemptions, ports, pods that fit nowhere, and operations between the cycles."""
    return scenario(seed, 7, 60, share=None, scheduler="v1.11")


def plain(seed: int, pods: int = 160, cpu: int = 4) -> Scenario:
    """Return many pods of few classes, kinds and priorities; on small nodes there is no room for the last."""
    chance = random.Random(seed)
    nodes = [
        node(f"n{at}", allocatable={"cpu": str(chance.randint(1, cpu)), "memory": "9Gi", "pods": str(pods)})
        for at in range(6)
    ]
    shapes: list[dict[str, Any]] = [
        {
            "requests": {"cpu": cpu},
            "labels": {"app": f"a{number * 4 // pods}"},
            "priority": chance.choice((0, 0, 5)),
        }
        for number, cpu in enumerate(chance.choices(("50m", "100m", "200m"), k=pods))
    ]
    return read(*nodes, *(pod(f"p{number}", **shape) for number, shape in enumerate(shapes)))


def grown(seed: int) -> Scenario:
    """Return plain pods after some of which a node comes, and at the same time a pod."""
    comes = node("late", allocatable={"cpu": "1", "memory": "9Gi", "pods": "9"}), pod("q", {"cpu": "50m"})
    operations = [replace(operation(1, "create", one), id=one["kind"], after=80) for one in comes]
    return replace(plain(seed), operations=tuple(operations))


def state(run: Simulation) -> list[Any]:
    """Return what a run is in the middle of, pods in the order in which they came to their nodes."""
    run.peek()
    cluster = run.cluster
    return [
        [[(key, one.node_name, one.node) for key, one in row.items()] for row in cluster.residents],
        (run.index, run.major, run.minor, run.counter, *run.deleted),
        run.placement(),
        run.queue.state(10_000),
        cluster.used.tolist(),
        cluster.lowest_priority.tolist(),
        {name: column.tolist() for name, column in cluster.scalars_used.items() if column.any()},
        {key: dict(kind.nodes) for key, kind in cluster.index.kinds.items() if kind.nodes},
    ]


def counts(run: Simulation) -> list[list[int]]:
    """Return how many pods of each query are on each node."""
    return [counted.counts.tolist() for counted in run.cluster.index._tracked.values()]


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("made", [mixed, plain, grown])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_any_cycle_opens_as_it_was_stepped(
    made: Callable[[int], Scenario], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that jumps, steps, and is looked at now and then shows the lines of the straight run."""
    monkeypatch.setattr(late_pods, "MOST_ROWS", (3, late_pods.MOST_ROWS)[seed % 2])
    whole, chance = made(seed), random.Random(seed)
    straight, stepped = Simulation(whole), Simulation(whole, trace=False)
    lines = [trace_line(cycle) for cycle in straight]
    states = [state(stepped)]
    states += [state(stepped) for _ in stepped]
    reader, began = Simulation(whole), 0
    for index in chance.choices(range(len(lines)), k=OPENED):
        if reader.index > index and not reader.rewind(index):
            reader, began = Simulation(whole), began + 1
        reader.replay(straight.decisions[reader.index : index])
        match chance.choice(("all", "row", "fork", "packed", "no", "no")):
            case "all":
                assert state(reader) == states[index]
            case "row":
                reader.peek()
                row = chance.randrange(len(reader.cluster.residents))
                there = reader.cluster.residents[row]
                assert [(key, one.node_name, one.node) for key, one in there.items()] == states[index][0][row]
            case "fork":
                other = reader.fork(trace=True)
                assert other.rewind(index)
                assert trace_line(next(iter(other))) == lines[index]
            case "packed":
                packed = pack(reader)
                assert packed is not None
                assert trace_line(next(iter(unpack(packed, whole)))) == lines[index]
        for line in lines[index : index + chance.randint(1, 3)]:
            assert trace_line(next(iter(reader))) == line
    kept = counts(reader)
    reader.cluster._stale = reader.cluster._outdated = True
    assert kept == counts(reader)
    assert began == 0 or made is not plain


def test_a_copy_counts_no_pod_that_is_gone() -> None:
    """A run goes on alike from a fork made before it counts a new node, though a pod was deleted since."""
    whole = plain(1)
    changes = operation(1, "create", node("late")), operation(2, "delete", pod("p0"))
    inside = [replace(one, step=1, after=80, during=True) for one in changes]
    run = Simulation(replace(whole, operations=tuple(inside)))
    for _ in range(81):
        run.step()
    fork = run.fork(trace=True)
    assert "default/p0" not in fork.cluster.pods
    assert [trace_line(cycle) for cycle in fork] == [trace_line(cycle) for cycle in run]


def test_known_cycles_are_passed_over_without_looking_at_their_pods() -> None:
    """Going to and fro where a reader was before takes a fraction of what the first way there took."""
    whole = plain(1, 8_000, cpu=9_000)
    decisions = [cycle.decision for cycle in Simulation(whole, trace=False)]
    fresh = [Simulation(whole, trace=False) for _ in range(ROUNDS)]
    reader = Simulation(whole, trace=False)
    reader.replay(decisions)

    def to_and_fro() -> None:
        assert reader.rewind(40)
        reader.replay(decisions[40:])

    assert any(
        known < first / 2 for first, known in least_costs(lambda: fresh.pop().replay(decisions), to_and_fro)
    )
