"""Detect which quirk of v1.11 changed a result: decide the cycle again without it, and compare.

This is exact by construction. It costs a second decision and is therefore done only for the quirks that
:mod:`scheduler_core.schedulers.v1_11.quirk_causes` cannot rule out, and not at all without ``trace``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.record.cycle import Cycle, PredicateMatrix, QuirkChange, QuirkEffect
from scheduler_core.run.trace import preemption_line
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.extenders.record import extender_record
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.attempt import GenericScheduler
from scheduler_core.schedulers.v1_11.extender_calls import Extension
from scheduler_core.schedulers.v1_11.quirk_causes import CAUSES, DecisionContext, QuirkText, named
from scheduler_core.schedulers.v1_11.quirks import QUIRKS
from scheduler_core.schedulers.v1_11.vectors import KEPT_BYTES, VectorStore
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration

KEPT = 8  # schedulers with other quirks, each with its cached pod-class vectors; the oldest is evicted first


class QuirkEffects(Struct):
    """Detects the effects of the active quirks on pods of one schedulerName.

    ``configuration`` is the source that the profile was compiled from. ``extension`` has the declared answers
    of extenders: what another decision would have been answered live nobody knows.
    """

    cluster: Cluster
    queue: Nominations
    profile: Profile
    name: str
    configuration: Configuration
    extension: Extension | None = None
    _fixed: dict[frozenset[str], GenericScheduler] = field(default_factory=dict)

    def of(self, pod: PodState, cycle: Cycle) -> tuple[QuirkEffect, ...]:
        """Compare a cycle, before it is applied, with its outcome without each of the quirks.

        If no single quirk changes anything, all possible ones are disabled together.
        """
        if cycle.matrix is None:  # the cycle ended before any rule ran
            return ()
        asked = extender_record(cycle)
        if asked is not None and any(call.source in {"recorded", "live"} for call in asked.calls):
            return ()
        at = DecisionContext(pod, self.cluster, self.queue, self.profile, cycle)
        possible = {
            row.id: facts
            for row in QUIRKS
            if row.id in self.profile.quirks and (facts := CAUSES[row.id](at)) is not None
        }
        if not possible:
            return ()
        if self.profile.settings.cache != "off":  # the effect of a stale hit is not a quirk's
            cycle = self._decide(frozenset(), pod, cycle)
        found = [
            effect for name, facts in possible.items() for effect in self._effects({name: facts}, pod, cycle)
        ]
        if not found and len(possible) > 1:
            found = list(self._effects(possible, pod, cycle))
        return tuple(found)

    def _effects(self, causes: Mapping[str, QuirkText], pod: PodState, cycle: Cycle) -> Iterable[QuirkEffect]:
        other = self._decide(frozenset(causes), pod, cycle)
        difference = compare(cycle, other)
        if difference.changed:
            outcome = _outcome(cycle, other, difference)
            together = f" It takes {' and '.join(causes)} together." if len(causes) > 1 else ""
            for name, facts in causes.items():
                text = f"{facts()} {outcome}{together}"
                yield QuirkEffect(name, difference.changed, difference.nodes, text)

    def _decide(self, without: frozenset[str], pod: PodState, cycle: Cycle) -> Cycle:
        scheduler = self._fixed.get(without)
        if scheduler is None:
            settings = self.profile.settings
            settings = replace(settings, fixed_too=settings.fixed_too | without)
            profile = replace(self.configuration, settings=settings).profiles[self.name]
            if len(self._fixed) >= KEPT:
                del self._fixed[next(iter(self._fixed))]
            vectors = VectorStore(self.cluster, profile, limit=KEPT_BYTES // KEPT)
            scheduler = self._fixed[without] = GenericScheduler(
                self.cluster, self.queue, profile, vectors, extension=self.extension
            )
        return scheduler.schedule(pod, cycle.last_node_index)


class RecordDifference(Struct, frozen=True):
    """The differences between two records of one attempt; ``nodes`` are those whose verdict differs."""

    changed: tuple[QuirkChange, ...]
    nodes: tuple[str, ...]


def compare(one: Cycle, other: Cycle) -> RecordDifference:
    """Compare two decisions for the same pod in the same cluster.

    A predicate that ran in only one of them differs on the nodes that it rejected.
    """
    nodes = _differing_nodes(one.matrix, other.matrix) if one.matrix and other.matrix else ()
    tests: dict[QuirkChange, bool] = {
        "predicates": bool(nodes),
        "priorities": not _scored_alike(one, other),
        "preemption": preemption_line(one.preemption) != preemption_line(other.preemption),
        "decision": _decided(one) != _decided(other),
    }
    names = tuple(one.nodes[node] for node in nodes)
    return RecordDifference(tuple(part for part, differs in tests.items() if differs), names)


def _differing_nodes(one: PredicateMatrix, other: PredicateMatrix) -> tuple[int, ...]:
    numbers: dict[tuple[str, ...], int] = {}
    rows, others = _rows(one, numbers), _rows(other, numbers)
    differs = np.zeros(one.codes.shape[1], np.bool_)
    for key in {**rows, **others}:
        if key in rows and key in others:
            differs |= rows[key] != others[key]
        else:
            differs |= (rows[key] if key in rows else others[key]) > 0
    texts, other_texts = (
        {(m.order[number], node, text) for (number, node), text in m.errors.items()} for m in (one, other)
    )
    differs[[node for _, node, _ in texts ^ other_texts]] = True
    return tuple(np.flatnonzero(differs).tolist())


def _rows(matrix: PredicateMatrix, numbers: dict[tuple[str, ...], int]) -> dict[str, Any]:
    """Return each predicate's codes, ``(N,)``, renumbered so that equal reasons have equal numbers."""
    codes = [numbers.setdefault(tuple(reasons), len(numbers)) for reasons in matrix.reasons]
    if codes == list(range(len(codes))):
        return dict(zip(matrix.order, matrix.codes))
    table = np.array([*codes, -1], np.int16)  # the last entry is for nodes not reached
    return dict(zip(matrix.order, table[matrix.codes]))


