"""Volumes, claims and storage classes, and the volumes and ports that a pod occupies on a node."""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.kubernetes.model import (
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    Volume,
)
from scheduler_core.kubernetes.provisioner import allows, provisions, with_selected_node
from scheduler_core.kubernetes.selectors import matches
from scheduler_core.schedulers.columns.podinfo import PodInfo, Port
from scheduler_core.schedulers.quirks import quirk

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"

DiskKey = tuple[str, ...]
K = TypeVar("K", DiskKey, Port, str)
ATTACH_KINDS = ("ebs", "gce", "azure")


class ClaimError(Exception):
    """A claim that a predicate cannot evaluate; the attempt ends with this error message."""


class Storage(Struct):
    """The storage objects of the cluster by key (``namespace/name`` or name)."""

    volumes: dict[str, PersistentVolume] = field(default_factory=dict)
    claims: dict[str, PersistentVolumeClaim] = field(default_factory=dict)
    classes: dict[str, StorageClass] = field(default_factory=dict)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """Return a claim by namespace and name, or ``None``."""
        return self.claims.get(f"{namespace}/{name}")

    def class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        """Return the storage class of a claim, ``None`` if it names none or the class does not exist."""
        return self.classes.get(claim.storage_class) if claim.storage_class else None

    def delays_binding(self, claim: PersistentVolumeClaim) -> bool:
        """Return whether an unbound claim waits for its first consumer (volumebinder.shouldDelayBinding).

        Raises:
            ClaimError: The class has no volumeBindingMode.
        """
        storage_class = self.class_of(claim)
        if storage_class is None:
            return False
        if storage_class.binding_mode is None:
            raise ClaimError(f'VolumeBindingMode not set for StorageClass "{storage_class.meta.name}"')
        return storage_class.binding_mode == WAIT_FOR_FIRST_CONSUMER

    def waiting_claims(self, info: PodInfo) -> list[PersistentVolumeClaim]:
        """Return the pod's unbound claims that wait for it."""
        claims = (self.claim(info.namespace, name) for name in info.claims)
        return [c for c in claims if c is not None and not c.volume_name and self.delays_binding(c)]

    def match_waiting(
        self, waiting: list[PersistentVolumeClaim], reachable: Container[str]
    ) -> dict[str, str]:
        """Match waiting claims with distinct volumes; return claim key to volume name, matched claims only.

        Small claims are matched first, each with the smallest volume (volumebinder.findMatchingVolumes).
        """
        volumes = sorted(self.volumes.values(), key=lambda v: (v.capacity, v.meta.name))
        chosen: dict[str, str] = {}
        for claim in sorted(waiting, key=lambda c: c.request):
            taken = set(chosen.values())
            names = (v.meta.name for v in volumes if v.meta.name in reachable and serves(v, claim))
            choice = next((name for name in names if name not in taken), None)
            if choice is not None:
                chosen[claim.meta.key] = choice
        return chosen

    def made_for(self, claim: PersistentVolumeClaim, node: Node) -> bool:
        """Return whether a claim can be provisioned on a node (volumebinder.checkVolumeProvisions)."""
        found = self.class_of(claim)
        return found is not None and provisions(found) and allows(found, node)

    def select_node(self, claim_key: str, node: str) -> None:
        """Set the selected node of a claim; "" clears it."""
        self.claims[claim_key] = with_selected_node(self.claims[claim_key], node)

    def bind(self, claim_key: str, volume_name: str) -> None:
        """Bind a claim and a volume to each other."""
        self.claims[claim_key] = replace(self.claims[claim_key], volume_name=volume_name)
        self.volumes[volume_name] = replace(self.volumes[volume_name], claim_ref=claim_key, phase="Bound")

    def unbind(self, claim_key: str, previous: PersistentVolume) -> None:
        """Undo :meth:`bind` for a claim and a volume; ``previous`` is the volume's previous state."""
        name = previous.meta.name
        claim, volume = self.claims.get(claim_key), self.volumes.get(name)
        if claim is not None and claim.volume_name == name:
            self.claims[claim_key] = replace(claim, volume_name="")
        if volume is not None and volume.claim_ref == claim_key:
            self.volumes[name] = replace(volume, claim_ref=previous.claim_ref, phase=previous.phase)

    def attached(self, info: PodInfo) -> tuple[frozenset[str], ...]:
        """Return the pod's distinct volume ids per :data:`ATTACH_KINDS`.

        A claim without a volume counts once for each kind
        (predicates.MaxPDVolumeCountChecker.filterVolumes).
        """
        found: tuple[set[str], ...] = tuple(set() for _ in ATTACH_KINDS)
        for volume in info.volumes:
            if volume.claim is None:
                _add_ids(found, volume)
                continue
            claim = self.claim(info.namespace, volume.claim)
            bound = self.volumes.get(claim.volume_name) if claim and claim.volume_name else None
            if bound is not None:
                _add_ids(found, bound.source)
            else:
                for ids in found:
                    ids.add(f"claim:{info.namespace}/{volume.claim}")
        return tuple(frozenset(ids) for ids in found)


