"""The record of preemption in one cycle, a part of the Cycle.

Nodes are indices into ``nodes``, the cycle's node names in object order; pods are ``namespace/name``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

Indices = npt.NDArray[np.int64]
Hopeless = Literal["unresolvable", "nothing-lower", "still-unfit"]

HOPELESS: dict[Hopeless, str] = {
    "unresolvable": "deleting pods does not resolve the failure",
    "nothing-lower": "it has no pods of lower priority",
    "still-unfit": "the pod does not fit even without all pods of lower priority",
}
"""The reasons why a node is not a candidate. Nodes of the first kind are not even potential nodes."""


class PutBack(NamedTuple):
    """The attempt to put one pod back on the node.

    ``budgets`` are the PodDisruptionBudgets that deleting it would violate, as ``namespace/name``.
    It is kept if the incoming pod fits next to it, otherwise it is a victim; ``reasons`` are then those why
    the incoming pod does not fit.
    """

    pod: str
    priority: int
    budgets: tuple[str, ...]
    kept: bool
    reasons: tuple[str, ...]


class RecordedPod(Protocol):
    """The fields of a pod that a record reads; they never change."""

    @property
    def key(self) -> str:
        """Return ``namespace/name``."""
        ...

    @property
    def priority(self) -> int:
        """Return the resolved priority."""
        ...


class DryRun(Struct):
    """The dry run on one candidate node (core.selectVictimsOnNode).

    ``removed`` are all pods of lower priority in their order on the node, ``order`` the same pods in the
    order in which they were put back. ``budgets`` maps those that violate a budget to the budgets'
    names; ``refused`` are the victims, ``reasons``, per victim, why the incoming pod did not fit next to it.
    """

    node: int
    removed: Sequence[RecordedPod]
    order: Sequence[RecordedPod]
    budgets: Mapping[str, tuple[str, ...]]
    refused: Sequence[RecordedPod]
    reasons: Sequence[tuple[str, ...]]

    @property
    def victims(self) -> list[str]:
        """The pods that would be deleted, those that violate a budget first."""
        return [pod.key for pod in self.refused]

    @property
    def violations(self) -> int:
        """The number of victims that violate a budget."""
        return sum(pod.key in self.budgets for pod in self.refused)

    def steps(self) -> Iterator[PutBack]:
        """Yield the attempts to put the pods back, in order."""
        why = {pod.key: reasons for pod, reasons in zip(self.refused, self.reasons)}
        for pod in self.order:
            reasons = why.get(pod.key)
            budgets = self.budgets.get(pod.key, ())
            yield PutBack(pod.key, pod.priority, budgets, reasons is None, reasons or ())


class NodeGroup(Struct):
    """Nodes where a dry run was pointless or found no solution, all for the same reasons.

    ``reasons`` are the predicates' texts: the unresolvable ones, otherwise those of the remaining failures.
    """

    why: Hopeless
    reasons: tuple[str, ...]
    nodes: Indices


class CriterionRound(Struct):
    """One criterion applied to the remaining nodes: ``values`` and ``stay`` have one entry per node.

    ``criterion`` is the id of a row of :data:`scheduler_core.schedulers.v1_11.preemption.criteria.CRITERIA`.
    """

    criterion: str
    nodes: Indices
    values: Indices
    stay: npt.NDArray[np.bool_]

    @property
    def decided(self) -> bool:
        """Whether it reduced several nodes to one."""
        return len(self.nodes) > 1 and int(self.stay.sum()) == 1


class Preemption(Struct):
    """Everything that preemption evaluated for one pod without a feasible node, and its choice.

    ``leaving`` are the victims of an earlier preemption that are still on the pod's nominated node: while
    there are any, the pod is not ``eligible`` and nothing else is tried. ``never`` means that the pod has
    preemptionPolicy Never and is not eligible either. ``potential`` are the nodes where deletions might help,
    ``hopeless`` all nodes that are not candidates, ``candidates`` the others, in object order. ``ties`` are
    the names of the nodes that tie on every criterion, sorted. ``cleared`` are the pods that lose their
    nomination. ``undone`` is the API server's response to the deletion of a victim that voided the choice.
    """

    nodes: tuple[str, ...]
    eligible: bool = True
    never: bool = False
    leaving: tuple[str, ...] = ()
    leaving_from: str | None = None
    potential: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    hopeless: list[NodeGroup] = field(default_factory=list)
    candidates: list[DryRun] = field(default_factory=list)
    comparisons: list[CriterionRound] = field(default_factory=list)
    chosen: DryRun | None = None
    ties: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    undone: str = ""

    @property
    def node(self) -> str | None:
        """The nominated node; None if no deletion helps."""
        return None if self.chosen is None else self.nodes[self.chosen.node]

    @property
    def victims(self) -> list[str]:
        """The deleted pods, in order."""
        return [] if self.chosen is None else self.chosen.victims

    @property
    def decided_by(self) -> str | None:
        """The criterion that left one node; None if there were fewer than two candidates from the start."""
        return next((row.criterion for row in self.comparisons if row.decided), None)

    @property
    def nbytes(self) -> int:
        """The record's estimated memory in bytes; excludes the pods, which are shared with the cluster."""
        pods = sum(len(run.order) for run in self.candidates)
        return len(self.candidates) * 600 + pods * 24 + 24 * len(self.comparisons) * len(self.candidates)


class NominatedPass(Struct, frozen=True):
    """A node that was checked twice because pods of equal or higher priority are nominated to it.

    The first pass is with ``pods`` on the node, the second, if the first finds no failure, without
    them. ``failed`` is the pass that the node failed, None if the pod fits in both.
    """

    node: int
    pods: tuple[str, ...]
    failed: Literal[1, 2] | None
