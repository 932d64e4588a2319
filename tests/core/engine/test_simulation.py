"""The run as a whole: order of the queue, replay, determinism, changes from outside."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from tests.core.engine.builders import affinity, node, obj, operation, pod, scenario, simulate

RUNS = Path(__file__).parents[2] / "conformance" / "data" / "scheduler-v1.11-runs.jsonl.gz"
ONE = {"cpu": "1", "memory": "1Gi", "pods": "10"}


def recorded(number: int) -> Scenario:
    """Read a recorded run as a scenario: preemption, nominations, volumes and affinity are among them."""
    with gzip.open(RUNS, "rt", encoding="utf-8") as file:
        record = json.loads(next(islice(file, number, None)))
    return replace(load_documents(record["objects"], expand=False, admission=False), policy=record["policy"])


@pytest.mark.parametrize("number", range(12))
def test_replayed_decisions_lead_to_the_same_state(number: int) -> None:
    """From any point, replaying and then stepping gives the lines that the straight run gave."""
    scenario = recorded(number)
    straight = Simulation(scenario)
    lines = [trace_line(cycle) for cycle in straight]
    for at in {0, 1, len(lines) // 2, len(lines) - 1}:
        resumed = Simulation(scenario)
        resumed.replay(straight.decisions[:at])
        assert resumed.index == at
        assert [trace_line(cycle) for cycle in resumed] == lines[at:]
        assert resumed.placement() == straight.placement()


@pytest.mark.parametrize("number", range(12))
def test_decisions_do_not_depend_on_what_is_recorded(number: int) -> None:
    """A run without trace, one with it and one without short-circuit decide alike."""
    scenario = recorded(number)
    runs = [Simulation(scenario, trace=False), Simulation(scenario), Simulation(scenario, unabridged=True)]
    decisions = [[cycle.decision for cycle in run] for run in runs]
    assert decisions[0] == decisions[1] == decisions[2]


def test_replay_refuses_decisions_of_another_run() -> None:
    """Decisions about a pod whose turn it is not are an error, not a wrong cluster."""
    straight = simulate(node("n"), pod("a"))
    list(straight)
    other = simulate(node("n"), pod("b"))
    with pytest.raises(ValueError, match="cycle 1 is about default/b"):
        other.replay(straight.decisions)


def test_the_trace_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Two processes with different hash seeds write the same bytes."""
    with gzip.open(RUNS, "rt", encoding="utf-8") as file:
        bundle = {"apiVersion": "v1", "kind": "List", "items": json.loads(file.readline())["objects"]}
    (tmp_path / "bundle.json").write_text(json.dumps(bundle), encoding="utf-8")
    traces = []
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-m", "scheduler_core", "simulate", f"{tmp_path}/bundle.json", "--trace", "-"],
            capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        traces.append(done.stdout)
    assert traces[0] == traces[1]
    assert traces[0].count(b"\n") > 5


def test_priority_goes_before_age() -> None:
    """The queue's head has the highest priority, among equals the earliest creation."""
    simulation = simulate(
        node("n"), pod("old"), pod("high", priority=5), pod("young"), pod("high-2", priority=5)
    )
    assert [cycle.pod.partition("/")[2] for cycle in simulation] == ["high", "high-2", "old", "young"]


def test_a_cycle_shows_the_queues_without_its_pod() -> None:
    """The queues are those of the moment when the pod was popped."""
    simulation = simulate(
        node("n", allocatable=ONE), pod("big", {"cpu": "2"}, priority=9), pod("a"), pod("b")
    )
    first, second, _ = list(simulation)
    assert [entry[0] for entry in first.queue.active] == ["default/a", "default/b"]
    assert first.queue.unschedulable_count == 0
    assert second.queue.unschedulable == [("default/big", 9, 0)]
    assert second.queue.active == [("default/b", 0, 2)]


def test_a_bound_companion_brings_a_pod_back() -> None:
    """A pod that waits for a companion is tried again as soon as one is bound, and not for any other pod."""
    seeking = pod("p", priority=9, affinity=affinity("podAffinity", app="web"))
    nodes = [node("n", labels={"zone": "a"})]
    simulation = simulate(*nodes, seeking, pod("db", labels={"app": "db"}), pod("web", labels={"app": "web"}))
    assert [(c.pod.partition("/")[2], c.result[0]) for c in simulation] == [
        ("p", "u"), ("db", "s"), ("web", "s"), ("p", "s"),
    ]  # fmt: skip


