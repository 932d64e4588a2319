"""The claims of a StatefulSet's pods, and who owns them (``persistentVolumeClaimRetentionPolicy``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    clone,
    name_of,
    namespace_of,
    owners_of,
    reference_to,
    spec_of,
    with_meta,
)


def ordinal_of(pod: Manifest) -> int:
    """Return a pod's ordinal, -1 if its name ends with none."""
    text = name_of(pod).rpartition("-")[2]
    return int(text) if text.isdecimal() else -1


def start_of(owner: Manifest) -> int:
    """Return the first ordinal."""
    return int((spec_of(owner).get("ordinals") or {}).get("start") or 0)


def in_range(owner: Manifest, ordinal: int) -> bool:
    """Return whether a StatefulSet wants the pod with this ordinal."""
    return start_of(owner) <= ordinal < start_of(owner) + int(spec_of(owner)["replicas"])


def claim_name(owner: Manifest, template: Manifest, ordinal: int) -> str:
    """Return the name of a pod's claim."""
    return f"{template['metadata']['name']}-{name_of(owner)}-{ordinal}"


def claims_of(owner: Manifest, ordinal: int) -> Iterator[Manifest]:
    """Yield the claims of a pod, as they are created."""
    for template in spec_of(owner).get("volumeClaimTemplates") or ():
        made = clone(template)
        meta = made["metadata"]
        labels = {**(meta.get("labels") or {}), **(spec_of(owner)["selector"].get("matchLabels") or {})}
        meta |= {
            "name": claim_name(owner, template, ordinal),
            "namespace": namespace_of(owner),
            "labels": labels,
        }
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **made}


def with_claims(owner: Manifest, pod: Manifest, ordinal: int) -> Manifest:
    """Return a pod with a volume for each claim (updateStorage)."""
    templates = spec_of(owner).get("volumeClaimTemplates") or ()
    own = {one["metadata"]["name"]: claim_name(owner, one, ordinal) for one in templates}
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in own.items()]
    kept = [one for one in spec_of(pod).get("volumes") or () if one["name"] not in own]
    return {**pod, "spec": {**spec_of(pod), "volumes": [*volumes, *kept]}} if own else pod


def _policy(owner: Manifest) -> tuple[bool, bool]:
    """Return whether claims go with the set, and with its size."""
    policy = spec_of(owner).get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete"


def with_owner(claim: Manifest, owner: Manifest, pod: Manifest) -> Manifest:
    """Return a claim with the owners that the policy wants (updateClaimOwnerRefForSetAndPod)."""
    if any(_names_earlier(claim, one) for one in (owner, pod)):
        return claim
    wanted = [] if _is_managed(claim, owner, pod) else _wanted_owners(owner, pod)
    uids = {one["metadata"].get("uid") for one in (owner, pod)}
    known = [one for one in owners_of(claim) if one["uid"] in uids]
    alike = {one["uid"] for one in known} == {one["uid"] for one in wanted}
    if alike and all(one.get("controller") for one in known):
        return claim
    kept = [one for one in owners_of(claim) if not (_names(one, owner) or _names(one, pod))]
    return with_meta(claim, ownerReferences=[*kept, *wanted] or None)


def _wanted_owners(owner: Manifest, pod: Manifest) -> list[dict[str, Any]]:
    when_deleted, when_scaled = _policy(owner)
    if when_scaled and not in_range(owner, ordinal_of(pod)):
        return [reference_to(pod)]
    return [reference_to(owner)] if when_deleted else []


def is_stale(claim: Manifest, owner: Manifest, pod: Manifest) -> bool:
    """Return whether a claim belongs to an earlier pod of this name, with which it goes (PodClaimIsStale)."""
    return _policy(owner)[1] and _names_earlier(claim, pod)


def _names_earlier(claim: Manifest, obj: Manifest) -> bool:
    """Return whether a claim names an earlier object of this kind and name (hasStaleOwnerRef)."""
    found = next((one for one in owners_of(claim) if _names(one, obj)), None)
    return found is not None and found["uid"] != obj["metadata"].get("uid")


def _is_managed(claim: Manifest, owner: Manifest, pod: Manifest) -> bool:
    """Return whether something else controls a claim that is not simply kept (hasUnexpectedController)."""
    others = (one for one in owners_of(claim) if not (_names(one, owner) or _names(one, pod)))
    return any(_policy(owner)) and any(one.get("controller") for one in others)


def _names(reference: dict[str, Any], obj: Manifest) -> bool:
    return bool(reference["kind"] == obj["kind"] and reference["name"] == name_of(obj))
