"""A cluster in which every rule has something to say, and every change of one field of its objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.kubernetes.model import (
    Affinity,
    Container,
    HostPort,
    KubernetesObject,
    LabelSelector,
    Node,
    NodeCondition,
    NodeImage,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    Service,
    StorageClass,
    Taint,
    Toleration,
    Volume,
    WeightedPodAffinityTerm,
)
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.profiles.priority import Priority
from scheduler_core.schedulers.v1_11.policy.declared_fields import declared_fields

AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"
AVOIDED = '{"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "%s"}}}]}'
ZONE = "failure-domain.beta.kubernetes.io/zone"
OWNER = OwnerReference("ReplicaSet", "web", "u1", controller=True)
WEB = PodAffinityTerm(LabelSelector({"app": "web"}), ZONE)
DB = PodAffinityTerm(LabelSelector({"app": "db"}), ZONE)
SSD = NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),))


def node(number: int) -> Node:
    """Make one of three nodes: each in a zone of its own, the second with a taint and pressure."""
    return Node(
        ObjectMeta(
            f"n{number}",
            labels={ZONE: f"z{number}", "disk": "ssd" if number else "hdd", "rack": str(number)},
            annotations={AVOID: AVOIDED % ("u1" if number == 2 else "u9")},
        ),
        allocatable={"cpu": 2000, "memory": 4 << 30, "ephemeral-storage": 1 << 30, "pods": 3},
        taints=(Taint("dedicated", "gpu", "NoSchedule"), Taint("slow", "", "PreferNoSchedule"))
        if number == 1
        else (),
        conditions=(
            NodeCondition("Ready", "True"),
            *(NodeCondition(kind, str(number == 1)) for kind in ("MemoryPressure", "DiskPressure")),
        ),
        images=(NodeImage((f"app:{number}",), 500 << 20),),
    )


PORT = HostPort("0.0.0.0", "TCP", 80)
RESIDENT = Pod(
    ObjectMeta("old", "default", labels={"app": "web"}, owner_references=(OWNER,)),
    node_name="n0",
    affinity=Affinity(
        has_pod_anti_affinity=True,
        anti_required=(DB,),
        has_pod_affinity=True,
        pod_preferred=(WeightedPodAffinityTerm(3, WEB),),
    ),
    containers=(
        Container(
            "c", "app:0", {"cpu": 1500, "memory": 1 << 30}, host_ports=(HostPort("0.0.0.0", "TCP", 80),)
        ),
    ),
    volumes=(Volume("d", gce_pd="disk"), Volume("e", aws_ebs="vol")),
)
ASKING = Pod(
    ObjectMeta("new", "default", labels={"app": "web"}, annotations={"note": "1"}, owner_references=(OWNER,)),
    node_selector={"disk": "ssd"},
    affinity=Affinity(
        node_preferred=(PreferredNodeTerm(5, SSD),),
        has_pod_affinity=True,
        pod_preferred=(WeightedPodAffinityTerm(2, WEB),),
    ),
    tolerations=(Toleration("other", "Exists"),),
    containers=(
        Container(
            "c",
            "app:2",
            {"cpu": 800, "memory": 1 << 30},
            {"cpu": 900},
            host_ports=(HostPort("0.0.0.0", "TCP", 80),),
        ),
    ),
    volumes=(Volume("d", gce_pd="disk"), Volume("data", claim="data")),
)
OBJECTS: tuple[KubernetesObject, ...] = (
    *(node(number) for number in range(3)),
    PersistentVolume(
        ObjectMeta("pv", labels={ZONE: "z2"}),
        Volume("", aws_ebs="vol-2"),
        node_affinity=(NodeSelectorTerm((Requirement("rack", "In", ("1", "2")),)),),
        storage_class="fast",
        capacity=1 << 30,
        access_modes=("ReadWriteOnce",),
        claim_ref="default/data",
        phase="Bound",
    ),
    StorageClass(ObjectMeta("fast"), "disk.example.com", "WaitForFirstConsumer"),
    PersistentVolumeClaim(ObjectMeta("data", "default"), "pv", "fast", 1 << 30, ("ReadWriteOnce",)),
    Service(ObjectMeta("web", "default"), {"app": "web"}),
    RESIDENT,
)

META: Mapping[str, tuple[Any, ...]] = {
    "labels": ({}, {"app": "db"}, {ZONE: "z0"}, {"disk": "hdd", ZONE: "z1", "rack": "7"}),
    "annotations": ({}, {"note": "2"}, {"arch": "arm64"}, {AVOID: AVOIDED % "u1"}),
    "owner_references": ((), (OwnerReference("ReplicaSet", "other", "u9", controller=True),)),
    "deletion_timestamp": ("2026-01-01T00:00:00Z",),
    "creation_timestamp": ("2026-01-01T00:00:00Z",),
    "uid": ("another",),
}
"""What else the fields of any object's metadata can be; name and namespace would make it another object."""

