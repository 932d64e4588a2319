"""Every row of the invalidation table: an event that it is for, and one that it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.model import (
    Affinity,
    Container,
    HostPort,
    LabelSelector,
    Node,
    NodeCondition,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    PriorityClass,
    Requirement,
    Service,
    StorageClass,
    Taint,
    Volume,
)
from scheduler_core.schedulers.columns.columns import REGION_LABEL, ZONE_LABEL
from scheduler_core.schedulers.columns.events import (
    InvalidationEvent,
    object_changed,
    pod_added,
    pod_came,
    pod_changed,
    pod_deleted,
    pod_updated,
)
from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.v1_11.equivalence.conditions import VOLUME_COUNTS, InvalidatedNodes
from scheduler_core.schedulers.v1_11.equivalence.row import MODES, Mode
from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE, Invalidation, InvalidationRules
from scheduler_core.schedulers.v1_11.policy.order import V1_11_ORDER
from scheduler_core.schedulers.v1_11.predicates import (
    PREDICATES,
    CheckNodeLabelPresence,
    CheckServiceAffinity,
)
from tests.core.equivalence.plain import PlainTopology
from tests.rows import each_row

EVERYTHING: dict[str, Predicate] = {
    key: PREDICATES.get(key, PREDICATES["HostName"]) for key in V1_11_ORDER
} | {
    "CheckNodeLabelPresence": CheckNodeLabelPresence(("zone",), presence=True),
    "CheckServiceAffinity": CheckServiceAffinity(("zone",)),
}

HOST = "kubernetes.io/hostname"


def named(name: str, namespace: str = "", **labels: str) -> ObjectMeta:
    """Make an object's metadata."""
    return ObjectMeta(name, namespace, labels=labels)


def labelled(name: str, labels: dict[str, str]) -> Node:
    """Make a node with labels that are no Python names."""
    return Node(ObjectMeta(name, labels=labels), allocatable={"cpu": 4000, "pods": 110})


def term(key: str = HOST, **labels: str) -> tuple[PodAffinityTerm, ...]:
    """Make one required term that selects pods by their labels."""
    return (PodAffinityTerm(LabelSelector(labels), key),)


def anti(key: str = HOST, **labels: str) -> Affinity:
    """Make required anti-affinity."""
    return Affinity(has_pod_anti_affinity=True, anti_required=term(key, **labels))


def near(key: str = HOST, **labels: str) -> Affinity:
    """Make required affinity."""
    return Affinity(has_pod_affinity=True, pod_required=term(key, **labels))


def pod(*volumes: Volume, **fields: Any) -> Pod:
    """Make a pod that asks for little."""
    container = Container("c", "app:1", {"cpu": 100})
    return replace(
        Pod(named("web", "default", app="web"), containers=(container,)), volumes=volumes, **fields
    )


NODES = [
    labelled("a", {HOST: "a", "zone": "1", ZONE_LABEL: "z1"}),
    labelled("b", {HOST: "b", "zone": "1"}),
    labelled("c", {HOST: "c", "zone": "2"}),
    labelled("d", {}),
]
A = NODES[0]
WEB = pod()
EBS = Volume("v", aws_ebs="vol-1")
CLAIMED = Volume("v", claim="data")
PV = PersistentVolume(named("pv"), EBS)
PVC = PersistentVolumeClaim(named("data", "default"))
BOUND = replace(PVC, volume_name="pv")
SERVICE = Service(named("web", "default"), {"app": "web"})
WAITING = StorageClass(named("late"), "none", "WaitForFirstConsumer")
REACH = (NodeSelectorTerm((Requirement("zone", "In", ("1",)),)),)


def changed(obj: Any, **fields: Any) -> InvalidationEvent:
    """Make the UPDATE of an object whose fields become these."""
    return event(obj, replace(obj, **fields))


def relabelled(obj: Any, **labels: str | None) -> InvalidationEvent:
    """Make the UPDATE of an object whose labels become these."""
    merged = {**obj.meta.labels, **{key.replace("ZONE", ZONE_LABEL): value for key, value in labels.items()}}
    kept = {key: value for key, value in merged.items() if value is not None}
    return changed(obj, meta=replace(obj.meta, labels=kept))


