from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.extender_calls import EXTENDER
from scheduler_core.schedulers.v1_37.interface import ClusterEvent, HintContext
from scheduler_core.schedulers.v1_37.plugins.table import ROWS
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.registrations import Registrations
from scheduler_core.schedulers.v1_37.state import ClusterState
from tests.core.v1_37.parts import UPSTREAM, node, pod
from tests.rows import each_row

Objects = tuple[dict[str, Any] | None, dict[str, Any] | None]

TAINT = {"key": "dedicated", "value": "a", "effect": "NoSchedule"}
ZONED: dict[str, Any] = {"topologySpreadConstraints": [
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
     "labelSelector": {"matchLabels": {"app": "web"}}}
]}  # fmt: skip


def term(app: str, **more: Any) -> dict[str, Any]:
    """Return a pod affinity term for pods of an app."""
    return {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}, **more}


def affinity(kind: str, *terms: dict[str, Any]) -> dict[str, Any]:
    """Return a required pod (anti-)affinity."""
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def claim(name: str, **more: Any) -> dict[str, Any]:
    """Return a PersistentVolumeClaim or ResourceClaim."""
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"}, **more}


def uses(name: str) -> dict[str, Any]:
    """Return the volumes of a pod that uses a claim."""
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}


def ports(number: int, **more: Any) -> dict[str, Any]:
    """Return containers with a host port."""
    return {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": number, **more}]}]}


def ebs(volume: str) -> dict[str, Any]:
    """Return the volumes of a pod that names an EBS volume itself."""
    return {"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": volume}}]}


def attached(driver: str) -> dict[str, Any]:
    """Return a VolumeAttachment of a driver."""
    return {"kind": "VolumeAttachment", "metadata": {"name": "a"}, "spec": {"attacher": driver}}


def csi_node(count: int | None) -> dict[str, Any]:
    """Return a CSINode with a volume limit."""
    return {
        "kind": "CSINode",
        "metadata": {"name": "n"},
        "spec": {"drivers": [{"name": "d", "allocatable": {"count": count}}]},
    }


def capacity(size: str) -> dict[str, Any]:
    """Return a CSIStorageCapacity."""
    return {"kind": "CSIStorageCapacity", "metadata": {"name": "c"}, "capacity": size}


def devices(name: str, allocation: Any = None) -> dict[str, Any]:
    """Return a ResourceClaim."""
    return {
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "status": {"allocation": allocation} if allocation else {},
    }


def group(name: str, count: int) -> dict[str, Any]:
    """Return a PodGroup."""
    return {
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": count}}},
    }


