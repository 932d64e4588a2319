"""Determine when a run in virtual time is over: when only retries of the same pods would follow.

In a cluster the scheduler never stops: unschedulable pods are retried every one or five minutes. A run ends
when no operation and no controller action is outstanding and no pod has been bound, terminated, created or
deleted for so long that every configured wait has expired (:mod:`scheduler_core.run.waits`)
and the unschedulable queue has been flushed; it then ends as soon as no pod waits at Permit. A group that
waits and fails over and over does not keep the run alive: after a bounded number of attempts no pod is tried
any more, and the pods that still wait at Permit are rejected at their timeout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from math import inf
from typing import Protocol

from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.waits import latest, patience
from scheduler_core.schedulers.v1_22.clock import VirtualClock
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.plugins.observers import STATUS_ENTRIES
from scheduler_core.schedulers.v1_22.queue import QueueName
from scheduler_core.schedulers.v1_22.releases import FrameworkRelease
from scheduler_core.schedulers.v1_22.scheduler import Pace
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod

RETRIES = STATUS_ENTRIES | {"FailedScheduling", "Moved", "Activated", "Timeout", "NotSettled"}
"""Entries that recur while nothing changes; every other entry restarts the wait for the end."""
TRIES = 20  # per queued pod: a group of the current edition can keep a scheduler busy forever
FEWEST_TRIES = 200
CALM = 4  # cycles of a retry storm after which the cycle time doubles
CYCLE = Pace().cycle
LONGEST = 7 * 86_400.0  # seconds without an operation: controllers may restart terminated pods forever
MOST_TRIES = 200_000  # without an operation, for the same reason: one-second pods make millions a week
MOST_MOMENTS = 100_000  # without a cycle or an operation: timers of a microsecond would make more in a week
MOMENTS_EACH = 20  # in addition, per pod


class BacksOff(Protocol):
    """A pod that backs off."""

    @property
    def backoff_until(self) -> float:
        """When its backoff ends, in virtual seconds."""


class SubjectQueue(Protocol):
    """The queued pods of a run."""

    @property
    def pods(self) -> Sized:
        """All of them."""

    def placed(self, place: QueueName) -> Sequence[BacksOff]:
        """Return those in one of the queues."""
        ...


class SubjectWaits(Protocol):
    """The pods of a run that wait at Permit."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[WaitingPod]: ...


class RunEndSubject(Protocol):
    """What the end of a run depends on: of one framework, or of several schedulers together."""

    @property
    def clock(self) -> VirtualClock:
        """The clock of the run."""

    @property
    def queue(self) -> SubjectQueue:
        """The queued pods."""

    @property
    def waiting(self) -> SubjectWaits:
        """The pods that wait at Permit."""

    @property
    def plugins(self) -> Iterable[Plugin]:
        """All plugins."""

    @property
    def pods(self) -> Sized:
        """The pods in the API."""

    @property
    def release(self) -> FrameworkRelease:
        """The release that flushes queues."""

    @property
    def expects(self) -> bool:
        """Whether something will happen by itself."""


@dataclass(slots=True)
class Ending:
    """The state that decides when a run ends: the time of the last change and the cycles since then.

    ``until`` ends the run at that second of virtual time regardless of outstanding events; ``longest_wait``
    is the longest time that a pod may have to wait, in seconds.
    """

    until: float | None
    longest_wait: float
    changed: float = 0.0
    landed: float = 0.0
    tries: int = 0
    attempts: int = 0  # since the last operation
    moments: int = 0  # since the last cycle or operation
    halfway: float = 0.0  # when half of FEWEST_TRIES were made: waits that began earlier are no retries
    horizon: float | None = None  # until when retries of a storm continue
    paced: float = 0.0  # an operation before would have made a cycle of a storm shorter

    def notice(self, happening: TimelineEvent) -> None:
        """Record a timeline entry."""
        if happening.what in RETRIES:
            return
        self.restart(happening.time)
        if happening.what == "Operation":
            self.landed, self.attempts, self.moments = happening.time, 0, 0

    def restart(self, time: float) -> None:
        """Let the wait for the end begin again."""
        self.changed, self.tries, self.horizon = time, 0, None

    def tried(self, now: float) -> None:
        """Count a scheduling cycle."""
        self.tries += 1
        self.attempts += 1
        self.moments = 0
        if self.tries == FEWEST_TRIES // 2:
            self.halfway = now

    def over(self, framework: RunEndSubject, moment: float, *, more: bool) -> bool:
        """Return whether the run ends before ``moment``, the time of the next event.

        It does not while pods wait at Permit, unless too many attempts were made. ``more``: an operation is
        outstanding.
        """
        if self.stops(framework, moment, more=more):
            return True
        if more or framework.expects:
            return False
        limit = self.changed + patience(framework.release, self.longest_wait)
        return moment > limit and not len(framework.waiting)

    def stops(self, framework: RunEndSubject, moment: float, *, more: bool) -> bool:
        """Return whether active pods are no longer tried at ``moment``; ``more``: operations are left."""
        if self.until is not None and moment > self.until:
            return True
        if self.exhausted(framework):
            return True
        if more:
            return False
        if moment > self.landed + LONGEST:
            return True
        return not framework.expects and self.storm(framework) > 0 and moment > self._horizon(framework)

    def exhausted(self, framework: RunEndSubject) -> bool:
        """Return whether the attempts since the last operation have reached their limit."""
        return self.attempts >= MOST_TRIES and self.attempts >= TRIES * len(framework.queue.pods)

    def stuck(self, framework: RunEndSubject) -> bool:
        """Count a moment; return whether the moments since the last cycle or operation exceed their limit."""
        self.moments += 1
        return self.moments > MOST_MOMENTS + MOMENTS_EACH * len(framework.pods)

    def storm(self, framework: RunEndSubject) -> int:
        """Return by how many cycles the limit of retries since the last change is exceeded, at least 0."""
        if self.tries <= FEWEST_TRIES:
            return 0
        return max(0, self.tries - max(FEWEST_TRIES, TRIES * len(framework.queue.pods)))

    def _horizon(self, framework: RunEndSubject) -> float:
        """Return when every wait that is not part of the storm is over, with the retries that follow."""
        if self.horizon is None:
            now, backoff = framework.clock.now, framework.queue.placed("backoff")
            waits = latest(self._waits(framework))
            self.horizon = max(
                now,
                waits + patience(framework.release, 0.0) if waits else 0.0,
                latest(pod.backoff_until for pod in backoff),
            )
        return self.horizon

    def _waits(self, framework: RunEndSubject) -> Iterator[float | None]:
        """Yield the ends of the waits at Permit, and of those in plugins, that are not part of a storm."""
        now = framework.clock.now
        yield from (waiting.deadline for waiting in framework.waiting if waiting.since <= self.halfway)
        for plugin in framework.plugins:
            yield from plugin.holds_until(now)

    def pace(self, framework: RunEndSubject, free: float | None) -> float:
        """Return the duration of the next cycle in seconds if the next event is ``free`` seconds away.

        A scheduler that is always busy would run a thousand cycles per second until something changes. As
        they are all alike, their duration doubles every few cycles, but never so as to delay an event.
        """
        storm = self.storm(framework)
        if not storm:
            return CYCLE
        wanted = CYCLE * 2.0 ** min(storm // CALM, 40)
        self.paced = max(self.paced, framework.clock.now + wanted if free is not None else inf)
        return CYCLE if free is None else max(CYCLE, min(wanted, free))