def event(old: Any, new: Any) -> InvalidationEvent:
    """Make the event of any change, on node ``a`` for pods."""
    if isinstance(old, Pod) and isinstance(new, Pod):
        return pod_updated(old, new, "a")
    found = object_changed(old, new)
    assert found is not None
    return found


@dataclass(frozen=True)
class Case:
    """An event that triggers a row, and one of the same kind and operation that does not, if there can be."""

    row: str
    triggers: InvalidationEvent
    leaves: InvalidationEvent | None
    seen: tuple[Pod, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()


ZONED = replace(PV, meta=ObjectMeta("pv", labels={ZONE_LABEL: "z1"}))
NFS = replace(PV, source=Volume("nfs"))
COUNTED = InvalidationEvent("Pod", "UPDATE", "x")

CASES = (
    Case("pv-count", event(None, PV), event(None, NFS)),
    Case("pv-topology", event(None, ZONED), event(None, PV)),
    Case("pv-topology", changed(PV, node_affinity=REACH), changed(PV, capacity=5)),
    Case("pv-zone-label", event(ZONED, None), event(PV, None)),
    Case("pv-to-bind", event(None, NFS), None),
    Case("pv-update-zone-label", relabelled(PV, ZONE="z2"), relabelled(ZONED, ZONE=None)),
    Case("pv-update-node-affinity", changed(PV, node_affinity=REACH), changed(PV, capacity=5)),
    Case("pv-missing", event(NFS, None), None),
    Case(
        "pv-update-match", changed(PV, claim_ref="default/data"), changed(PV, source=Volume("v", gce_pd="d"))
    ),
    Case("pv-update-match", relabelled(PV, disk="ssd"), None),
    Case("pv-update-source", changed(PV, source=Volume("v", gce_pd="d")), changed(PV, capacity=5)),
    Case("pvc-count", event(None, BOUND), event(None, PVC)),
    Case("pvc-count", event(BOUND, None), event(BOUND, None), volumes=(NFS,)),
    Case("pvc-any", event(None, PVC), None),
    Case("pvc-update-volume-name", event(PVC, BOUND), changed(PVC, request=7)),
    Case("pvc-update-volume-name-no-zone", event(PVC, BOUND), changed(PVC, request=7)),
    Case("pvc-update-match", changed(PVC, request=7), event(PVC, BOUND)),
    Case("storage-class", event(WAITING, None), event(replace(WAITING, binding_mode=None), None)),
    Case("storage-class", changed(WAITING, binding_mode="Immediate"), changed(WAITING, provisioner="x")),
    Case("service", event(None, SERVICE), None),
    Case("service-update-selector", changed(SERVICE, selector={"app": "x"}), relabelled(SERVICE, note="x")),
    Case("pod-add-general", pod_added(WEB, "a"), pod_came(WEB, "a")),
    Case("pod-add-general-key", pod_added(WEB, "a"), pod_came(WEB, "a")),
    Case("pod-add-volume-count", pod_added(pod(EBS), "a"), pod_added(pod(Volume("e", local=True)), "a")),
    Case("pod-came-general", pod_came(WEB, "a"), pod_added(WEB, "a")),
    Case("pod-came-volume-count", pod_came(pod(EBS), "a"), pod_added(pod(EBS), "a")),
    Case("pod-add-affinity", pod_added(pod(affinity=anti(app="web")), "a"), pod_added(WEB, "a")),
    Case("pod-add-disk", pod_added(pod(EBS), "a"), pod_added(pod(Volume("z", azure_disk="d")), "a")),
    Case("pod-bound-volumes", pod_added(WEB, "a", binds=("default/data",)), pod_added(WEB, "a")),
    Case("pod-bound-claims", pod_added(WEB, "a", binds=("default/data",)), pod_added(WEB, "a")),
    Case("pod-add-service", pod_added(WEB, "a"), None),
    Case(
        "pod-update-requests",
        changed(WEB, containers=(Container("c", "app:1", {"cpu": 200}),)),
        changed(WEB, containers=(Container("c", "app:2", {"cpu": 100}),)),
    ),
    Case(
        "pod-update-requests-key",
        changed(WEB, init_containers=(Container("i", "app:1", {"cpu": 200}),)),
        changed(WEB, priority=3),
    ),
    Case("pod-update-labels", relabelled(WEB, app="shop"), changed(WEB, priority=3)),
    Case("pod-update-service", relabelled(WEB, app="shop"), changed(WEB, priority=3)),
    Case(
        "pod-update-ports",
        changed(WEB, containers=(replace(WEB.containers[0], host_ports=(HostPort("0.0.0.0", "TCP", 80),)),)),
        changed(WEB, priority=3),
    ),
    Case("pod-update-volumes", changed(WEB, volumes=(EBS,)), changed(WEB, priority=3)),
    Case("pod-update-affinity", changed(WEB, affinity=anti(app="web")), relabelled(WEB, app="shop")),
    Case(
        "pod-delete-affinity",
        pod_deleted(WEB, "a"),
        pod_deleted(replace(WEB, meta=named("shop", "default", app="shop")), "a"),
        seen=(pod(affinity=anti(app="web")),),
    ),
    Case("pod-delete-affinity-all", pod_deleted(WEB, "a"), None),
    Case("pod-delete-disk", pod_deleted(pod(Volume("v", iscsi_iqn="iqn")), "a"), pod_deleted(WEB, "a")),
    Case("pod-delete-general", pod_deleted(WEB, "a"), None),
    Case("pod-delete-general-key", pod_deleted(WEB, "a"), None),
    Case("pod-delete-volume-count", pod_deleted(pod(CLAIMED), "a"), pod_deleted(WEB, "a")),
    Case("pod-delete-service", pod_deleted(WEB, "a"), None),
    Case("node-add", event(None, A), None),
    Case("node-update-general", changed(A, allocatable={"cpu": 1}), changed(A, capacity={"cpu": 1})),
    Case("node-update-general-key", relabelled(A, disk="ssd"), changed(A, unschedulable=True)),
    Case("node-update-labels", relabelled(A, disk="ssd"), changed(A, allocatable={"cpu": 1})),
    Case("node-update-labels-service", relabelled(A, disk="ssd"), changed(A, allocatable={"cpu": 1})),
    Case("node-update-affinity", relabelled(A, disk="ssd"), changed(A, allocatable={"cpu": 1})),
    Case("node-update-affinity-had", relabelled(A, zone="3"), relabelled(A, disk="ssd")),
    Case("node-update-affinity-had", relabelled(A, zone=None), relabelled(NODES[3], zone="3")),
    Case("node-update-zone", relabelled(NODES[1], ZONE="z2"), relabelled(A, zone="3")),
    Case("node-update-zone-had", relabelled(A, ZONE="z2"), relabelled(NODES[1], ZONE="z2")),
    Case("node-update-volume-binding", relabelled(A, disk="ssd"), changed(A, unschedulable=True)),
    Case("node-update-taints", changed(A, taints=(Taint("k", "v", "NoSchedule"),)), relabelled(A, zone="3")),
    Case(
        "node-update-taints-key", changed(A, taints=(Taint("k", "v", "NoSchedule"),)), relabelled(A, zone="3")
    ),
    Case(
        "node-update-conditions",
        changed(A, conditions=(NodeCondition("Ready", "False"),)),
        changed(A, conditions=(NodeCondition("KernelDeadlock", "False"),)),
    ),
    Case("node-update-unschedulable", changed(A, unschedulable=True), relabelled(A, zone="3")),
    Case("node-update-unschedulable-key", changed(A, unschedulable=True), relabelled(A, zone="3")),
    Case("node-delete", event(A, None), None),
    Case("node-delete-pods", event(A, None), None),
)


def found_by(
    given: InvalidationEvent,
    mode: Mode,
    topology: PlainTopology,
    predicates: dict[str, Predicate] | None = None,
) -> dict[str, Invalidation]:
    """Return what an event makes invalid, by the row's id."""
    rules = InvalidationRules(mode, EVERYTHING if predicates is None else predicates)
    return {found.row.id: found for found in rules.of(given, topology)}


@each_row("case", CASES, lambda case: case.row)
def test_a_row_is_for_its_event_and_no_other(case: Case) -> None:
    """In each of its modes the row names its event; it is silent in other modes and about other events."""
    (row,) = [row for row in TABLE if row.id == case.row]
    topology = PlainTopology(NODES, case.volumes if case.leaves and not case.volumes else (), case.seen)
    bound = PlainTopology(NODES, case.volumes, case.seen)
    for mode in MODES:
        found = found_by(case.triggers, mode, topology).get(case.row)
        assert (found is not None) == (mode in row.modes)
        if found is not None:
            assert found.event is case.triggers
            assert found.predicates is None or set(found.predicates) <= set(row.predicates or ())
            if row.scopes[mode] is InvalidatedNodes.NODE:
                assert found.rows is not None
                assert [NODES[row].meta.name for row in found.rows] == [case.triggers.node]
        if case.leaves is not None:
            assert case.leaves.resource == row.resource and case.leaves.operation in row.operations
            assert case.row not in found_by(case.leaves, mode, bound)


def test_every_row_has_a_case_and_says_why() -> None:
    """No row is without an id of its own, a mode, a source, a sentence and a test."""
    ids = [row.id for row in TABLE]
    assert len(set(ids)) == len(ids)
    assert set(ids) == {case.row for case in CASES}
    for row in TABLE:
        assert row.modes and row.source and row.why.endswith(".")
        assert row.predicates is None or set(row.predicates) <= set(V1_11_ORDER)


@pytest.mark.parametrize(
    ("volume", "keys"),
    [
        (EBS, ("MaxEBSVolumeCount",)),
        (Volume("v", gce_pd="d"), ("MaxGCEPDVolumeCount",)),
        (Volume("v", azure_disk="d"), ("MaxAzureDiskVolumeCount",)),
        (CLAIMED, VOLUME_COUNTS),
    ],
)
def test_a_volume_count_is_that_of_the_type(volume: Volume, keys: tuple[str, ...]) -> None:
    """Only the matching counts go; a claim may lead to any of them."""
    topology = PlainTopology(NODES)
    assert found_by(pod_added(pod(volume), "a"), "v1.11", topology)["pod-add-volume-count"].predicates == keys
    if volume.claim is None:
        given = event(None, replace(PV, source=volume))
        assert found_by(given, "designed", topology)["pv-count"].predicates == keys


def test_a_bound_claim_counts_for_its_volume() -> None:
    """Section 3.2 invalidates the count of the volume's type; of a missing volume nothing is known."""
    given = event(BOUND, None)
    known = found_by(given, "designed", PlainTopology(NODES, [PV]))["pvc-count"]
    assert known.predicates == ("MaxEBSVolumeCount",)
    assert found_by(given, "designed", PlainTopology(NODES))["pvc-count"].predicates == VOLUME_COUNTS


@pytest.mark.parametrize(
    ("condition", "key"),
    [
        ("Ready", "CheckNodeCondition"),
        ("OutOfDisk", "CheckNodeCondition"),
        ("MemoryPressure", "CheckNodeMemoryPressure"),
        ("DiskPressure", "CheckNodeDiskPressure"),
        ("PIDPressure", "CheckNodePIDPressure"),
    ],
)
def test_a_condition_concerns_the_predicate_that_reads_it(condition: str, key: str) -> None:
    """A pressure does not make the other pressures' results untrue."""
    given = changed(A, conditions=(NodeCondition(condition, "True"),))
    found = found_by(given, "sound", PlainTopology(NODES))
    assert found["node-update-conditions"].predicates == (key,)


def test_only_v1_11_forgets_the_members_of_general_predicates() -> None:
    """Where a policy lists PodFitsResources itself, v1.11 leaves it valid when a pod is added (#70991)."""
    listed = {"PodFitsResources": PREDICATES["PodFitsResources"]}
    topology = PlainTopology(NODES)
    assert found_by(pod_added(WEB, "a"), "v1.11", topology, listed) == {}
    for mode in ("designed", "sound"):
        assert found_by(pod_added(WEB, "a"), mode, topology, listed)["pod-add-general"].predicates == (
            "PodFitsResources",
        )
    whole = found_by(pod_added(WEB, "a"), "sound", topology)["pod-add-general"]
    assert whole.predicates == (
        "GeneralPredicates",
        "HostName",
        "PodFitsHostPorts",
        "MatchNodeSelector",
        "PodFitsResources",
    )


def test_only_sound_sees_that_a_pod_came_near_another() -> None:
    """A pod with anti-affinity that is placed leaves MatchInterPodAffinity valid in other modes (#67680)."""
    mutual = pod(affinity=anti(app="web"))
    for mode in MODES:
        found = found_by(pod_added(mutual, "a"), mode, PlainTopology(NODES, seen=[mutual]))
        keys = {key for one in found.values() for key in one.predicates or ()}
        assert ("MatchInterPodAffinity" in keys) == (mode == "sound")


def rows_for(given: InvalidationEvent, mode: Mode, row: str, *seen: Pod) -> list[str] | None:
    """Return the names of the nodes that a row means, ``None`` for all."""
    rows = found_by(given, mode, PlainTopology(NODES, seen=seen))[row].rows
    return None if rows is None else [NODES[place].meta.name for place in rows]


def test_a_domain_is_the_nodes_with_the_same_value() -> None:
    """Anti-affinity reaches as far as the topology keys that any pod names, and to the pod's own node."""
    added = pod_added(WEB, "a")
    assert rows_for(added, "sound", "pod-add-affinity", pod(affinity=anti(HOST, app="web"))) == ["a"]
    assert rows_for(added, "sound", "pod-add-affinity", pod(affinity=anti("zone", app="web"))) == ["a", "b"]
    unlabelled = pod_added(WEB, "d")
    assert rows_for(unlabelled, "sound", "pod-add-affinity", pod(affinity=anti("zone", app="web"))) == ["d"]


def test_a_domain_is_unclear_where_affinity_selects_the_pod() -> None:
    """The first pod that affinity selects ends the exception for the first pod of a group, on all nodes."""
    added, wanted = pod_added(WEB, "a"), near("zone", app="web")
    assert rows_for(added, "sound", "pod-add-affinity", pod(affinity=wanted)) is None
    other = near("zone", app="shop")
    assert rows_for(added, "sound", "pod-add-affinity", pod(affinity=other)) == ["a"]
    assert rows_for(pod_deleted(WEB, "a"), "sound", "pod-delete-affinity", pod(affinity=wanted)) is None
    # the proposal invalidates the failure domain whatever the term is
    assert rows_for(pod_deleted(WEB, "a"), "designed", "pod-delete-affinity", pod(affinity=wanted)) == [
        "a",
        "b",
    ]


def test_changed_labels_reach_differently_far() -> None:
    """The proposal invalidates the pod's node, v1.11 all nodes, and sound what terms can reach."""
    given = relabelled(WEB, app="shop")
    seen = pod(affinity=anti("zone", app="shop"))
    assert rows_for(given, "designed", "pod-update-labels", seen) == ["a"]
    assert rows_for(given, "v1.11", "pod-update-labels", seen) is None
    assert rows_for(given, "sound", "pod-update-labels", seen) == ["a", "b"]
    assert rows_for(given, "sound", "pod-update-labels", pod(affinity=near(app="web"))) is None


def test_what_was_seen_is_never_forgotten() -> None:
    """Entries outlive pods: terms of a pod that is gone still make an added pod matter."""
    gone = pod(affinity=anti("zone", app="web"))
    topology = PlainTopology(NODES, seen=[gone])
    assert topology.seen.selecting(WEB) == (False, True)
    assert topology.seen.selecting(replace(WEB, meta=named("x", "other", app="web"))) == (False, False)
    assert "pod-add-affinity" in found_by(pod_added(WEB, "c"), "sound", topology)


def test_a_disk_that_all_share_read_only_stays_valid() -> None:
    """Read-only users refuse nobody, unless one pod was seen that wants the disk for itself."""
    shared = pod(Volume("v", gce_pd="d", read_only=True))
    alone = pod(Volume("v", gce_pd="d"))
    added = pod_added(shared, "a")
    assert "pod-add-disk" not in found_by(added, "sound", PlainTopology(NODES, seen=[shared]))
    assert "pod-add-disk" in found_by(added, "sound", PlainTopology(NODES, seen=[shared, alone]))
    assert "pod-add-disk" in found_by(added, "sound", PlainTopology(NODES))


def test_a_predicate_with_a_name_of_its_own_is_its_kind() -> None:
    """A policy's name for labelsPresence or serviceAffinity is invalidated with it, except in v1.11."""
    own: dict[str, Predicate] = {
        "HasZone": CheckNodeLabelPresence(("zone",), presence=True),
        "SameRack": CheckServiceAffinity(("rack",)),
        "PodFitsPorts": PREDICATES["PodFitsPorts"],
    }
    topology = PlainTopology(NODES)
    given = relabelled(A, zone="9")
    assert found_by(given, "designed", topology, own)["node-update-labels"].predicates == (
        "HasZone",
        "SameRack",
    )
    assert found_by(given, "designed", topology, own)["node-update-general"].predicates == ("PodFitsPorts",)
    assert found_by(given, "v1.11", topology, own) == {}


def test_a_pod_on_a_node_that_is_not_there_makes_nothing_invalid_on_it() -> None:
    """A row for one node says nothing where the cache has no such node."""
    assert found_by(pod_added(WEB, "nowhere"), "designed", PlainTopology(NODES)) == {}


def test_a_pod_that_moves_goes_and_comes() -> None:
    """A change of the node is DELETE and ADD; a pod on no node makes no event."""
    twin = replace(WEB, priority=1)
    assert [found.operation for found in pod_changed(WEB, "a", twin, "b")] == ["DELETE", "ADD"]
    assert [found.node for found in pod_changed(WEB, "a", twin, "b")] == ["a", "b"]
    assert [found.operation for found in pod_changed(WEB, "a", twin, "a")] == ["UPDATE"]
    assert [found.operation for found in pod_changed(WEB, "a", None, "")] == ["DELETE"]
    assert [found.operation for found in pod_changed(None, "", WEB, "b")] == ["ADD"]
    assert pod_changed(WEB, "", twin, "") == ()


def test_objects_that_no_predicate_reads_make_no_event() -> None:
    """A priority class changes queues and victims, and no predicate's result."""
    assert object_changed(None, PriorityClass(named("high"), 9)) is None
    assert object_changed(None, None) is None


def test_an_event_reads_as_a_line() -> None:
    """What happened, to what, where, and what changed."""
    assert str(pod_added(WEB, "a")) == "Pod/ADD default/web on a"
    assert str(pod_came(WEB, "a")) == "Pod/ADD default/web on a (bound elsewhere)"
    assert str(changed(A, unschedulable=True)) == "Node/UPDATE a (unschedulable)"
    assert str(event(None, SERVICE)) == "Service/ADD default/web"


def test_conditions_in_another_order_are_a_change() -> None:
    """CheckNodeCondition tells its reasons in the node's order, so a cached answer tells them wrongly."""
    bad = (NodeCondition("Ready", "False"), NodeCondition("OutOfDisk", "True"))
    given = event(replace(A, conditions=bad), replace(A, conditions=bad[::-1]))
    assert "conditions" in given.facts


@pytest.mark.parametrize("key", [ZONE_LABEL, REGION_LABEL])
def test_zone_and_region_are_the_labels_of_zones(key: str) -> None:
    """Both labels concern NoVolumeZoneConflict, and no other label does."""
    given = event(NODES[3], labelled("d", {key: "x"}))
    assert "zone or region label" in given.facts
    assert "zone or region label" not in event(NODES[3], labelled("d", {"zone": "x"})).facts
