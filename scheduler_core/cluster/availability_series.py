"""The availability of one workload, kept while its pods change: a bounded series, and what sums it up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from scheduler_core.cluster.copies import Branching, branch
from scheduler_core.record.availability import AvailabilitySample, WorkloadAvailability

STRETCHES = 80
"""Into how many equal stretches of time a long series is divided: each keeps three moments of its own."""
MOST_MOMENTS = 3 * STRETCHES + 2
RESOLUTION = 6  # decimals of seconds, as the clock's


@dataclass(slots=True)
class AvailabilitySeries(Branching):
    """The state since ``at``, and everything before it.

    A change takes the time since the last one into account (:meth:`pass_to`), so that what lasts no time at
    all is not seen: pods that are deleted and created again at one moment are a change by none.
    """

    at: float
    desired: int = 0
    ready: int = 0
    pending: int = 0
    terminating: int = 0
    moments: list[AvailabilitySample] = field(default_factory=list)
    complete_at: float | None = None
    fewest: tuple[int, float] | None = None  # pods, and since when
    most_ready: int = 0
    most_pending: int = 0
    below: float = 0.0
    below_from: float | None = None
    below_until: float | None = None
    below_since: float | None = None  # of the present shortage
    longest: float = 0.0
    longest_from: float | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def pass_to(self, now: float) -> None:
        """Account for the time until ``now``, in which nothing changed."""
        if now > self.at:
            self._see()
            self._stay(now - self.at)
            self.at = now
            if len(self.moments) > 2 * MOST_MOMENTS:
                self.moments = list(thinned(self.moments, STRETCHES))

    def add(self, name: str) -> None:
        """Count an event: ``evicted``, ``refused`` or ``preempted``."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def finished(self, kind: str, key: str, now: float) -> WorkloadAvailability:
        """Return the workload up to ``now``; the series itself stays as it is."""
        done = branch(self)
        done.pass_to(now)
        done._see()  # noqa: SLF001 -- a copy of its own
        fewest, fewest_at = done.fewest or (done.ready, done.at)
        return WorkloadAvailability(
            kind=kind,
            key=key,
            moments=thinned(done.moments, STRETCHES),
            complete_at=done.complete_at,
            fewest_ready=fewest,
            fewest_at=fewest_at,
            most_ready=done.most_ready,
            most_pending=done.most_pending,
            below=round(done.below, RESOLUTION),
            below_from=done.below_from,
            below_until=None if done.ready < done.desired else done.below_until,
            longest=round(done.longest, RESOLUTION),
            longest_from=done.longest_from,
            **done.counts,
        )

    def _see(self) -> None:
        """Take the present state into account, however long it lasts."""
        moment = AvailabilitySample(self.at, self.desired, self.ready, self.pending, self.terminating)
        if not self.moments or self.moments[-1][1:] != moment[1:]:
            self.moments.append(moment)
        if self.complete_at is None and self.ready >= self.desired > 0:
            self._begin_again()
        if self.desired and (self.fewest is None or self.ready < self.fewest[0]):
            self.fewest = (self.ready, self.at)
        self.most_ready = max(self.most_ready, self.ready)
        self.most_pending = max(self.most_pending, self.pending)

    def _begin_again(self) -> None:
        """Forget the time in which the workload was started."""
        self.complete_at, self.fewest = self.at, None
        self.below, self.below_from, self.below_until = 0.0, None, None
        self.below_since, self.longest, self.longest_from = None, 0.0, None

    def _stay(self, seconds: float) -> None:
        """Count a stretch of time in the present state."""
        if self.ready >= self.desired:
            self.below_since = None
            return
        since = self.below_since = self.at if self.below_since is None else self.below_since
        self.below += seconds
        self.below_from = since if self.below_from is None else self.below_from
        self.below_until = self.at + seconds
        if self.below_until - since > self.longest:
            self.longest, self.longest_from = self.below_until - since, since


def thinned(moments: Sequence[AvailabilitySample], stretches: int) -> tuple[AvailabilitySample, ...]:
    """Return at most ``3 * stretches + 2`` of the moments of a series, all if there are no more.

    Of more, those are the first, the last, and of each of so many equal stretches of time its extremes.
    """
    if len(moments) <= 3 * stretches + 2:
        return tuple(moments)
    first, *inner, last = moments
    width = (last.at - first.at) / stretches
    parts = groupby(inner, key=lambda one: min(stretches - 1, int((one.at - first.at) / width)))
    return (first, *(one for _, part in parts for one in _extremes(list(part))), last)


def _extremes(stretch: list[AvailabilitySample]) -> Iterator[AvailabilitySample]:
    """Yield, in order, the moments with the fewest and the most ready pods, and with the most pending."""
    places = range(len(stretch))
    kept = {
        min(places, key=lambda place: stretch[place].ready),
        max(places, key=lambda place: stretch[place].ready),
        max(places, key=lambda place: stretch[place].pending),
    }
    return (stretch[place] for place in sorted(kept))
