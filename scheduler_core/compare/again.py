"""A cluster whose pods are taken off their nodes, to be scheduled once more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.recorded_decisions import NODE
from scheduler_core.kubernetes.support import part_of

MIRROR = "kubernetes.io/config.mirror"
FINISHED = ("Succeeded", "Failed")
STAYING = ("DaemonSet", "Node")
"""Controllers whose pods belong to their node."""
ENDING = ("deletionTimestamp", "deletionGracePeriodSeconds")


def taken_off(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield documents in which pods have no node, but for those that do not :func:`move <moves>`."""
    for document in documents:
        yield unbound(document) if moves(document) else document


def recorded_again(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield documents as :func:`taken_off` does; pods without a node are annotated with the one they had.

    A run then compares its placements with those, as with the placements of a recording.
    """
    for document in documents:
        yield _with_record(document) if moves(document) else document


def _with_record(document: Document) -> Document:
    metadata = document["metadata"]
    annotations = {**(metadata.get("annotations") or {}), NODE: document["spec"]["nodeName"]}
    return {**unbound(document), "metadata": {**metadata, "annotations": annotations}}


def moves(document: Document) -> bool:
    """Return whether it is a pod on a node that could be on another one.

    Pods of DaemonSets, static pods, those that have ended and those that are being deleted stay.
    """
    if document.get("kind") != "Pod" or not part_of(document, "spec", "nodeName"):
        return False
    owners = part_of(document, "metadata", "ownerReferences")
    listed = [one for one in owners if isinstance(one, Mapping)] if isinstance(owners, list) else []
    static = part_of(document, "metadata", "annotations", MIRROR)
    stays = static or any(one.get("kind") in STAYING for one in listed)
    ends = part_of(document, "metadata", ENDING[0]) or part_of(document, "status", "phase") in FINISHED
    return not (stays or ends)


def unbound(pod: Document) -> Document:
    """Return a pod as it is before it is scheduled: without its node, its status and its end."""
    spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
    meta = {name: value for name, value in (pod.get("metadata") or {}).items() if name not in ENDING}
    rest = {name: value for name, value in pod.items() if name != "status"}
    return {**rest, "metadata": meta, "spec": spec}
