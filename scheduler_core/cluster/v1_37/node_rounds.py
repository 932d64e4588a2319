"""Which nodes a pass of the node controller looks at, and what the passes would have seen of the others.

Upstream looks at every node every five seconds. A node comes to *rest* when a further look would find
nothing to do, and wakes up with the next write or the next sign of its kubelet. Only its lease goes on: the
first pass that saw its last renewal follows from when the passes came by.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import ClassVar, NamedTuple

from scheduler_core.forks import Copier, Forkable, flat

_REMEMBERED = 4
"""Passes in which a lease has been renewed at least once: one comes every 5 s, a renewal every 10 s."""


class Rest(NamedTuple):
    """A node at rest.

    ``place`` is its key in the order of nodes, ``created`` its creation in virtual seconds. One that
    ``waits`` is queued for its NoExecute taint.
    """

    place: str
    zone: str
    ready: bool
    created: float
    waits: bool = False


class Visit(NamedTuple):
    """A look to be taken at a node; ``zone`` is where it counts, ``None`` for nowhere."""

    place: str
    name: str
    zone: str | None


class _PassFront:
    """When one pass came by: up to which place, at which time; places and times only grow."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.times: list[float] = []
        self.end: float | None = None

    def come_by(self, place: str, now: float) -> None:
        """Note that all nodes up to a place have been looked at by a time."""
        if self.times and self.times[-1] == now:
            self.places[-1] = place
        else:
            self.places.append(place)
            self.times.append(now)

    def time_of(self, place: str) -> float | None:
        """Return when a node was looked at, ``None`` if that is still to come."""
        found = bisect_left(self.places, place)
        return self.times[found] if found < len(self.times) else self.end


class Rounds(Forkable):
    """Nodes at rest and awake, and the tally of ready and lost nodes by zone of the pass under way."""

    FORKED: ClassVar[Mapping[str, Copier]] = dict.fromkeys(
        ("awake", "resting", "_waiting", "_zones", "_tally"), flat
    )

    def __init__(self) -> None:
        self.awake: dict[str, None] = {}
        self.resting: dict[str, Rest] = {}
        self._waiting: dict[str, None] = {}
        self._zones: dict[str, tuple[int, int]] = {}
        self._tally: dict[str, tuple[int, int]] = {}
        self._passes: deque[_PassFront] = deque(maxlen=_REMEMBERED)
        self._coming: list[Visit] | None = None
        self._counted: dict[str, tuple[int, int]] | None = None
        """The tally of the last pass, ``None`` while that is under way."""

    # --- rest

    def rest(self, name: str, rest: Rest) -> None:
        """Let passes skip a node from now on."""
        self.awake.pop(name, None)
        self.resting[name] = rest
        if rest.waits:
            self._waiting[name] = None
        _count(self._zones, rest.zone, ready=rest.ready, by=1)

    def wake(self, name: str) -> Rest | None:
        """Have a node looked at, by the pass under way if it is still to come; return how it rested."""
        self.awake[name] = None
        rest = self.resting.pop(name, None)
        if rest is None:
            return None
        self._waiting.pop(name, None)
        _count(self._zones, rest.zone, ready=rest.ready, by=-1)
        if self._coming is not None and self._passes[-1].time_of(rest.place) is None:
            heappush(self._coming, Visit(rest.place, name, rest.zone))
            _count(self._tally, rest.zone, ready=rest.ready, by=-1)
        return rest

    def wake_waiting(self) -> None:
        """Wake the nodes that wait for a taint: a node that is queued now may come before them."""
        for name in list(self._waiting):
            self.wake(name)

    def wake_all(self) -> None:
        """Wake every node."""
        for name in list(self.resting):
            self.wake(name)

    # --- passes

    @property
    def has_work(self) -> bool:
        """Whether a pass has a node to look at, or counts others than the pass before."""
        return bool(self.awake) or self._counted != self._zones

    def pass_by(self, now: float) -> None:
        """Make a pass that has nothing to do."""
        front = _PassFront()
        front.end = now
        self._passes.append(front)

    def begin(self, visits: Iterable[Visit]) -> None:
        """Begin a pass with visits to the nodes that are awake; those at rest are only counted."""
        self._coming, self._counted = list(visits), None
        heapify(self._coming)
        self._tally = dict(self._zones)
        self._passes.append(_PassFront())

    def next(self, now: float) -> Visit | None:
        """Return the next visit; ``None`` ends the pass."""
        assert self._coming is not None
        if not self._coming:
            self._coming, self._passes[-1].end = None, now
            self._counted = self._tally
            return None
        visit = heappop(self._coming)
        self._passes[-1].come_by(visit.place, now)
        return visit

    def count(self, zone: str, *, ready: bool) -> None:
        """Count a node that was looked at."""
        _count(self._tally, zone, ready=ready, by=1)

    @property
    def tally(self) -> dict[str, tuple[int, int]]:
        """The ready and the lost nodes that the pass has met, by zone."""
        return self._tally

    def renewal(self, place: str, lease: Callable[[float], float]) -> tuple[float, float] | None:
        """Return the lease that the last look at a node found, and when a look found it first.

        ``lease`` has the node's last renewal at a time. ``None`` before any pass.
        """
        times = [at for one in self._passes if (at := one.time_of(place)) is not None]
        if not times:
            return None
        last = lease(times[-1])
        return last, next(at for at in times if lease(at) == last)


def _count(zones: dict[str, tuple[int, int]], zone: str, *, ready: bool, by: int) -> None:
    well, lost = zones.get(zone, (0, 0))
    counted = (well + by, lost) if ready else (well, lost + by)
    if any(counted):
        zones[zone] = counted
    else:
        zones.pop(zone, None)
