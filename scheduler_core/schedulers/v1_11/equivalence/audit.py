"""Explain why a cached result was stale: its writer, or the first later event that should have cleared it.

With the audit on, every event is also matched against the rows of mode ``sound``. The invalidations that
these require are kept here, and a stale hit is traced back to the event that the mode in use ignored.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.cache_record import STALE_SHOWN, StaleHit
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR, Codes, ReasonTable
from scheduler_core.schedulers.v1_11.equivalence.classes import difference
from scheduler_core.schedulers.v1_11.equivalence.rules import Invalidation
from scheduler_core.schedulers.v1_11.predicates import RULES

EVENTS_KEPT = 20_000
WRITERS_KEPT = 20_000

NO_EVENT = "no row of the table covers the change"
MEMBERS_DIFFER = "members of one class differ in"

_ATTRIBUTES = {"init_containers": "initContainers", "node_selector": "nodeSelector"}

READS: Mapping[str, tuple[str, ...]] = {
    name: (*(_ATTRIBUTES.get(field, field) for field in rule.reads.pod), *rule.identity)
    for rule in RULES
    if rule.reads.pod or rule.identity
    for name in (rule.key, *rule.other_names)
}
"""The attributes of a pod that determine a predicate's result; for any other predicate, all of them may."""


class Suspect(Struct, frozen=True):
    """Hits of one predicate that differ from a fresh evaluation, one entry for each of ``rows``.

    ``differs`` lists the fields in which the pod differs from the one that the entry was written for, if
    the entry is still correct for that one; otherwise it is empty. ``seen`` is the number of invalidations
    that had been due when the entry was hit.
    """

    predicate: str
    rows: IntVector
    cached: Codes
    true: Codes
    written: list[int]
    differs: list[tuple[str, ...]]
    seen: int


class _Due(Struct, frozen=True):
    """One invalidation of mode ``sound``. ``cycle`` is the cycle after or during which it was due."""

    cycle: int
    during: bool
    rule: str
    event: str
    predicates: tuple[str, ...] | None
    nodes: frozenset[str] | None

    def concerns(self, predicate: str, node: str) -> bool:
        return (self.predicates is None or predicate in self.predicates) and (
            self.nodes is None or node in self.nodes
        )


class Audit:
    """The invalidations that were due, the writers of entries, and the stale hits of a run by cause."""

    def __init__(self) -> None:
        self.causes: Counter[str] = Counter()
        self.seen = 0  # invalidations that were due so far
        self._due: list[_Due] = []  # the last of them, in order
        self._cycles: list[int] = []  # the cycle of each entry of _due
        self._writers: dict[int, PodState] = {}

    def expect(self, found: list[Invalidation], names: tuple[str, ...], cycle: int, *, during: bool) -> None:
        """Record the invalidations that an event requires."""
        for item in found:
            nodes = None if item.rows is None else frozenset(names[row] for row in item.rows.tolist())
            event = str(item.event)
            self._due.append(_Due(cycle, during, item.row.id, event, item.predicates, nodes))
            self._cycles.append(cycle)
        self.seen += len(found)
        if len(self._due) > 2 * EVENTS_KEPT:
            del self._due[:-EVENTS_KEPT], self._cycles[:-EVENTS_KEPT]

    def wrote(self, cycle: int, pod: PodState) -> None:
        """Record the pod that a cycle wrote entries for."""
        self._writers[cycle] = pod
        if len(self._writers) > WRITERS_KEPT:
            del self._writers[next(iter(self._writers))]

    def writer(self, cycle: int) -> PodState | None:
        """Return the pod that a cycle wrote entries for, ``None`` if the cycle is too long ago."""
        return self._writers.get(cycle)

    def explain(
        self, suspects: list[Suspect], names: tuple[str, ...], reasons: ReasonTable
    ) -> list[StaleHit]:
        """Count the stale hits of a cycle by cause and return the first of them."""
        shown: list[StaleHit] = []
        for suspect in suspects:
            for place, row in enumerate(suspect.rows.tolist()):
                due, cause = self._cause(suspect, place, names[row])
                self.causes[cause] += 1
                if len(shown) < STALE_SHOWN:
                    shown.append(
                        StaleHit(
                            node=names[row],
                            predicate=suspect.predicate,
                            cached=_texts(reasons, suspect.cached, place),
                            true=_texts(reasons, suspect.true, place),
                            written=suspect.written[place],
                            rule=due.rule if due else "",
                            event=due.event if due else "",
                            cause=cause,
                        )
                    )
        return shown

    def _cause(self, suspect: Suspect, place: int, node: str) -> tuple[_Due | None, str]:
        predicate, written = suspect.predicate, suspect.written[place]
        if suspect.differs[place]:
            return None, f"{predicate}: {MEMBERS_DIFFER} {', '.join(suspect.differs[place])}"
        due = self._missed(predicate, node, written, suspect.seen)
        if due is None:
            return None, f"{predicate}: {NO_EVENT}"
        how = "written after" if due.during and due.cycle == written else "not invalidated by"
        return due, f"{predicate}: {how} {due.event.partition(' ')[0]} (rule {due.rule})"

    def _missed(self, predicate: str, node: str, written: int, seen: int) -> _Due | None:
        """Return the first invalidation due between an entry's write and its hit, ``None`` if none was."""
        last = len(self._due) - (self.seen - seen)
        for place in range(bisect_left(self._cycles, written), last):
            if self._due[place].concerns(predicate, node):
                return self._due[place]
        return None


def differing(predicate: str, written_for: PodState, asked_for: PodState) -> tuple[str, ...]:
    """Return the differing attributes of two pods that a predicate reads; if none, all that differ."""
    found = difference(written_for.pod, asked_for.pod, "attributes")
    read = READS.get(predicate, found)
    return tuple(name for name in found if name in read) or found


def _texts(reasons: ReasonTable, codes: Codes, place: int) -> tuple[str, ...]:
    code = int(codes[place])
    return ("the predicate raised an error",) if code == FAILED_BY_ERROR else tuple(reasons.texts[code])
