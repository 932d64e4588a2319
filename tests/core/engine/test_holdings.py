"""Host ports and volumes on the nodes: what is counted does not depend on when it is counted."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.kubernetes.model import (
    Container,
    HostPort,
    Node,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    Volume,
)
from scheduler_core.schedulers.columns.pod_selectors import compile_map
from scheduler_core.schedulers.columns.pods import PodQuery
from scheduler_core.schedulers.columns.state import Cluster
from tests.core.equivalence.histories import bundle, read

PORT = HostPort("0.0.0.0", "TCP", 80)


def node(name: str, **labels: str) -> Node:
    """Make a node."""
    return Node(ObjectMeta(name, labels=labels), {"cpu": 4000, "memory": 10**9, "pods": 10})


def pod(
    name: str, on: str = "", *, volumes: tuple[Volume, ...] = (), ports: tuple[HostPort, ...] = ()
) -> Pod:
    """Make a pod."""
    containers = (Container("c", "app:1", {}, host_ports=ports),)
    return Pod(ObjectMeta(name, "default"), containers=containers, volumes=volumes, node_name=on)


def used_ports(cluster: Cluster, name: str) -> set[tuple[str, str, int]]:
    """Return the ports that a node counts as used."""
    place = cluster.columns.index[name]
    return set(cluster.uses[place].ports) if place in cluster.uses else set()


@pytest.fixture
def two_holders() -> Cluster:
    """Make a cluster where two pods of node-0 held one port and one of them has left: the set lost it."""
    cluster = Cluster()
    cluster.put(node("node-0"))
    for name in ("first", "second"):
        cluster.put(pod(name, "node-0", ports=(PORT,)))
    assert used_ports(cluster, "node-0") == {("0.0.0.0", "TCP", 80)}
    cluster.remove("Pod", "default/first")
    assert used_ports(cluster, "node-0") == set()
    return cluster


def test_a_freed_port_stays_free_whatever_makes_the_columns_anew(two_holders: Cluster) -> None:
    """A node that changes, one that comes or goes, and a volume that comes take no port anew."""
    changes: tuple[Any, ...] = (
        node("node-0", rack="r1"),
        node("node-1"),
        PersistentVolume(ObjectMeta("pv"), Volume(aws_ebs="vol")),
    )
    for change in changes:
        two_holders.put(change)
        assert used_ports(two_holders, "node-0") == set(), change
    two_holders.remove("Node", "node-1")
    assert used_ports(two_holders, "node-0") == set()


def test_a_node_that_comes_back_has_the_ports_that_it_had(two_holders: Cluster) -> None:
    """v1.11 keeps what it knows of a node that is deleted as long as pods are bound to it."""
    two_holders.remove("Node", "node-0")
    assert "node-0" not in two_holders.columns.index
    two_holders.put(node("node-0"))
    assert used_ports(two_holders, "node-0") == set()
    two_holders.put(pod("third", "node-0", ports=(PORT,)))
    assert used_ports(two_holders, "node-0") == {("0.0.0.0", "TCP", 80)}


def test_an_update_and_a_restart_take_the_port_again(two_holders: Cluster) -> None:
    """An update takes a pod off and puts it back; a scheduler that starts lists every pod."""
    two_holders.put(pod("second", "node-0", ports=(PORT,)))
    assert used_ports(two_holders, "node-0")
    two_holders.put(pod("third", "node-0", ports=(PORT,)))
    two_holders.remove("Pod", "default/third")
    assert not used_ports(two_holders, "node-0")
    two_holders.relist()
    assert used_ports(two_holders, "node-0")


@pytest.fixture
def waiting() -> Cluster:
    """Make a cluster with a claim that waits for a pod, and a volume for it."""
    cluster = Cluster()
    cluster.put(node("node-0"))
    cluster.put(node("node-1"))
    cluster.put(StorageClass(ObjectMeta("late"), "none", "WaitForFirstConsumer"))
    cluster.put(PersistentVolume(ObjectMeta("pv"), Volume(aws_ebs="vol"), None, "late", 5, ("RWO",)))
    cluster.put(PersistentVolumeClaim(ObjectMeta("data", "default"), "", "late", 1, ("RWO",)))
    return cluster


def counts(cluster: Cluster) -> list[list[int]]:
    """Return the attached volumes of each type on each node."""
    assert cluster.columns.size
    return cluster.attached_counts.tolist()


def test_only_a_decision_binds_claims(waiting: Cluster) -> None:
    """A pod that comes bound leaves its claims as they are, whether or not the columns are up to date."""
    uses_claim = (Volume(claim="data"),)
    waiting.put(pod("early", "node-0", volumes=uses_claim))
    assert counts(waiting) == [[1, 0], [1, 0], [1, 0]]  # not bound: it counts for every type
    waiting.put(pod("late", "node-0", volumes=uses_claim))
    claims = waiting.storage.claims
    assert [claim.volume_name for claim in claims.values()] == [""]
    state = waiting.put(pod("decided", volumes=uses_claim))
    assert state is not None
    waiting.put(node("node-2"))  # the columns are out of date, which is no reason not to bind
    assert waiting.assign(state, "node-1") == ("default/data",)
    assert [claim.volume_name for claim in claims.values()] == ["pv"]


def test_a_claim_that_is_bound_late_counts_for_every_pod_that_names_it(waiting: Cluster) -> None:
    """From then on its volume's type alone counts, also for pods that were on their nodes before."""
    uses_claim = (Volume(claim="data"),)
    waiting.put(pod("early", "node-0", volumes=uses_claim))
    state = waiting.put(pod("decided", volumes=uses_claim))
    assert state is not None
    assert counts(waiting) == [[1, 0], [1, 0], [1, 0]]
    waiting.assign(state, "node-1")
    assert counts(waiting) == [[1, 1], [0, 0], [0, 0]]
    waiting.remove("PersistentVolume", "pv")
    assert counts(waiting) == [[1, 1], [1, 1], [1, 1]]
    waiting.remove("Pod", "default/early")
    assert counts(waiting) == [[0, 1], [0, 1], [0, 1]]