def test_another_schedulers_pod_is_left_alone() -> None:
    """kube-scheduler is responsible for the pods that name it."""
    simulation = simulate(node("n"), pod("a"), pod("b", schedulerName="custom"))
    assert [cycle.pod for cycle in simulation] == ["default/a"]
    assert simulation.placement()["default/b"] == ""


def test_the_message_counts_reasons_as_kubectl_shows_them() -> None:
    """Every reason of every node counts one; entries are sorted as text, so 10 comes before 2."""
    nodes = [node(f"t{i}", taints=["k=v:NoSchedule"]) for i in range(10)]
    full = [node(f"f{i}", allocatable={"cpu": "1", "memory": "1Mi", "pods": "1"}) for i in range(2)]
    cycle = simulate(*nodes, *full, pod("p", {"cpu": "2", "memory": "2Mi"})).step()
    assert cycle is not None
    assert cycle.message == (
        "0/12 nodes are available: 10 node(s) had taints that the pod didn't tolerate, "
        "2 Insufficient cpu, 2 Insufficient memory."
    )


SMALL = node("small", allocatable=ONE)
LARGE = node("large", allocatable=ONE | {"cpu": "8"})
BIG = pod("p", {"cpu": "2"})
OCCUPANT = pod("occupant", {"cpu": "1"}, on="small")
FIRST_ONE = pod("q", {"cpu": "1"})


# what the row says: the initial objects, the operation, the results before and after it
OPERATIONS: dict[str, tuple[list[dict[str, Any]], tuple[str, dict[str, Any]], list[tuple[str, str]]]] = {
    "a new node takes the pod that waited": (
        [SMALL, BIG],
        ("create", LARGE),
        [("p", "unschedulable"), ("p", "scheduled")],
    ),
    "a node that grows does, too": (
        [SMALL, BIG],
        ("update", node("small", allocatable=ONE | {"cpu": "4"})),
        [("p", "unschedulable"), ("p", "scheduled")],
    ),
    "a deleted pod makes room": (
        [SMALL, OCCUPANT, FIRST_ONE],
        ("delete", OCCUPANT),
        [("q", "unschedulable"), ("q", "scheduled")],
    ),
    "a finished pod makes room": (
        [SMALL, OCCUPANT, FIRST_ONE],
        ("update", pod("occupant", {"cpu": "1"}, on="small", phase="Succeeded")),
        [("q", "unschedulable"), ("q", "scheduled")],
    ),
    "a new pod is scheduled when it comes": (
        [SMALL, pod("a")],
        ("create", pod("b")),
        [("a", "scheduled"), ("b", "scheduled")],
    ),
    "a deleted node brings nobody back in v1.11": (
        [SMALL, LARGE, pod("p", {"cpu": "9"})],
        ("delete", LARGE),
        [("p", "unschedulable")],
    ),
    "a pending pod that changes is tried again": (
        [SMALL, BIG],
        ("update", pod("p", {"cpu": "1"})),
        [("p", "unschedulable"), ("p", "scheduled")],
    ),
    "an update leaves a bound pod on its node": (
        [SMALL, pod("a", {"cpu": "1"}), pod("b", {"cpu": "1"})],
        ("update", pod("a", {"cpu": "1"}, labels={"app": "web"})),
        [("a", "scheduled"), ("b", "unschedulable")],
    ),
    "a pod that was preempted is not revived by an update": (
        [SMALL, OCCUPANT, pod("high", {"cpu": "1"}, priority=5)],
        ("update", OCCUPANT),
        [("high", "unschedulable"), ("high", "scheduled")],
    ),
    "a waiting pod's end brings nobody back": (
        [SMALL, BIG, pod("r", {"cpu": "3"})],
        ("delete", BIG),
        [("p", "unschedulable"), ("r", "unschedulable")],
    ),
    "a pending pod that is deleted is forgotten": ([SMALL, BIG], ("delete", BIG), [("p", "unschedulable")]),
    "a claim's volume lets a pod in": (
        [
            SMALL,
            obj("PersistentVolumeClaim", "c", spec={"volumeName": "v"}),
            pod("p", volumes=[{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}]),
        ],
        ("create", obj("PersistentVolume", "v", spec={"capacity": {"storage": "1Gi"}})),
        [("p", "error"), ("p", "scheduled")],
    ),
}


