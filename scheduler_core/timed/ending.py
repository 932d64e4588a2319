"""When a run in virtual time is over: nothing is left to come but tries of what was tried before.

In a cluster the scheduler never ends: unschedulable pods are tried again every minute or five. A run ends
when no operation and nothing of the controllers is to come, and no pod was bound, ended, created or deleted
for so long that every wait of a group was over and the unschedulable queue was flushed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.coscheduling.permit import DEFAULT_WAIT
from scheduler_core.framework.looks import UNSCHEDULABLE_LOOK
from scheduler_core.framework.record import Happening
from scheduler_core.framework.releases import Release
from scheduler_core.framework.scheduler import Pace
from scheduler_core.timed.control import ControlledFramework

RETRIES = frozenset({"FailedScheduling", "Moved", "Activated", "PodGroup", "PodGroupSync", "Timeout"})
"""What happens again and again while nothing changes; all else starts the wait anew."""
TRIES = 20  # for each pod that waits: a group of the current edition can keep a scheduler busy without end
FEWEST_TRIES = 200
CALM = 4  # cycles of a storm after which time passes twice as fast
CYCLE = Pace().cycle
LONGEST = 7 * 86_400.0  # seconds without an operation: controllers may restart what ends for ever


def patience(release: Release) -> float:
    """Return after how many seconds without a change a run is over."""
    return release.unschedulable_stay + UNSCHEDULABLE_LOOK + DEFAULT_WAIT


@dataclass(slots=True)
class Ending:
    """What a run remembers for it: when something last changed, and how many cycles ran since.

    ``until`` ends the run at a second of virtual time, whatever is to come.
    """

    until: float | None = None
    changed: float = 0.0
    landed: float = 0.0
    tries: int = 0
    longest_wait: float = field(default=0.0)

    def notice(self, happening: Happening) -> None:
        """Take note of something that happened."""
        if happening.what in RETRIES:
            return
        self.changed, self.tries = happening.time, 0
        if happening.what == "Operation":
            self.landed = happening.time

    def tried(self) -> None:
        """Take note of a scheduling cycle."""
        self.tries += 1

    def over(self, framework: ControlledFramework, moment: float, *, more: bool) -> bool:
        """Tell whether what comes next, at ``moment``, is not to come any more; ``more``: an operation is."""
        if self.until is not None and moment > self.until:
            return True
        if more:
            return False
        if moment > self.landed + LONGEST:
            return True
        if framework.expects:
            return False
        waits = max(patience(framework.release), 2 * self.longest_wait)
        return moment > self.changed + waits or self.storm(framework) > 0

    def storm(self, framework: ControlledFramework) -> int:
        """Return how many cycles too many there were since something changed."""
        return max(0, self.tries - max(FEWEST_TRIES, TRIES * len(framework.queue.pods)))

    def pace(self, framework: ControlledFramework, free: float | None) -> float:
        """Return how long the next cycle takes, in seconds, if the next event is ``free`` seconds away.

        A scheduler that is busy without end would need a thousand cycles for each second until something
        changes. They are all alike: each few of them take twice as long, and no event comes late for that.
        """
        storm = self.storm(framework)
        if not storm or free is None:
            return CYCLE
        return max(CYCLE, min(CYCLE * 2.0 ** min(storm // CALM, 40), free))
