"""When a run in virtual time is over: nothing is left to come but tries of what was tried before.

In a cluster the scheduler never ends: unschedulable pods are tried again every minute or five. A run ends
when no operation and nothing of the controllers is to come, and no pod was bound, ended, created or deleted
for so long that every wait was over that anything configures
(:mod:`scheduler_core.simulation.virtual.waits`) and the unschedulable queue was flushed; then, as soon as no
pod waits at Permit. A group that waits, fails and waits again for ever does not hold it up: after so many
tries nobody is tried any more, and who waits at Permit then is rejected when its time is up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from scheduler_core.framework.plugins.coscheduling.plugin import Coscheduling
from scheduler_core.framework.scheduler import Pace
from scheduler_core.scheduling.timeline import TimelineEvent
from scheduler_core.simulation.virtual.control import ControlledFramework
from scheduler_core.simulation.virtual.waits import latest, patience

RETRIES = frozenset(
    {"FailedScheduling", "Moved", "Activated", "PodGroup", "PodGroupSync", "Timeout", "NotSettled"}
)
"""What happens again and again while nothing changes; all else starts the wait anew."""
TRIES = 20  # for each pod that waits: a group of the current edition can keep a scheduler busy without end
FEWEST_TRIES = 200
CALM = 4  # cycles of a storm after which time passes twice as fast
CYCLE = Pace().cycle
LONGEST = 7 * 86_400.0  # seconds without an operation: controllers may restart what ends for ever
MOST_TRIES = 200_000  # without an operation, for the same reason: pods of a second fill a week with millions
MOST_MOMENTS = 100_000  # without a cycle or an operation: timers of a microsecond would fill a week with more
MOMENTS_EACH = 20  # beside them, for each pod


@dataclass(slots=True)
class Ending:
    """What a run remembers for it: when something last changed, and how many cycles ran since.

    ``until`` ends the run at a second of virtual time, whatever is to come; ``longest_wait`` is how long a
    pod may have to wait, in seconds.
    """

    until: float | None
    longest_wait: float
    changed: float = 0.0
    landed: float = 0.0
    tries: int = 0
    attempts: int = 0  # since the last operation
    moments: int = 0  # since the last cycle or operation
    halfway: float = 0.0  # when half of the fewest tries were made: what waits since before is no retry
    horizon: float | None = None  # a storm is waited for until then

    def notice(self, happening: TimelineEvent) -> None:
        """Take note of something that happened."""
        if happening.what in RETRIES:
            return
        self.changed, self.tries, self.horizon = happening.time, 0, None
        if happening.what == "Operation":
            self.landed, self.attempts, self.moments = happening.time, 0, 0

    def tried(self, now: float) -> None:
        """Take note of a scheduling cycle."""
        self.tries += 1
        self.attempts += 1
        self.moments = 0
        if self.tries == FEWEST_TRIES // 2:
            self.halfway = now

    def over(self, framework: ControlledFramework, moment: float, *, more: bool) -> bool:
        """Tell whether what comes next, at ``moment``, is not to come any more; ``more``: an operation is.

        Where pods wait at Permit it still is, until there were too many tries for that.
        """
        if self.stops(framework, moment, more=more):
            return True
        if more or framework.expects:
            return False
        limit = self.changed + patience(framework.release, self.longest_wait)
        return moment > limit and not len(framework.waiting)

    def stops(self, framework: ControlledFramework, moment: float, *, more: bool) -> bool:
        """Tell whether active pods are not to be tried any more at ``moment``."""
        if self.until is not None and moment > self.until:
            return True
        if self.exhausted(framework):
            return True
        if more:
            return False
        if moment > self.landed + LONGEST:
            return True
        return not framework.expects and self.storm(framework) > 0 and moment > self._horizon(framework)

    def exhausted(self, framework: ControlledFramework) -> bool:
        """Tell whether more pods were tried since the last operation than any run is for."""
        return self.attempts >= max(MOST_TRIES, TRIES * len(framework.queue.pods))

    def stuck(self, framework: ControlledFramework) -> bool:
        """Count a moment; tell whether there were more of them without a cycle than any run is for."""
        self.moments += 1
        return self.moments > MOST_MOMENTS + MOMENTS_EACH * len(framework.pods)

    def storm(self, framework: ControlledFramework) -> int:
        """Return how many cycles too many there were since something changed."""
        return max(0, self.tries - max(FEWEST_TRIES, TRIES * len(framework.queue.pods)))

    def _horizon(self, framework: ControlledFramework) -> float:
        """Return when all is over that went on beside a storm as it began, and its retries."""
        if self.horizon is None:
            now, backoff = framework.clock.now, framework.queue.placed("backoff")
            waits = latest(self._waits(framework))
            self.horizon = max(
                now,
                waits + patience(framework.release, 0.0) if waits else 0.0,
                latest(pod.backoff_until for pod in backoff),
            )
        return self.horizon

    def _waits(self, framework: ControlledFramework) -> Iterator[float | None]:
        """Yield when waits at Permit, denials and back-offs end that are not part of a storm."""
        now = framework.clock.now
        yield from (waiting.deadline for waiting in framework.waiting if waiting.since <= self.halfway)
        for plugin in framework.plugins:
            if isinstance(plugin, Coscheduling):
                for entries in (plugin.state.denied, plugin.state.backed_off):
                    yield from (now + left for _, left in entries.alive(now) if left < math.inf)

    def pace(self, framework: ControlledFramework, free: float | None) -> float:
        """Return how long the next cycle takes, in seconds, if the next event is ``free`` seconds away.

        A scheduler that is busy without end would need a thousand cycles for each second until something
        changes. They are all alike: each few of them take twice as long, and no event comes late for that.
        """
        storm = self.storm(framework)
        if not storm or free is None:
            return CYCLE
        return max(CYCLE, min(CYCLE * 2.0 ** min(storm // CALM, 40), free))
