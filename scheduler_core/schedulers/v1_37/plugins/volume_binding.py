"""VolumeBinding: volumes for the pod's claims, bound or provisioned when it is placed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduler_core.schedulers.v1_37.csi_migration import TranslationError
from scheduler_core.schedulers.v1_37.plugins.base import (
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
from scheduler_core.schedulers.v1_37.plugins.shape import evaluate, read_shape
from scheduler_core.schedulers.v1_37.status import ERROR, UNRESOLVABLE
from scheduler_core.schedulers.v1_37.volumes import (
    PodClaims,
    PodVolumes,
    capacity,
    class_name,
    find_volumes,
    not_owned,
    pod_claims,
    requested_size,
    size,
)

SCORING_GATE = "StorageCapacityScoring"
"""On by default: nodes are scored by how full the volumes or the published capacity would be."""

_DEFAULT_SHAPE = ((0, 100), (100, 0))
_UNBOUND = unresolvable("pod has unbound immediate PersistentVolumeClaims")


@dataclass
class VolumeState:
    """The pod's claims, and what was found on each node."""

    claims: PodClaims
    by_row: dict[int, PodVolumes] = field(default_factory=dict)
    statuses: dict[Status, int] = field(default_factory=dict)
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
            status = _search(ctx, state, int(row))
            if status is not None:
                codes[place] = state.statuses.setdefault(status, len(state.statuses) + 1)
        return codes

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return what was not found, or why a volume cannot be translated."""
        del row
        state: VolumeState = ctx.states[self.key]
        return list(state.statuses)[code - 1]

    def pre_score(self, ctx: Context, rows: Rows) -> Status:
        """Skip without the gate."""
        del rows
        return OK if ctx.configuration.gate(SCORING_GATE, default=True) else SKIPPED

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


def _search(ctx: Context, state: VolumeState, row: int) -> Status | None:
    """Find volumes on a node and keep them; return why there are none."""
    node = ctx.nodes.nodes[row]
    try:
        found, reasons = find_volumes(ctx.cluster, state.claims, node.name, node.labels)
    except TranslationError as error:
        return Status(ERROR, (f"could not translate pv: {error}",))
    if reasons:
        return Status(UNRESOLVABLE, reasons)
    state.by_row[row] = found
    return None


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
    return (not_owned(pod, claim) or None) if ephemeral else None


def _by_class(volumes: PodVolumes) -> dict[str, tuple[int, int]]:
    """Return what is requested and what there is, by class."""
    out: dict[str, tuple[int, int]] = {}
    for claim, volume in volumes.static:
        name = volume["spec"].get("storageClassName") or ""
        requested, room = out.get(name, (0, 0))
        out[name] = requested + requested_size(claim), room + capacity(volume)
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
