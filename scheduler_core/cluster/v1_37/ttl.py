"""TTL after finished: Jobs that go some seconds after their end (``pkg/controller/ttlafterfinished``)."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.job import is_finished_job
from scheduler_core.cluster.v1_37.loop import Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_of,
    is_deleting,
    second,
    spec_of,
)
from scheduler_core.cluster.v1_37.watches import StoredWrite


class TTLAfterFinished(Controller):
    """The controller that deletes finished Jobs, with their pods first."""

    name = "ttl"
    watched = ("Job",)

    def observe(self, write: StoredWrite) -> None:
        """Queue a finished Job that has a time to live."""
        job = write.new
        if write.kind == "Job" and job is not None and not is_deleting(job) and _is_due_once(job):
            self.queue.add(write.key)

    def sync(self, key: str) -> Work:
        """Delete a Job whose time is over, else wait for it (processJob)."""
        job = self.server.get("Job", key)
        if job is None or is_deleting(job) or not _is_due_once(job):
            return
        left = _finished_at(job) + int(spec_of(job)["ttlSecondsAfterFinished"]) - self.now
        if left > 0:
            self.queue.add_after(key, left)
            return
        yield self.client.delete(job, propagation="Foreground")


def _is_due_once(job: Manifest) -> bool:
    return spec_of(job).get("ttlSecondsAfterFinished") is not None and is_finished_job(job)


def _finished_at(job: Manifest) -> float:
    row = condition_of(job, "Complete") or condition_of(job, "Failed") or {}
    return second(row.get("lastTransitionTime"))