def serves(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Return whether a volume can serve a claim (pv_util.FindMatchingVolume, without node affinity)."""
    if volume.claim_ref:
        return volume.claim_ref == claim.meta.key
    return (
        volume.phase in ("", "Available")
        and volume.storage_class == (claim.storage_class or "")
        and volume.capacity >= claim.request
        and set(claim.access_modes) <= set(volume.access_modes)
        and selects(claim, volume)
    )


def selects(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Return whether a claim's selector, if any, matches the labels of a volume."""
    return claim.selector is None or matches(claim.selector, volume.meta.labels)


def _add_ids(found: tuple[set[str], ...], volume: Volume) -> None:
    for ids, value in zip(found, (volume.aws_ebs, volume.gce_pd, volume.azure_disk)):
        if value is not None:
            ids.add("id:" + value)


def disks(pod: Pod | PodInfo) -> tuple[tuple[DiskKey, bool], ...]:
    """Return what NoDiskConflict compares: (disk, whether it can be shared read-only) per volume.

    The flag is true where this pod's use allows other read-only users (predicates.isVolumeConflict).
    """
    found: list[tuple[DiskKey, bool]] = []
    for volume in pod.volumes:
        if volume.gce_pd is not None:
            found.append((("gce", volume.gce_pd), volume.read_only))
        if volume.aws_ebs is not None:
            found.append((("ebs", volume.aws_ebs), False))
        if volume.iscsi_iqn is not None:
            found.append((("iscsi", volume.iscsi_iqn), volume.read_only))
        if volume.rbd is not None:
            monitors, pool, image = volume.rbd
            found.extend((("rbd", monitor, pool, image), volume.read_only) for monitor in monitors)
    return tuple(found)


@quirk("ports-are-a-set")
class NodeUse:
    """Host ports and volumes in use on one node.

    ``ports`` is a set, as in v1.11: two pods may hold one triple, and removing one frees it
    (schedulercache.HostPortInfo); ``holders`` counts the pods that actually hold each. ``disks`` maps a disk
    to [users, users that do not share].
    """

    __slots__ = ("attached", "disks", "holders", "ports")

    def __init__(self) -> None:
        self.ports: set[Port] = set()
        self.holders: dict[Port, int] = {}
        self.disks: dict[DiskKey, list[int]] = {}
        self.attached: tuple[dict[str, int], ...] = tuple({} for _ in ATTACH_KINDS)

    def copy(self) -> NodeUse:
        """Return an independent copy."""
        other = NodeUse()
        other.ports = set(self.ports)
        other.holders = dict(self.holders)
        other.disks = {disk: list(users) for disk, users in self.disks.items()}
        other.attached = tuple(dict(ids) for ids in self.attached)
        return other

    def ports_alone(self) -> NodeUse:
        """Return a :class:`NodeUse` that shares these ports and has no volumes."""
        other = NodeUse()
        other.ports, other.holders = self.ports, self.holders
        return other

    def change(self, use: PodUse, sign: int) -> None:
        """Add (+1) or remove (-1) a pod's ports and volumes."""
        self.change_ports(use.ports, sign)
        self.change_volumes(use, sign)

    def change_ports(self, ports: tuple[Port, ...], sign: int) -> None:
        """Add or remove a pod's ports."""
        for port in ports:
            (self.ports.add if sign > 0 else self.ports.discard)(port)
            _tally(self.holders, port, sign)

    def change_volumes(self, use: PodUse, sign: int) -> None:
        """Add or remove a pod's volumes."""
        for disk, shares in use.disks:
            users = self.disks.setdefault(disk, [0, 0])
            users[0] += sign
            users[1] += 0 if shares else sign
            if not users[0]:
                del self.disks[disk]
        for mine, ids in zip(self.attached, use.attached):
            for volume in ids:
                _tally(mine, volume, sign)


def _tally(counts: dict[K, int], key: K, sign: int) -> None:
    left = counts.get(key, 0) + sign
    if left:
        counts[key] = left
    else:
        del counts[key]


class PodUse(Struct, frozen=True):
    """The host ports and volumes of a pod that nodes keep track of."""

    ports: tuple[Port, ...]
    disks: tuple[tuple[DiskKey, bool], ...]
    attached: tuple[frozenset[str], ...]

    def __bool__(self) -> bool:
        return bool(self.ports or self.disks or any(self.attached))


def pod_use(info: PodInfo, storage: Storage) -> PodUse:
    """Return what a pod occupies on its node besides resources."""
    return PodUse(info.ports, disks(info), storage.attached(info))


def ports_conflict(wanted: tuple[Port, ...], used: Collection[Port]) -> bool:
    """Return whether a requested host port is in use (schedulercache.HostPortInfo.CheckConflict)."""
    for ip, protocol, port in wanted:
        if (ip, protocol, port) in used or ("0.0.0.0", protocol, port) in used:  # noqa: S104 -- any address
            return True
        if ip == "0.0.0.0" and any(p == port and q == protocol for _, q, p in used):  # noqa: S104
            return True
    return False


def disks_conflict(wanted: tuple[tuple[DiskKey, bool], ...], used: dict[DiskKey, list[int]]) -> bool:
    """Return whether a requested disk conflicts with one in use (predicates.isVolumeConflict)."""
    for disk, shares in wanted:
        users = used.get(disk)
        if users is not None and (users[1] if shares else users[0]):
            return True
    return False
