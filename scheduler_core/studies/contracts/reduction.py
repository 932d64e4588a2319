"""Smaller versions of a cluster's documents: fewer replicas of a workload, fewer nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document

_COUNTS = {
    "Deployment": "replicas",
    "StatefulSet": "replicas",
    "ReplicaSet": "replicas",
    "ReplicationController": "replicas",
    "Job": "parallelism",
}
"""The field that sizes a workload, by kind."""


def sized(documents: Sequence[Document]) -> list[tuple[Key, int]]:
    """Return the workloads and pods that nothing else here controls, with their replicas, largest first."""
    there = {document_key(one) for one in documents}
    found = [
        (document_key(one), _count(one))
        for one in documents
        if one.get("kind") in (*_COUNTS, "Pod", "DaemonSet") and not _is_controlled(one, there)
    ]
    return sorted(found, key=lambda row: -row[1])


def _is_controlled(document: Document, there: Collection[Key]) -> bool:
    return any((str(owner.get("kind")), _named(document, owner)) in there for owner in _owners(document))


def replicas_of(documents: Sequence[Document]) -> int:
    """Return how many replicas all workloads have together, and the pods without one."""
    return sum(count for _, count in sized(documents))


def _count(document: Document) -> int:
    field = _COUNTS.get(str(document.get("kind")))
    if field is None:
        return 1
    count = (document.get("spec") or {}).get(field)
    return 1 if count is None else int(count)


def _owners(document: Document) -> list[Any]:
    return (document.get("metadata") or {}).get("ownerReferences") or []


def resized(documents: Sequence[Document], key: Key, count: int) -> list[Document]:
    """Return the documents with fewer replicas of a workload, without it for 0.

    Of what it controls as many are left as it has replicas.
    """
    return list(_resized(documents, key, count))


def _resized(documents: Sequence[Document], key: Key, count: int) -> Iterator[Document]:
    owned = {key[1]} if key[0] != "Deployment" else _sets_of(documents, key)
    left = count
    for one in documents:
        if document_key(one) == key:
            if count:
                yield _with_count(one, count)
        elif one.get("kind") == "ReplicaSet" and document_key(one)[1] in owned:
            if count:
                yield _with_count(one, min(count, _count(one)))
        elif one.get("kind") == "Pod" and any(_named(one, owner) in owned for owner in _owners(one)):
            left -= 1
            if left >= 0:
                yield one
        else:
            yield one


def _named(document: Document, owner: Any) -> str:
    return f"{document_key(document)[1].rpartition('/')[0]}/{owner.get('name')}"


def _sets_of(documents: Sequence[Document], key: Key) -> set[str]:
    """Return the ReplicaSets of a Deployment."""
    return {
        document_key(one)[1]
        for one in documents
        if one.get("kind") == "ReplicaSet" and any(_named(one, owner) == key[1] for owner in _owners(one))
    }


def _with_count(document: Document, count: int) -> Document:
    field = _COUNTS.get(str(document.get("kind")))
    spec = dict(document.get("spec") or {})
    return document if field is None else {**document, "spec": {**spec, field: count}}


def without_nodes(documents: Sequence[Document], left: Collection[str]) -> list[Document]:
    """Return the documents with some nodes alone; pods of others have no node, and static ones are gone."""
    return [
        _unbound(one, left) for one in documents if one.get("kind") != "Node" or document_key(one)[1] in left
    ]


def _unbound(document: Document, left: Collection[str]) -> Document:
    spec = document.get("spec") or {}
    if document.get("kind") != "Pod" or spec.get("nodeName") in (None, *left):
        return document
    kept = {name: value for name, value in spec.items() if name != "nodeName"}
    return {name: value for name, value in {**document, "spec": kept}.items() if name != "status"}
