"""CronJob: a Job at each time of its schedule (``pkg/controller/cronjob``)."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import Any

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.cron import Schedule
from scheduler_core.cluster.v1_37.job import is_finished_job
from scheduler_core.cluster.v1_37.loop import StatusError, Together, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_of,
    controller_of,
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
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite

_DELTA = 0.1
"""Added to the next schedule, so that its time has come (nextScheduleDelta)."""
PROLONGING, HORIZON = 3, 86_400.0
"""A CronJob prolongs a run for so many Jobs, each at most so many seconds away: a schedule never ends."""


class CronJobs(Controller):
    """The controller of CronJobs."""

    name = "cronjob"
    watched = ("CronJob", "Job")

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._begun: Counter[str] = Counter()

    def observe(self, write: StoredWrite) -> None:
        """Queue a CronJob, and that of a Job; one with another schedule waits for its next time."""
        old, new = write.old, write.new
        if write.kind == "Job":
            self.queue_owner(write, "CronJob")
        elif write.kind != "CronJob":
            return
        elif old is None or new is None or _when(old) == _when(new):
            self.queue.add(write.key)
        elif (schedule := _schedule_of(new)) is not None:
            self.queue.add_after(write.key, self._until_next(schedule, self.now))

    def _until_next(self, schedule: Schedule, now: float) -> float:
        """Return in how many seconds the next time has come (nextScheduleTimeDuration)."""
        return schedule.next(now) + _DELTA - now

    def sync(self, key: str) -> Work:
        """Forget old Jobs, take finished ones off the status, begin the next (syncCronJob)."""
        cron = self.server.get("CronJob", key)
        if cron is None:
            return
        jobs = self.server.controlled(cron, "Job")
        yield from self._forget_oldest(cron, jobs)
        status = self._without_finished(cron, jobs)
        wait, error = None, None
        try:
            wait = yield from self._schedule(cron, status)
        except StatusError as failed:
            error = failed
        if status != status_of(cron):
            yield self.client.update_status(with_status(cron, status))
        if wait is not None:
            idle = self._begun[key] >= PROLONGING or wait > HORIZON
            self.queue.add_after(key, wait, idle=idle)
        elif error is not None:
            raise error

    def _forget_oldest(self, cron: Manifest, jobs: list[Manifest]) -> Work:
        limits = {"Complete": "successfulJobsHistoryLimit", "Failed": "failedJobsHistoryLimit"}
        for kind, field in limits.items():
            done = [job for job in jobs if (condition_of(job, kind) or {}).get("status") == "True"]
            done.sort(key=lambda job: (_begun_at(job), name_of(job)))
            for job in done[: max(0, len(done) - int(spec_of(cron)[field]))]:
                yield Together([self._delete(job)])

    def _delete(self, job: Manifest) -> Work:
        return (yield self.client.delete(job))

    def _without_finished(self, cron: Manifest, jobs: list[Manifest]) -> dict[str, Any]:
        running = {uid_of(job): not is_finished_job(job) for job in jobs}
        status = status_of(cron)
        active = [one for one in status.get("active") or () if self._is_active(cron, one, running)]
        done = [str(at) for job in jobs if (at := status_of(job).get("completionTime"))]
        fresh = {**status, "active": active} if status.get("active") else dict(status)
        if done and max(done) > (status.get("lastSuccessfulTime") or ""):
            fresh["lastSuccessfulTime"] = max(done)
        return fresh

    def _is_active(self, cron: Manifest, one: dict[str, Any], running: dict[str, bool]) -> bool:
        """Return whether an active Job is not over, or is there without being the CronJob's."""
        known = running.get(one["uid"])
        return self._job(cron, one["name"]) is not None if known is None else known

    def _job(self, cron: Manifest, name: str) -> Manifest | None:
        return self.server.get("Job", f"{namespace_of(cron)}/{name}")

    def _schedule(self, cron: Manifest, status: dict[str, Any]) -> Work:
        """Begin the Job of the last time that has come; return in how many seconds to look again."""
        schedule = _schedule_of(cron)
        if is_deleting(cron) or spec_of(cron).get("suspend") or schedule is None:
            return None
        now = self.now
        due = schedule.last(_earliest(cron, now), now)
        if due is not None and self._may_begin(cron, status, due):
            begun = yield from self._begin(cron, status, due)
            if not begun:
                return None
        return self._until_next(schedule, now)

    @staticmethod
    def _may_begin(cron: Manifest, status: dict[str, Any], due: int) -> bool:
        active = status.get("active") or ()
        if any(one["name"] == _job_name(cron, due) for one in active):
            return False
        return not (active and spec_of(cron)["concurrencyPolicy"] == "Forbid")

    def _begin(self, cron: Manifest, status: dict[str, Any], due: int) -> Work:
        """Create a Job, note it in the status, and return whether it is the CronJob's."""
        if spec_of(cron)["concurrencyPolicy"] == "Replace":
            yield from self._replace(cron, status)
        try:
            job = yield self.client.create(_job_of(cron, due))
        except StatusError as error:
            job = self._job(cron, _job_name(cron, due))
            if error.code != 409 or job is None:
                raise
            if (controller_of(job) or {}).get("uid") != uid_of(cron):
                return False
        active = [*(status.get("active") or ()), {"kind": "Job", "name": name_of(job), "uid": uid_of(job)}]
        status |= {"active": active, "lastScheduleTime": stamp(due)}
        self._begun[key_of(cron)] += 1
        return True

    def _replace(self, cron: Manifest, status: dict[str, Any]) -> Work:
        for one in status.get("active") or ():
            job = self._job(cron, one["name"])
            if job is None:
                raise StatusError(404, f'jobs.batch "{one["name"]}" not found')
            yield self.client.delete(job)
            status["active"] = [other for other in status["active"] if other["uid"] != one["uid"]]


def _when(cron: Manifest) -> tuple[Any, Any]:
    return spec_of(cron).get("schedule"), spec_of(cron).get("timeZone")


def _schedule_of(cron: Manifest) -> Schedule | None:
    """Return a CronJob's schedule, ``None`` if it or its time zone cannot be read."""
    text, zone = _when(cron)
    try:
        return Schedule(str(text), zone or "")
    except ValueError:
        return None


def _earliest(cron: Manifest, now: float) -> float:
    """Return the time from which on schedules count: the last, or the deadline's (mostRecentScheduleTime)."""
    since = status_of(cron).get("lastScheduleTime")
    earliest = second(since) if since else created_at(cron)
    deadline = spec_of(cron).get("startingDeadlineSeconds")
    return earliest if deadline is None else max(earliest, now - deadline)


def _begun_at(job: Manifest) -> float:
    """Return when a Job began; one that did not counts as the last."""
    begun = status_of(job).get("startTime")
    return second(begun) if begun else inf


def _job_name(cron: Manifest, due: int) -> str:
    return f"{name_of(cron)}-{due // 60}"


def _job_of(cron: Manifest, due: int) -> Manifest:
    """Return the Job of a time, not yet stored (getJobFromTemplate2)."""
    template = spec_of(cron)["jobTemplate"]
    meta = template.get("metadata") or {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": _job_name(cron, due),
            "namespace": namespace_of(cron),
            "labels": dict(meta.get("labels") or {}),
            "annotations": dict(meta.get("annotations") or {}),
            "ownerReferences": [reference_to(cron)],
        },
        "spec": dict(spec_of(template)),
    }
