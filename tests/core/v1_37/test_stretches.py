"""Plain cycles of v1.37 are repeated in stretches, which end in the state that single cycles end in."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.columns.state import Cluster
from tests.core.trials import trials

SEEDS = trials(6)
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