def _scored_alike(one: Cycle, other: Cycle) -> bool:
    if one.totals is None or other.totals is None:
        return one.totals is other.totals
    if not np.array_equal(one.feasible, other.feasible) or not np.array_equal(one.totals, other.totals):
        return False
    return all(
        np.array_equal(a.score, b.score)
        and (
            a.raw is b.raw is None
            or (a.raw is not None and b.raw is not None and np.array_equal(a.raw, b.raw))
        )
        for a, b in zip(one.priorities, other.priorities, strict=True)
    )


def _decided(cycle: Cycle) -> tuple[Any, ...]:
    decision = cycle.decision
    return (
        decision.result,
        decision.node,
        decision.nominated,
        decision.victims,
        decision.cleared,
        cycle.message,
    )


def _outcome(cycle: Cycle, other: Cycle, difference: RecordDifference) -> str:
    """Return a sentence that describes the difference in outcome."""
    was, should = _decision_text(cycle), _decision_text(other)
    if was != should:
        return f"In v1.11 {was}; as it should be, {should}."
    if difference.nodes:
        count = len(difference.nodes)
        return f"{named(difference.nodes)} {'gets' if count == 1 else 'get'} another verdict; still {was}."
    if "priorities" in difference.changed:
        return f"The scores are others; still {was}."
    return f"Preemption finds something else; still {was}."


def _decision_text(cycle: Cycle) -> str:
    decision = cycle.decision
    if decision.result == "scheduled":
        return f"the pod goes to {decision.node}"
    if decision.result == "error":
        return f"the attempt ends in an error ({cycle.message})"
    if decision.nominated is None:
        return "the pod fits nowhere"
    victims = f"after deleting {named(decision.victims)}" if decision.victims else "without victims"
    return f"the pod is nominated to {decision.nominated} {victims}"
