"""Nodes that fail, and pods that run."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.cluster.controllers.nodes import with_ready
from scheduler_core.cluster.controllers.running import restart_delay, seconds
from tests.core.controllers.driver import World, bare, node, workload

ENDS = {"podstep/run-seconds": "30"}
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


def taints(world: World, name: str = "n1") -> list[tuple[str, str]]:
    return [(taint.key, taint.effect) for taint in world.get("Node", name).taints]


def set_ready(world: World, status: str, name: str = "n1") -> None:
    world.manager.observe("update", with_ready(world.get("Node", name), status), world.now)
    world.settle()


@pytest.mark.parametrize(("status", "key"), [("False", NOT_READY), ("Unknown", UNREACHABLE)])
def test_a_node_that_is_not_ready_is_tainted_at_once(status: str, key: str) -> None:
    """Both taints come with the condition, which comes after the grace period, and go with it."""
    world = World(node("n1"))
    set_ready(world, status)
    assert taints(world) == [(key, "NoSchedule"), (key, "NoExecute")]
    set_ready(world, "True")
    assert taints(world) == []


def test_a_node_that_falls_silent_is_found_out_after_the_grace_period() -> None:
    """For 40 s it looks as before and gets pods, though nothing starts on it; then it is tainted."""
    world = World(node("n1", annotations={"podstep/fails-at": "100"}), bare("early", nodeName="n1"))
    world.run(120)
    world.apply(bare("late"))
    assert taints(world) == []
    assert [(pod.meta.name, pod.phase, pod.node_name) for pod in world.pods()] == [
        ("early", "Running", "n1"),
        ("late", "Pending", "n1"),
    ]
    assert world.get("Pod", "early").available
    world.run(140)
    assert taints(world) == [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]
    assert not world.get("Pod", "early").available
    world.run(1000)
    assert world.told("TaintManagerEviction") == [(440, "early"), (440, "late")]


def test_a_short_silence_goes_unnoticed() -> None:
    """Within the grace period no taint comes; what would have ended meanwhile ends when the node answers."""
    silent = {"podstep/fails-at": "20", "podstep/recovers-at": "50"}
    world = World(node("n1", annotations=silent), bare("p", nodeName="n1", annotations=ENDS))
    world.run(500)
    assert world.told("TaintsChanged") == []
    assert world.told("Succeeded") == [(50, "p")]


def test_pods_leave_a_failed_node_when_their_tolerations_end() -> None:
    """By default 300 s after the taint; the ReplicaSet's pod then comes back on another node."""
    world = World(node("n1"), workload("ReplicaSet", replicas=1))
    world.apply(node("n2"))
    set_ready(world, "Unknown")
    assert not world.pods()[0].available
    world.run(1000)
    [(evicted, _)] = world.told("TaintManagerEviction")
    assert evicted == 300
    assert [pod.node_name for pod in world.pods()] == ["n2"]


def toleration(**fields: object) -> dict[str, Any]:
    return {"tolerations": [{"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", **fields}]}


# what the pod tolerates, and when it is deleted
TOLERATED = [
    ("nothing of its own", {}, [300]),
    ("for 10 s", toleration(tolerationSeconds=10), [10]),
    ("for no time", toleration(tolerationSeconds=0), [1]),
    ("for ever", toleration(), []),
]


@pytest.mark.parametrize(("why", "spec", "moments"), TOLERATED, ids=[row[0] for row in TOLERATED])
def test_each_pod_stays_as_long_as_it_tolerates(why: str, spec: dict[str, Any], moments: list[float]) -> None:
    """The seconds of the pod's own toleration count from the taint."""
    world = World(node("n1"), bare("p", nodeName="n1", **spec))
    set_ready(world, "Unknown")
    world.run(10_000)
    assert [at for at, _ in world.told("TaintManagerEviction")] == moments


