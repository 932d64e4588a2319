"""Free volumes and unbound claims by storage class, and volumes reserved for a claim."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from scheduler_core.cluster.controllers.branching import Branching
from scheduler_core.cluster.controllers.pod_index import discard
from scheduler_core.kubernetes.model import PersistentVolume, PersistentVolumeClaim

VolumeNames = dict[str, None]


class VolumeIndex(Branching):
    """The names of volumes, and of claims as ``namespace/name``."""

    def __init__(self) -> None:
        self._free: dict[str, list[tuple[int, str]]] = {}  # capacity and name, the smallest first
        self._kept: dict[str, VolumeNames] = {}  # by the claim that they name
        self._unbound: dict[str, VolumeNames] = {}

    def volumes_for(self, claim: PersistentVolumeClaim) -> Iterator[str]:
        """Yield the volumes reserved for a claim, then free ones of its class that fit it, smallest first."""
        yield from tuple(self._kept.get(claim.meta.key, ()))
        free = self._free.get(claim.storage_class or "", [])
        for _, name in free[bisect_left(free, (claim.request, "")) :]:
            yield name

    def kept_for(self, claim: str) -> list[str]:
        """Return the volumes whose claimRef is this claim."""
        return list(self._kept.get(claim, ()))

    def unbound(self, storage_class: str) -> list[str]:
        """Return the unbound claims of a class, in order of creation."""
        return list(self._unbound.get(storage_class, ()))

    def add(self, obj: PersistentVolume | PersistentVolumeClaim) -> None:
        """Add a volume or a claim."""
        if isinstance(obj, PersistentVolumeClaim):
            if not obj.volume_name:
                self._unbound.setdefault(obj.storage_class or "", {})[obj.meta.key] = None
        elif obj.claim_ref:
            self._kept.setdefault(obj.claim_ref, {})[obj.meta.name] = None
        else:
            insort(self._free.setdefault(obj.storage_class, []), (obj.capacity, obj.meta.name))

    def drop(self, obj: PersistentVolume | PersistentVolumeClaim) -> None:
        """Remove a volume or a claim."""
        if isinstance(obj, PersistentVolumeClaim):
            if not obj.volume_name:
                discard(self._unbound, obj.storage_class or "", obj.meta.key)
        elif obj.claim_ref:
            discard(self._kept, obj.claim_ref, obj.meta.name)
        else:
            free = self._free[obj.storage_class]
            del free[bisect_left(free, (obj.capacity, obj.meta.name))]
