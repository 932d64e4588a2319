"""Records the history of PodGroups: once per cycle, and as marks on the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.coscheduling.groups import group_key
from scheduler_core.schedulers.coscheduling.line import PodGroupField
from scheduler_core.schedulers.coscheduling.podgroup_status import (
    before,
    group_met,
    group_record,
    groups_of,
)
from scheduler_core.schedulers.coscheduling.record import CoschedulingRecord, Groups, PodGroupRecord
from scheduler_core.schedulers.v1_22.interface import Handle, Observer
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod

MARKS_KEPT = 50  # per cycle

Mark = Literal["phase", "rejected", "timeout"]
Phases = dict[str, list[tuple[float, str]]]


class PodGroupObserver(Observer):
    """Records phases, rejections and timeouts. ``phases`` has the time each PodGroup entered each phase."""

    fields: ClassVar[Mapping[str, Any]] = {"podGroup": PodGroupField}
    entries = ("PodGroup", "PodGroupSync")

    def __init__(self) -> None:
        self.phases: Phases = {}
        self._marks: dict[TimelineMark, None] = {}
        self._left: Groups | None = None
        self._met: tuple[Groups | None, PodGroupRecord | None] = None, None
        self._phase: str | None = None

    def notice(self, event: TimelineEvent, pods: Mapping[str, Pod]) -> None:
        """Mark a new phase, and the failure of a pod that waited at Permit."""
        if event.what in self.entries:
            phases = self.phases.setdefault(event.about, [])
            if not phases or phases[-1][1] != event.text:
                phases.append((event.time, event.text))
                self._mark("phase", event.about, event.text)
        elif event.what == "FailedScheduling" and isinstance(event.detail, WaitingPod):
            pod = pods.get(event.about)
            group = group_key(pod) if pod is not None else ""
            if group:
                self._mark("timeout" if event.detail.timed_out else "rejected", group)

    def _mark(self, kind: Mark, group: str, state: str = "") -> None:
        if len(self._marks) < MARKS_KEPT:
            self._marks[TimelineMark(kind, group, state)] = None

    def begin(self, framework: Handle) -> None:
        """Record all groups before the time advances to the next attempt."""
        self._left = groups_of(framework)

    def popped(self, framework: Handle, pod: QueuedPod | None) -> None:
        """Record all groups, and the group of the attempt's pod, as the attempt finds them."""
        self._met = groups_of(framework), None if pod is None else group_met(framework, pod)
        self._phase = None if pod is None else before(framework, pod.state.pod)

    def record(
        self, framework: Handle, pod: QueuedPod | None, attempt: Attempt, events: Iterable[TimelineEvent]
    ) -> CoschedulingRecord:
        """Return the PodGroups around a cycle, and drain the marks."""
        found, of_pod = self._met
        return CoschedulingRecord(
            self._take(),
            groups_of(framework),
            None if pod is None else group_record(framework, pod, attempt, self._phase, events),
            self._left,
            found,
            of_pod,
            framework.post_filter_phases,
        )

    def marked(self) -> CoschedulingRecord:
        """Drain the marks, and return a record of the marks alone."""
        return CoschedulingRecord(self._take())

    def final(self, framework: Handle) -> CoschedulingRecord:
        """Return the groups at the end of a run."""
        return CoschedulingRecord(groups=groups_of(framework))

    def _take(self) -> tuple[TimelineMark, ...]:
        found = tuple(self._marks)
        self._marks.clear()
        return found


def phases_of(observers: Iterable[Observer]) -> Phases:
    """Return when each PodGroup of a run entered each phase, in virtual seconds."""
    return next(one.phases for one in observers if isinstance(one, PodGroupObserver))
