"""The answer: what happened to a pod, each node's verdict on it, and what would make it fit."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from scheduler_core.explain.findings import findings
from scheduler_core.explain.recorded_answer import RecordedAnswer
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.rules import PodOnNode
from scheduler_core.explain.section import Section
from scheduler_core.explain.story import Story
from scheduler_core.explain.world import NodeVerdicts, PredicateFailure
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.record import terms_of
from scheduler_core.schedulers.extenders.configuration import is_extender

NODES_SHOWN = 100
GROUPS_SHOWN = 30
GROUP_NODES = 20


class ExplainError(ValueError):
    """The pod, node or step (``what``) does not exist; the text suggests similar names."""

    def __init__(self, message: str, what: str = "pod") -> None:
        super().__init__(message)
        self.what = what  # pod, node or step


class FailureFacts(Struct, frozen=True):
    """One failure with the facts behind it."""

    failure: PredicateFailure
    details: tuple[str, ...]
    numbers: tuple[dict[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the failure and its facts as JSON."""
        return {
            **plain(self.failure),
            "details": list(self.details),
            "numbers": list(self.numbers),
        }


class NodeVerdict(Struct, frozen=True):
    """One node's verdict: every failure with the facts behind it, the scheduler's own answer first."""

    node: str
    fits: bool
    facts: tuple[FailureFacts, ...]

    @property
    def failures(self) -> tuple[PredicateFailure, ...]:
        """Every predicate that fails, in the order of evaluation."""
        return tuple(facts.failure for facts in self.facts)

    @property
    def details(self) -> tuple[str, ...]:
        """All facts as sentences."""
        return tuple(dict.fromkeys(text for facts in self.facts for text in facts.details))

    @property
    def numbers(self) -> tuple[dict[str, Any], ...]:
        """The amounts of every resource that is short."""
        return tuple(number for facts in self.facts for number in facts.numbers)

    @property
    def because(self) -> str:
        """The reasons of the scheduler's own answer, joined by commas."""
        texts = [text for f in self.failures if not f.further for text in _texts(f)]
        return ", ".join(dict.fromkeys(texts)) or "an error on another node ends the attempt"

    @property
    def further(self) -> str:
        """A sentence, after a blank, on what else would refuse the node; "" if nothing does."""
        refusals = [f"{f.predicate} ({', '.join(_texts(f))})" for f in self.failures if f.further]
        listed = " and ".join(filter(None, (", ".join(refusals[:-1]), *refusals[-1:])))
        return f" {listed} would refuse it as well." if refusals else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON."""
        return {
            "node": self.node,
            "fits": self.fits,
            "failures": [facts.as_dict() for facts in self.facts],
            "details": list(self.details),
            "numbers": list(self.numbers),
        }


def _texts(failure: PredicateFailure) -> tuple[str, ...]:
    return (failure.error,) if failure.error else failure.reasons


def verdict(standing: NodeVerdicts, row: int) -> NodeVerdict:
    """Return a node's verdict on the pod."""
    facts = tuple(facts_of(standing, row, failure) for failure in standing.failures(row))
    return NodeVerdict(standing.names[row], standing.fits(row), facts)


def facts_of(
    standing: NodeVerdicts, row: int, failure: PredicateFailure, *, declared: PredicateFailure | None = None
) -> FailureFacts:
    """Return a failure on a node with its facts; ``declared`` is the failure in the words of the findings."""
    found = findings(PodOnNode(standing, row), declared or failure)
    details = dict.fromkeys(text for finding in found for text in finding.details)
    return FailureFacts(failure, tuple(details), tuple(n for finding in found for n in finding.numbers))


class Group(Struct, frozen=True):
    """Nodes with the same failures: none at all, or every predicate of ``failures``."""

    failures: tuple[PredicateFailure, ...]
    count: int
    nodes: tuple[str, ...]  # the first :data:`GROUP_NODES`


def groups(standing: NodeVerdicts) -> tuple[Group, ...]:
    """Return the nodes grouped by failures, the largest group first; at most :data:`GROUPS_SHOWN`."""
    found: dict[tuple[PredicateFailure, ...], list[int]] = {}
    for row, like in _alike(standing):
        found.setdefault(standing.failures(like), []).append(row)
    ordered = sorted(found.items(), key=lambda group: -len(group[1]))
    return tuple(
        Group(failures, len(rows), tuple(standing.names[row] for row in rows[:GROUP_NODES]))
        for failures, rows in ordered[:GROUPS_SHOWN]
    )


def _alike(standing: NodeVerdicts) -> Sequence[tuple[int, int]]:
    """Pair each row with the first one that has the same failures, so that these are worded only once."""
    rows = range(len(standing.names))
    codes = standing.filtered.unabridged
    if codes is None or standing.filtered.unabridged_errors:
        return [(row, row) for row in rows]
    _, first, kind = np.unique(codes.T, axis=0, return_index=True, return_inverse=True)
    return list(zip(rows, first[kind.ravel()].tolist()))


class Explanation(Struct, frozen=True):
    """The answer. ``state`` is placed, bound, pending, finished, preempted, deleted, absent or other.

    ``index`` and ``step`` are the cycle that placed the pod, which ``story`` describes, else the last one
    before the moment that is described; ``before`` is true if the moment is the one at which that cycle
    decided. ``nodes`` are the verdicts on the node asked about or on all, at most :data:`NODES_SHOWN` of
    ``nodes_count``; ``groups`` are all nodes grouped by failures. ``changes`` make the pod fit, the smallest
    first. ``message`` is the simulated scheduler's for a pod that fits nowhere; ``recorded`` compares the
    answer with the condition that a dump recorded for the pod.
    """

    pod: str
    state: str
    node: str | None
    asked: str | None
    index: int
    step: str
    summary: str
    before: bool = False
    story: Story | None = None
    nodes: tuple[NodeVerdict, ...] = ()
    nodes_count: int = 0
    groups: tuple[Group, ...] = ()
    changes: tuple[Remedy, ...] = ()
    message: str = ""
    recorded: RecordedAnswer | None = None
    warnings: tuple[Problem, ...] = ()
    sections: tuple[Section, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON, of bounded size."""
        return {
            "pod": self.pod,
            "state": self.state,
            "node": self.node,
            "asked": self.asked,
            "index": self.index,
            "step": self.step,
            "before": self.before,
            "summary": self.summary,
            "story": self.story.as_dict() if self.story else None,
            "nodes": [verdict.as_dict() for verdict in self.nodes],
            "nodesCount": self.nodes_count,
            "groups": plain(self.groups),
            "changes": [change.as_dict() for change in self.changes],
            "recorded": self.recorded.as_dict() if self.recorded else None,
            "sections": [section.as_dict() for section in self.sections],
            "warnings": [warning.as_dict() for warning in self.warnings],
        }


Asking = Generator[None, None, Explanation]
"""An answer in the making, which pauses regularly for callers that serve others meanwhile."""


def refused_by_extender(cycle: Cycle, row: int) -> str:
    """Return which extender failed a node that passed the predicates or filters; "" if none did."""
    matrix = cycle.matrix
    if matrix is None:
        return ""
    rows = [number for number, name in enumerate(matrix.order) if is_extender(name)]
    number = next((number for number in rows if matrix.codes[number, row] > 0), None)
    if number is None:
        return ""
    reasons = ", ".join(matrix.reasons[int(matrix.codes[number, row])]) or "without a reason"
    return f"passed the {terms_of(cycle).rules}, but {matrix.order[number]} refused it: {reasons}"
