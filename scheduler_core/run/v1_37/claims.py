"""ResourceClaims of pods under v1.37: the resourceclaim controller beside the scheduler.

Before the scheduler starts, it has served every pod of the bundle. Afterwards it answers each write at once,
and the scheduler sees its writes as events: a claim that is made, a pod's status that names it, a claim that
is free again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Protocol

from scheduler_core.cluster.controllers.resource_claims import (
    CLAIM,
    TEMPLATE,
    ObjectLookup,
    ResourceClaimController,
    claim_names,
    extended_user,
    is_done,
    pod_key,
    pod_uid,
)
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.v1_37.change import ObjectWrite
from scheduler_core.schedulers.v1_37.claim_binder import DeviceStore
from scheduler_core.schedulers.v1_37.extended_resources import SPECIAL_STATUS
from scheduler_core.schedulers.v1_37.run import SchedulerRun


class ClaimStore(DeviceStore, Protocol):
    """Where the controller reads and writes manifests."""

    def create(self, manifest: Document) -> ObjectWrite:
        """Store a new object."""
        ...

    def delete(self, kind: str, namespace: str | None, name: str) -> ObjectWrite:
        """Delete a stored object at once."""
        ...


class ClaimWriter(Protocol):
    """A cluster of manifests, and who hears of writes to it."""

    @property
    def cluster(self) -> ClaimStore:
        """The stored objects."""

    def write(self, change: ObjectWrite) -> None:
        """Notify the scheduler of a write that was made."""
        ...


class PodClaims:
    """The controller's work on the writes of a run."""

    def __init__(self, run: ClaimWriter) -> None:
        self.run = run
        self._controller = ResourceClaimController()
        self._users: dict[str, tuple[str, ...]] = {}  # by pod with claims: its uid, then the claims' names

    @property
    def problems(self) -> Mapping[str, str]:
        """Why claims could not be made, by pod (the event FailedResourceClaimCreation)."""
        return self._controller.problems

    def follow(self, manifest: Document) -> None:
        """Answer a write: of a pod, of a claim, or of a template that pods may wait for."""
        kind = manifest["kind"]
        if kind == "Pod" and has_claims(manifest):
            self._serve(pod_key(manifest))
        elif kind == CLAIM:
            self._note(manifest)
            self._reserve_for_users(manifest)
        elif kind == TEMPLATE:
            for pod in list(self.problems):
                self._serve(pod)

    def _note(self, claim: Document) -> None:
        """Learn of a claim; the pod whose extended resources it is for uses it without naming it."""
        self._controller.note(claim)
        pod = extended_user(claim)
        if pod is not None:
            key, uid = pod
            self._users.setdefault(key, (uid,))

    def placed(self, pod: str) -> None:
        """Answer the binding of a pod: its claims are allocated now, for others on nodes too."""
        namespace, _, own = pod.partition("/")
        stored = self.run.cluster.get("Pod", namespace, own)
        if stored is not None and pod not in self._users and has_claims(stored):
            self._users[pod] = (pod_uid(stored), *claim_names(stored))  # its binding has made one
        uses = self._users.get(pod, ())[1:]
        for name in uses:
            claim = self.run.cluster.get(CLAIM, namespace, name)
            if claim is not None:
                self._reserve_for_users(claim)

    def lose(self, kind: str, key: str) -> None:
        """Answer a deletion: a pod's claims are free, and a claim that a pod still needs is made again."""
        if kind == "Pod" and key in self._users:
            self._free(key)
        elif kind == CLAIM:
            namespace, _, name = key.rpartition("/")
            for pod, (_, *names) in list(self._users.items()):
                if name in names and pod.startswith(f"{namespace}/"):
                    self._serve(pod)

    def _serve(self, pod: str) -> None:
        namespace, _, name = pod.partition("/")
        stored = self.run.cluster.get("Pod", namespace, name)
        if stored is None:
            return
        served = self._served(stored)
        if served is not stored:
            self.run.write(self.run.cluster.replace(served))
        if is_done(served):
            self._free(pod)
        else:
            self._reserve(served)

    def _reserve_for_users(self, claim: Document) -> None:
        """Reserve a claim for the pods on nodes that use it."""
        namespace, name = claim["metadata"].get("namespace") or "default", claim["metadata"]["name"]
        for pod, (_, *names) in list(self._users.items()):
            if name in names and pod.startswith(f"{namespace}/"):
                stored = self.run.cluster.get("Pod", namespace, pod.partition("/")[2])
                if stored is not None:
                    self._reserve(stored)

    def _reserve(self, pod: Document) -> None:
        for write in self._controller.reserved(pod, self.run.cluster):
            self.run.write(self.run.cluster.replace(write.claim))

    def _served(self, pod: Document) -> Document:
        """Write the claims that a pod gets; return the pod with a status that names them."""
        cluster = self.run.cluster
        made = self._controller.claims_for(pod, cluster)
        for claim in made.claims:
            self._controller.note(claim)
            self.run.write(cluster.create(claim))
        if made.statuses is not None:
            status = {**(pod.get("status") or {}), "resourceClaimStatuses": list(made.statuses)}
            pod = {**pod, "status": status}
        self._users[pod_key(pod)] = (pod_uid(pod), *claim_names(pod))
        return pod

    def _free(self, pod: str) -> None:
        uid, *names = self._users.pop(pod)
        cluster = self.run.cluster
        for write in self._controller.freed(pod, uid, names, cluster):
            meta = write.claim["metadata"]
            if write.deleted:
                self.run.write(cluster.delete(CLAIM, meta.get("namespace"), meta["name"]))
            else:
                self.run.write(cluster.replace(write.claim))


