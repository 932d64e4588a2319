"""NodeVolumeLimits: how many volumes of a CSI driver a node can attach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.attached_volumes import (
    MissingClaimError,
    Volume,
    VolumeError,
    attachments,
    limits_of,
    migrated_on,
    missing_driver,
    volumes_of,
)
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.csi_migration import IN_TREE, TranslationError, in_tree_source
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
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, names_claim, spec, status
from scheduler_core.schedulers.v1_37.plugins.signed_volumes import signed_volumes
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.status import ERROR, UNSCHEDULABLE

SCALING_GATE = "VolumeLimitScaling"
"""On by default: nodes without a driver that must be there are refused."""

_EXCEEDED = Status(UNSCHEDULABLE, ("node(s) exceed max volume count",))


class LimitState(Struct, dict=True):
    """The volumes of the pod and of the attachments, the same for all nodes of an attempt."""

    ctx: Context
    statuses: dict[Status, int] = field(default_factory=dict)
    """The code of each status that a node got, from 1."""
    fresh: dict[frozenset[str], set[Volume]] = field(default_factory=dict)
    """The pod's volumes by the in-tree plugins that are migrated on a node, once they were asked for."""

    @cached_property
    def attached(self) -> Mapping[str, set[Volume]]:
        """The volumes of the VolumeAttachments by node."""
        return attachments(self.ctx.cluster)

    def volumes(self, csi_node: Manifest | None) -> set[Volume]:
        """Return the pod's volumes on a node with this CSINode, or without one.

        Raises:
            VolumeError: They cannot be counted.
        """
        migrated = migrated_on(self.ctx.cluster, csi_node)
        if migrated not in self.fresh:
            cluster, pod = self.ctx.cluster, self.ctx.pod
            self.fresh[migrated] = volumes_of(cluster, pod, migrated=migrated, waiting=True)
        return self.fresh[migrated]


class NodeVolumeLimits(Plugin):
    """``allocatable.count`` of the CSINode's drivers."""

    key = "NodeVolumeLimits"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Skip without claims and in-tree volumes."""
        pod = ctx.pod
        counted = pod.claims or any(in_tree_source(volume) is not None for volume in pod.volumes)
        return (OK if counted else SKIPPED), None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes that the pod's volumes are too many for, or that lack a driver."""
        codes = np.zeros(len(rows), np.int64)
        if not ctx.pod.volumes:
            return codes
        state: LimitState = ctx.states.setdefault(self.key, LimitState(ctx))
        for place, row in enumerate(rows):
            try:
                status = self._refusal(ctx, state, int(row))
            except MissingClaimError as error:
                status = unresolvable(str(error))
            except VolumeError as error:
                status = Status(ERROR, (str(error),))
            if status is not None:
                codes[place] = state.statuses.setdefault(status, len(state.statuses) + 1)
        return codes

    @staticmethod
    def _refusal(ctx: Context, state: LimitState, row: int) -> Status | None:
        """Return why a node cannot attach the pod's volumes; None if it can.

        Raises:
            VolumeError: The volumes of the pod or of one on the node cannot be counted.
        """
        node = ctx.nodes.nodes[row]
        csi_node = ctx.cluster.get("CSINode", None, node.name)
        fresh = state.volumes(csi_node)
        if not fresh:
            return None
        asked = ctx.configuration.gate(SCALING_GATE)
        driver = missing_driver(ctx.cluster, csi_node, fresh) if asked else None
        if driver is not None:
            return Status(UNSCHEDULABLE, (f"{driver} CSI driver is not installed on the node",))
        limits = limits_of(csi_node)
        if not limits:
            return None
        used: set[Volume] = set()
        migrated = migrated_on(ctx.cluster, csi_node)
        for pod in node.pods:
            used |= volumes_of(ctx.cluster, pod, migrated=migrated)
        return _EXCEEDED if _exceeds(limits, fresh, used, state.attached.get(node.name, set())) else None

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return why the node was refused."""
        del row
        state: LimitState = ctx.states[self.key]
        return list(state.statuses)[code - 1]


def _exceeds(limits: Mapping[str, int], fresh: set[Volume], used: set[Volume], attached: set[Volume]) -> bool:
    """Return whether a driver's limit is passed; a fresh one that is attached, but unused, counts twice."""
    counts = Counter(driver for driver, _ in used | attached)
    more = Counter(driver for driver, _ in fresh - used)
    return any(driver in limits and counts[driver] + new > limits[driver] for driver, new in more.items())


def _after_pod_deleted(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    if not (spec(event.old).get("nodeName") or status(event.old).get("nominatedNodeName")):
        return "QueueSkip"
    kinds = ("persistentVolumeClaim", "ephemeral", *IN_TREE)
    volumes = spec(event.old).get("volumes") or ()
    return answer(any(volume.get(kind) is not None for volume in volumes for kind in kinds))


def _after_claim_added(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new))


def _after_attachment_deleted(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    attacher = spec(event.old).get("attacher") or ""
    return answer(any(_may_be_attached(volume, attacher) for volume in pod.volumes))


def _may_be_attached(volume: Mapping[str, Any], attacher: str) -> bool:
    """Return whether a pod's volume is a claim, or an in-tree one that the attacher serves or cannot read."""
    if volume.get("persistentVolumeClaim") is not None:
        return True
    found = in_tree_source(volume)
    if found is None:
        return False
    row, source = found
    try:
        if row.handle is not None:
            row.handle(source, {})
    except TranslationError:
        return True
    return row.driver == attacher


def _after_limits_changed(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    before, now = limits_of(event.old), limits_of(event.new)
    return answer(any(limit > before.get(driver, 0) for driver, limit in now.items()))


PLUGIN = Declared(
    "NodeVolumeLimits",
    "preFilter filter",
    rank=100,
    filters="the node's CSI drivers can attach the pod's volumes within their limits",
    events=(
        ClusterEventWithHint("storage.k8s.io/CSINode", frozenset({"Add"}), always),
        ClusterEventWithHint("storage.k8s.io/CSINode", frozenset({"Update"}), _after_limits_changed),
        ClusterEventWithHint("AssignedPod", frozenset({"Delete"}), _after_pod_deleted),
        ClusterEventWithHint("PersistentVolumeClaim", frozenset({"Add"}), _after_claim_added),
        ClusterEventWithHint(
            "storage.k8s.io/VolumeAttachment", frozenset({"Delete"}), _after_attachment_deleted
        ),
    ),
    until="a pod with volumes of the same driver leaves a node, an attachment ends, or a limit is raised",
    signs=signed_volumes,
    code=NodeVolumeLimits(),
)
