"""NodeVolumeLimits: how many volumes of a CSI driver a node can attach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from scheduler_core.schedulers.v1_37.attached_volumes import (
    MissingClaimError,
    Volume,
    VolumeError,
    attachments,
    limits_of,
    missing_driver,
    volumes_of,
)
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.csi_migration import in_tree_source
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
from scheduler_core.schedulers.v1_37.status import ERROR, UNSCHEDULABLE

SCALING_GATE = "VolumeLimitScaling"
"""On by default: nodes without a driver that must be there are refused."""

_EXCEEDED = Status(UNSCHEDULABLE, ("node(s) exceed max volume count",))


@dataclass
class LimitState:
    """The volumes of the pod and of the attachments, the same for all nodes of an attempt."""

    ctx: Context
    statuses: dict[Status, int] = field(default_factory=dict)
    """The code of each status that a node got, from 1."""
    fresh: dict[bool, set[Volume]] = field(default_factory=dict)
    """The pod's volumes on nodes without and with a CSINode, once they were asked for."""

    @cached_property
    def attached(self) -> Mapping[str, set[Volume]]:
        """The volumes of the VolumeAttachments by node."""
        return attachments(self.ctx.cluster)

    def volumes(self, csi_node: Manifest | None) -> set[Volume]:
        """Return the pod's volumes on a node with this CSINode, or without one.

        Raises:
            VolumeError: They cannot be counted.
        """
        migrated = csi_node is not None
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
        asked = ctx.configuration.gate(SCALING_GATE, default=True)
        driver = missing_driver(ctx.cluster, csi_node, fresh) if asked else None
        if driver is not None:
            return Status(UNSCHEDULABLE, (f"{driver} CSI driver is not installed on the node",))
        limits = limits_of(csi_node)
        if not limits:
            return None
        used: set[Volume] = set()
        for pod in node.pods:
            used |= volumes_of(ctx.cluster, pod, migrated=True)
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


PLUGIN = NodeVolumeLimits()