class RunClaims(PodClaims):
    """The only controller of a run; ``run`` is replaced when the scheduler restarts."""

    run: SchedulerRun

    def __init__(self, run: SchedulerRun) -> None:
        super().__init__(run)

    def store_first(self, manifest: Document) -> None:
        """Store an object of the start; a pod follows its claims, and its status names them already."""
        cluster = self.run.cluster
        if manifest["kind"] == CLAIM:
            self._note(manifest)
        elif manifest["kind"] == "Pod" and has_claims(manifest):
            manifest = self._served(manifest)
        self.run.write(cluster.create(manifest))
        if manifest["kind"] == "Pod" and has_claims(manifest):
            self._reserve(manifest)

    def store_replicas(self, replicas: Sequence[tuple[Document, str]]) -> None:
        """Store pods of the start, each like a stored one, whose key it comes with, but for name and uid."""
        known: dict[str, bool] = {}
        for alone, group in groupby(replicas, lambda replica: self._arrives_alone(replica[1], known)):
            if alone:
                self.run.write_replicas(group)
                continue
            for manifest, _ in group:
                self.store_first(manifest)
                known.clear()  # the queue may be another now

    def _arrives_alone(self, key: str, known: dict[str, bool]) -> bool:
        """Return whether the arrival of a pod like a stored one does nothing but add it to the queue."""
        if key not in known:
            like = self.run.cluster.pods.get(key)
            known[key] = like is not None and self.run.watch.arrives_alone(like)
        return known[key]


def has_claims(pod: Document) -> bool:
    """Return whether a pod names ResourceClaims, or its status the one for its extended resources."""
    named = (pod.get("spec") or {}).get("resourceClaims")
    return bool(named or (pod.get("status") or {}).get(SPECIAL_STATUS))


def with_claims(document: Document, pod: Pod, cluster: ObjectLookup) -> Document:
    """Return a pod's manifest, its status naming the ResourceClaims that were made for it."""
    stored = cluster.get("Pod", pod.meta.namespace, pod.meta.name) or {}
    known = stored.get("status") or {}
    made = {key: known[key] for key in ("resourceClaimStatuses", SPECIAL_STATUS) if known.get(key)}
    if not made:
        return document
    status = {**(document.get("status") or {}), **made}
    metadata = {**document["metadata"], "uid": stored["metadata"]["uid"]}  # the claims' owner
    spec = document.get("spec") or {}
    if "resourceClaims" not in spec and "resourceClaims" in stored["spec"]:
        spec = stored["spec"]  # typed objects do not keep the entries
    return {**document, "metadata": metadata, "spec": spec, "status": status}
