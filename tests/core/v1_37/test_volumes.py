"""Rules of the volume plugins that few clusters meet."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.csi_migration import MIGRATED_PLUGINS
from scheduler_core.schedulers.v1_37.interface import ClusterEvent
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.registrations import Registrations
from scheduler_core.schedulers.v1_37.signatures import signature
from tests.core.v1_37.parts import node, pod, started

ZONE = "topology.kubernetes.io/zone"


def claim(name: str, volume: str, **more: Any) -> dict[str, Any]:
    """Return a bound claim; ``more`` are ``metadata`` or fields of its specification."""
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes", **more.pop("annotations", {})},
            **more.pop("metadata", {}),
        },
        "spec": {"volumeName": volume, "accessModes": ["ReadWriteOnce"], **more},
        "status": {"phase": "Bound"},
    }


def volume(name: str, **labels: str) -> dict[str, Any]:
    """Return a volume."""
    spec = {"capacity": {"storage": "1Gi"}, "csi": {"driver": "d", "volumeHandle": name}}
    return {
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"phase": "Bound"},
    }


def using(name: str) -> list[dict[str, Any]]:
    """Return the volumes of a pod that uses a claim."""
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]


def test_a_dry_run_counts_uses_of_a_claim_for_one_pod_by_its_name_alone() -> None:
    """A pod of another namespace that leaves takes a use with it, as upstream's updateWithPod lets it."""
    low = pod("low", node="n", volumes=using("c"))
    low["metadata"]["namespace"] = "other"
    holder = pod("holder", node="m", priority=20, volumes=using("c"))
    run = started(
        node("n"), node("m"), claim("c", "v", accessModes=["ReadWriteOncePod"]), volume("v"), low, holder,
        pod("p", priority=10, volumes=using("c")),
    )  # fmt: skip
    preemption = run.cycles[0]["attempts"][0]["preemption"]
    assert preemption["candidates"] == {"n": {"victims": ["other/low"], "pdbViolations": 0}}


def test_the_zone_of_an_ephemeral_volume_is_not_looked_at() -> None:
    """VolumeZone reads the claims that a pod names, not those that are made for it."""
    made = pod("p", volumes=[{"name": "data", "ephemeral": {"volumeClaimTemplate": {}}}])
    owner = {"kind": "Pod", "name": "p", "uid": "uid-pod-default-p", "controller": True}
    zoned = [node("n", labels={ZONE: "a"}), volume("v", **{ZONE: "b"})]
    run = started(*zoned, claim("p-data", "v", metadata={"ownerReferences": [owner]}), made)
    assert run.cycles[0]["attempts"][0]["preFilter"]["VolumeZone"] == {"code": "Skip"}
    assert run.final()["bound"] == {"default/p": "n"}
    run = started(*zoned, claim("c", "v"), pod("p", volumes=using("c")))
    assert run.cycles[0]["attempts"][0]["failed"]["n"]["plugin"] == "VolumeZone"


@pytest.mark.parametrize(
    ("before", "now", "answer"),
    [("a__b", "b__a", "QueueSkip"), ("a", "a__b", "Queue"), ("a__", "", "QueueSkip"), ("a__", "a", "Queue")],
)
def test_a_change_of_zones_is_one_of_the_zones_that_it_names(before: str, now: str, answer: str) -> None:
    """Their order is none, and a label with an empty zone names nothing."""
    event = ClusterEvent(
        "PersistentVolume", "Update", volume("v", **{ZONE: before}), volume("v", **{ZONE: now})
    )
    found = Registrations(read_configuration(None)).find("VolumeZone", event)
    assert found is not None
    assert found.hint is not None
    assert found.hint(CompiledPod(pod("p")), event, None) == answer  # type: ignore[arg-type]