@pytest.mark.parametrize("case", OPERATIONS)
def test_changes_from_outside_are_applied_between_cycles(case: str) -> None:
    """The active queue is drained, then the operation is applied, then what it moved is tried."""
    objects, (action, manifest), expected = OPERATIONS[case]
    history = replace(scenario(*objects), operations=(operation(1, action, manifest, time=30.0),))
    simulation = Simulation(history)
    cycles = list(simulation)
    assert [(c.pod.partition("/")[2], c.result) for c in cycles] == expected
    assert simulation.done
    later = [c for c in cycles if c.operations]
    assert all((c.step, c.time, c.operations) == ("2.1", 30.0, ("op-1",)) for c in later)
    assert [c.step for c in cycles if c not in later] == [
        f"1.{i}" for i in range(1, len(cycles) - len(later) + 1)
    ]
    replayed = Simulation(history)
    replayed.replay(simulation.decisions)
    assert replayed.step() is None
    assert replayed.placement() == simulation.placement()


@pytest.mark.parametrize(
    ("change", "results"),
    [
        (("delete", OCCUPANT), ["unschedulable", "scheduled"]),
        (("create", pod("bound", on="small")), ["unschedulable", "unschedulable"]),
        (("create", pod("other", schedulerName="batch")), ["unschedulable"]),
    ],
)
def test_what_happens_while_a_pod_is_tried_has_it_tried_again(
    change: tuple[str, dict[str, Any]], results: list[str]
) -> None:
    """A move request inside the cycle sends the pod back to the active queue; nothing else does."""
    landing = replace(operation(1, *change), after=0, during=True)
    history = replace(scenario(SMALL, OCCUPANT, FIRST_ONE), operations=(landing,))
    simulation = Simulation(history)
    assert [cycle.result for cycle in simulation if cycle.pod == "default/q"] == results
    replayed = Simulation(history)
    replayed.replay(simulation.decisions)
    assert replayed.step() is None


def test_counts_follow_every_change() -> None:
    """After creations and deletions, the columns are what a cluster built from the rest would have."""
    history = replace(
        scenario(SMALL, LARGE, *(pod(f"p{i}", {"cpu": "100m"}, labels={"app": "web"}) for i in range(6))),
        operations=(
            operation(1, "delete", pod("p1")),
            operation(2, "create", pod("late", {"cpu": "1"})),
            operation(3, "delete", SMALL),
            operation(4, "create", pod("later", {"cpu": "1"})),
        ),
    )
    simulation = Simulation(history)
    list(simulation)
    cluster = simulation.cluster
    left = [state.pod for state in cluster.pods.values()]
    rebuilt = Simulation(
        Scenario(
            "",
            (),
            (
                *cluster.nodes.values(),
                *(replace(p, node_name=cluster.pods[p.meta.key].node_name) for p in left),
            ),
        )
    ).cluster
    assert cluster.columns.names == ("large",)
    rebuilt.refresh()
    assert cluster.used.tolist() == rebuilt.used.tolist()
    assert cluster.lowest_priority.tolist() == rebuilt.lowest_priority.tolist()
    assert [sorted(pods) for pods in cluster.residents] == [sorted(pods) for pods in rebuilt.residents]


def test_a_node_that_is_deleted_takes_the_pods_that_the_run_placed_there() -> None:
    """The pod collector deletes them; their room is nobody's, and the replayed state is the same."""
    gone = node("gone", allocatable=ONE)
    history = replace(
        scenario(gone, pod("p1", {"cpu": "1"}), pod("p2", {"cpu": "1"})),
        operations=(operation(1, "delete", gone), operation(2, "create", node("new", allocatable=ONE))),
    )
    run = Simulation(history)
    cycles = list(run)
    assert [(c.pod, c.node) for c in cycles if c.node] == [("default/p1", "gone"), ("default/p2", "new")]
    assert run.placement() == {"default/p2": "new"}
    again = Simulation(history)
    again.replay(run.decisions)
    assert again.placement() == run.placement()
