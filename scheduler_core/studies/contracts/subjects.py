"""Whom a contract is about: pods of a workload, of each of a kind or of a selector, or a ClusterQueue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    key_in,
    key_of,
    labels_of,
    namespace_of,
    selects,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.kubernetes.fields_pod import group_of
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import At

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")
QUEUE = "ClusterQueue"
EVERY = (*WORKLOADS, QUEUE)
SUBJECT_KINDS = (*EVERY, "Pod", "PodGroup", "Namespace")
MOST_SUBJECTS = 5_000


class Subject(NamedTuple):
    """The pods of a workload (``workloads`` has one), or of a ``selector`` in a ``namespace`` or in all.

    It is no pods, but the Workloads of a ClusterQueue, if ``queue`` names one.
    """

    name: str
    workloads: tuple[Key, ...] = ()
    namespace: str = ""
    selector: Mapping[str, Any] | None = None
    group: str = ""
    queue: str = ""

    def has(self, pod: Manifest, top: Key) -> bool:
        """Return whether it has a pod, whose controllers end at ``top``."""
        if self.queue or (self.namespace and namespace_of(pod) != self.namespace):
            return False
        if self.group:
            return group_of(pod) == self.group
        if self.selector is not None:
            return selects(self.selector, labels_of(pod))
        return not self.workloads or top in self.workloads


class SubjectChoice(Struct, frozen=True):
    """The field ``for`` of a contract, and its place."""

    kind: str = ""
    name: str = ""
    namespace: str = ""
    selector: Mapping[str, Any] | None = None
    every: str = ""
    at: At | None = None

    def subjects(self, server: ApiServer) -> tuple[Subject, ...]:
        """Return the subjects in a cluster; report it and return none if there is none."""
        if self.every:
            found = tuple(_of_object(key) for key in _keys(server, self.every))
            return found or self._missing(f"there is no {self.every} in the cluster: name a kind that it has")
        if self.kind == "PodGroup":
            named = f"PodGroup {self._space}/{self.name}"
            return (Subject(named, namespace=self._space, group=self.name),)
        if self.kind == "Namespace":
            return (Subject(f"namespace {self.name}", namespace=self.name),)
        if self.kind:
            return self._named(server)
        where = f" in {self.namespace}" if self.namespace else ""
        whose = "the selected pods" if self.selector is not None else "all pods"
        return (Subject(f"{whose}{where}", namespace=self.namespace, selector=self.selector),)

    @property
    def _space(self) -> str:
        return self.namespace or "default"

    def _named(self, server: ApiServer) -> tuple[Subject, ...]:
        key = self.kind, key_in(self.kind, self.namespace, self.name)
        if server.get(*key) is not None:
            return (_of_object(key),)
        there = [name for _, name in _keys(server, self.kind)]
        hint = did_you_mean(key[1], there[:2000]) or f"; there are {', '.join(there[:5]) or 'none'}"
        return self._missing(f"there is no {self.kind} {key[1]}{hint}")

    def _missing(self, message: str) -> tuple[Subject, ...]:
        if self.at is not None:
            self.at.error(message)
        return ()


def _of_object(key: Key) -> Subject:
    named = f"{key[0]} {key[1]}"
    return Subject(named, queue=key[1]) if key[0] == QUEUE else Subject(named, (key,))


def _keys(server: ApiServer, kind: str) -> list[Key]:
    """Return the objects of a kind that nothing of a higher kind controls."""
    found = (one for one in server.of_kind(kind) if kind != "ReplicaSet" or controller_of(one) is None)
    return [(kind, key_of(one)) for one, _ in zip(found, range(MOST_SUBJECTS), strict=False)]