def test_the_old_annotation_names_the_class() -> None:
    """It counts before ``storageClassName``, also if it is empty."""
    waits = {
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "d",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    unbound = claim("c", "", annotations={"volume.beta.kubernetes.io/storage-class": "late"})
    del unbound["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"]
    unbound["spec"]["storageClassName"] = "none"
    run = started(node("n"), waits, unbound, pod("p", volumes=using("c")))
    assert run.final()["bound"] == {"default/p": "n"}


# --- limits, and volumes of in-tree plugins

EBS, PD = "ebs.csi.aws.com", "pd.csi.storage.gke.io"
EXCEEDED = "node(s) exceed max volume count"


def csi_node(driver: str, count: int | None = None, migrated: str = "") -> dict[str, Any]:
    """Return the CSINode of the node ``n``; without an annotation if ``migrated`` is empty."""
    installed: dict[str, Any] = {"name": driver}
    if count is not None:
        installed["allocatable"] = {"count": count}
    annotations = {MIGRATED_PLUGINS: migrated} if migrated else {}
    metadata = {"name": "n", "annotations": annotations}
    return {"kind": "CSINode", "metadata": metadata, "spec": {"drivers": [installed]}}


def inline(kind: str, **source: Any) -> list[dict[str, Any]]:
    """Return the volumes of a pod that names a volume itself."""
    return [{"name": "data", kind: source}]


def in_tree(name: str, kind: str, /, zone: str = "", **source: Any) -> dict[str, Any]:
    """Return a PersistentVolume of an in-tree plugin; ``zone`` is that of its label, if any."""
    made = volume(name, **({ZONE: zone} if zone else {}))
    made["spec"] = {"capacity": {"storage": "1Gi"}, kind: source}
    return made


def failed(*objects: dict[str, Any], gates: dict[str, bool] | None = None) -> dict[str, Any] | None:
    """Return what the node ``n`` answered in the first attempt; None if it passed."""
    run = started(*objects, gates=gates)
    found: dict[str, Any] | None = run.cycles[0]["attempts"][0]["failed"].get("n")
    return found


@pytest.mark.parametrize(
    ("kind", "source", "driver", "counted"),
    [
        ("awsElasticBlockStore", {"volumeID": "vol-1"}, EBS, True),
        ("awsElasticBlockStore", {"volumeID": "aws://zone/vol-1"}, EBS, True),
        ("gcePersistentDisk", {"pdName": "d"}, PD, True),
        ("azureDisk", {"diskName": "d", "diskURI": "/d"}, "disk.csi.azure.com", True),
        ("cinder", {"volumeID": "1"}, "cinder.csi.openstack.org", True),
        ("portworxVolume", {"volumeID": "1"}, "pxd.portworx.com", True),
        ("azureFile", {"secretName": "s", "shareName": "s"}, "file.csi.azure.com", False),
        ("vsphereVolume", {"volumePath": "v"}, "csi.vsphere.vmware.com", False),
    ],
)
def test_an_in_tree_volume_counts_for_its_driver_without_any_annotation(
    kind: str, source: dict[str, str], driver: str, counted: bool
) -> None:
    """As a volume of the pod, of a claim, and of a claim's class: but for the two that no node migrates."""
    full, base = csi_node(driver, 0), node("n")
    assert bool(failed(base, full, pod("p", volumes=inline(kind, **source)))) is counted
    bound = (claim("c", "v"), in_tree("v", kind, **source))
    assert bool(failed(base, full, *bound, pod("p", volumes=using("c")))) is counted
    assert failed(base, *bound, pod("p", volumes=using("c"))) is None


@pytest.mark.parametrize("same", [True, False])
def test_a_volume_that_a_pod_of_the_node_uses_counts_once(same: bool) -> None:
    """Its identifier may be written with its zone or without."""
    used = pod("u", node="n", volumes=inline("awsElasticBlockStore", volumeID="aws://zone/vol-1"))
    bound = claim("c", "v"), in_tree("v", "awsElasticBlockStore", volumeID="vol-1" if same else "vol-2")
    found = failed(node("n"), csi_node(EBS, 1), used, *bound, pod("p", volumes=using("c")))
    assert (found or {}).get("reasons") == (None if same else [EXCEEDED])


def test_a_class_of_an_in_tree_provisioner_is_its_drivers() -> None:
    """A claim that waits for its first consumer counts for the limit before it has a volume."""
    late = {
        "kind": "StorageClass",
        "metadata": {"name": "gp2"},
        "provisioner": "kubernetes.io/aws-ebs",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    unbound = claim("c", "", storageClassName="gp2")
    unbound["metadata"]["annotations"].clear()
    objects = (node("n"), late, unbound, pod("p", volumes=using("c")))
    assert (failed(*objects, csi_node(EBS, 0)) or {})["reasons"] == [EXCEEDED]
    assert failed(*objects, csi_node(EBS, 1)) is None
    assert failed(*objects) is None


@pytest.mark.parametrize(
    ("mine", "text"),
    [
        (
            {"azureDisk": {"diskURI": "/d", "kind": "Shared"}},
            "converting volume(data) from inline to csi: kind(Shared) is not supported in csi migration",
        ),
        (
            {"awsElasticBlockStore": {"volumeID": "aws://zone/disk"}},
            (
                "converting volume(data) from inline to csi: failed to translate Kubernetes ID to EBS "
                "Volume ID Invalid format for AWS volume (aws://zone/disk)"
            ),
        ),
    ],
)
def test_a_volume_that_cannot_be_translated_is_an_error(mine: dict[str, Any], text: str) -> None:
    """Filter fails, which ends the attempt; where there is no CSINode nothing is translated."""
    waiting = pod("p", volumes=[{"name": "data", **mine}])
    found = failed(node("n"), csi_node("d", 1), waiting) or {}
    assert found["code"] == "Error"
    assert found["reasons"] == [f'running "NodeVolumeLimits" filter plugin: {text}']
    assert failed(node("n"), waiting) is None


def test_another_pods_claim_of_an_ephemeral_volume_on_the_node_is_an_error() -> None:
    """The claim has the name of the volume's, but was not made for the pod."""
    foreign = claim("u-data", "v", metadata={"ownerReferences": []})
    there = pod("u", node="n", volumes=[{"name": "data", "ephemeral": {}}])
    own = claim("c", "w"), volume("w"), pod("p", volumes=using("c"))
    found = failed(node("n"), csi_node("d", 5), foreign, there, *own) or {}
    assert found["reasons"] == [
        (
            'running "NodeVolumeLimits" filter plugin: PVC default/u-data was not created for pod default/u '
            "(pod is not owner)"
        )
    ]


@pytest.mark.parametrize(
    ("prevents", "gates", "refused"),
    [(True, {}, True), (False, {}, False), (True, {"VolumeLimitScaling": False}, False)],
)
def test_a_node_without_a_driver_that_must_be_there_is_refused(
    prevents: bool, gates: dict[str, bool], refused: bool
) -> None:
    """``preventPodSchedulingIfMissing`` of the CSIDriver, while the gate is on."""
    driver = {
        "kind": "CSIDriver",
        "metadata": {"name": "d"},
        "spec": {"preventPodSchedulingIfMissing": prevents},
    }
    objects = (node("n"), driver, claim("c", "v"), volume("v"), pod("p", volumes=using("c")))
    found = failed(*objects, gates=gates)
    assert (found or {}).get("reasons") == (
        ["d CSI driver is not installed on the node"] if refused else None
    )
    assert failed(*objects, csi_node("d"), gates=gates) is None


# --- what is bound, and what can be

ZONED_EBS = in_tree("v", "awsElasticBlockStore", "a", volumeID="vol-1")
EBS_ZONE = "topology.ebs.csi.aws.com/zone"


@pytest.mark.parametrize(
    ("labels", "migrated", "plugin"),
    [
        ({EBS_ZONE: "a"}, "kubernetes.io/aws-ebs", None),
        ({EBS_ZONE: "b"}, "kubernetes.io/aws-ebs", "VolumeBinding"),
        ({}, "kubernetes.io/aws-ebs", "VolumeBinding"),
        ({}, "", None),
        ({ZONE: "b"}, "", "VolumeZone"),
        ({ZONE: "b"}, "kubernetes.io/aws-ebs", "VolumeBinding"),
    ],
)
def test_zones_of_an_in_tree_volume_are_its_drivers_where_the_kubelet_migrates_it(
    labels: dict[str, str], migrated: str, plugin: str | None
) -> None:
    """Elsewhere the labels of the volume count as they are."""
    objects = node("n", labels=labels), csi_node(EBS, migrated=migrated), claim("c", "v"), ZONED_EBS
    found = failed(*objects, pod("p", volumes=using("c"))) or {}
    assert found.get("plugin") == plugin


def test_a_bound_volume_that_cannot_be_translated_is_an_error() -> None:
    """Only where the kubelet migrates its plugin."""
    broken = in_tree("v", "gcePersistentDisk", "one__two", pdName="d")
    objects = node("n"), claim("c", "v"), broken, pod("p", volumes=using("c"))
    found = failed(*objects, csi_node(PD, migrated="kubernetes.io/gce-pd")) or {}
    assert found["reasons"] == [
        (
            'running "VolumeBinding" filter plugin: could not translate pv: failed to get region from zones: '
            "zone in unexpected format, expected: {locale}-{region}-{zone}, got: one"
        )
    ]
    assert failed(*objects, csi_node(PD)) is None


def static(claim_fields: dict[str, Any], volume_fields: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """Return a class without provisioner, an unbound claim, a free volume and a pod; ``more``: the class."""
    late = {
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
        **more,
    }
    unbound = claim("c", "", storageClassName="late", **claim_fields)
    unbound["metadata"]["annotations"].clear()
    free = volume("v")
    free["spec"] = {
        "capacity": {"storage": "1Gi"}, "storageClassName": "late", "accessModes": ["ReadWriteOnce"],
        **volume_fields,
    }  # fmt: skip
    free["status"]["phase"] = "Available"
    return [late, unbound, free, pod("p", volumes=using("c"))]


@pytest.mark.parametrize(
    ("wanted", "offered", "binds"), [("fast", "fast", True), ("fast", None, False), (None, "fast", False)]
)
def test_a_volume_of_another_attributes_class_is_not_bound(
    wanted: str | None, offered: str | None, binds: bool
) -> None:
    """``volumeAttributesClassName`` of claim and volume are equal, or both absent."""
    key = "volumeAttributesClassName"
    objects = static({key: wanted} if wanted else {}, {key: offered} if offered else {})
    assert (failed(node("n"), *objects) is None) is binds


@pytest.mark.parametrize(("terms", "passes"), [([], True), ([{}], False)])
def test_an_empty_topology_term_of_a_class_selects_no_node(terms: list[dict[str, Any]], passes: bool) -> None:
    """Unlike no term at all."""
    objects = static({}, {"storageClassName": "other"}, provisioner="d", allowedTopologies=terms)
    assert (failed(node("n"), *objects) is None) is passes


def test_binding_fails_on_a_node_that_the_driver_does_not_reach() -> None:
    """Filter matches a free volume by its labels as they are; once bound it counts as its driver's."""
    objects = static({}, {"awsElasticBlockStore": {"volumeID": "vol-1"}})
    objects[2]["metadata"]["labels"] = {ZONE: "a"}
    there = node("n", labels={ZONE: "a"}), csi_node(EBS, migrated="kubernetes.io/aws-ebs")
    run = started(*there, *objects)
    attempt = run.cycles[0]["attempts"][0]
    assert attempt["failed"] == {}
    assert (attempt["result"], attempt["message"]) == (
        "error",
        (
            'running PreBind plugin "VolumeBinding": binding volumes: pv "v" node affinity '
            'doesn\'t match node "n": no matching NodeSelectorTerms'
        ),
    )
    assert run.final()["bound"] == {}


def test_names_config_maps_and_secrets_do_not_tell_pods_apart() -> None:
    """Pods whose other volumes have equal sources can follow one another's decision."""
    profile = read_configuration(
        {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "PodTopologySpread"}]}}}]}
    ).profiles["default-scheduler"]

    def signed(*volumes: dict[str, Any]) -> str | None:
        return signature(CompiledPod(pod("p", volumes=list(volumes))), profile)

    one, same = {"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}
    assert signed(one, {"name": "c", "configMap": {"name": "x"}}) == signed(same)
    assert signed(one) != signed({"name": "a", "emptyDir": {"medium": "Memory"}})
