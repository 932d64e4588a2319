"""Random histories: objects of every kind come, change and go between the cycles."""

from __future__ import annotations

import random
from typing import Literal

import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, Workload
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.settings.settings import Settings
from tests.conformance.random_records import record
from tests.core.trials import trials

Action = Literal["create", "update", "delete"]

SETTINGS = {True: Settings(predicate_order="proposal"), False: Settings()}
SEEDS = trials(30)
CHUNK = 15


def history(seed: int) -> Scenario:
    """Let most of a random record's objects be there at first; the rest come, some change or go, later.

    In every other history the scheduler is restarted once with another policy.
    """
    case, rng = record(seed), random.Random(seed)
    read = load_documents(case["objects"], expand=False, admission=False)
    first, later = split(read.objects, rng)
    operations = [make(number, "create", obj) for number, obj in enumerate(later, 1)]
    for obj in rng.sample(first, min(8, len(first))):
        at = rng.randint(1, len(operations) + 1)
        changed = change(obj, rng)
        action: Action = "delete" if changed is None else "update"
        operations.append(make(at, action, obj if changed is None else changed))
    if seed % 2:
        other = Configuration(record(seed + 1_000)["policy"], SETTINGS[seed % 4 == 1])
        at = len(operations) // 2 + 1
        operations.append(Operation("restart", at, at, "create", "Policy", "Policy", configuration=other))
    ordered = tuple(sorted(operations, key=lambda operation: operation.step))
    return Scenario("", (), tuple(first), ordered, policy=case["policy"])


def split(
    objects: tuple[KubernetesObject, ...], rng: random.Random
) -> tuple[list[KubernetesObject], list[KubernetesObject]]:
    """Part the objects into those of the beginning and those to come; nodes of bound pods are there first."""
    held = {obj.node_name for obj in objects if isinstance(obj, Pod)}
    later = [o for o in objects if rng.random() < 0.33 and not (isinstance(o, Node) and o.meta.name in held)]
    return [o for o in objects if o not in later], later


def change(obj: KubernetesObject, rng: random.Random) -> KubernetesObject | None:
    """Change an object a little, or say that it goes."""
    if isinstance(obj, Node) and rng.random() < 0.7:
        return replace(obj, unschedulable=not obj.unschedulable)
    if isinstance(obj, Pod) and rng.random() < 0.5:
        return replace(obj, meta=replace(obj.meta, labels={"app": "web"}))
    return None


def make(step: int, action: Action, obj: KubernetesObject) -> Operation:
    """Make an operation about an object."""
    kind = obj.kind if isinstance(obj, Workload) else type(obj).__name__
    whole = None if action == "delete" else obj
    return Operation(f"{action}-{step}-{obj.meta.key}", step, float(step), action, kind, obj.meta.key, whole)


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("start", range(0, SEEDS, CHUNK))
def test_reuse_and_replay_are_exact_through_every_change(start: int) -> None:
    """With reuse, without it, and from a replayed middle, a history gives the same lines."""
    for seed in range(start, start + CHUNK):
        scenario = history(seed)
        run = Simulation(scenario)
        lines = [trace_line(cycle) for cycle in run]
        assert lines == [trace_line(cycle) for cycle in Simulation(scenario, reuse=False)], seed
        resumed = Simulation(scenario)
        resumed.replay(run.decisions[: len(lines) // 2])
        assert [trace_line(cycle) for cycle in resumed] == lines[len(lines) // 2 :], seed


@pytest.mark.usefixtures("counted")
def test_rewound_cycles_are_repeated_exactly() -> None:
    """From wherever a run goes back to without a new start, the next cycle is that of the straight run."""
    rewound = 0
    for seed in range(SEEDS):
        scenario, rng = history(seed), random.Random(seed)
        straight = Simulation(scenario)
        lines = [trace_line(cycle) for cycle in straight]
        moved = Simulation(scenario)
        for index in sorted(rng.sample(range(len(lines)), min(9, len(lines)))):
            if moved.index < index:
                moved.replay(straight.decisions[moved.index : index])
            back = rng.randint(1, 3)
            rewound += index >= back and moved.rewind(index - back)
            assert trace_line(next(iter(moved.fork(trace=True)))) == lines[moved.index], seed
    assert rewound > SEEDS // 3


@pytest.mark.parametrize("start", range(0, SEEDS, CHUNK))
def test_counts_follow_every_change(start: int) -> None:
    """At the end of a history the columns are what they would be if they were built from what is left."""
    for seed in range(start, start + CHUNK):
        run = Simulation(history(seed))
        list(run)
        cluster = run.cluster
        before = [cluster.used.tolist(), cluster.lowest_priority.tolist(), cluster.attached_counts.tolist()]
        kept = [sorted(pods) for pods in cluster.residents]
        counts = {counted.query: counted.counts.tolist() for counted in cluster.index._tracked.values()}
        cluster._stale = True
        cluster.refresh()
        after = [cluster.used.tolist(), cluster.lowest_priority.tolist(), cluster.attached_counts.tolist()]
        assert before == after, seed
        assert kept == [sorted(pods) for pods in cluster.residents], seed
        assert counts == {query: cluster.index.count(query).counts.tolist() for query in counts}, seed
