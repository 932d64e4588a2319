"""VolumeBinding, the plugin that binds volumes to claims with delayed binding (volumebinding).

Reserve binds a claim to its volume in the scheduler's cache only, PreBind in the API; until then Unreserve
reverts it. A claim without a volume whose class provisions gets the pod's node as selected node at Reserve;
at PreBind the provisioner creates a volume for that node, which takes no time here. The profile's predicates
check at Filter which nodes have volumes for a pod.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler_core.kubernetes.model import PersistentVolume
from scheduler_core.kubernetes.provisioner import selected_node
from scheduler_core.schedulers.columns.storage import ClaimError
from scheduler_core.schedulers.v1_11.filters import missing_claim
from scheduler_core.schedulers.v1_22.events import PLUGIN_EVENTS
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.status import SUCCESS, Status

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.queue import QueuedPod

UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(slots=True)
class _Assumed:
    """A claim's volume before it was assumed bound, and the assumed pods that use the pair.

    The volume is ``None`` if it is to be provisioned: then the claim's selected node is assumed.
    """

    volume: PersistentVolume | None
    users: set[str] = field(default_factory=set)


class VolumeBinding(Plugin):
    """Keeps the claims that are only assumed bound, with the pods that use them."""

    name = "VolumeBinding"
    events = PLUGIN_EVENTS["VolumeBinding"]

    def __init__(self) -> None:
        self._assumed: dict[str, _Assumed] = {}  # by claim, as namespace/name

    def pre_filter(self, pod: QueuedPod) -> Status:
        """Reject a pod with a claim that does not exist, or with an unbound immediate claim."""
        if not pod.state.info.claims:
            return SUCCESS
        missing = missing_claim(pod.state, self.framework.cluster)
        if missing is not None:
            return Status("UnschedulableAndUnresolvable", missing)
        storage = self.framework.cluster.storage
        try:
            for key in _claims(pod):
                claim = storage.claims[key]
                if not claim.volume_name and not storage.delays_binding(claim):
                    return Status("UnschedulableAndUnresolvable", UNBOUND)
        except ClaimError as error:
            return Status("Error", str(error))
        return SUCCESS

    def reserve(self, pod: QueuedPod, node: str) -> Status:
        """Assume the pod's claims bound to volumes usable on its node (AssumePodVolumes)."""
        if pod.state.info.claims:
            cluster = self.framework.cluster
            for claim, volume in cluster.bind_claims(pod.state.info, node, provision=True).items():
                self._assumed[claim] = _Assumed(volume)
            for key in _claims(pod):
                claimed = cluster.storage.claims.get(key)
                if claimed is not None and not claimed.volume_name and not selected_node(claimed):
                    cluster.select_node(key, node)
                    self._assumed[key] = _Assumed(None)
            for claim in self._assumed_of(pod):
                self._assumed[claim].users.add(pod.key)
        return SUCCESS

    def unreserve(self, pod: QueuedPod) -> None:
        """Revert the assumed bindings that no other assumed pod uses (RevertAssumedPodVolumes)."""
        for claim in self._assumed_of(pod):
            users = self._assumed[claim].users
            users.discard(pod.key)
            if users:
                continue
            volume = self._assumed.pop(claim).volume
            if volume is None:
                self.framework.cluster.select_node(claim, "")
            else:
                self.framework.cluster.unbind_claim(claim, volume)

    def pre_bind(self, pod: QueuedPod, node: str) -> Status:
        """Write the bindings of claims to volumes to the API (BindPodVolumes).

        Fails if a claim or volume was deleted, or if a volume is bound to another claim.
        """
        if not pod.state.info.claims:
            return SUCCESS
        cluster = self.framework.cluster
        mine = list(self._assumed_of(pod))
        for claim in mine:
            assumed = self._assumed[claim].volume
            if claim not in cluster.storage.claims:
                return Status("Error", f'persistentvolumeclaims "{claim.partition("/")[2]}" not found')
            if assumed is None:
                continue
            name = assumed.meta.name
            volume = cluster.storage.volumes.get(name)
            if volume is None:
                return Status("Error", f'persistentvolumes "{name}" not found')
            if volume.claim_ref not in ("", claim):
                return Status("Error", f'volume "{name}" already bound to a different claim')
        taken: list[str] = []
        for claim in mine:
            assumed = self._assumed.pop(claim).volume
            if assumed is not None:
                cluster.bind_claim(claim, assumed.meta.name)
                taken.append(claim)
        # for a profile without the plugin at Reserve
        taken += cluster.bind_claims(pod.state.info, node, provision=True)
        if taken:
            self.framework.claims_bound(taken)
        for key in _claims(pod):
            waiting = cluster.storage.claims.get(key)  # None if deleted; bound claims are not inspected
            if waiting is not None and not waiting.volume_name:
                self.framework.provision(key, node)
        return SUCCESS

    def _assumed_of(self, pod: QueuedPod) -> Iterator[str]:
        return (claim for claim in _claims(pod) if claim in self._assumed)


def _claims(pod: QueuedPod) -> list[str]:
    """Return a pod's claims as ``namespace/name``, each once."""
    return list(dict.fromkeys(f"{pod.state.info.namespace}/{name}" for name in pod.state.info.claims))
