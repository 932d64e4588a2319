"""What came of the verbs of a command line: drains that ended or failed, pods that were evicted or not."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.timeline import TimelineEvent

OUTCOMES = frozenset(
    {"Drained", "DrainFailed", "EvictionByEvictionAPI", "EvictionRefused", "EvictionFailed"}
    | {"DescheduleFailed", "RollbackFailed", "TaintManagerEviction"}
)
MOST = 40
"""Events that are listed; a large node has as many pods."""


class VerbOutcomes:
    """The events of a run that answer its verbs, the first of them in full."""

    def __init__(self) -> None:
        self.events: list[TimelineEvent] = []
        self.count = 0

    def take(self, of: Cycle | FinalState | None) -> None:
        """Keep what happened up to a cycle's end, or after the last one."""
        if of is None:
            return
        consequences = of.consequences if isinstance(of, Cycle) else ()
        found = [one for one in (*of.happenings, *consequences) if one.what in OUTCOMES]
        self.count += len(found)
        self.events += found[: MOST - len(self.events)]

    def lines(self) -> Iterator[str]:
        """Yield the events by virtual second; none if nothing was drained or evicted."""
        if not self.events:
            return
        from scheduler_core.cli.timed_report import event_line  # importing it costs every plain run

        yield "Drains and evictions:"
        yield from (event_line(one.time, one.what, one.about, one.text) for one in self.events)
        if self.count > len(self.events):
            yield f"  and {self.count - len(self.events):,} more: --events lists all"
        yield ""

    def data(self) -> list[dict[str, object]]:
        """Return the same as JSON."""
        return [
            {"time": one.time, "reason": one.what, "object": one.about, "message": one.text}
            for one in self.events
        ]