N = node("n")
W: dict[str, Any] = {"labels": {"app": "web"}}
MEMBER: dict[str, Any] = {"schedulingGroup": {"podGroupName": "g"}}
SLICE = "resource.k8s.io/ResourceClaim"
CASES: list[tuple[str, dict[str, Any], str, str, Objects, str]] = [
    ("NodeName", {}, "Node", "Add", (None, N), "Queue"),
    ("NodeUnschedulable", {}, "Node", "Add", (None, N), "Queue"),
    ("NodeUnschedulable", {}, "Node", "UpdateNodeTaint", (node("n", unschedulable=True), N), "Queue"),
    ("NodeUnschedulable", {}, "Node", "UpdateNodeTaint", (N, N), "QueueSkip"),
    ("NodeUnschedulable", {}, "Node", "Add", (None, node("n", unschedulable=True)), "QueueSkip"),
    (
        "NodeUnschedulable",
        {"tolerations": [{"operator": "Exists"}]},
        "TargetPod",
        "UpdatePodToleration",
        (pod("p"), pod("p")),
        "Queue",
    ),
    ("TaintToleration", {}, "Node", "Add", (None, node("n", taints=[TAINT])), "QueueSkip"),
    ("TaintToleration", {}, "Node", "UpdateNodeTaint", (node("n", taints=[TAINT]), N), "Queue"),
    ("TaintToleration", {}, "Node", "UpdateNodeTaint", (N, N), "QueueSkip"),
    (
        "NodeAffinity",
        {"nodeSelector": {"a": "b"}},
        "Node",
        "UpdateNodeLabel",
        (N, node("n", labels={"a": "b"})),
        "Queue",
    ),
    ("NodeAffinity", {"nodeSelector": {"a": "b"}}, "Node", "Add", (None, N), "QueueSkip"),
    ("NodePorts", ports(80), "AssignedPod", "Delete", (pod("x", **ports(80)), None), "Queue"),
    (
        "NodePorts",
        ports(80),
        "AssignedPod",
        "Delete",
        (pod("x", **ports(80, protocol="UDP")), None),
        "QueueSkip",
    ),
    (
        "NodePorts",
        ports(80, hostIP="10.0.0.1"),
        "AssignedPod",
        "Delete",
        (pod("x", **ports(80, hostIP="10.0.0.2")), None),
        "QueueSkip",
    ),
    ("NodeResourcesFit", {"cpu": "3"}, "Node", "Add", (None, node("n", cpu="2")), "QueueSkip"),
    ("NodeResourcesFit", {"cpu": "3"}, "Node", "UpdateNodeAllocatable", (node("n", cpu="2"), N), "Queue"),
    ("NodeResourcesFit", {"cpu": "3"}, "Node", "UpdateNodeAllocatable", (node("n", cpu="5"), N), "QueueSkip"),
    (
        "NodeResourcesFit",
        {"cpu": "3"},
        "Node",
        "UpdateNodeAllocatable",
        (node("n", cpu="5", pods="9"), N),
        "Queue",
    ),
    (
        "NodeResourcesFit",
        {"cpu": "3"},
        "AssignedPod",
        "UpdatePodScaleDown",
        (pod("x", cpu="2"), pod("x", cpu="1")),
        "Queue",
    ),
    (
        "NodeResourcesFit",
        {},
        "AssignedPod",
        "UpdatePodScaleDown",
        (pod("x", cpu="2"), pod("x", cpu="1")),
        "QueueSkip",
    ),
    ("VolumeRestrictions", uses("c"), "AssignedPod", "Delete", (pod("x", **uses("c")), None), "Queue"),
    ("VolumeRestrictions", uses("c"), "AssignedPod", "Delete", (pod("x", **uses("d")), None), "QueueSkip"),
    ("VolumeRestrictions", uses("c"), "PersistentVolumeClaim", "Add", (None, claim("c")), "Queue"),
    ("NodeVolumeLimits", uses("c"), "storage.k8s.io/CSINode", "Update", (csi_node(1), csi_node(2)), "Queue"),
    (
        "NodeVolumeLimits",
        uses("c"),
        "storage.k8s.io/CSINode",
        "Update",
        (csi_node(2), csi_node(2)),
        "QueueSkip",
    ),
    ("NodeVolumeLimits", uses("c"), "AssignedPod", "Delete", (pod("x"), None), "QueueSkip"),
    (
        "NodeVolumeLimits",
        uses("c"),
        "AssignedPod",
        "Delete",
        (pod("x", node="n", **uses("d")), None),
        "Queue",
    ),
    ("NodeVolumeLimits", uses("c"), "AssignedPod", "Delete", (pod("x", **uses("d")), None), "QueueSkip"),
    (
        "NodeVolumeLimits",
        uses("c"),
        "storage.k8s.io/CSINode",
        "Update",
        (csi_node(None), csi_node(1)),
        "Queue",
    ),
    (
        "NodeVolumeLimits",
        uses("c"),
        "storage.k8s.io/VolumeAttachment",
        "Delete",
        (attached("x"), None),
        "Queue",
    ),
    (
        "NodeVolumeLimits",
        {"volumes": [{"name": "v", "ephemeral": {}}]},
        "storage.k8s.io/VolumeAttachment",
        "Delete",
        (attached("x"), None),
        "QueueSkip",
    ),
    (
        "NodeVolumeLimits",
        ebs("vol-1"),
        "storage.k8s.io/VolumeAttachment",
        "Delete",
        (attached("ebs.csi.aws.com"), None),
        "Queue",
    ),
    (
        "NodeVolumeLimits",
        ebs("vol-1"),
        "storage.k8s.io/VolumeAttachment",
        "Delete",
        (attached("pd.csi.storage.gke.io"), None),
        "QueueSkip",
    ),
    (
        "NodeVolumeLimits",
        ebs("aws://zone/disk-1"),
        "storage.k8s.io/VolumeAttachment",
        "Delete",
        (attached("pd.csi.storage.gke.io"), None),
        "Queue",
    ),
    ("VolumeBinding", uses("c"), "PersistentVolumeClaim", "Update", (claim("d"), claim("d")), "QueueSkip"),
    ("VolumeBinding", uses("c"), "PersistentVolumeClaim", "Update", (claim("c"), claim("c")), "Queue"),
    (
        "VolumeBinding",
        uses("c"),
        "storage.k8s.io/CSIStorageCapacity",
        "Update",
        (capacity("1Gi"), capacity("2Gi")),
        "Queue",
    ),
    (
        "VolumeBinding",
        uses("c"),
        "storage.k8s.io/CSIStorageCapacity",
        "Update",
        (capacity("2Gi"), capacity("1Gi")),
        "QueueSkip",
    ),
    (
        "VolumeBinding",
        uses("c"),
        "storage.k8s.io/StorageClass",
        "Update",
        ({"kind": "StorageClass"}, {"kind": "StorageClass"}),
        "QueueSkip",
    ),
    (
        "VolumeZone",
        uses("c"),
        "storage.k8s.io/StorageClass",
        "Add",
        (None, {"volumeBindingMode": "Immediate"}),
        "QueueSkip",
    ),
    (
        "VolumeZone",
        uses("c"),
        "PersistentVolume",
        "Update",
        ({"metadata": {}}, {"metadata": {"labels": {"a": "b"}}}),
        "QueueSkip",
    ),
    ("PodTopologySpread", ZONED, "AssignedPod", "Add", (None, pod("x", node="n", **W)), "Queue"),
    ("PodTopologySpread", ZONED, "AssignedPod", "Delete", (pod("x", node="n"), None), "QueueSkip"),
    ("PodTopologySpread", ZONED, "AssignedPod", "Delete", (pod("x", node="n", **W), None), "Queue"),
    (
        "PodTopologySpread",
        ZONED,
        "AssignedPod",
        "Delete",
        (pod("x", **W) | {"status": {"nominatedNodeName": "n"}}, None),
        "QueueSkip",
    ),
    (
        "PodTopologySpread",
        ZONED,
        "AssignedPod",
        "UpdatePodLabel",
        (pod("x", node="n"), pod("x", node="n", **W)),
        "Queue",
    ),
    ("PodTopologySpread", ZONED, "Node", "Add", (None, N), "QueueSkip"),
    ("PodTopologySpread", ZONED, "Node", "Delete", (node("n", labels={"zone": "a"}), None), "Queue"),
    (
        "PodTopologySpread",
        ZONED,
        "Node",
        "UpdateNodeLabel",
        (node("n", labels={"zone": "a"}), node("n", labels={"zone": "b"})),
        "Queue",
    ),
    ("PodTopologySpread", ZONED, "Node", "UpdateNodeLabel", (N, node("n", labels={"x": "b"})), "QueueSkip"),
    (
        "PodTopologySpread",
        ZONED,
        "TargetPod",
        "UpdatePodToleration",
        (pod("p"), pod("p", tolerations=[{}])),
        "QueueSkip",
    ),
    (
        "InterPodAffinity",
        {"affinity": affinity("podAffinity", term("web"))},
        "AssignedPod",
        "Add",
        (None, pod("x", **W)),
        "Queue",
    ),
    (
        "InterPodAffinity",
        {"affinity": affinity("podAffinity", term("web"), term("db"))},
        "AssignedPod",
        "Add",
        (None, pod("x", **W)),
        "QueueSkip",
    ),
    (
        "InterPodAffinity",
        {"affinity": affinity("podAffinity", term("web", namespaceSelector={}))},
        "AssignedPod",
        "Add",
        (None, pod("x", **W)),
        "Queue",
    ),
    (
        "InterPodAffinity",
        {"affinity": affinity("podAffinity", term("web", namespaceSelector={"matchLabels": {"a": "b"}}))},
        "AssignedPod",
        "Add",
        (None, pod("x", **W)),
        "QueueSkip",
    ),
    (
        "InterPodAffinity",
        {"affinity": affinity("podAntiAffinity", term("web"))},
        "AssignedPod",
        "Delete",
        (pod("x", **W), None),
        "Queue",
    ),
    (
        "InterPodAffinity",
        W,
        "AssignedPod",
        "Delete",
        (pod("x", affinity=affinity("podAntiAffinity", term("web"))), None),
        "Queue",
    ),
    ("InterPodAffinity", W, "AssignedPod", "Delete", (pod("x"), None), "QueueSkip"),
    ("InterPodAffinity", W, "Node", "Add", (None, node("n", labels={"zone": "a"})), "QueueSkip"),
    (
        "InterPodAffinity",
        {"affinity": affinity("podAntiAffinity", term("web"))},
        "Node",
        "UpdateNodeLabel",
        (node("n", labels={"zone": "a"}), N),
        "Queue",
    ),
    (
        "DynamicResources",
        {"resourceClaims": [{"name": "r", "resourceClaimName": "mine"}]},
        SLICE,
        "Update",
        (devices("other", {"a": 1}), devices("other")),
        "Queue",
    ),
    (
        "DynamicResources",
        {"resourceClaims": [{"name": "r", "resourceClaimName": "mine"}]},
        SLICE,
        "Update",
        (devices("other"), devices("other", {"a": 1})),
        "QueueSkip",
    ),
    (
        "DynamicResources",
        {"resourceClaims": [{"name": "r", "resourceClaimName": "mine"}]},
        SLICE,
        "Update",
        (devices("mine"), devices("mine", {"a": 1})),
        "Queue",
    ),
    (
        "DynamicResources",
        {"resourceClaims": [{"name": "r", "resourceClaimName": "lost"}]},
        SLICE,
        "Update",
        (devices("mine", {"a": 1}), devices("mine")),
        "QueueSkip",
    ),
    ("NodeDeclaredFeatures", {}, "TargetPod", "UpdatePodLabel", (pod("p"), pod("p", **W)), "QueueSkip"),
    (
        "NodeDeclaredFeatures",
        {},
        "TargetPod",
        "Update",
        (pod("p"), pod("p", hostNetwork=True, hostUsers=False)),
        "Queue",
    ),
    ("SchedulingGates", {}, "TargetPod", "UpdatePodSchedulingGatesEliminated", (pod("p"), pod("p")), "Queue"),
    ("DefaultPreemption", {}, "AssignedPod", "Delete", (pod("x"), None), "QueueSkip"),
    ("Extender", {}, "storage.k8s.io/StorageClass", "Update", ({}, {}), "Queue"),
    ("Extender", {}, "UnscheduledPod", "Add", (None, pod("x")), "Queue"),
    ("GangScheduling", MEMBER, "UnscheduledPod", "Add", (None, pod("x", **MEMBER)), "Queue"),
    ("GangScheduling", MEMBER, "AssignedPod", "Add", (None, pod("x")), "QueueSkip"),
    ("GangScheduling", MEMBER, "scheduling.k8s.io/PodGroup", "Add", (None, group("g", 2)), "Queue"),
    (
        "GangScheduling",
        MEMBER,
        "scheduling.k8s.io/PodGroup",
        "Update",
        (group("g", 3), group("g", 2)),
        "Queue",
    ),
    (
        "GangScheduling",
        MEMBER,
        "scheduling.k8s.io/PodGroup",
        "Update",
        (group("g", 2), group("g", 3)),
        "QueueSkip",
    ),
    (
        "GangScheduling",
        MEMBER,
        "scheduling.k8s.io/PodGroup",
        "Update",
        (group("h", 3), group("h", 2)),
        "QueueSkip",
    ),
]


