"""Job: pods until enough have succeeded, or too many have failed (``pkg/controller/job``)."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.controller import pods_of
from scheduler_core.cluster.v1_37.job_pods import TRACKING, is_tracked, untracked
from scheduler_core.cluster.v1_37.job_queue import BATCH_SECONDS, JobQueue
from scheduler_core.cluster.v1_37.job_sync import JobSync
from scheduler_core.cluster.v1_37.loop import QueueWorker, Work, WorkQueue
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_of,
    controller_of,
    generation,
    is_deleting,
    key_of,
    labels_of,
    namespace_of,
    owners_of,
    second,
    selects,
    spec_of,
    status_of,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite

CONTROLLER = "kubernetes.io/job-controller"


def is_finished_job(job: Manifest) -> bool:
    """Return whether a Job is complete or failed."""
    return any((condition_of(job, kind) or {}).get("status") == "True" for kind in ("Complete", "Failed"))


def is_managed_elsewhere(job: Manifest) -> bool:
    """Return whether another controller looks after a Job (managedByExternalController)."""
    return (spec_of(job).get("managedBy") or CONTROLLER) != CONTROLLER


class Jobs(JobQueue):
    """The controller of Jobs: one worker for Jobs, one that lets pods go whose Job is finished or gone."""

    name = "job"
    watched = ("Job", "Pod")
    finalizer = TRACKING

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._orphans = QueueWorker(self.loop, self._let_go, queue=WorkQueue(self.loop, *self.backoff)).queue

    def observe(self, write: StoredWrite) -> None:
        """Queue a Job that changes at once, and that of a pod a little later."""
        if write.kind == "Job":
            self._see_job(write)
        elif write.kind == "Pod":
            self._see_pod(write)

    def _see_job(self, write: StoredWrite) -> None:
        old, new = write.old, write.new
        if new is None or is_finished_job(new):
            gone = new or old
            assert gone is not None
            self.backoffs.pop(write.key, None)
            self._orphan_pods(gone)
            if new is None:
                self.queue.add(write.key)
        elif old is None or generation(old) != generation(new):
            self.queue.add(write.key)
        else:
            self.queue.add_after(write.key, BATCH_SECONDS)
        if old is not None and new is not None:
            self._see_deadline(old, new)

    def _see_deadline(self, old: Manifest, new: Manifest) -> None:
        seconds = spec_of(new).get("activeDeadlineSeconds")
        begun = status_of(new).get("startTime")
        if seconds is not None and begun and seconds != spec_of(old).get("activeDeadlineSeconds"):
            self.queue.add_after(key_of(new), seconds - (self.now - second(begun)))

    def _orphan_pods(self, job: Manifest) -> None:
        for pod in self.server.in_namespace("Pod", namespace_of(job)):
            if is_tracked(pod) and selects(spec_of(job).get("selector"), labels_of(pod)):
                self._orphans.add(key_of(pod))

    def _see_pod(self, write: StoredWrite) -> None:
        pod = write.new or write.old
        assert pod is not None
        reference = controller_of(pod)
        if reference is not None and reference["kind"] != "Job" and not is_tracked(pod):
            return
        job = self.owner(pod, "Job")
        deleting = write.new is None or is_deleting(pod)
        if is_tracked(pod) and write.new is not None and self._is_orphan(pod, job, deleting=deleting):
            self._orphans.add(write.key)
        if job is not None:
            jobs = [] if deleting and is_finished_job(job) else [job]
        else:
            jobs = [] if deleting else self.adopters(write, "Job")
        for one in jobs:
            self.queue.add_after(key_of(one), BATCH_SECONDS)

    @staticmethod
    def _is_orphan(pod: Manifest, job: Manifest | None, *, deleting: bool) -> bool:
        owned = any(one["kind"] == "Job" and one.get("controller") for one in owners_of(pod))
        if job is None:
            return deleting or not owned
        return deleting and is_finished_job(job)

    def _let_go(self, key: str) -> Work:
        """Take the finalizer off a pod whose Job is finished or gone (handleSingleOrphanPod)."""
        pod = self.server.get("Pod", key)
        if pod is None or not is_tracked(pod):
            return
        job = self.owner(pod, "Job")
        if job is None or (is_finished_job(job) and not is_managed_elsewhere(job)):
            yield self.client.patch(pod, untracked)

    def sync(self, key: str) -> Work:
        """Bring a Job's pods to what it wants, count those that ended, and write its status (syncJob)."""
        job = self.server.get("Job", key)
        if job is None or is_finished_job(job):
            self.backoffs.pop(key, None)
            return
        if is_managed_elsewhere(job):
            return
        pods = yield from self.claim(job, pods_of(self.server, job))
        sync = JobSync(self, job, pods)
        error = yield from sync.manage()
        yield from sync.track()
        if error is not None:
            raise error
