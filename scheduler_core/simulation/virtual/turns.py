"""What happens to PodGroups, as the timeline marks it: phases, rejections and timeouts, one entry a cycle."""

from __future__ import annotations

from scheduler_core.framework.plugins.coscheduling.groups import group_key
from scheduler_core.scheduling.cycle import GroupTurn
from scheduler_core.framework.record import Happening
from scheduler_core.framework.scheduler import Framework
from scheduler_core.framework.waiting import WaitingPod

TURNS_KEPT = 50  # of one cycle


class Turns:
    """What happened to PodGroups since the last cycle's end: equal entries once, at most so many."""

    def __init__(self) -> None:
        self._found: dict[GroupTurn, None] = {}

    def phase(self, group: str, phase: str) -> None:
        """Take note of a phase that is not the one before."""
        self._add(GroupTurn("phase", group, phase))

    def notice(self, happening: Happening, framework: Framework) -> None:
        """Take note of a pod's failure, if it had waited at Permit."""
        waited = happening.detail
        if not isinstance(waited, WaitingPod):
            return
        pod = framework.pods.get(happening.about)
        group = group_key(pod) if pod is not None else ""
        if group:
            self._add(GroupTurn("timeout" if waited.timed_out else "rejected", group, ""))

    def _add(self, turn: GroupTurn) -> None:
        if len(self._found) < TURNS_KEPT:
            self._found[turn] = None

    def take(self) -> tuple[GroupTurn, ...]:
        """Return what was noticed, in order, and begin anew."""
        found = tuple(self._found)
        self._found.clear()
        return found
