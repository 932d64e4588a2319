"""VolumeBinding: volumes for the pod's claims, bound or provisioned when it is placed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduler_core.v1_37.plugins.base import (
    OK,
    SKIPPED,
    Codes,
    Context,
    Ints,
    Plugin,
    Rows,
    Status,
    unresolvable,
)
from scheduler_core.v1_37.plugins.shape import evaluate, read_shape
from scheduler_core.v1_37.state import uid_of
from scheduler_core.v1_37.status import UNRESOLVABLE
from scheduler_core.v1_37.volumes import (
    PodClaims,
    PodVolumes,
    capacity,
    class_name,
    find_volumes,
    pod_claims,
    requested_size,
    size,
)

_DEFAULT_SHAPE = ((0, 100), (100, 0))
_UNBOUND = unresolvable("pod has unbound immediate PersistentVolumeClaims")


@dataclass
class VolumeState:
    """The pod's claims, and what was found on each node."""

    claims: PodClaims
    by_row: dict[int, PodVolumes] = field(default_factory=dict)
    reasons: dict[tuple[str, ...], int] = field(default_factory=dict)
    """The code of each answer of a node without what the claims need, from 1."""


class VolumeBinding(Plugin):
    """Binding of PersistentVolumeClaims."""

    key = "VolumeBinding"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Refuse claims that no node can help, skip without any."""
        if not ctx.pod.claims:
            return SKIPPED, None
        for name, ephemeral in ctx.pod.claims:
            reason = _unusable(ctx, name, ephemeral=ephemeral)
            if reason is not None:
                return unresolvable(reason), None
        claims = pod_claims(ctx.cluster, ctx.pod)
        if claims.immediate:
            return _UNBOUND, None
        ctx.states[self.key] = VolumeState(claims)
        return OK, None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Look for volumes on each node."""
        state: VolumeState = ctx.states[self.key]
        codes = np.zeros(len(rows), np.int64)
        for place, row in enumerate(rows):
            node = ctx.nodes.nodes[row]
            found, reasons = find_volumes(ctx.cluster, state.claims, node.name, node.labels)
            if reasons:
                codes[place] = state.reasons.setdefault(reasons, len(state.reasons) + 1)
            else:
                state.by_row[int(row)] = found
        return codes

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return what was not found."""
        del row
        return Status(UNRESOLVABLE, list(ctx.states[self.key].reasons)[code - 1])

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Score how much of the chosen volumes or of the published capacity the claims would use."""
        out = np.zeros(len(rows), np.int64)
        state: VolumeState | None = ctx.states.get(self.key)
        if state is not None:
            shape = read_shape(ctx.arguments(self.key).get("shape"), _DEFAULT_SHAPE)
            for place, row in enumerate(rows):
                used = _by_class(state.by_row.get(int(row)) or PodVolumes())
                out[place] = _score(shape, used)
        return out


def _unusable(ctx: Context, name: str, *, ephemeral: bool) -> str | None:
    """Return why no node can help a claim (podHasPVCs)."""
    pod = ctx.pod
    claim = ctx.cluster.get("PersistentVolumeClaim", pod.namespace, name)
    if claim is None:
        if ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume = claim["spec"].get("volumeName") or ""
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
    if claim["metadata"].get("deletionTimestamp"):
        return f'persistentvolumeclaim "{name}" is being deleted'
    owners = claim["metadata"].get("ownerReferences") or ()
    uid = uid_of({**pod.manifest, "kind": "Pod"})
    if ephemeral and not any(owner.get("controller") and owner.get("uid") == uid for owner in owners):
        return f"PVC {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"
    return None


def _by_class(volumes: PodVolumes) -> dict[str, tuple[int, int]]:
    """Return what is requested and what there is, by class."""
    out: dict[str, tuple[int, int]] = {}
    for claim, volume in volumes.static:
        requested, room = out.get(class_name(claim), (0, 0))
        out[class_name(claim)] = requested + requested_size(claim), room + capacity(volume)
    for claim, space in () if volumes.static else volumes.provisioned:
        if space is not None:
            requested, _ = out.get(class_name(claim), (0, 0))
            out[class_name(claim)] = requested + requested_size(claim), size(space.get("capacity") or 0)
    return out


def _score(shape: Any, used: dict[str, tuple[int, int]]) -> int:
    if not used:
        return 0
    rates = [
        100 if not room or requested > room else requested * 100 // room for requested, room in used.values()
    ]
    return int(np.floor(int(evaluate(shape, np.array(rates)).sum()) / len(used) + 0.5))


PLUGIN = VolumeBinding()
