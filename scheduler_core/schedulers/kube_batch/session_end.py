"""The end of a session: what is forgotten, PodGroup statuses, events (closeSession, jobStatus)."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.model import PodGroupStatus
from scheduler_core.schedulers.kube_batch.model import (
    ALLOCATED,
    ALLOCATED_STATUSES,
    FAILED,
    PENDING,
    PIPELINED,
    RUNNING,
    SUCCEEDED,
    JobInfo,
)
from scheduler_core.schedulers.kube_batch.plugins.gang import UNSCHEDULABLE, fit_error
from scheduler_core.schedulers.kube_batch.record import Forgotten, GroupWritten, SessionEvent
from scheduler_core.schedulers.kube_batch.recorder import CLOSE
from scheduler_core.schedulers.kube_batch.session import Session


class ObjectEvent(Struct, frozen=True):
    """An Event about an object, as ``Kind namespace/name``; ``type`` is Normal or Warning."""

    type: str
    reason: str
    object: str
    message: str


class Closing(Struct, frozen=True):
    """What the session wrote at its end: PodGroup statuses by ``namespace/name``, and events in order."""

    groups: dict[str, PodGroupStatus]
    events: tuple[ObjectEvent, ...]


def close(session: Session) -> Closing:
    """Close the plugins, then write the status of every PodGroup; shadow groups are not written."""
    recorder = session.recorder
    if recorder is not None:
        recorder.begin_action(CLOSE)
    for registration in session.registered.values():
        if registration.closing is not None:
            registration.closing()
    groups: dict[str, PodGroupStatus] = {}
    events: list[ObjectEvent] = []
    for job in session.jobs.values():
        if recorder is not None:
            for task in (*job.of(ALLOCATED), *job.of(PIPELINED)):
                recorder.note(Forgotten(CLOSE, job.id, task.key, task.node_name, task.status))
        if job.group is None:
            # the original dereferences the missing PodGroup in either place, which ends its process
            if job.id in session.unschedulable:
                panic = (
                    "its PodDisruptionBudget has no PodGroup to write to: the original's process ends here"
                )
                events.append(ObjectEvent("Warning", "Panic", f"Job {job.id}", panic))
            else:
                events += _waiting(job)
            continue
        status = _status(job, unschedulable=job.id in session.unschedulable)
        if not job.shadow:
            groups[job.id] = status
            if recorder is not None:
                message = next((one.message for one in status.conditions if one.type == UNSCHEDULABLE), "")
                shown = message if job.id in session.unschedulable else ""
                counts = status.running, status.succeeded, status.failed
                recorder.note(GroupWritten(CLOSE, job.id, status.phase, *counts, shown))
        events += _events(job, status)
    if recorder is not None:
        for event in events:
            recorder.note(SessionEvent(CLOSE, event.type, event.reason, event.object, event.message))
    return Closing(groups, tuple(events))


def _status(job: JobInfo, *, unschedulable: bool) -> PodGroupStatus:
    assert job.group is not None
    running = len(job.by_status.get(RUNNING, ()))
    if running and unschedulable:
        phase = "Unknown"
    else:
        enough = job.count(ALLOCATED_STATUSES) >= job.group.min_member
        phase = "Running" if enough else "Pending"
    return replace(
        job.group.status,
        phase=phase,
        running=running,
        succeeded=len(job.by_status.get(SUCCEEDED, ())),
        failed=len(job.by_status.get(FAILED, ())),
        conditions=job.conditions,
    )


def _events(job: JobInfo, status: PodGroupStatus) -> list[ObjectEvent]:
    """Return the events of a job (SchedulerCache.RecordJobStatusEvent)."""
    events = []
    if not job.shadow and status.phase in ("Unknown", "Pending"):
        pending = len(job.by_status.get(PENDING, ()))
        message = f"{pending}/{len(job.tasks)} tasks in gang unschedulable: {fit_error(job)}"
        events.append(ObjectEvent("Warning", UNSCHEDULABLE, f"PodGroup {job.id}", message))
    return [*events, *_waiting(job)]


def _waiting(job: JobInfo) -> list[ObjectEvent]:
    """Return the events of the tasks that are not sent."""
    message, waiting = fit_error(job), (*job.of(ALLOCATED), *job.of(PENDING))
    return [ObjectEvent("Warning", "FailedScheduling", f"Pod {task.key}", message) for task in waiting]