def ask(plugin: str, manifest: dict[str, Any], event: ClusterEvent) -> str:
    """Return a plugin's answer about a waiting pod."""
    cluster = ClusterState()
    cluster.create(devices("mine"))
    configuration = read_configuration(None, {"GenericWorkload": True})
    context = HintContext(cluster, configuration.profiles["default-scheduler"], configuration)
    row = Registrations(configuration).find(plugin, event)
    assert row is not None, "not registered"
    return "Queue" if row.hint is None else row.hint(CompiledPod(manifest), event, context)


@each_row(("plugin", "fields", "resource", "action", "objects", "answer"), CASES)
def test_a_hint_answers_for_the_pod_and_the_event(
    plugin: str, fields: dict[str, Any], resource: str, action: str, objects: Objects, answer: str
) -> None:
    """Each row is one plugin, a waiting pod and an event, and whether it may help."""
    assert ask(plugin, pod("p", **fields), ClusterEvent(resource, action, *objects)) == answer


def test_every_plugin_that_registered_an_event_has_a_case() -> None:
    """One of v1.37 itself without a row above would be untested."""
    assert {case[0] for case in CASES} == {row.key for row in ROWS.values() if row.registrations} & {
        *UPSTREAM,
        EXTENDER,
    }


def test_the_general_update_receives_every_specific_one() -> None:
    """But a plugin that wants a specific update does not hear of others."""
    find = Registrations(read_configuration(None)).find
    assert find("NodeDeclaredFeatures", ClusterEvent("TargetPod", "UpdatePodLabel", None, None))
    assert not find("SchedulingGates", ClusterEvent("TargetPod", "Update", None, None))
    assert not find("NodeAffinity", ClusterEvent("Node", "Delete", None, None))
