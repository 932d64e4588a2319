"""What the scheduler writes for a pod's volumes before it binds the pod (VolumeBinding's PreBind)."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.v1_37.objects import Manifest, namespace_of, spec_of, status_of, term_matches
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.schedulers.v1_37.claim_binder import claimed_volume, selected_claim
from scheduler_core.schedulers.v1_37.volumes import BIND_COMPLETED, annotations_of


def volume_write(server: ApiServer, claim: str, volume: str, node: str) -> Any:
    """Return a volume with its claim or, without a volume, the claim with the node that it is made for.

    ``None`` if the claim is gone (bindAPIUpdate).
    """
    found, free = server.get("PersistentVolumeClaim", claim), server.get("PersistentVolume", volume)
    if found is None:
        return None
    return selected_claim(found, node) if free is None else claimed_volume(free, found)


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
