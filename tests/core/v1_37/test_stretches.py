"""Plain cycles of v1.37 are repeated in stretches, which end in the state that single cycles end in."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import islice
from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.run.packs import pack, unpack
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.columns.state import Cluster
from tests.core.deep_states import differing_parts
from tests.core.trials import trials
from tests.load.texts import batch

SEEDS = trials(3)
OPENED = 12
SHARE = "alibabacloud.com/gpu-milli"


def node(chance: random.Random, number: int) -> dict[str, Any]:
    """Return a node, of which some have GPUs."""
    amounts = {"cpu": str(chance.choice((1, 2, 4))), "memory": "4Gi", "pods": "5"}
    amounts |= {SHARE: "2000"} if number % 3 == 0 else {}
    labels = {"disk": chance.choice(("ssd", "hdd")), "topology.kubernetes.io/zone": f"z{number % 3}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{number}", "labels": labels},
        "status": {"allocatable": amounts},
    }


def pod(chance: random.Random, name: str) -> dict[str, Any]:
    """Return a pod: plain, on few nodes, apart from others, too large, or in another one's place."""
    requests = {"cpu": chance.choice(("100m", "500m", "900m")), "memory": "64Mi"}
    requests |= {SHARE: chance.choice(("300", "700"))} if chance.random() < 0.2 else {}
    spec: dict[str, Any] = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    kind = chance.random()
    if kind < 0.2:
        spec["nodeSelector"] = {"disk": "ssd"}
    elif kind < 0.23:
        requests["cpu"] = "9"
    elif kind < 0.26:
        spec["priority"] = 7
        requests["cpu"] = "4"
    elif kind < 0.3:
        spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    elif kind < 0.32:
        constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone"}
        selector = {"matchLabels": {"app": "apart"}}
        spec["topologySpreadConstraints"] = [
            {**constraint, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        ]
    metadata = {"name": name, "namespace": "default", "labels": {"app": chance.choice(("web", "apart"))}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def scenario(seed: int, nodes: int, pods: int, *, share: int | None, **settings: Any) -> Scenario:
    """Return a cluster to which nodes and pods come and from which some go, in time."""
    chance = random.Random(seed)
    documents = [node(chance, number) for number in range(nodes)]
    documents += [pod(chance, f"p{number}") for number in range(pods)]
    operations: list[dict[str, Any]] = [
        {"id": f"more-{at}", "step": 1 + at // 5, "createOperation": {"object": pod(chance, f"q{at}")}}
        for at in range(20)
    ]
    gone = {"typeMeta": {"apiVersion": "v1", "kind": "Pod"}, "objectMeta": {"name": "p3"}}
    operations.append({"id": "gone", "step": 2, "deleteOperation": gone})
    operations.append({"id": "new", "step": 3, "createOperation": {"object": node(chance, nodes)}})
    operations.sort(key=lambda operation: operation["step"])
    documents.append({"kind": "Scenario", "spec": {"operations": operations}})
    documents.append({"kind": "SimulationSettings", "scheduler": "v1.37", **settings})
    if share is not None:
        documents.append(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "percentageOfNodesToScore": share,
            }
        )
    return load(yaml.safe_dump_all(documents))


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("share", [None, 100])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_replay_goes_on_as_the_straight_run_does(
    seed: int, share: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With samples of nodes and all of them; what waits, queues and time are part of each line."""
    played = scenario(seed, 130, 160, share=share)
    straight = V1_37Simulation(played)
    lines = [trace_line(cycle) for cycle in straight]
    attempts = 0
    single = V1_37Simulation._repeat

    def counted(self: V1_37Simulation, decision: Any) -> bool:
        nonlocal attempts
        attempts += 1
        return single(self, decision)

    monkeypatch.setattr(V1_37Simulation, "_repeat", counted)
    for index in random.Random(seed).sample(range(2, len(lines)), 3):
        replayed = V1_37Simulation(played, trace=bool(index % 2))
        attempts = 0
        replayed.replay(straight.decisions[:index])
        assert attempts < 0.5 * index
        replayed.record(trace=True)
        assert [trace_line(cycle) for cycle in replayed] == lines[index:]
        assert replayed.placement() == straight.placement()


def test_cycles_that_are_replayed_one_by_one_are_counted() -> None:
    """A worker packs a run by their number: a run of Jobs has none, one with operations and GPUs has some."""
    jobs, mixed = load(batch(5, 40, "v1.37")), scenario(1, 40, 60, share=None)
    runs = [V1_37Simulation(played, trace=False) for played in (jobs, mixed)]
    assert sum(1 for run in runs for _ in run) > 90
    assert runs[0].single_cycles == 0
    assert 20 < runs[1].single_cycles < runs[1].index


def test_a_stretch_ends_where_the_run_does() -> None:
    """No cycle begins after ``until``, whoever was decided there."""
    whole = scenario(1, 40, 60, share=None)
    short = scenario(1, 40, 60, share=None, until=0.1)
    straight = V1_37Simulation(short)
    decisions = [cycle.decision for cycle in straight]
    more = [cycle.decision for cycle in V1_37Simulation(whole)][: len(decisions) + 1]
    assert more[:-1] == decisions
    replayed = V1_37Simulation(short)
    with pytest.raises(ValueError, match="no pod is left to schedule"):
        replayed.replay(more)
    assert replayed.decisions == decisions


def test_no_pod_is_left_behind_a_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many pods a run has is asked by threads that do not hold it: reading them changes nothing."""
    made = Cluster.__getattr__

    def read(self: Cluster, name: str) -> Any:
        assert name != "pods"
        return made(self, name)

    whole = scenario(1, 40, 60, share=None)
    decisions = [cycle.decision for cycle in V1_37Simulation(whole)]
    replayed = V1_37Simulation(whole)
    monkeypatch.setattr(Cluster, "__getattr__", read)
    replayed.replay(decisions)
    assert len(replayed.cluster.pods) == len(replayed.placement())


CACHES = {
    "V1_37Simulation": (
        "_stretch",
        "_single",
        "_entry_cache",
        "_places",
        "scenario",
        "_manifests",
        "asking",
        "_trace",
    ),
    "Scheduler": ("reuse", "walks"),
    "ClusterState": ("log", "selected", "_derived", "_last"),
    "NodeTable": ("labels", "_memo", "_masks", "_mask_version", "_dirty", "is_lent"),
    "NodeInfo": ("is_lent",),
    "PodClass": ("_dense", "example"),
    "PodClasses": ("_labelled",),
    "CompiledPod": ("_spec_key", "shared"),
    "EntityQueue": ("_ranked", "_head", "_fresh"),
    "SchedulerRun": ("batching",),
    "PluginRules": ("registrations",),
    "Cluster": ("touched", "generation", "_last", "_memo", "_memo_bytes", "_usages"),
}
"""What is made again of the rest, and which objects share it."""


def opened(reader: V1_37Simulation, straight: V1_37Simulation, index: int) -> tuple[V1_37Simulation, bool]:
    """Return a run after a cycle, and whether it is the reader: another if that cannot go back so far."""
    moved = reader.index <= index or reader.rewind(index)
    reader = reader if moved else V1_37Simulation(straight.scenario)
    reader.replay(straight.decisions[reader.index : index])
    return reader, moved


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("share", [None, 100])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_any_cycle_opens_as_it_was_stepped(seed: int, share: int | None) -> None:
    """A reader that jumps, steps, is copied and stored shows the lines of the straight run everywhere."""
    played, chance = scenario(seed, 130, 160, share=share), random.Random(seed)
    straight = V1_37Simulation(played)
    lines = [trace_line(cycle) for cycle in straight]
    reader, kept = V1_37Simulation(played), 0
    for index in chance.choices(range(len(lines)), k=OPENED):
        reader, moved = opened(reader, straight, index)
        kept += moved
        match chance.choice(("fork", "packed", "no", "no")):
            case "fork":
                forked = islice(reader.fork(trace=True), 3)
                assert [trace_line(cycle) for cycle in forked] == lines[index : index + 3]
            case "packed":
                packed = pack(reader)
                assert packed is not None
                assert trace_line(next(iter(unpack(packed, played)))) == lines[index]
        for line in lines[index : index + chance.randint(0, 3)]:
            assert trace_line(next(iter(reader))) == line
    assert kept > OPENED // 4


def orders(run: V1_37Simulation) -> list[list[Any]]:
    """Return what a run has in an order of its own."""
    cluster, typed, queue = run.run.cluster, run.cluster, run.run.queue
    tables: list[Mapping[str, Any]] = [cluster.pods, cluster.objects["Pod"], run.run.bound, typed.pods]
    return [*map(list, [*tables, *typed.residents]), [one.key for one in queue.active.ranked()]]


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_of_a_cycle_is_left_when_it_is_undone(seed: int) -> None:
    """All that a run has is after jumps as if it had been stepped to that cycle, but for caches."""
    played, chance = scenario(seed, 20, 80, share=None), random.Random(seed)
    straight = V1_37Simulation(played)
    number = sum(1 for _ in straight)
    reader = V1_37Simulation(played)
    for _ in range(6):
        for index in chance.choices(range(number), k=3):
            reader, _ = opened(reader, straight, index)
            reader.step()
        index = max(reader.index - chance.randint(0, 9), 1)
        reader, _ = opened(reader, straight, index)
        stepped = V1_37Simulation(played)
        for _ in range(index):
            stepped.step()
        for run in (reader, stepped):
            run.run.cluster.nodes.refresh()
            run.cluster.device_room  # noqa: B018
            for columns in (run.run.cluster.nodes.requested, run.cluster.scalars_used):
                for name in [name for name, column in columns.items() if not column.any()]:
                    del columns[name]  # of a resource that pods have had by then on one way alone
        assert not differing_parts(reader, stepped, CACHES)
        assert orders(reader) == orders(stepped)
