"""The cluster of a scenario with its pods to be scheduled again, from nodes that only daemons run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import part_of

MIRROR = "kubernetes.io/config.mirror"
FINISHED = ("Succeeded", "Failed")
BOUND_BY = ("DaemonSet", "Node")  # owners whose pods belong to their node


def unbound(documents: Sequence[Document]) -> tuple[list[Document], int]:
    """Return documents in which pods have no node yet, and how many lost theirs.

    Pods of DaemonSets, static pods and finished pods stay where they are.
    """
    made = [_unbound(one) if _moves(one) else one for one in documents]
    return made, sum(map(_moves, documents))


def _moves(one: Document) -> bool:
    if one.get("kind") != "Pod" or not part_of(one, "spec", "nodeName"):
        return False
    owners = part_of(one, "metadata", "ownerReferences")
    kinds = (
        [each.get("kind") for each in owners if isinstance(each, Mapping)] if isinstance(owners, list) else []
    )
    static = part_of(one, "metadata", "annotations", MIRROR) or any(kind in BOUND_BY for kind in kinds)
    return not static and part_of(one, "status", "phase") not in FINISHED


def _unbound(pod: Document) -> dict[str, Any]:
    spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
    return {**{name: value for name, value in pod.items() if name != "status"}, "spec": spec}
