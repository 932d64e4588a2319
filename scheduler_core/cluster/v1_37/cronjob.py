"""CronJob: a Job at each time of its schedule (``pkg/controller/cronjob``)."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.cron import Schedule
from scheduler_core.cluster.v1_37.job import is_finished_job
from scheduler_core.cluster.v1_37.loop import ApiError, Work
from scheduler_core.cluster.v1_37.objects import (
    EPOCH,
    Manifest,
    condition_of,
    created_at,
    is_deleting,
    key_of,
    name_of,
    namespace_of,
    reference_to,
    second,
    spec_of,
    stamp,
    status_of,
    uid_of,
    with_status,
)
from scheduler_core.cluster.v1_37.server import StoredWrite

_DELTA = 0.1
"""Added to the next schedule, so that its time has come (nextScheduleDelta)."""


class CronJobs(Controller):
    """The controller of CronJobs."""

    name = "cronjob"

    def observe(self, write: StoredWrite) -> None:
        """Queue a CronJob, and that of a Job."""
        if write.kind == "CronJob":
            self.queue.add(write.key)
        elif write.kind == "Job":
            self.queue_owner(write, "CronJob")

    def sync(self, key: str) -> Work:
        """Forget old Jobs, take finished ones off the status, begin the next (syncCronJob)."""
        cron = self.server.get("CronJob", key)
        if cron is None:
            return
        jobs = self.server.controlled(cron, "Job")
        yield from self._forget_oldest(cron, jobs)
        status = self._without_finished(cron, jobs)
        if status != status_of(cron):
            cron = yield self.client.update_status(with_status(cron, status))
        if is_deleting(cron) or spec_of(cron).get("suspend"):
            return
        yield from self._schedule(cron, Schedule(str(spec_of(cron)["schedule"])))

    def _forget_oldest(self, cron: Manifest, jobs: list[Manifest]) -> Work:
        limits = {"Complete": "successfulJobsHistoryLimit", "Failed": "failedJobsHistoryLimit"}
        for kind, field in limits.items():
            done = [job for job in jobs if (condition_of(job, kind) or {}).get("status") == "True"]
            done.sort(key=lambda job: (second(status_of(job).get("startTime")), name_of(job)))
            for job in done[: max(0, len(done) - int(spec_of(cron)[field]))]:
                yield self.client.delete(job)

    def _without_finished(self, cron: Manifest, jobs: list[Manifest]) -> dict[str, Any]:
        running = {uid_of(job) for job in jobs if not is_finished_job(job)}
        status = status_of(cron)
        active = [one for one in status.get("active") or () if one["uid"] in running]
        done = [str(at) for job in jobs if (at := status_of(job).get("completionTime"))]
        fresh = {**status, "active": active} if status.get("active") else dict(status)
        if done and max(done) > (status.get("lastSuccessfulTime") or ""):
            fresh["lastSuccessfulTime"] = max(done)
        return fresh

    def _schedule(self, cron: Manifest, schedule: Schedule) -> Work:
        """Begin the Job of the last time that has come, and wait for the next."""
        now = self.now
        since = (
            second(status_of(cron).get("lastScheduleTime"))
            if status_of(cron).get("lastScheduleTime")
            else None
        )
        earliest = created_at(cron) if since is None else since
        deadline = spec_of(cron).get("startingDeadlineSeconds")
        if deadline is not None:
            earliest = max(earliest, now - deadline)
        due = schedule.last(earliest + EPOCH, now + EPOCH)
        if due is not None:
            yield from self._begin(cron, due)
        following = schedule.next(now + EPOCH) - EPOCH
        self.queue.add_after(key_of(cron), following + _DELTA - now)

    def _begin(self, cron: Manifest, due: int) -> Work:
        active = status_of(cron).get("active") or []
        policy = spec_of(cron)["concurrencyPolicy"]
        if policy == "Forbid" and active:
            return
        if policy == "Replace":
            for one in active:
                job = self.server.get("Job", f"{namespace_of(cron)}/{one['name']}")
                if job is not None:
                    yield self.client.delete(job)
            active = []
        template = spec_of(cron)["jobTemplate"]
        meta = template.get("metadata") or {}
        made: Manifest = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": f"{name_of(cron)}-{due // 60}",
                "namespace": namespace_of(cron),
                "labels": dict(meta.get("labels") or {}),
                "annotations": dict(meta.get("annotations") or {}),
                "creationTimestamp": stamp(due - EPOCH),
                "ownerReferences": [reference_to(cron)],
            },
            "spec": dict(spec_of(template)),
        }
        try:
            job = yield self.client.create(made)
        except ApiError as error:
            if error.code == 409:
                return
            raise
        latest = self.server.get("CronJob", key_of(cron))
        if latest is None:
            return
        active = [*active, {"kind": "Job", "name": name_of(job), "uid": uid_of(job)}]
        status = {**status_of(latest), "active": active, "lastScheduleTime": stamp(due - EPOCH)}
        yield self.client.update_status(with_status(latest, status))
