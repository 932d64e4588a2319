"""Classes, claims and volumes that a dump lacks, as pods and claims name them."""

from __future__ import annotations

from scheduler_core.cluster.reconstruction.dump import Dump
from scheduler_core.cluster.reconstruction.notes import BOUND
from scheduler_core.cluster.v1_37.objects import Manifest, key_of, name_of, namespace_of, spec_of, uid_of
from scheduler_core.cluster.v1_37.volumes import BIND_COMPLETED

_SYSTEM = ("system-cluster-critical", "system-node-critical")


def put_back_priorities(dump: Dump) -> None:
    """Put back PriorityClasses with the values that their pods have."""
    found: dict[str, Manifest] = {}
    for pod in dump.of_kind("Pod"):
        name = spec_of(pod).get("priorityClassName")
        if name and spec_of(pod).get("priority") is not None and dump.get("PriorityClass", name) is None:
            found.setdefault(name, pod)
    for name, pod in sorted(found.items()):
        value = int(spec_of(pod)["priority"])
        policy = spec_of(pod).get("preemptionPolicy") or "PreemptLowerPriority"
        made = {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy}
        note = f"PriorityClass {name} is not in the dump: assumed with the value {value} of its pods"
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        dump.add({**kind, **made}, "" if name in _SYSTEM else note)


def put_back_claims(dump: Dump) -> None:
    """Put back the claims of pods, bound to volumes that may be anywhere, and the volumes of claims."""
    claims = [
        (namespace_of(pod), str(volume["persistentVolumeClaim"]["claimName"]))
        for pod in dump.of_kind("Pod")
        for volume in spec_of(pod).get("volumes") or ()
        if (volume.get("persistentVolumeClaim") or {}).get("claimName")
    ]
    reserved = {
        f"{claim.get('namespace')}/{claim.get('name')}": one
        for one in dump.of_kind("PersistentVolume")
        if (claim := spec_of(one).get("claimRef") or {})
    }
    for namespace, name in sorted(set(claims)):
        if dump.get("PersistentVolumeClaim", f"{namespace}/{name}") is None:
            _add_claim(dump, namespace, name, reserved.get(f"{namespace}/{name}"))
    for claim in dump.of_kind("PersistentVolumeClaim"):
        volume = spec_of(claim).get("volumeName")
        if volume and dump.get("PersistentVolume", volume) is None:
            _add_volume(dump, claim, volume)


def _add_claim(dump: Dump, namespace: str, name: str, volume: Manifest | None) -> None:
    spec = spec_of(volume or {})
    where = "" if volume is not None else ", to a volume that any node reaches"
    made = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "annotations": {BIND_COMPLETED: "yes"}},
        "spec": {
            "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
            "resources": {"requests": spec.get("capacity") or {"storage": "1Gi"}},
            "storageClassName": spec.get("storageClassName") or "",
            "volumeName": name_of(volume) if volume is not None else f"assumed-{namespace}-{name}",
        },
        "status": {"phase": "Bound"},
    }
    uid = (spec.get("claimRef") or {}).get("uid")
    if uid:
        made["metadata"]["uid"] = uid  # type: ignore[index]
    dump.add(
        made, f"PersistentVolumeClaim {namespace}/{name} is not in the dump: assumed bound{where}", BOUND
    )


def _add_volume(dump: Dump, claim: Manifest, name: str) -> None:
    spec = spec_of(claim)
    made = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": (spec.get("resources") or {}).get("requests") or {"storage": "1Gi"},
            "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
            "storageClassName": spec.get("storageClassName") or "",
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {
                "kind": "PersistentVolumeClaim",
                "namespace": namespace_of(claim),
                "name": name_of(claim),
                "uid": uid_of(claim),
            },
        },
        "status": {"phase": "Bound"},
    }
    is_new = name.startswith("assumed-")
    note = f"PersistentVolume {name} ({key_of(claim)}) is not in the dump: assumed in reach of any node"
    dump.add(made, "" if is_new else note, BOUND)
