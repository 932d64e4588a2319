"""Why a cached answer was stale: the first event since its evaluation after which it should have gone.

With the audit on, every event is also put to mode ``sound``'s rows. What these would have cleared is
kept here, and a stale hit is traced back to the event that the mode in use did not act upon.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from scheduler_core.cluster.reasons import FAILED_BY_ERROR, Codes, ReasonTable
from scheduler_core.equivalence.lookups import Suspect
from scheduler_core.equivalence.record import STALE_SHOWN, StaleHit
from scheduler_core.equivalence.rules import Invalidation

EVENTS_KEPT = 20_000

UNKNOWN = "no event of the table"
TWO_TEMPLATES = "members of one class differ"


@dataclass(frozen=True, slots=True)
class _Due:
    """One invalidation of mode ``sound``. ``cycle`` is the one it came after, or in."""

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
    """What should have been invalidated, and the stale hits of a run by cause."""

    def __init__(self) -> None:
        self.causes: Counter[str] = Counter()
        self._due: deque[_Due] = deque(maxlen=EVENTS_KEPT)

    def expect(self, found: list[Invalidation], names: tuple[str, ...], cycle: int, *, during: bool) -> None:
        """Take note of what an event should make invalid."""
        for item in found:
            nodes = None if item.rows is None else frozenset(names[row] for row in item.rows.tolist())
            event = str(item.event)
            self._due.append(_Due(cycle, during, item.row.id, event, item.predicates, nodes))

    def explain(
        self, suspects: list[Suspect], names: tuple[str, ...], reasons: ReasonTable
    ) -> list[StaleHit]:
        """Count the stale hits of a cycle by cause and return the first of them."""
        shown: list[StaleHit] = []
        for suspect in suspects:
            found: dict[tuple[int, _Due | None], str] = {}
            for place, row in enumerate(suspect.rows.tolist()):
                written = suspect.written[place]
                due = self._missed(suspect.predicate, names[row], written)
                cause = found.setdefault((written, due), _cause(due, suspect.predicate))
                self.causes[cause] += 1
                if len(shown) < STALE_SHOWN:
                    shown.append(
                        StaleHit(
                            node=names[row],
                            predicate=suspect.predicate,
                            cached=_texts(reasons, suspect.cached, place),
                            true=_texts(reasons, suspect.true, place),
                            written=written,
                            rule=due.rule if due else "",
                            event=due.event if due else "",
                            cause=cause,
                        )
                    )
        return shown

    def _missed(self, predicate: str, node: str, written: int) -> _Due | None:
        for due in self._due:
            if due.cycle >= written and due.concerns(predicate, node):
                return due
        return None


def _cause(due: _Due | None, predicate: str) -> str:
    if due is None:
        return f"{predicate}: {TWO_TEMPLATES}, or {UNKNOWN}"
    how = "written after" if due.during else "not invalidated by"
    return f"{predicate}: {how} {due.event.partition(' ')[0]} (rule {due.rule})"


def _texts(reasons: ReasonTable, codes: Codes, place: int) -> tuple[str, ...]:
    code = int(codes[place])
    return ("the predicate raised an error",) if code == FAILED_BY_ERROR else tuple(reasons.texts[code])
