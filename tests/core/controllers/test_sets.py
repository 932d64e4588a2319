"""ReplicaSets, StatefulSets and DaemonSets."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.cluster.controllers import Change, Options
from scheduler_core.cluster.controllers.replicas import delete
from scheduler_core.kubernetes.model import ObjectMeta, Pod, Taint
from tests.core.controllers.driver import World, bare, node, workload

# --- ReplicaSet and ReplicationController


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
def test_a_deleted_pod_comes_back_and_gets_a_node(kind: str) -> None:
    """Eviction, creation under a new name, and a node again."""
    manifest = workload(kind, replicas=3)
    if kind == "ReplicationController":
        manifest |= {"apiVersion": "v1"}
        manifest["spec"]["selector"] = {"app": "web"}
    world = World(node("n1"), manifest)
    first = world.pods()[0]
    world.delete(first)
    assert len(world.names()) == 3 and first.meta.name not in world.names()
    assert all(pod.node_name == "n1" for pod in world.pods())


def test_finished_pods_are_replaced_and_stay_to_be_seen() -> None:
    """A pod that ends counts no longer as a replica."""
    world = World(node("n1"), workload("ReplicaSet", replicas=2, annotations={"podstep/run-seconds": "10"}))
    world.run(25)
    assert world.phases() == {"Succeeded": 4, "Running": 2}


def test_the_oldest_finished_pods_are_collected() -> None:
    """Above the threshold the first that ended go."""
    run = {"podstep/run-seconds": "10"}
    manifest = workload("ReplicaSet", replicas=2, annotations=run)
    world = World(node("n1"), manifest, options=Options(terminated_pods=3))
    world.run(105)
    assert world.phases() == {"Succeeded": 3, "Running": 2}
    assert [at for at, _ in world.told("PodGC")][:3] == [20, 30, 30]


def test_no_more_pods_are_made_than_the_bound_allows() -> None:
    """A controller that wants too many stops at the bound and does not ask without end."""
    world = World(node("n1"), workload("ReplicaSet", replicas=100_000), options=Options(most_pods=700))
    assert len(world.pods()) == 700


@pytest.mark.timeout(60)
@pytest.mark.parametrize("policy", ["Parallel", "OrderedReady"])
def test_a_stateful_set_of_billions_is_looked_at_pod_by_pod(policy: str) -> None:
    """A look takes as long as there are pods, not ordinals: also where none is missing or out of date."""
    manifest = workload("StatefulSet", replicas=3, podManagementPolicy=policy)
    world = World(node("n1"), manifest, options=Options(most_pods=5))
    manifest["spec"]["replicas"] = 2**31 - 1
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "two"
    world.apply(manifest)
    world.run(100)
    assert len(world.pods()) == 5


def test_a_pod_without_owner_is_adopted() -> None:
    """A bare pod that the selector selects counts, also if it comes later."""
    world = World(node("n1"), workload("ReplicaSet", "bare", replicas=2))
    world.apply(bare("extra"))
    assert len(world.pods()) == 2
    assert all(pod.meta.controller.name == "bare" for pod in world.pods())


def pod(name: str, node_name: str = "n1", phase: str = "Running", *, ready: bool = True) -> Pod:
    return Pod(ObjectMeta(name), node_name=node_name, phase=phase, ready=ready)


# who is there, oldest first, and the order in which they go
RANKS = [
    ("the youngest goes first", [pod("a"), pod("b")], ["b", "a"]),
    ("without a node before with one", [pod("a", "", "Pending"), pod("b", "n1", "Pending")], ["a", "b"]),
    ("Pending before Running", [pod("a", phase="Pending"), pod("b")], ["a", "b"]),
    ("not ready before ready", [pod("a", ready=False), pod("b")], ["a", "b"]),
]


@pytest.mark.parametrize(("why", "pods", "order"), RANKS, ids=[row[0] for row in RANKS])
def test_who_goes_first(why: str, pods: list[Pod], order: list[str]) -> None:
    """What serves least is deleted first (ActivePods)."""
    assert [change.object.meta.name for change in delete(pods, len(pods))] == order


# --- StatefulSet


def claims(*names: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"volumeClaimTemplates": [{"metadata": {"name": name}, "spec": spec} for name in names]}


def times(world: World, reason: str) -> list[tuple[float, str]]:
    return [(at, name) for at, name in world.told(reason) if not name.startswith("data-")]


SLOW: dict[str, str] = {"podstep/start-seconds": "10"}


def test_ordered_pods_start_one_after_another() -> None:
    """Each waits until the one before is Running."""
    world = World(node("n1"), workload("StatefulSet", "db", replicas=3, annotations=SLOW))
    world.run(100)
    assert times(world, "SuccessfulCreate") == [(0, "db-0"), (10, "db-1"), (20, "db-2")]


def test_parallel_pods_start_together() -> None:
    """Parallel waits for nobody, also when it shrinks."""
    parallel: dict[str, Any] = {"podManagementPolicy": "Parallel", "annotations": SLOW}
    world = World(node("n1"), workload("StatefulSet", "db", replicas=3, **parallel))
    assert times(world, "SuccessfulCreate") == [(0, "db-0"), (0, "db-1"), (0, "db-2")]
    world.run(50)
    world.apply(workload("StatefulSet", "db", replicas=1, **parallel))
    assert world.names() == ["db-0"]


def test_claims_outlive_their_pods() -> None:
    """Scaling down and deleting the set leave the claims, and a pod that comes back has its own again."""
    world = World(node("n1"), workload("StatefulSet", "db", replicas=2, **claims("data")))
    world.apply(workload("StatefulSet", "db", replicas=1, **claims("data")))
    assert world.names() == ["db-0"]
    world.apply(workload("StatefulSet", "db", replicas=2, **claims("data")))
    assert world.get("Pod", "db-1").volumes[0].claim == "data-db-1"
    world.delete(world.get("StatefulSet", "db"))
    assert world.pods() == []
    assert [claim.meta.name for claim in world.of("PersistentVolumeClaim")] == ["data-db-0", "data-db-1"]


def test_a_pod_that_comes_back_has_its_name_and_another_uid() -> None:
    """Who watches by uid sees that it is another pod."""
    world = World(node("n1"), workload("StatefulSet", "db", replicas=1))
    before = world.get("Pod", "db-0")
    world.delete(before)
    assert world.names() == ["db-0"]
    assert world.get("Pod", "db-0").meta.uid != before.meta.uid


def images(world: World) -> dict[str, str]:
    return {pod.meta.name: pod.containers[0].image for pod in world.pods()}


def update(partition: int = 0) -> dict[str, Any]:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}}


def test_an_update_goes_from_the_highest_ordinal_down_one_at_a_time() -> None:
    """The next is replaced when the one before is Running again."""
    world = World(node("n1"), workload("StatefulSet", "db", replicas=3, annotations=SLOW))
    world.run(100)
    world.apply(workload("StatefulSet", "db", replicas=3, image="two", annotations=SLOW))
    world.run(200)
    assert world.told("RollingUpdate") == [(100, "db-2"), (110, "db-1"), (120, "db-0")]
    assert set(images(world).values()) == {"two"}


def test_pods_below_the_partition_keep_the_old_template_also_when_they_come_back() -> None:
    """Lowering the partition lets the update go on."""
    world = World(node("n1"), workload("StatefulSet", "db", replicas=3, **update(2)))
    world.apply(workload("StatefulSet", "db", replicas=3, image="two", **update(2)))
    expected = {"db-0": "one", "db-1": "one", "db-2": "two"}
    assert images(world) == expected
    world.delete(world.get("Pod", "db-0"))
    assert images(world) == expected
    world.apply(workload("StatefulSet", "db", replicas=3, image="two", **update(0)))
    assert set(images(world).values()) == {"two"}


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_on_delete_replaces_only_what_somebody_deletes(kind: str) -> None:
    """The template of a pod that comes back is the new one."""
    count: dict[str, Any] = {"replicas": 2} if kind == "StatefulSet" else {}
    on_delete: dict[str, Any] = {"updateStrategy": {"type": "OnDelete"}, **count}
    world = World(node("n1"), node("n2"), workload(kind, **on_delete))
    world.apply(workload(kind, image="two", **on_delete))
    assert list(images(world).values()) == ["one", "one"]
    world.delete(world.pods()[0])
    assert sorted(images(world).values()) == ["one", "two"]


# --- DaemonSet


def daemon_nodes(world: World) -> list[str]:
    return sorted(pod.node_name for pod in world.pods("agent"))


def test_daemons_follow_the_nodes() -> None:
    """A new node gets its pod, a deleted one loses it, a cordon keeps nobody away."""
    world = World(node("n1"), workload("DaemonSet", "agent"))
    world.apply(node("n2"))
    assert daemon_nodes(world) == ["n1", "n2"]
    world.change(world.get("Node", "n1"), unschedulable=True)
    assert daemon_nodes(world) == ["n1", "n2"]
    world.delete(world.get("Node", "n1"))
    assert daemon_nodes(world) == ["n2"]


# a taint of a node without and with a pod: who has one afterwards
TAINTS = [("NoSchedule", False, True), ("NoExecute", False, False), ("PreferNoSchedule", True, True)]


@pytest.mark.parametrize(("effect", "new", "old"), TAINTS)
def test_taints_keep_daemons_away_or_drive_them_off(effect: str, new: bool, old: bool) -> None:
    """NoSchedule keeps new ones away, NoExecute drives off those that are there too."""
    taints = (Taint("mine", "", effect),)
    world = World(node("old"), workload("DaemonSet", "agent"))
    world.change(world.get("Node", "old"), taints=taints)
    world.manager.observe("create", replace(world.get("Node", "old"), meta=ObjectMeta("new")), 0.0)
    world.settle()
    assert daemon_nodes(world) == [name for name, there in (("new", new), ("old", old)) if there]


def test_a_label_brings_a_daemon_and_takes_it_away() -> None:
    """The template's node selector is looked at when a node changes."""
    world = World(node("n1"), workload("DaemonSet", "agent"))
    selective = workload("DaemonSet", "agent")
    selective["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    world.apply(selective)
    assert daemon_nodes(world) == []
    world.apply(node("n1", labels={"disk": "ssd"}))
    assert daemon_nodes(world) == ["n1"]
    world.apply(node("n1"))
    assert daemon_nodes(world) == []


def test_the_scheduler_finds_the_node_in_the_pods_affinity() -> None:
    """A daemon is Pending until it is bound, and may go to its own node only; it tolerates what fails."""
    world = World(node("n1"), node("n2"), workload("DaemonSet", "agent"), bind=False)
    terms: list[Any] = [pod.affinity.node_required for pod in world.pods()]
    fields = [one.match_fields[0] for (one,) in terms]
    assert [(field.key, field.values) for field in fields] == [
        ("metadata.name", ("n1",)),
        ("metadata.name", ("n2",)),
    ]
    assert world.phases() == {"Pending": 2}
    tolerated = {t.key.removeprefix("node.kubernetes.io/") for t in world.pods()[0].tolerations}
    assert tolerated >= {"not-ready", "unreachable", "disk-pressure", "memory-pressure", "unschedulable"}


def test_an_update_of_daemons_has_one_missing_at_a_time() -> None:
    """With maxUnavailable 1 the next pod goes when the last is Running again."""
    world = World(*(node(f"n{i}") for i in range(4)), workload("DaemonSet", "agent", annotations=SLOW))
    world.run(50)
    world.apply(workload("DaemonSet", "agent", image="two", annotations=SLOW))
    fewest = []
    world.watch = lambda now: fewest.append(sum(pod.available for pod in now.pods()))
    world.run(200)
    assert min(fewest) == 3
    assert [at for at, _ in world.told("RollingUpdate")] == [50, 60, 70, 80]
    assert set(images(world).values()) == {"two"}


def test_the_controller_of_v111_binds_where_there_is_room() -> None:
    """A daemon that found no room comes when a pod leaves."""
    small = node("n1")
    small["status"]["capacity"]["pods"] = 1
    manifest = workload("DaemonSet", "agent")
    world = World(
        small, bare("first", nodeName="n1"), manifest, options=Options(bind_daemons=True), bind=False
    )
    assert world.names() == ["first"]
    world.delete(world.get("Pod", "first"))
    assert daemon_nodes(world) == ["n1"]


def test_a_change_is_told_with_its_reason() -> None:
    """What a controller does carries the reason of Kubernetes' event."""
    world = World(node("n1"), workload("ReplicaSet", replicas=1), bind=False)
    [(at, change)] = [entry for entry in world.log if isinstance(entry[1].object, Pod)]
    assert (at, change) == (0.0, Change("create", world.pods()[0], "SuccessfulCreate"))


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_hole_in_a_stateful_set_is_filled(policy: str) -> None:
    """Whichever pods go, the same ordinals come back, and the set knows up to where all are available."""
    world = World(node("n1"), workload("StatefulSet", "db", replicas=6, podManagementPolicy=policy))
    owner = world.get("StatefulSet", "db")
    for gone in ((5,), (0,), (2, 3), (0, 5), (1, 2, 4)):
        for ordinal in gone:
            world.manager.observe("delete", world.get("Pod", f"db-{ordinal}"), world.now)
        assert world.manager.store.steady(owner) == gone[0]
        world.settle()
        assert world.names() == [f"db-{ordinal}" for ordinal in range(6)]
        assert world.manager.store.steady(owner) == 6


def test_looking_at_a_large_ordered_set_costs_what_is_new() -> None:
    """From 50 to 200 pods the work grows four times, not sixteen times."""
    asked = []
    for replicas in (50, 200):
        world = World(node("n1"))
        store = world.manager.store
        count, plain = [0], store.member

        def member(owner: Any, name: str, count: list[int] = count, plain: Any = plain) -> Any:
            count[0] += 1
            return plain(owner, name)

        store.member = member  # type: ignore[method-assign]
        world.apply(workload("StatefulSet", "db", replicas=replicas))
        assert len(world.pods()) == replicas
        asked.append(count[0])
    assert asked[1] <= 4.5 * asked[0]