def state_of(cluster: Cluster) -> dict[str, Any]:
    """Return all that is counted, by name."""
    names = cluster.columns.names
    uses = {
        names[place]: (use.ports, use.holders, use.disks, use.attached)
        for place, use in cluster.uses.items()
        if use.holders or use.disks or any(use.attached)
    }
    return {
        "names": names,
        "used": cluster.used.tolist(),
        "scalars": {name: v.tolist() for name, v in cluster.scalars_used.items() if v.any()},
        "lowest": cluster.lowest_priority.tolist(),
        "residents": [sorted(found) for found in cluster.residents],
        "uses": uses,
        "ports": cluster.port_nodes,
        "disks": cluster.disk_nodes,
        "volumes": cluster.volume_nodes,
        "attached": cluster.attached_counts.tolist(),
        "nodes": {key: state.node for key, state in cluster.pods.items() if state.node_name},
    }


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_it_is_of_no_account_when_the_columns_are_read(start: int) -> None:
    """Read after every change, now and then, or at the end alone, a cluster counts the same."""
    for seed in range(start, start + 10):
        scenario = read(bundle(seed))
        clusters = Cluster(), Cluster(), Cluster()
        for cluster in clusters:
            for obj in scenario.objects:
                cluster.put(obj)
        clusters[0].refresh()
        clusters[1].refresh()
        for number, operation in enumerate(scenario.operations):
            for cluster in clusters:
                if operation.object is not None:
                    cluster.put(operation.object)
                elif operation.configuration is None:
                    cluster.remove(operation.kind, operation.key)
            clusters[0].refresh()
            if number % 3 == 0:
                clusters[1].refresh()
        often, seldom, never = map(state_of, clusters)
        assert often == seldom == never, seed


def test_sums_over_domains_follow_labels() -> None:
    """After a node changed where it is, pods are still counted, and summed up over the new domains."""
    cluster = Cluster()
    for name, zone in (("node-0", "a"), ("node-1", "b")):
        cluster.put(node(name, zone=zone))
        cluster.put(pod(f"on-{name}", name))
    everything = PodQuery(((("default",), compile_map({})),))

    def sums() -> list[int]:
        domains = cluster.columns.topology(("zone",))
        return cluster.index.count(everything).sums(domains).tolist()

    assert sums() == [1, 1, 0]
    cluster.put(node("node-1", zone="a"))
    assert sums() == [2, 0]
    cluster.put(pod("third", "node-1"))
    assert sums() == [3, 0]
