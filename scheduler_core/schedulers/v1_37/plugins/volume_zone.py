"""VolumeZone: zone and region labels of the volumes against those of the node."""

from __future__ import annotations

import numpy as np

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.nodes import Mask
from scheduler_core.schedulers.v1_37.plugins.base import (
    OK,
    SKIPPED,
    Codes,
    Context,
    Plugin,
    Rows,
    Status,
    refused,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, claim_names, names_claim
from scheduler_core.schedulers.v1_37.plugins.signed_volumes import signed_volumes
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.volumes import WAIT_FOR_FIRST_CONSUMER, class_name

TOPOLOGY_LABELS = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)

_GA = dict(zip(TOPOLOGY_LABELS[:2], TOPOLOGY_LABELS[2:], strict=True))
NODE_LABELS = {key: (key, _GA[key]) if key in _GA else (key,) for key in TOPOLOGY_LABELS}
"""By the label of a volume: the labels of a node of which the first that it has is compared."""

_CONFLICT = unresolvable("node(s) had no available volume zone")

Topology = tuple[str, frozenset[str]]
"""A label and the values that a volume allows."""


class VolumeZone(Plugin):
    """Volumes of cloud providers without node affinity."""

    key = "VolumeZone"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Collect the labels of the volumes; skip without any."""
        topologies: list[Topology] = []
        for name, ephemeral in ctx.pod.claims:
            problem = None if ephemeral else _collect(ctx, name, topologies)
            if problem:
                return unresolvable(problem), None
        ctx.states[self.key] = topologies
        return (OK if topologies else SKIPPED), None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes of other zones; a node without any such label passes."""
        nodes = ctx.nodes
        labeled = np.zeros(nodes.capacity, np.bool_)
        for key in TOPOLOGY_LABELS:
            labeled |= nodes.label(key).ids >= 0
        matched = np.ones(nodes.capacity, np.bool_)
        for key, values in ctx.states[self.key]:
            matched &= _among(ctx, key, values)
        return refused((labeled & ~matched)[rows])

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the one reason."""
        del ctx, row, code
        return _CONFLICT


def _among(ctx: Context, key: str, values: frozenset[str]) -> Mask:
    own = ctx.nodes.label(key)
    out = own.lookup(lambda value: value in values, False, np.bool_)
    if key in _GA:
        successor = ctx.nodes.label(_GA[key]).lookup(lambda value: value in values, False, np.bool_)
        out = np.where(own.ids >= 0, out, successor)
    return out


def _collect(ctx: Context, name: str, topologies: list[Topology]) -> str | None:
    """Add a claim's topologies; return why it cannot be used."""
    cluster = ctx.cluster
    claim = cluster.get("PersistentVolumeClaim", ctx.pod.namespace, name)
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    volume_name = claim["spec"].get("volumeName")
    if not volume_name:
        if not class_name(claim):
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = cluster.get("StorageClass", None, class_name(claim))
        if storage_class is None:
            return f'storageclass.storage.k8s.io "{class_name(claim)}" not found'
        waits = storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER
        return None if waits else "PersistentVolume had no name"
    volume = cluster.get("PersistentVolume", None, volume_name)
    if volume is None:
        return f'persistentvolume "{volume_name}" not found'
    topologies.extend(topologies_of(volume))
    return None


def topologies_of(volume: Manifest | None) -> list[Topology]:
    """Return the topologies in the volume's labels; a label with an empty value counts for none."""
    labels = ((volume or {}).get("metadata") or {}).get("labels") or {}
    found = [
        (key, frozenset(value.strip() for value in labels[key].split("__")))
        for key in TOPOLOGY_LABELS
        if key in labels
    ]
    return [(key, values) for key, values in found if "" not in values]


def _after_class_added(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    return answer((event.new or {}).get("volumeBindingMode") == "WaitForFirstConsumer")


def _after_claim_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new, ephemeral=False))


def _after_volume_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    return answer(event.old is None or topologies_of(event.old) != topologies_of(event.new))


def _until(pod: CompiledPod) -> str:
    return f"the volume of {claim_names(pod)} changes, or a node of its zone is added or relabeled"


PLUGIN = Declared(
    "VolumeZone",
    "preFilter filter",
    rank=120,
    required=("filter",),
    filters="the node is in the zones and regions of the pod's bound volumes",
    events=(
        ClusterEventWithHint("storage.k8s.io/StorageClass", frozenset({"Add"}), _after_class_added),
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeLabel"}), always),
        ClusterEventWithHint("PersistentVolumeClaim", frozenset({"Add", "Update"}), _after_claim_change),
        ClusterEventWithHint("PersistentVolume", frozenset({"Add", "Update"}), _after_volume_change),
    ),
    until=_until,
    signs=signed_volumes,
    code=VolumeZone(),
)
