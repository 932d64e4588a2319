"""VolumeRestrictions: disks that one pod at a time may use, and claims that only one pod may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.plugins.base import (
    OK,
    SKIPPED,
    Codes,
    Context,
    Plugin,
    Rows,
    Status,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, claim_names, names_claim
from scheduler_core.schedulers.v1_37.plugins.signed_volumes import signed_volumes
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.status import UNSCHEDULABLE

ONCE_POD = "ReadWriteOncePod"

_DISK = Status(UNSCHEDULABLE, ("node(s) had no available disk",))
_IN_USE = Status(
    UNSCHEDULABLE,
    (
        (
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
            "in-use by another pod"
        ),
    ),
)

Disk = Mapping[str, Any]


def _same(*keys: str) -> Callable[[Disk, Disk], bool]:
    return lambda one, other: all((one.get(key) or "") == (other.get(key) or "") for key in keys)


def _same_image(one: Disk, other: Disk) -> bool:
    monitors = set(one.get("monitors") or ()) & set(other.get("monitors") or ())
    return bool(monitors) and _same("pool", "image")(one, other)


DISKS: Mapping[str, tuple[Callable[[Disk, Disk], bool], bool]] = {
    "gcePersistentDisk": (_same("pdName"), True),
    "awsElasticBlockStore": (_same("volumeID"), False),
    "iscsi": (_same("iqn"), True),
    "rbd": (_same_image, True),
}
"""For each kind of disk: whether two are the same, and whether both being read-only is no conflict."""


def disks_conflict(volume: Mapping[str, Any], others: CompiledPod) -> bool:
    """Return whether a volume is a disk that the other pod uses (isVolumeConflict)."""
    for kind, (same, shareable) in DISKS.items():
        disk: Disk = volume.get(kind) or {}
        for other in others.volumes if disk else ():
            used: Disk = other.get(kind) or {}
            if (
                used
                and same(disk, used)
                and not (shareable and disk.get("readOnly") and used.get("readOnly"))
            ):
                return True
    return False


def has_disk(pod: CompiledPod) -> bool:
    """Return whether any volume of the pod is such a disk."""
    return any(volume.get(kind) for volume in pod.volumes for kind in DISKS)


class VolumeRestrictions(Plugin):
    """Disks and ReadWriteOncePod claims; the state is the claims and how many uses of them conflict."""

    key = "VolumeRestrictions"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Find the claims for one pod that are in use."""
        pod, cluster = ctx.pod, ctx.cluster
        single = set()
        for name, ephemeral in pod.claims:
            if ephemeral:
                continue
            claim = cluster.get("PersistentVolumeClaim", pod.namespace, name)
            if claim is None:
                return unresolvable(f'persistentvolumeclaim "{name}" not found'), None
            if ONCE_POD in (claim["spec"].get("accessModes") or ()):
                single.add(name)
        used = {
            name
            for node in (ctx.nodes.nodes if single else ())
            for other in node.pods
            if node.alive and other.namespace == pod.namespace
            for name, ephemeral in other.claims
            if not ephemeral and name in single
        }
        ctx.states[self.key] = [single, len(used)]
        return (OK if used or has_disk(pod) else SKIPPED), None

    def copy_state(self, state: Any) -> Any:
        """Copy the count."""
        return list(state)

    def update(self, ctx: Context, state: Any, pod: CompiledPod, row: int, sign: int) -> None:
        """Count the uses of a pod in or out, by name: upstream does not look at the namespace here."""
        del ctx, row
        state[1] += sign * sum(not ephemeral and name in state[0] for name, ephemeral in pod.claims)

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes with the same disk (1), and all if a claim is in use (2)."""
        codes = np.zeros(len(rows), np.int64)
        if ctx.states[self.key][1] > 0:
            codes[:] = 2
        if has_disk(ctx.pod):
            for place, row in enumerate(rows):
                pods = ctx.nodes.nodes[row].pods
                if any(disks_conflict(volume, other) for volume in ctx.pod.volumes for other in pods):
                    codes[place] = 1
        return codes

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return which of the two it was."""
        del ctx, row
        return _DISK if code == 1 else _IN_USE


def _after_pod_deleted(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    assert event.old is not None  # only registered for Delete
    deleted = CompiledPod(event.old)
    if deleted.namespace != pod.namespace:
        return "QueueSkip"
    if any(disks_conflict(volume, deleted) for volume in pod.volumes):
        return "Queue"
    return answer(not _named(pod).isdisjoint(_named(deleted)))


def _named(pod: CompiledPod) -> set[str]:
    """Return the claims that the pod names; those of ephemeral volumes are made for it alone."""
    return {name for name, ephemeral in pod.claims if not ephemeral}


def _after_claim_added(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new, ephemeral=False))


def _until(pod: CompiledPod) -> str:
    return f"the pod that uses {claim_names(pod)} is deleted, or a node is added"


PLUGIN = Declared(
    "VolumeRestrictions",
    "preFilter filter",
    rank=90,
    required=("filter",),
    filters="no other pod uses a ReadWriteOncePod claim or an exclusive disk of the pod",
    events=(
        ClusterEventWithHint("AssignedPod", frozenset({"Delete"}), _after_pod_deleted),
        ClusterEventWithHint("Node", frozenset({"Add"}), always),
        ClusterEventWithHint("PersistentVolumeClaim", frozenset({"Add"}), _after_claim_added),
    ),
    until=_until,
    signs=signed_volumes,
    code=VolumeRestrictions(),
)
