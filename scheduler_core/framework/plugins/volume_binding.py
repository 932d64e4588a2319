"""VolumeBinding, the plugin that finds the claims that wait for a pod their volumes (volumebinding).

At Reserve a claim and its volume belong to each other in the scheduler's cache alone, at PreBind in the API;
until then Unreserve parts them again. A claim without a volume whose class makes some gets the pod's node at
Reserve, and at PreBind a volume that the provisioner makes for that node, which takes no time here.
Which nodes have volumes for a pod is asked at Filter, by the profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler_core.cluster.storage import ClaimError
from scheduler_core.framework.events import PLUGIN_EVENTS
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.objects.model import PersistentVolume
from scheduler_core.objects.provisioning import selected_node
from scheduler_core.scheduling.filtering import missing_claim

if TYPE_CHECKING:
    from scheduler_core.framework.queue import QueuedPod

UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(slots=True)
class _Assumed:
    """The volume of a claim as it was before, and the assumed pods that count on the two.

    There is no volume yet where one is to be made: of the claim it is assumed on which node.
    """

    volume: PersistentVolume | None
    users: set[str] = field(default_factory=set)


class VolumeBinding(Plugin):
    """Remembers which claims it has only assumed to be bound, and for whom."""

    name = "VolumeBinding"
    events = PLUGIN_EVENTS["VolumeBinding"]

    def __init__(self) -> None:
        self._assumed: dict[str, _Assumed] = {}  # by claim, as namespace/name

    def pre_filter(self, pod: QueuedPod) -> Status:
        """Refuse a pod with a claim that does not exist, or that should be bound by now."""
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
        """Assume the pod's claims bound to volumes that its node may use (AssumePodVolumes)."""
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
        """Part the claims and volumes that no other assumed pod counts on (RevertAssumedPodVolumes)."""
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
        """Write to the API which claim has which volume (BindPodVolumes); neither may be gone or taken."""
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
        # a profile without the plugin at Reserve
        taken += cluster.bind_claims(pod.state.info, node, provision=True)
        if taken:
            self.framework.claims_bound(taken)
        for key in _claims(pod):
            waiting = cluster.storage.claims.get(key)  # deleted meanwhile: a bound one is not looked at again
            if waiting is not None and not waiting.volume_name:
                self.framework.provision(key, node)
        return SUCCESS

    def _assumed_of(self, pod: QueuedPod) -> Iterator[str]:
        return (claim for claim in _claims(pod) if claim in self._assumed)


def _claims(pod: QueuedPod) -> list[str]:
    """Return a pod's claims as ``namespace/name``, each once."""
    return list(dict.fromkeys(f"{pod.state.info.namespace}/{name}" for name in pod.state.info.claims))
