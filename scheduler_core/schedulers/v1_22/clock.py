"""Virtual time, which advances from timer to timer.

Time only moves from one timer to the next (or by :meth:`Clock.spend`), so idle time costs nothing.
Timers that are due at the same time fire in the order in which they were set.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from msgspec import Struct, field

from scheduler_core.kubernetes.times import RESOLUTION


class Timer(Struct, eq=False):
    """An action that is due at a virtual time; ``name`` describes its purpose."""

    at: float
    name: str
    action: Callable[[], None]
    alive: bool = True

    def cancel(self) -> None:
        """Cancel the timer; no effect if it has already fired."""
        self.alive = False


class VirtualClock(Struct):
    """``now`` is virtual seconds since the start."""

    now: float = 0.0
    _timers: list[tuple[float, int, Timer]] = field(default_factory=list)
    _order: int = 0  # of the next timer

    def schedule(self, at: float, action: Callable[[], None], name: str = "") -> Timer:
        """Set a timer; a time in the past means now."""
        timer = Timer(round(max(at, self.now), RESOLUTION), name, action)
        heappush(self._timers, (timer.at, self._order, timer))
        self._order += 1
        return timer

    def after(self, seconds: float, action: Callable[[], None], name: str = "") -> Timer:
        """Set a timer that fires after this many seconds."""
        return self.schedule(self.now + seconds, action, name)

    def next_time(self) -> float | None:
        """Return when the next timer fires, ``None`` if none is set."""
        self._drop_dead()
        return self._timers[0][0] if self._timers else None

    def timers(self) -> list[Timer]:
        """Return the timers that are set, in the order in which they will fire."""
        return [timer for _, _, timer in sorted(self._timers) if timer.alive]

    def fire(self) -> Timer | None:
        """Advance to the next timer and fire it; return ``None`` if none is set."""
        self._drop_dead()
        if not self._timers:
            return None
        at, _, timer = heappop(self._timers)
        self.now = max(self.now, at)
        timer.alive = False
        timer.action()
        return timer

    def spend(self, seconds: float) -> None:
        """Advance the time by the duration of work; timers due in between fire late, as in reality."""
        self.now = round(self.now + seconds, RESOLUTION)

    def wait_until(self, moment: float) -> None:
        """Advance to a time before which no timer is due."""
        self.now = max(self.now, round(moment, RESOLUTION))

    def _drop_dead(self) -> None:
        while self._timers and not self._timers[0][2].alive:
            heappop(self._timers)


def go_duration(seconds: float) -> str:
    """Format whole seconds as Go prints a time.Duration: ``10s``, ``1m30s``, ``15m0s``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