FIELDS: Mapping[type, Mapping[str, tuple[Any, ...]]] = {
    Pod: {
        "node_selector": ({}, {"disk": "hdd"}),
        "affinity": (
            None,
            Affinity(node_required=(NodeSelectorTerm((Requirement("rack", "In", ("0",)),)),)),
            Affinity(has_pod_affinity=True, pod_required=(DB,)),
            Affinity(has_pod_anti_affinity=True, anti_required=(WEB,)),
        ),
        "tolerations": ((), (Toleration("dedicated", "Exists"),), (Toleration("slow", "Exists"),)),
        "containers": (
            (),
            (Container("c", "app:1", {"cpu": 100}),),
            (Container("c", "app:1", {"cpu": 5000, "gpu.example.com/x": 1}, {"cpu": 5000}),),
            (Container("c", "app:0", {}, host_ports=(HostPort("0.0.0.0", "TCP", 81),)),),
        ),
        "init_containers": ((Container("i", "init:1", {"cpu": 3000}, {"memory": 1 << 40}),),),
        "overhead": ({"cpu": 500},),
        "volumes": ((), (Volume("e", aws_ebs="vol"),), (Volume("data", claim="missing"),)),
        "priority": (7,),
        "priority_class_name": ("high",),
        "scheduler_name": ("another",),
        "nominated_node_name": ("n1",),
        "pod_group": ("gang",),
        "scheduling_gates": (("gate",),),
        "preemption_policy": ("Never",),
        "host_network": (True,),
        "restart_policy": ("Never",),
        "restarts": (3,),
        "ready": (False,),
        "start_time": ("2026-01-01T00:00:00Z",),
        "priority_given": (False,),
    },
    Node: {
        "allocatable": ({}, {"cpu": 900, "memory": 4 << 30, "pods": 9}, {"cpu": 8000, "pods": 1}),
        "capacity": ({"cpu": 1},),
        "taints": ((), (Taint("other", "", "NoExecute"), Taint("slow", "", "PreferNoSchedule"))),
        "unschedulable": (True,),
        "conditions": (
            (),
            (NodeCondition("Ready", "False"),),
            (NodeCondition("PIDPressure", "True"), NodeCondition("DiskPressure", "True")),
        ),
        "images": ((), (NodeImage(("app:2", "app:0"), 900 << 20),)),
    },
    PersistentVolume: {
        "source": (Volume("", gce_pd="disk-2"),),
        "node_affinity": (None, (NodeSelectorTerm((Requirement("rack", "In", ("0",)),)),)),
        "storage_class": ("slow",),
        "capacity": (1,),
        "access_modes": (("ReadOnlyMany",),),
        "claim_ref": ("",),
        "phase": ("Available",),
    },
    PersistentVolumeClaim: {
        "volume_name": ("", "none-such"),
        "storage_class": (None, "none-such"),
        "request": (1 << 50,),
        "access_modes": (("ReadWriteMany",),),
        "selector": (LabelSelector({"a": "b"}),),
    },
    StorageClass: {
        "provisioner": ("kubernetes.io/no-provisioner",),
        "binding_mode": (None, "Immediate"),
        "allowed_topologies": (((Requirement(ZONE, "In", ("z0",)),),),),
    },
    Service: {"selector": (None, {"app": "db"})},
}
"""Every field of a kind, and what else it can be."""

IDENTITY = {"meta", "name", "namespace", "node_name", "phase"}
"""What says which pod it is and where: no part of a class."""


def untested(kind: type[KubernetesObject]) -> set[str]:
    """Return the fields of a kind that have no row above: a new one wants its changes here."""
    ignored = IDENTITY if kind is Pod else {"meta"}
    return set(kind.__struct_fields__) - ignored - set(FIELDS[kind])


def changes(obj: Any) -> Iterator[tuple[str, Any]]:
    """Yield a field's name and the object with another value in it, one field at a time."""
    for name, values in META.items():
        for value in values:
            yield name, replace(obj, meta=replace(obj.meta, **{name: value}))
    for name, values in FIELDS[type(obj)].items():
        for value in values:
            yield name, replace(obj, **{name: value})


def cluster_of(objects: tuple[KubernetesObject, ...]) -> Cluster:
    """Make a cluster by the declarations of the registered rules."""
    cluster = Cluster(declared_fields())
    for obj in objects:
        cluster.put(obj)
    cluster.refresh()
    return cluster


def result_of(rule: Predicate | Priority, cluster: Cluster, pod: str = "default/new") -> Any:
    """Evaluate a rule afresh on all nodes, in a form in which what is equal compares equal."""
    state, view = cluster.pods[pod], View(cluster)
    found: Any = rule(state.info, view, state)
    if hasattr(found, "codes"):
        codes = [0] * view.size if found.codes is None else found.codes.tolist()
        return [cluster.reasons.texts[code] if code > 0 else code for code in codes], dict(found.errors)
    return [
        part if part is None or isinstance(part, int) else part.tolist() for part in (found.raw, found.score)
    ]
