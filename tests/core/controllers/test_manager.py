"""What holds for all controllers together."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.cluster.controllers import (
    Change,
    ControllerManager,
    Options,
    Store,
    Wake,
    claims,
    daemons,
    manager,
    nodes,
    running,
)
from scheduler_core.cluster.controllers.nodes import with_ready
from scheduler_core.cluster.controllers.table import Reconcile
from tests.core.controllers.driver import World, node, workload

KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
RECONCILERS: dict[str, tuple[Reconcile, ...]] = {
    **{kind: (reconcile,) for kind, reconcile in manager.WORKLOADS.items()},
    "Pod": (running.reconcile, nodes.evict),
    "Node": (nodes.lifecycle, daemons.on_node),
    "PersistentVolumeClaim": (claims.reconcile,),
}
RUN = {"podstep/run-seconds": "40"}


def manifest(kind: str, dice: random.Random) -> dict[str, Any]:
    """Write some controller of a kind."""
    counted = {"completions": dice.randint(1, 6), "parallelism": dice.randint(1, 4)}
    spec: dict[str, Any] = counted if kind == "Job" else {"replicas": dice.randint(0, 6)}
    if kind == "DaemonSet":
        spec = {}
    if kind == "Job" or dice.random() < 0.3:
        spec["annotations"] = {**RUN, "podstep/outcome": dice.choice(["Succeeded", "Failed"])}
    return workload(kind, f"x-{kind.lower()}", image=str(dice.randint(1, 3)), **spec)


def random_world(seed: int, steps: int = 25) -> World:
    """Play a random history: controllers come, change and go, pods are evicted, nodes fail."""
    dice = random.Random(seed)
    names = [f"n{number}" for number in range(4)]
    world = World(
        *(node(name) for name in names), *(manifest(kind, dice) for kind in KINDS), delay=dice.choice([0, 1])
    )
    for _ in range(steps):
        act = dice.randrange(6)
        pods = [pod for pod in world.pods() if not pod.terminal]
        if act == 0 and pods:
            world.delete(dice.choice(pods))
        elif act == 1:
            status = dice.choice(["True", "False", "Unknown"])
            found = world.get("Node", dice.choice(names))
            if found is not None:
                world.manager.observe("update", with_ready(found, status), world.now)
                world.settle()
        elif act == 2:
            kind = dice.choice(KINDS)
            if (found := world.get(kind, f"x-{kind.lower()}")) is not None and dice.random() < 0.4:
                world.delete(found)
            else:
                world.apply(manifest(kind, dice))
        elif act == 3:
            name = dice.choice(names)
            found = world.get("Node", name)
            if found is None:
                world.apply(node(name))
            elif dice.random() < 0.3:
                world.delete(found)
        world.run(world.now + dice.choice([1, 10, 60, 400]))
    return world


def rest(world: World) -> None:
    """Let all nodes be well and everything come to its end."""
    for found in world.of("Node"):
        world.manager.observe("update", with_ready(found, "True"), world.now)
    if not world.of("Node"):
        world.apply(node("n0"))
    world.settle()
    world.run(world.now + 3000)


@pytest.mark.parametrize("seed", range(12))
def test_settled_controllers_want_nothing(seed: int) -> None:
    """After settling every controller, asked again for every object, answers with wake-ups at most."""
    world = random_world(seed)
    store = world.manager.store
    for key, obj in store.objects.items():
        for reconcile in RECONCILERS.get(key[0], ()):
            answers = reconcile(obj, store, world.now)
            assert [answer for answer in answers if not isinstance(answer, Wake)] == [], key
    assert world.manager.settle(world.now) == []


@pytest.mark.parametrize("seed", range(12))
def test_the_number_of_pods_converges(seed: int) -> None:
    """Whatever happened, in the end there are as many pods as wanted, and nobody has a pod too many."""
    world = random_world(seed)
    rest(world)
    active: dict[str, int] = {}
    for pod in world.pods():
        if not pod.terminal:
            owner = pod.meta.controller
            active[owner.name] = active.get(owner.name, 0) + 1
    for kind in ("ReplicaSet", "StatefulSet"):
        for owner in world.of(kind):
            assert active.get(owner.meta.name, 0) == owner.replicas
    for owner in world.of("Deployment"):
        sets = [one for one in world.of("ReplicaSet") if one.meta.name.startswith(owner.meta.name)]
        assert sum(one.replicas for one in sets) == owner.replicas
    for owner in world.of("DaemonSet"):
        assert active.get(owner.meta.name, 0) == len(world.of("Node"))
    for owner in world.of("Job"):
        assert owner.status.finished
        assert active.get(owner.meta.name, 0) == 0
    assert {pod.meta.controller.name for pod in world.pods()} <= {
        owner.meta.name for kind in KINDS for owner in world.of(kind)
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_same_history_gives_the_same_changes(seed: int) -> None:
    """Two runs agree in every change, its order, its time and its names."""
    assert random_world(seed).log == random_world(seed).log


@pytest.mark.parametrize("seed", range(4))
def test_the_indexes_are_those_of_the_objects(seed: int) -> None:
    """What was counted along the way is what counting from the objects gives."""
    world = random_world(seed)
    fresh = ControllerManager(world.manager.options)
    fresh.start(list(world.manager.store.objects.values()), world.now)
    for key in world.manager.store.objects:
        mine, other = world.manager.store.owned(key), fresh.store.owned(key)
        assert set(mine.members) == set(other.members)
        assert (mine.active, mine.available) == (other.active, other.available)
    for index in ("on", "daemons", "orphans", "users"):
        mine, other = getattr(world.manager.store.index, index), getattr(fresh.store.index, index)
        assert {k: set(v) for k, v in mine.items()} == {k: set(v) for k, v in other.items()}
    assert set(world.manager.store.index.since) == {pod.meta.key for pod in world.pods()}


def test_a_branch_goes_on_by_itself() -> None:
    """From a copy the same things happen again, and the copy does not see what the original did."""
    world = World(node("n1"), workload("Job", "sum", completions=6, parallelism=2, annotations=RUN))
    world.run(50)
    copied, at = deepcopy(world.manager), world.now
    before = dict(copied.store.objects)
    world.run(500)
    assert copied.store.objects == before
    first = len([entry for entry in world.log if entry[0] <= at])
    world.manager, world.now = copied, at
    later = world.log[first:]
    world.log = []
    world._pending = []
    world.run(500)
    assert world.log == later


def test_creation_timestamps_come_from_virtual_time() -> None:
    """What is made at 90 s is 90 s younger than the scenario's beginning."""
    world = World(node("n1"))
    world.run(90)
    world.apply(workload("Deployment", replicas=1))
    stamps = {obj.meta.creation_timestamp for obj in (*world.pods(), *world.of("ReplicaSet"))}
    assert stamps == {"2021-01-01T00:01:30Z"}


