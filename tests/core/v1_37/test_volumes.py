"""Rules of the volume plugins that few clusters meet."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.v1_37.hints.registry import registration_for
from scheduler_core.v1_37.interface import Event
from scheduler_core.v1_37.pods import Pod
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
    event = Event("PersistentVolume", "Update", volume("v", **{ZONE: before}), volume("v", **{ZONE: now}))
    found = registration_for("VolumeZone", event)
    assert found is not None
    assert found.hint is not None
    assert found.hint(Pod(pod("p")), event, None) == answer  # type: ignore[arg-type]


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
