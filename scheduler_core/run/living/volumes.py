"""What the scheduler writes for a pod's volumes before it binds the pod (VolumeBinding's PreBind)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.cluster.v1_37.objects import Manifest, namespace_of, spec_of, status_of, term_matches
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.schedulers.v1_37.binding import claimed_volume, pod_volumes, selected_claim
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.volumes import BIND_COMPLETED, annotations_of


def will_bind(cluster: ClusterState, tried: PodAttempt) -> bool:
    """Return whether volumes are still to be bound for a pod (PreBindPreFlight)."""
    found = pod_volumes(cluster, tried)
    return bool(found.static or found.provisioned)


def volume_writes(cluster: ClusterState, tried: PodAttempt) -> Iterator[Any]:
    """Yield the volumes with their claims, and the claims with their node (bindAPIUpdate)."""
    found = pod_volumes(cluster, tried)
    for claim, volume in found.static:
        yield claimed_volume(volume, claim)
    for claim, _ in found.provisioned:
        yield selected_claim(claim, str(tried.node))


def claim_keys(pod: Manifest | None) -> list[str]:
    """Return the keys of a pod's claims."""
    if pod is None:
        return []
    volumes = spec_of(pod).get("volumes") or ()
    names = [one["persistentVolumeClaim"]["claimName"] for one in volumes if one.get("persistentVolumeClaim")]
    return [f"{namespace_of(pod)}/{name}" for name in names]


def is_in_reach(server: ApiServer, claim: str, node: str) -> bool:
    """Return whether a bound claim's volume may be used on a node (checkBindings)."""
    bound, found = server.get("PersistentVolumeClaim", claim), server.get("Node", node)
    volume = server.get("PersistentVolume", spec_of(bound or {}).get("volumeName") or "")
    if volume is None or found is None:
        return False
    required = (spec_of(volume).get("nodeAffinity") or {}).get("required")
    return required is None or any(term_matches(term, found) for term in required["nodeSelectorTerms"])


def is_fully_bound(claim: Manifest | None) -> bool:
    """Return whether a claim has its volume, and the volume controller has confirmed it."""
    if claim is None:
        return False
    named = spec_of(claim).get("volumeName") and status_of(claim).get("phase") == "Bound"
    return bool(named) and BIND_COMPLETED in annotations_of(claim)
