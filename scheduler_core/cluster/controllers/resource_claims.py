"""The resourceclaim controller: claims that pods get from templates, and what becomes of them afterwards.

It reads and makes manifests, because devices have no typed objects. Names, which upstream leaves to the API
server's generator, end with a suffix that is the same for the same pod.

Source: ``pkg/controller/resourceclaim/controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from scheduler_core.formats.decode import short_hash
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.manifests import Document, Manifest

TEMPLATE = "ResourceClaimTemplate"
CLAIM = "ResourceClaim"
POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
"""The annotation that ties a claim to the entry of its pod's ``spec.resourceClaims``."""

EXTENDED = "resource.kubernetes.io/extended-resource-claim"
"""The annotation of a claim that the scheduler made for the extended resources of the pod that owns it."""

FINALIZER = "resource.kubernetes.io/delete-protection"
"""Of a claim that the scheduler allocated; without it this controller takes no allocation away."""

LONGEST_BASE = 57
"""Characters of pod and claim name in a generated name, which has 63 with a hyphen and the suffix."""

FINISHED = ("Succeeded", "Failed")

MOST_CONSUMERS = 256
"""Pods that the API server lets a claim be reserved for (ResourceClaimReservedForMaxSize)."""


class ObjectLookup(Protocol):
    """Where objects are looked up."""

    def get(self, kind: str, namespace: str | None, name: str) -> Document | None:
        """Return a stored object."""
        ...


class ClaimWrite(Struct, frozen=True):
    """A claim as it is written, or as it was when it is deleted."""

    claim: Document
    deleted: bool = False


class ClaimsMade(Struct, frozen=True):
    """What a pod gets: claims to be created, then its status."""

    claims: tuple[Document, ...] = ()
    statuses: tuple[Mapping[str, Any], ...] | None = None
    """``status.resourceClaimStatuses`` afterwards; None if the status is not written."""


class ResourceClaimController:
    """Makes and frees ResourceClaims; it remembers which claims each pod owns, and whom it failed."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}
        """By pod: why its claims could not be made (the event FailedResourceClaimCreation)."""
        self._owned: dict[str, list[str]] = {}  # by the pod's uid

    def note(self, claim: Mapping[str, Any]) -> None:
        """Learn of a claim that exists, in case that a pod owns it."""
        owner = _owning_pod(claim)
        names = self._owned.setdefault(owner, []) if owner else []
        if claim["metadata"]["name"] not in names:
            names.append(claim["metadata"]["name"])

    def claims_for(self, pod: Mapping[str, Any], objects: ObjectLookup) -> ClaimsMade:
        """Return what a pod's entries without a claim get (syncPod); the first that fails ends it.

        A claim that the pod owns already is found by its annotation instead of being made again.
        """
        entries = (pod.get("spec") or {}).get("resourceClaims") or ()
        if not entries or is_done(pod) or pod["metadata"].get("deletionTimestamp"):
            return ClaimsMade()
        key = pod_key(pod)
        known: dict[str, Document] = {entry["name"]: entry for entry in _statuses(pod)}
        made: list[Document] = []
        found: dict[str, str] = {}
        for entry in entries:
            template = entry.get("resourceClaimTemplateName")
            if not template or _is_served(pod, known.get(entry["name"]), objects):
                continue
            claim: Document | None = self._orphan(pod, entry["name"], objects)
            if claim is None:
                stored = objects.get(TEMPLATE, _namespace(pod), template)
                if stored is None:
                    problem = (
                        f'PodResourceClaim {entry["name"]}: resource claim template "{template}": '
                        f'resourceclaimtemplate.resource.k8s.io "{template}" not found'
                    )
                    self.problems[key] = problem
                    return ClaimsMade(tuple(made))
                claim = _claim(pod, entry["name"], stored, objects)
                made.append(claim)
            found[entry["name"]] = claim["metadata"]["name"]
        self.problems.pop(key, None)
        if not found:
            return ClaimsMade()
        known |= {name: {"name": name, "resourceClaimName": claim} for name, claim in found.items()}
        return ClaimsMade(tuple(made), tuple(known.values()))

    def reserved(self, pod: Mapping[str, Any], objects: ObjectLookup) -> Iterator[ClaimWrite]:
        """Yield the allocated claims of a pod that has a node, reserved for it if they are not yet (syncPod).

        The scheduler reserves what it binds itself: these are pods that came to their node without it. A
        claim without an allocation stays as it is; nobody but the scheduler allocates one.
        """
        placed = (pod.get("spec") or {}).get("nodeName")
        if not placed or is_done(pod) or pod["metadata"].get("deletionTimestamp"):
            return
        for name in claim_names(pod):
            claim = objects.get(CLAIM, _namespace(pod), name)
            if claim is None:
                return
            status = claim.get("status") or {}
            known = list(status.get("reservedFor") or ())
            if not status.get("allocation") or len(known) >= MOST_CONSUMERS:
                continue
            if all(one.get("uid") != pod_uid(pod) for one in known):
                mine = {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod_uid(pod)}
                yield ClaimWrite({**claim, "status": {**status, "reservedFor": [*known, mine]}})

    def freed(self, pod: str, uid: str, names: Iterable[str], objects: ObjectLookup) -> Iterator[ClaimWrite]:
        """Yield what becomes of the claims of a pod that is gone or done (syncClaim), write by write.

        Its reservations end; a claim without any is deallocated, and deleted if it was made for the pod.
        ``names`` are those of :func:`claim_names`.
        """
        self.problems.pop(pod, None)
        namespace = pod.partition("/")[0]
        for name in dict.fromkeys((*names, *self._owned.pop(uid, ()))):
            claim = objects.get(CLAIM, namespace, name)
            if claim is not None:
                yield from _freed(claim, uid)

    def _orphan(self, pod: Mapping[str, Any], entry: str, objects: ObjectLookup) -> Document | None:
        for name in self._owned.get(pod_uid(pod), ()):
            claim = objects.get(CLAIM, _namespace(pod), name)
            if (
                claim is not None
                and (claim["metadata"].get("annotations") or {}).get(POD_CLAIM_NAME) == entry
            ):
                return claim
        return None


def is_done(pod: Mapping[str, Any]) -> bool:
    """Return whether no container of the pod will run any more (isPodDone)."""
    unplaced = not (pod.get("spec") or {}).get("nodeName")
    ended = bool(pod["metadata"].get("deletionTimestamp")) and unplaced
    return ended or (pod.get("status") or {}).get("phase") in FINISHED


def claim_names(pod: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the pod's claims that its specification or its status names."""
    made = {entry.get("name"): entry.get("resourceClaimName") for entry in _statuses(pod)}
    entries = (pod.get("spec") or {}).get("resourceClaims") or ()
    names = [entry.get("resourceClaimName") or made.get(entry.get("name")) for entry in entries]
    special = (pod.get("status") or {}).get("extendedResourceClaimStatus") or {}
    return tuple(name for name in (*names, special.get("resourceClaimName")) if name)


