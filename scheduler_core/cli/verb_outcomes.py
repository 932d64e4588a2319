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
    """The events of a run that answer its verbs: each once, at its first second, with its times."""

    def __init__(self) -> None:
        self.times: dict[tuple[str, str], int] = {}
        self.events: list[TimelineEvent] = []

    def take(self, of: Cycle | FinalState | None) -> None:
        """Keep what happened up to a cycle's end, or after the last one."""
        if of is None:
            return
        consequences = of.consequences if isinstance(of, Cycle) else ()
        for one in (*of.happenings, *consequences):
            if one.what not in OUTCOMES:
                continue
            key = (one.what, one.about)
            if key not in self.times and len(self.events) < MOST:
                self.events.append(one)
            self.times[key] = self.times.get(key, 0) + 1

    def lines(self) -> Iterator[str]:
        """Yield the events by virtual second; none if nothing was drained or evicted."""
        if not self.events:
            return
        from scheduler_core.cli.timed_report import event_line  # importing it costs every plain run

        yield "Drains and evictions:"
        for one in self.events:
            times = self.times[one.what, one.about]
            yield event_line(one.time, one.what, one.about, one.text) + (
                f" ({times:,} ×)" if times > 1 else ""
            )
        if len(self.times) > len(self.events):
            yield f"  and {len(self.times) - len(self.events):,} more: --events lists all"
        yield ""

    def data(self) -> list[dict[str, object]]:
        """Return the same as JSON."""
        return [
            {
                "time": one.time,
                "reason": one.what,
                "object": one.about,
                "message": one.text,
                "count": self.times[one.what, one.about],
            }
            for one in self.events
        ]
