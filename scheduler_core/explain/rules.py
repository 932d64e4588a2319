"""The input and the result of explain's rules."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from scheduler_core.explain.edits import Edit, Mutation
from scheduler_core.explain.world import NodeVerdicts
from scheduler_core.kubernetes.model import Node


class Finding(Struct, frozen=True):
    """One reason's facts as sentences and numbers, and the alternatives that may resolve it.

    Each of ``options`` is a set of edits that belong together.
    """

    details: tuple[str, ...] = ()
    options: tuple[tuple[Edit, ...], ...] = ()
    numbers: tuple[dict[str, Any], ...] = ()


class PodOnNode(Struct, frozen=True):
    """One pod on one node; ``row`` is the node's index."""

    standing: NodeVerdicts
    row: int

    @property
    def node(self) -> Node:
        """The node."""
        return self.standing.node(self.row)

    def edit_pod(self, words: str, cost: str, mutate: Mutation, *, size: float = 0.0) -> Edit:
        """Return an edit of the pod."""
        return Edit("Pod", self.standing.world.pod, words, cost, "pod", mutate, size=size)
