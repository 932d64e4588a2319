"""What contracts may name of a cluster, for editors to complete from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import part_of
from scheduler_core.studies.contracts.subjects import SUBJECT_KINDS

KINDS = ("Node", *(kind for kind in SUBJECT_KINDS if kind != "Pod"), "PodTemplate", "Pod")
"""Kinds whose names contracts have, the most important first."""


def names_of(documents: Sequence[Document]) -> Iterator[Document]:
    """Yield objects without an owner by name, nodes with their labels, and the namespaces."""
    spaces = dict.fromkeys(filter(None, (part_of(one, "metadata", "namespace") for one in documents)))
    yield from ({"kind": "Namespace", "metadata": {"name": str(space)}} for space in spaces)
    for kind in KINDS:
        for one in documents:
            if one.get("kind") == kind and not part_of(one, "metadata", "ownerReferences"):
                yield {"kind": kind, "metadata": _meta(one)}


def _meta(one: Document) -> Document:
    name = {"name": str(part_of(one, "metadata", "name") or "")}
    labels = part_of(one, "metadata", "labels") if one["kind"] == "Node" else None
    return {**name, "labels": {str(key): str(value) for key, value in labels.items()}} if labels else name