def test_timers_tell_what_is_waited_for() -> None:
    """In order of time, with the object and the reason; nothing is waited for once it is gone."""
    document = workload("ReplicaSet", replicas=1, annotations=RUN)
    world = World(node("n1", annotations={"podstep/fails-at": "100"}), document)
    pod = world.pods()[0]
    assert [(t.at, t.kind, t.key, t.reason) for t in world.manager.timers()] == [
        (40, "Pod", pod.meta.key, "ends"),
        (140, "Node", "n1", "node n1"),
    ]
    world.delete(world.get("ReplicaSet", "web"))
    assert [timer.at for timer in world.manager.timers()] == [140]


def test_only_what_an_event_concerns_is_looked_at() -> None:
    """One pod's end makes as many looks in a cluster of 400 controllers as in one of 4."""
    looks = []
    for number in (4, 400):
        documents = [workload("ReplicaSet", f"w{i}", replicas=1) for i in range(number)]
        world = World(*(node(f"n{i}") for i in range(number)), *documents)
        before = world.manager.looks
        world.delete(world.pods()[0])
        looks.append(world.manager.looks - before)
    assert looks[0] == looks[1] <= 6


def test_controllers_that_fight_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that takes back what it did, for ever, is named, and nobody looks any more."""

    def restless(owner: Any, store: Store, now: float) -> list[Change]:
        return [Change("update", replace(owner, replicas=1 - owner.replicas), "Flipped")]

    monkeypatch.setitem(manager.WORKLOADS, "ReplicaSet", restless)
    world = World(workload("ReplicaSet", replicas=1), options=Options(most_looks=100))
    assert world.manager.gave_up == "ReplicaSet default/web keeps changing while no virtual time passes"
    assert world.manager.looks < 200
    world.apply(workload("ReplicaSet", replicas=2))
    assert world.manager.looks < 200
    assert world.manager.next_time() is None


# what makes a controller's pods end at once, and how many it makes in a minute
RESTLESS = [
    ("a run of no time", {"annotations": {"podstep/run-seconds": "0"}}, 61),
    ("a node that drives off what comes", {"nodeName": "tainted"}, 61),
]


@pytest.mark.parametrize(("why", "spec", "made"), RESTLESS, ids=[row[0] for row in RESTLESS])
@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_pods_that_end_at_once_come_back_no_faster_than_every_second(
    kind: str, why: str, spec: dict[str, Any], made: int
) -> None:
    """Time passes between one pod and the next, so that a moment always comes to its end."""
    document = workload(kind, replicas=1, annotations=spec.get("annotations"))
    document["spec"]["template"]["spec"] |= {k: v for k, v in spec.items() if k == "nodeName"}
    tainted = node("tainted")
    tainted["spec"] = {"taints": [{"key": "mine", "effect": "NoExecute"}]}
    world = World(node("n1"), tainted, document)
    world.run(60)
    assert len(world.told("SuccessfulCreate")) == made