def extended_user(claim: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the pod whose extended resources a claim is for, as its key and uid; None if it is for none."""
    meta, uid = claim["metadata"], _owning_pod(claim)
    if not uid or (meta.get("annotations") or {}).get(EXTENDED) != "true":
        return None
    owner = next(one for one in meta["ownerReferences"] if one.get("uid") == uid)
    return f"{_namespace(claim)}/{owner['name']}", uid


def _is_owned_by(claim: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    return _owning_pod(claim) == pod_uid(pod)


def _is_served(pod: Mapping[str, Any], status: Mapping[str, Any] | None, objects: ObjectLookup) -> bool:
    """Return whether an entry has its claim, or needs none by its status."""
    if status is None:
        return False
    name = status.get("resourceClaimName")
    claim = objects.get(CLAIM, _namespace(pod), name) if name else None
    return not name or (claim is not None and _is_owned_by(claim, pod))


def _claim(
    pod: Mapping[str, Any], entry: str, template: Mapping[str, Any], objects: ObjectLookup
) -> Manifest:
    """Return the claim that is made from a template for an entry of the pod."""
    spec = template.get("spec") or {}
    given = spec.get("metadata") or {}
    namespace, name = _namespace(pod), pod["metadata"]["name"]
    base, number = generate_name(name, entry), 0
    made = base + short_hash(pod_uid(pod), entry)
    while objects.get(CLAIM, namespace, made) is not None:  # as the API server tries another suffix
        number += 1
        made = base + short_hash(pod_uid(pod), entry, str(number))
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": name,
        "uid": pod_uid(pod),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata: Manifest = {
        "name": made,
        "generateName": base,
        "namespace": namespace,
        "uid": uid_for(CLAIM, namespace, made),
        "annotations": {**(given.get("annotations") or {}), POD_CLAIM_NAME: entry},
        "ownerReferences": [owner],
    }
    if given.get("labels"):
        metadata["labels"] = {**given["labels"]}
    version = str(template.get("apiVersion") or "resource.k8s.io/v1")
    return {"apiVersion": version, "kind": CLAIM, "metadata": metadata, "spec": {**(spec.get("spec") or {})}}


def generate_name(pod: str, entry: str) -> str:
    """Return the ``generateName`` of a claim; long names are both cut, in proportion to their length."""
    base = f"{pod}-{entry}-"
    length = len(base)
    if length <= LONGEST_BASE:
        return base
    return f"{pod[: len(pod) * LONGEST_BASE // length]}-{entry[: len(entry) * LONGEST_BASE // length]}-"


def _freed(claim: Document, uid: str) -> Iterator[ClaimWrite]:
    status = claim.get("status") or {}
    reserved = list(status.get("reservedFor") or ())
    valid = [one for one in reserved if one.get("uid") != uid]
    if len(valid) < len(reserved):
        finalizers = list(claim["metadata"].get("finalizers") or ())
        kept = {**status, "reservedFor": valid}
        if not valid:
            del kept["reservedFor"]
            if FINALIZER in finalizers:
                kept.pop("allocation", None)
        claim = {**claim, "status": kept}
        yield ClaimWrite(claim)
        if FINALIZER in finalizers and not kept.get("allocation"):
            metadata = {**claim["metadata"], "finalizers": [one for one in finalizers if one != FINALIZER]}
            claim = {**claim, "metadata": metadata}
            yield ClaimWrite(claim)
    if not valid and _owning_pod(claim) == uid:
        yield ClaimWrite(claim, deleted=True)


def _owning_pod(claim: Mapping[str, Any]) -> str:
    """Return the uid of the pod that controls a claim, or an empty string."""
    for owner in claim["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner.get("kind") == "Pod" and owner.get("apiVersion") == "v1":
            return str(owner.get("uid") or "")
    return ""


def _statuses(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list((pod.get("status") or {}).get("resourceClaimStatuses") or ())


def _namespace(manifest: Mapping[str, Any]) -> str:
    return str(manifest["metadata"].get("namespace") or "default")


def pod_key(pod: Mapping[str, Any]) -> str:
    """Return a pod's namespace and name."""
    return f"{_namespace(pod)}/{pod['metadata']['name']}"


def pod_uid(pod: Mapping[str, Any]) -> str:
    """Return a pod's uid, which admission has set."""
    meta = pod["metadata"]
    return str(meta.get("uid") or uid_for("Pod", _namespace(pod), meta["name"]))
