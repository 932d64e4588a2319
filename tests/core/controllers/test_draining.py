"""Drains: who is evicted, who stays, what a budget refuses, and when it is tried again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.controllers.driver import World, bare, node, workload
from tests.core.controllers.test_budgets import budget


def drained(world: World, name: str = "n1", how: str = "true") -> None:
    """Cordon the node and begin its drain."""
    made = node(name, annotations={"podstep/drain": how})
    world.apply({**made, "spec": {"unschedulable": True}})


def deleted(world: World) -> list[float]:
    """Return when each eviction happened."""
    return [at for at, _ in world.told("EvictionByEvictionAPI")]


def is_draining(world: World) -> bool:
    """Return whether the node still has its annotation."""
    return "podstep/drain" in world.get("Node", "n1").meta.annotations


def test_pods_of_controllers_are_evicted_at_once_in_order_of_names() -> None:
    """Their ReplicaSet makes others for the other node, and a DaemonSet's pod stays."""
    world = World(node("n1"), workload("ReplicaSet", replicas=3), workload("DaemonSet", "agent"))
    before = [pod.meta.name for pod in world.pods() if pod.meta.name.startswith("web")]
    world.apply(node("n2"))
    drained(world)
    assert [name for _, name in world.told("EvictionByEvictionAPI")] == sorted(before)
    on = sorted((pod.meta.name[:5], pod.node_name) for pod in world.pods())
    assert [where for name, where in on if name.startswith("web")] == ["n2"] * 3
    assert ("agent", "n1") in on
    assert world.told("Drained") and not is_draining(world)


@pytest.mark.parametrize(("how", "left"), [("true", ["alone"]), ("force", [])])
def test_a_pod_without_a_controller_needs_force(how: str, left: list[str]) -> None:
    """Without it nothing is evicted, and the event names the pod; the node stays cordoned."""
    world = World(node("n1"), workload("ReplicaSet", replicas=1), bare("alone", nodeName="n1"))
    drained(world, how=how)
    assert [pod.meta.name for pod in world.pods() if pod.meta.name == "alone"] == left
    assert bool(world.told("DrainFailed")) == bool(left)
    assert len(deleted(world)) == (0 if left else 2)
    assert world.get("Node", "n1").unschedulable and not is_draining(world)


def test_a_budget_lets_one_go_every_five_seconds() -> None:
    """The replacement runs after two seconds; the next eviction is tried five after the one before."""
    slow = workload("ReplicaSet", replicas=3, annotations={"podstep/start-seconds": "2"})
    world = World(node("n1"), slow, budget(maxUnavailable=1))
    world.run(10)
    world.apply(node("n2"))
    drained(world)
    assert deleted(world) == [10]
    assert len(world.told("EvictionRefused")) == 2
    world.run(100)
    assert deleted(world) == [10, 15, 20]
    assert len(world.told("EvictionRefused")) == 2
    assert not is_draining(world)


def test_a_budget_that_never_allows_it_ends_no_run() -> None:
    """Nothing is left to happen until the budget changes; then the eviction is tried at its next moment."""
    world = World(node("n1"), node("n2"), workload("ReplicaSet", replicas=2), budget(minAvailable=2))
    world.run(3)
    drained(world)
    on_n1 = sum(pod.node_name == "n1" for pod in world.pods())
    assert on_n1 and is_draining(world)
    assert world.manager.next_time() is None
    world.run(6)
    world.apply(budget(minAvailable=1))
    world.run(50)
    assert deleted(world) == [8]


POLICIES: list[tuple[dict[str, Any], int]] = [
    ({"minAvailable": 1}, 0),
    ({"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, 1),
]


@pytest.mark.parametrize(("spec", "gone"), POLICIES)
def test_a_pod_that_is_not_ready_goes_as_its_budget_s_policy_says(spec: dict[str, Any], gone: int) -> None:
    """With fewer healthy pods than the budget wants it stays by default."""
    crashing = {"podstep/run-seconds": "5", "podstep/outcome": "Failed"}
    crashes = workload("ReplicaSet", replicas=1, annotations=crashing, restartPolicy="Always")
    world = World(node("n1"), crashes, budget(**spec))
    world.run(12)
    assert not world.pods()[0].ready
    drained(world)
    assert len(deleted(world)) == gone


def test_two_budgets_of_one_pod_refuse_it() -> None:
    """The eviction API supports one."""
    world = World(node("n1"), workload("ReplicaSet", replicas=1), budget(maxUnavailable=1))
    world.apply({**budget(maxUnavailable=1), "metadata": {"name": "other"}})
    drained(world)
    assert deleted(world) == [] and world.told("EvictionRefused")
