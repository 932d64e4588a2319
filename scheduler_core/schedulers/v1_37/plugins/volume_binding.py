"""VolumeBinding: volumes for the pod's claims, bound or provisioned when it is placed."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct, field

from scheduler_core.kubernetes.quantity import parse_resource
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.csi_migration import MIGRATED_PLUGINS, TranslationError
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
    Ints,
    Plugin,
    Rows,
    Status,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument, Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.hints import (
    always,
    answer,
    claim_names,
    metadata,
    names_claim,
    spec,
)
from scheduler_core.schedulers.v1_37.plugins.shape import evaluate, read_shape
from scheduler_core.schedulers.v1_37.plugins.signed_volumes import signed_volumes
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.status import ERROR, UNRESOLVABLE
from scheduler_core.schedulers.v1_37.volumes import (
    PodVolumeClaims,
    PodVolumes,
    capacity,
    class_name,
    find_volumes,
    not_owned,
    pod_claims,
    requested_size,
    size,
    volume_limit,
)

SCORING_GATE = "StorageCapacityScoring"
"""On by default: nodes are scored by how full the volumes or the published capacity would be."""

_DEFAULT_SHAPE = ((0, 100), (100, 0))
_UNBOUND = unresolvable("pod has unbound immediate PersistentVolumeClaims")


class VolumeState(Struct):
    """The pod's claims, and what was found on each node."""

    claims: PodVolumeClaims
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
        return OK if ctx.configuration.gate(SCORING_GATE) else SKIPPED

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


def _after_class_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    if event.old is None:
        return "Queue"
    now = (event.new or {}).get("allowedTopologies") or []
    return answer(now != (event.old.get("allowedTopologies") or []))


def _after_claim_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new))


def _after_csi_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    if event.old is None:
        return "Queue"
    return answer(_migrated(event.old) != _migrated(event.new))


def _migrated(csi_node: Manifest | None) -> str:
    return (metadata(csi_node).get("annotations") or {}).get(MIGRATED_PLUGINS) or ""


def _after_capacity_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    if event.old is None:
        return "Queue"
    before, now = _largest_volume(event.old), _largest_volume(event.new)
    return answer(now is not None and (before is None or now > before))


def _largest_volume(capacity: Manifest | None) -> int | None:
    """Return the bytes of the largest volume that fits; None if nothing is known (volumeLimit)."""
    text = volume_limit(capacity or {})
    return None if text is None else parse_resource("storage", str(text))


def _after_driver_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    inline = {(volume.get("csi") or {}).get("driver") for volume in pod.volumes if volume.get("csi")}
    was, now = bool(spec(event.old).get("storageCapacity")), bool(spec(event.new).get("storageCapacity"))
    return answer(metadata(event.new).get("name") in inline and was and not now)


_ADD_UPDATE = frozenset({"Add", "Update"})


def _until(pod: CompiledPod) -> str:
    return (
        f"{claim_names(pod)} is created or bound, or a volume, storage class, storage capacity or node that "
        "could serve it is added or changed"
    )


_ARGUMENTS = (
    Argument(
        "shape", "shape", ({"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}),
        "the score at each utilization of a volume's storage capacity",
    ),
    Argument("bindTimeoutSeconds", "integer", 600, "no effect here, where volumes are bound at once"),
)  # fmt: skip


PLUGIN = Declared(
    "VolumeBinding",
    "preFilter filter preScore score reserve preBind",
    rank=110,
    unprepared={"filter": "not found"},
    filters="bound volumes are reachable, and unbound claims find a volume or can be provisioned",
    prefers="with StorageCapacityScoring, nodes whose volumes fit tightly",
    formula="by the profile's shape of utilization; without the gate it is skipped",
    otherwise="Reserve and PreBind bind the claims",
    arguments=_ARGUMENTS,
    events=(
        ClusterEventWithHint("storage.k8s.io/StorageClass", _ADD_UPDATE, _after_class_change),
        ClusterEventWithHint("PersistentVolumeClaim", _ADD_UPDATE, _after_claim_change),
        ClusterEventWithHint("PersistentVolume", _ADD_UPDATE, always),
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeLabel"}), always),
        ClusterEventWithHint("storage.k8s.io/CSINode", _ADD_UPDATE, _after_csi_node_change),
        ClusterEventWithHint("storage.k8s.io/CSIDriver", frozenset({"Update"}), _after_driver_change),
        ClusterEventWithHint("storage.k8s.io/CSIStorageCapacity", _ADD_UPDATE, _after_capacity_change),
    ),
    until=_until,
    signs=signed_volumes,
    reuse=Reused(score="none"),
    code=VolumeBinding(),
)
