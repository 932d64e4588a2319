"""A cluster whose pods are taken off their nodes, to be scheduled once more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import part_of

MIRROR = "kubernetes.io/config.mirror"


def taken_off(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield documents in which pods have no node, but for those that only run on theirs.

    These are the pods of DaemonSets, static pods and pods that have ended.
    """
    for document in documents:
        yield _without_node(document) if _moves(document) else document


def _moves(document: Document) -> bool:
    if document.get("kind") != "Pod" or not part_of(document, "spec", "nodeName"):
        return False
    owners = part_of(document, "metadata", "ownerReferences") or ()
    return not (
        any(owner.get("kind") == "DaemonSet" for owner in owners)
        or MIRROR in (part_of(document, "metadata", "annotations") or {})
        or part_of(document, "status", "phase") in ("Succeeded", "Failed")
    )


def _without_node(document: Document) -> Document:
    spec = {name: value for name, value in document["spec"].items() if name != "nodeName"}
    return {**{name: value for name, value in document.items() if name != "status"}, "spec": spec}