def test_who_comes_back_in_time_keeps_its_pods() -> None:
    """A node that is ready again before the end evicts nobody, and its pods are ready again."""
    world = World(node("n1"), workload("ReplicaSet", replicas=2))
    before = world.names()
    set_ready(world, "Unknown")
    world.run(200)
    set_ready(world, "True")
    world.run(5000)
    assert world.names() == before
    assert all(pod.available for pod in world.pods())


def test_a_node_fails_and_recovers_by_its_annotations() -> None:
    """The moments are virtual seconds."""
    planned = {"podstep/fails-at": "100", "podstep/recovers-at": "200"}
    world = World(node("n1", annotations=planned), bare("p", nodeName="n1"))
    assert world.next_time() == 140
    world.run(5000)
    assert [at for at, _ in world.told("TaintsChanged")] == [140, 200]
    assert world.names() == ["p"]


def test_a_deleted_node_takes_its_pods_with_it() -> None:
    """The pods come back elsewhere."""
    world = World(node("n1"), workload("ReplicaSet", replicas=2))
    world.apply(node("n2"))
    world.delete(world.get("Node", "n1"))
    assert [pod.node_name for pod in world.pods()] == ["n2", "n2"]


# --- running

FAILS = {**ENDS, "podstep/outcome": "Failed"}

# restartPolicy, annotations: phase and restarts after 100 s
POLICIES = [
    ("", {}, "Running", 0),
    ("", ENDS, "Succeeded", 0),
    ("Never", FAILS, "Failed", 0),
    ("OnFailure", ENDS, "Succeeded", 0),
    ("OnFailure", FAILS, "Running", 3),
    ("Always", ENDS, "Running", 3),  # ends at 30, 60 and, 10 s later, 100
]


@pytest.mark.parametrize(("policy", "annotations", "phase", "restarts"), POLICIES)
def test_how_a_pod_ends(policy: str, annotations: dict[str, str], phase: str, restarts: int) -> None:
    """The restart policy tells whether the end of the containers is the end of the pod."""
    spec: dict[str, Any] = {"restartPolicy": policy} if policy else {}
    world = World(node("n1"), bare("p", annotations=annotations, **spec))
    world.run(100)
    pod = world.get("Pod", "p")
    assert (pod.phase, pod.restarts) == (phase, restarts)


@pytest.mark.parametrize(("restarts", "delay"), [(1, 0), (2, 10), (3, 20), (6, 160), (7, 300), (10**6, 300)])
def test_how_long_containers_wait_before_they_start_again(restarts: int, delay: float) -> None:
    """The first time at once, then 10 s doubling to five minutes."""
    assert restart_delay(restarts) == delay


def test_a_crash_looping_pod_is_not_available_while_it_waits() -> None:
    """It is Running and not ready."""
    world = World(node("n1"), bare("p", annotations=FAILS, restartPolicy="Always"))
    world.run(65)
    assert (world.get("Pod", "p").phase, world.get("Pod", "p").available) == ("Running", False)
    world.run(75)
    assert world.get("Pod", "p").available


def test_a_pod_starts_after_its_time() -> None:
    """The run begins when the pod is Running, and that after it was bound."""
    timed = {**ENDS, "podstep/start-seconds": "5"}
    world = World(node("n1"), bare("p", annotations=timed), delay=2)
    world.run(100)
    assert (world.told("Started"), world.told("Succeeded")) == ([(7, "p")], [(37, "p")])


def test_on_a_dead_node_nothing_starts_or_ends() -> None:
    """Time that passes meanwhile counts when the node answers again."""
    world = World(node("n1"), bare("p", annotations=ENDS, nodeName="n1"))
    world.run(10)
    set_ready(world, "Unknown")
    world.run(100)
    assert world.get("Pod", "p").phase == "Running"
    set_ready(world, "True")
    assert world.told("Succeeded") == [(100, "p")]


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf", "1e99"])
def test_what_is_no_duration_is_none(text: str) -> None:
    """A pod whose annotation cannot be read runs for ever."""
    assert seconds(text) is None
    world = World(node("n1"), bare("p", annotations={"podstep/run-seconds": text}))
    assert world.next_time() is None
