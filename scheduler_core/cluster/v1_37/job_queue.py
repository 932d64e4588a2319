"""The queue of Jobs, as their syncs use it."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.job_backoff import BackoffRecord
from scheduler_core.cluster.v1_37.job_pods import untracked
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import Manifest, key_of
from scheduler_core.cluster.v1_37.server import ApiServer

BATCH_SECONDS = 1.0
"""What happens to a Job's pods within this time is looked at together (SyncJobBatchPeriod)."""


class JobQueue(Controller):
    """A controller that syncs Jobs, with the backoff of each."""

    backoff = (1.0, 60.0)  # DefaultJobApiBackOff, MaxJobApiBackOff

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self.backoffs: dict[str, BackoffRecord] = {}

    def sync_later(self, job: Manifest, seconds: float) -> None:
        """Look at a Job again, not before the pods' changes would make it."""
        self.queue.add_after(key_of(job), max(seconds, BATCH_SECONDS))

    def remove_finalizers(self, pods: list[Manifest]) -> Work:
        """Take the finalizer off pods in parallel; return the uids of those that are without it."""
        results: list[Any] = yield [self.client.patch(pod, untracked) for pod in pods]
        return {
            pod["metadata"]["uid"]
            for pod, result in zip(pods, results, strict=True)
            if not isinstance(result, StatusError) or result.code == 404
        }
