"""The stand-in volume controller: a claim is bound one second after it may be.

A class's parameter ``podstep/topology`` (``zone`` or ``node``) gives its volumes that node affinity, and so
do its ``allowedTopologies``: the one of the selected node, or the first with the first value of each label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import Loop, StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    selects,
    spec_of,
    status_of,
    uid_of,
    with_meta,
    with_spec,
    with_status,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.kubernetes.quantity import parse_quantity

SECONDS = 1
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
_TOPOLOGY = {"zone": "topology.kubernetes.io/zone", "node": "kubernetes.io/hostname"}


class Volumes:
    """Binds claims to volumes that are there, or to new ones."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.loop: Loop = server.loop
        self.client = Clientset(server, "volumes")
        self._due: set[str] = set()
        server.watch(self.observe, ("PersistentVolume", "PersistentVolumeClaim"))

    def observe(self, write: StoredWrite) -> None:
        """Look at a claim that may be bound now, at the claim of a volume, and at all if a volume is new."""
        if write.kind == "PersistentVolumeClaim" and write.new is not None:
            self._look(write.new)
        elif write.kind == "PersistentVolumeClaim" and write.old is not None:
            self.loop.spawn(self._release(write.old))
        elif write.kind == "PersistentVolume" and write.new is not None:
            reference = spec_of(write.new).get("claimRef")
            claims = self.server.of_kind("PersistentVolumeClaim")
            for claim in [one for one in claims if not reference or reference["name"] == name_of(one)]:
                self._look(claim)

    def _look(self, claim: Manifest) -> None:
        key = key_of(claim)
        if key not in self._due and status_of(claim).get("phase") != "Bound" and self._may_bind(claim):
            self._due.add(key)
            self.loop.spawn_at(self.loop.now + SECONDS, self._bind, key)

    def bind(self, key: str) -> None:
        """Bind a claim at once, for a node that was selected for it."""
        self.loop.spawn(self._bind(key))

    def _may_bind(self, claim: Manifest) -> bool:
        if self._reserved(claim) is not None or SELECTED_NODE in annotations_of(claim):
            return True
        return not self._waits(claim) and (self._free(claim) is not None or self._class(claim) is not None)

    def _class(self, claim: Manifest) -> Manifest | None:
        found = self.server.get("StorageClass", spec_of(claim).get("storageClassName") or "")
        provisions = found is not None and found.get("provisioner") not in (
            None,
            "kubernetes.io/no-provisioner",
        )
        return found if provisions else None

    def _waits(self, claim: Manifest) -> bool:
        found = self.server.get("StorageClass", spec_of(claim).get("storageClassName") or "")
        return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"

    def _reserved(self, claim: Manifest) -> Manifest | None:
        """Return the volume whose claimRef names the claim."""
        for volume in self.server.of_kind("PersistentVolume"):
            reference = spec_of(volume).get("claimRef") or {}
            if (reference.get("namespace"), reference.get("name")) == (namespace_of(claim), name_of(claim)):
                return volume if reference.get("uid") in (None, uid_of(claim)) else None
        return None

    def _free(self, claim: Manifest) -> Manifest | None:
        """Return the smallest volume that fits and has no claim."""
        spec = spec_of(claim)
        wanted = parse_quantity(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))
        found = []
        for volume in self.server.of_kind("PersistentVolume"):
            of = spec_of(volume)
            size = parse_quantity((of.get("capacity") or {}).get("storage", "0"))
            if of.get("claimRef") or (of.get("storageClassName") or "") != (
                spec.get("storageClassName") or ""
            ):
                continue
            modes = set(spec.get("accessModes") or ()) <= set(of.get("accessModes") or ())
            chosen = not spec.get("selector") or selects(spec["selector"], labels_of(volume))
            if size >= wanted and modes and chosen:
                found.append((size, name_of(volume), volume))
        return min(found)[2] if found else None

    def _bind(self, key: str) -> Work:
        self._due.discard(key)
        claim = self.server.get("PersistentVolumeClaim", key)
        if claim is None or status_of(claim).get("phase") == "Bound":
            return
        try:
            volume = self._reserved(claim) or (None if self._waits(claim) else self._free(claim))
            if volume is None:
                made = self._provisioned(claim)
                if made is None:
                    return
                volume = yield self.client.create(made)
            reference = {"kind": "PersistentVolumeClaim", "namespace": namespace_of(claim)}
            reference |= {"name": name_of(claim), "uid": uid_of(claim)}
            yield self.client.patch(
                volume, lambda one: with_status(with_spec(one, claimRef=reference), {"phase": "Bound"})
            )
            yield self.client.patch(claim, lambda one: _bound(one, name_of(volume)))
        except StatusError:
            return

    def _provisioned(self, claim: Manifest) -> Manifest | None:
        storage_class = self._class(claim)
        if storage_class is None:
            return None
        spec = spec_of(claim)
        made: Manifest = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pvc-{namespace_of(claim)}-{name_of(claim)}"},
            "spec": {
                "capacity": dict((spec.get("resources") or {}).get("requests") or {}),
                "accessModes": list(spec.get("accessModes") or ()),
                "storageClassName": spec.get("storageClassName"),
                "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
                "csi": {"driver": storage_class["provisioner"], "volumeHandle": key_of(claim)},
            },
        }
        affinity = self._affinity(storage_class, annotations_of(claim).get(SELECTED_NODE, ""))
        if affinity:
            made["spec"]["nodeAffinity"] = affinity
        return made

    def _affinity(self, storage_class: Manifest, node: str) -> dict[str, Any] | None:
        label = _TOPOLOGY.get((storage_class.get("parameters") or {}).get("podstep/topology", ""))
        found = self.server.get("Node", node)
        labels = {} if found is None else labels_of(found)
        values = {label: labels[label]} if label in labels else _allowed(storage_class, labels)
        rows = [{"key": key, "operator": "In", "values": [value]} for key, value in values.items()]
        return {"required": {"nodeSelectorTerms": [{"matchExpressions": rows}]}} if rows else None

    def _release(self, claim: Manifest) -> Work:
        volume = self.server.get("PersistentVolume", spec_of(claim).get("volumeName") or "")
        if volume is None:
            return
        try:
            if spec_of(volume).get("persistentVolumeReclaimPolicy") == "Delete":
                yield self.client.delete(volume)
            else:
                yield self.client.patch(volume, lambda one: with_status(one, {"phase": "Released"}))
        except StatusError:
            return


def _allowed(storage_class: Manifest, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of the nodes that reach a new volume of a class, by its topologies."""
    topologies = [one["matchLabelExpressions"] for one in storage_class.get("allowedTopologies") or ()]
    for topology in topologies:
        if all(labels.get(row["key"]) in row["values"] for row in topology):
            return {row["key"]: labels[row["key"]] for row in topology}
    return {row["key"]: row["values"][0] for row in topologies[0]} if topologies else {}


def _bound(claim: Manifest, volume: str) -> Manifest:
    marks = {**annotations_of(claim), BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
    made = with_spec(with_meta(claim, annotations=marks), volumeName=volume)
    return with_status(made, {**status_of(claim), "phase": "Bound"})
