from __future__ import annotations

from typing import Any

import pytest

from tests.core.controllers.driver import World, bare, node, workload


def volume(
    name: str, size: str = "1Gi", cls: str = "", modes: str = "ReadWriteOnce", **spec: Any
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": modes.split(),
            "storageClassName": cls,
            "hostPath": {"path": "/"},
            **spec,
        },
    }


def claim(name: str = "c", size: str = "1Gi", cls: str = "", mode: str = "ReadWriteOnce") -> dict[str, Any]:
    spec = {
        "accessModes": [mode],
        "storageClassName": cls,
        "resources": {"requests": {"storage": size}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def storage(name: str, provisioner: str = "csi.example.com", mode: str = "Immediate") -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def using(name: str, of: str = "c", **spec: Any) -> dict[str, Any]:
    return bare(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": of}}], **spec)


def bound(world: World, name: str = "c") -> str:
    return str(world.get("PersistentVolumeClaim", name).volume_name)


KEPT: dict[str, Any] = {"claimRef": {"namespace": "default", "name": "c"}}
OTHERS: dict[str, Any] = {"claimRef": {"namespace": "default", "name": "other"}}

# why, the volumes, the claim: the volume that it gets
MATCHES = [
    ("the smallest that is large enough", [volume("l", "9Gi"), volume("m", "3Gi"), volume("s")],
     claim(size="2Gi"), "m"),
    ("none that is too small", [volume("s")], claim(size="2Gi"), ""),
    ("none of another class", [volume("s", cls="fast")], claim(), ""),
    ("one of its class", [volume("s"), volume("f", "5Gi", cls="fast")], claim(cls="fast"), "f"),
    ("one with its access mode", [volume("s"), volume("m", "2Gi", modes="ReadWriteOnce ReadWriteMany")],
     claim(mode="ReadWriteMany"), "m"),
    ("the one that is kept for it", [volume("s"), volume("k", "7Gi", **KEPT)], claim(), "k"),
    ("none that is kept for another", [volume("s", **OTHERS)], claim(), ""),
]  # fmt: skip


@pytest.mark.parametrize(("why", "volumes", "wanted", "name"), MATCHES, ids=[row[0] for row in MATCHES])
@pytest.mark.parametrize("later", [False, True])
def test_which_volume_a_claim_gets(
    why: str, volumes: list[dict[str, Any]], wanted: dict[str, Any], name: str, later: bool
) -> None:
    """The choice is the same, whether the claim or the volumes come first."""
    world = World(*([] if later else volumes), wanted)
    if later:
        world.apply(*volumes)
    if not later or len(volumes) == 1 or not name or "kept" in why:
        assert bound(world) == name
    if bound(world):
        taken = world.get("PersistentVolume", bound(world))
        assert (taken.claim_ref, taken.phase) == ("default/c", "Bound")


def test_two_claims_do_not_get_the_same_volume() -> None:
    """The second takes the next larger, the third waits until another volume comes."""
    world = World(volume("a", "1Gi"), volume("b", "2Gi"), claim("one"), claim("two"), claim("three"))
    assert [bound(world, name) for name in ("one", "two", "three")] == ["a", "b", ""]
    world.apply(volume("late", "5Gi"))
    assert bound(world, "three") == "late"


def test_a_claim_that_waits_is_bound_where_its_pod_goes() -> None:
    """WaitForFirstConsumer takes a volume that the pod's node may use, though a smaller one is elsewhere."""
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]
    here: dict[str, Any] = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    elsewhere = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
    there: dict[str, Any] = {"nodeAffinity": {"required": {"nodeSelectorTerms": elsewhere}}}
    local = storage("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer")
    volumes = [volume("far", "1Gi", "local", **there), volume("near", "5Gi", "local", **here)]
    world = World(node("n1", labels={"zone": "b"}), local, *volumes, claim(cls="local"))
    assert bound(world) == ""
    world.apply(using("p"))
    assert bound(world) == "near"


@pytest.mark.parametrize("mode", ["Immediate", "WaitForFirstConsumer"])
def test_a_provisioner_makes_the_volume(mode: str) -> None:
    """At once, or in the zone of the pod's node when that is known; it goes with the claim."""
    zone = {"topology.kubernetes.io/zone": "b"}
    world = World(node("n1", labels=zone), storage("disk", mode=mode), claim(cls="disk", size="3Gi"))
    assert bool(bound(world)) == (mode == "Immediate")
    world.apply(using("p"))
    made = world.get("PersistentVolume", bound(world))
    assert (made.capacity, made.claim_ref, made.storage_class) == (3 * 2**30, "default/c", "disk")
    assert (made.node_affinity is not None) == (mode == "WaitForFirstConsumer")
    world.delete(world.get("PersistentVolumeClaim", "c"))
    assert world.of("PersistentVolume") == []


def test_a_released_volume_is_nobodys() -> None:
    """What an admin made stays with its claim's name on it, and no other claim gets it."""
    world = World(volume("a"), claim("one"))
    world.delete(world.get("PersistentVolumeClaim", "one"))
    assert world.get("PersistentVolume", "a").phase == "Released"
    world.apply(claim("two"), claim("one"))
    assert [bound(world, name) for name in ("one", "two")] == ["", ""]


def test_claims_of_a_stateful_set_are_provisioned() -> None:
    """Each pod has a volume of its own, the same again after the pod comes back."""
    template = {"metadata": {"name": "data"}, "spec": claim(cls="disk")["spec"]}
    documents = (
        node("n1"),
        storage("disk"),
        workload("StatefulSet", replicas=2, volumeClaimTemplates=[template]),
    )
    world = World(*documents)
    before = [bound(world, f"data-web-{ordinal}") for ordinal in (0, 1)]
    assert len(set(before)) == 2 and "" not in before
    world.delete(world.get("Pod", "web-1"))
    assert [bound(world, f"data-web-{ordinal}") for ordinal in (0, 1)] == before
