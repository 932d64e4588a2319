"""The controller of Jobs where nobody runs pods: they start as Workloads are admitted, and stop at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.job_status import DECLARED_FINISHED
from scheduler_core.cluster.kueue.jobs import (
    DEFAULT_QUEUE,
    Priorities,
    UnknownPriorityClassError,
    queue_name,
    started,
    stopped,
    suspended,
    workload_of,
)
from scheduler_core.cluster.kueue.workload import ADMITTED, EVICTED, FINISHED, Workload
from scheduler_core.cluster.v1_37.objects import Manifest, namespace_of, spec_of, with_meta


class JobControl:
    """Jobs by key, and the Workloads of those that Kueue manages."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.jobs: dict[str, Manifest] = {}
        self.priorities = Priorities()
        self._workloads: dict[str, str] = {}
        self._complete: set[str] = set()

    def create(self, key: str, job: Manifest) -> None:
        """Create a Job; one that has a queue waits for its Workload."""
        control = self._control
        control.writes += 1
        namespace = namespace_of(job) or "default"
        job = with_meta(job, uid=job["metadata"].get("uid") or f"uid-{key}")
        queue = queue_name(job, has_default=f"{namespace}/{DEFAULT_QUEUE}" in control.cache.local_queues)
        if queue is None and not control.configuration.manages_unlabelled_jobs:
            self.jobs[key] = job
            return
        self.jobs[key] = suspended(job)
        try:
            workload = workload_of(job, queue or "", self.priorities, control.now)
        except UnknownPriorityClassError:
            return
        self._workloads[key] = workload.key
        control.tell(f"Job {key}", "Normal", "CreatedWorkload", f"Created Workload: {workload.key}")
        control.write(workload)

    def delete(self, key: str) -> None:
        """Delete a Job with its Workload."""
        if self.jobs.pop(key, None) is not None:
            self._control.writes += 1
        self._control.forget(self._workloads.pop(key, ""))

    def finish(self, key: str) -> None:
        """Let a Job be complete, and its Workload finished."""
        if key in self.jobs and key not in self._complete:
            self._complete.add(key)
            self._control.writes += 1
        name = self._workloads.get(key, "")
        workload = self._control.workloads.get(name)
        if workload is None:
            return
        is_news = not workload.has(FINISHED)
        for _ in range(DECLARED_FINISHED if is_news else 1):
            message = f"Workload '{name}' is declared finished"
            self._control.tell(f"Job {key}", "Normal", "FinishedWorkload", message)
        if is_news:
            done = "Job finished successfully"
            self._control.write(workload.set(FINISHED, True, "Succeeded", done, self._control.now))

    def follow(self) -> None:
        """Start and stop Jobs as their Workloads have been written."""
        for key, name in self._workloads.items():
            workload = self._control.workloads.get(name)
            if workload is not None and not workload.has(FINISHED):
                self._follow(key, workload)

    def _follow(self, key: str, workload: Workload) -> None:
        job = self.jobs[key]
        waits = bool(spec_of(job).get("suspend"))
        admission = workload.admission
        if workload.has(ADMITTED) and not workload.has(EVICTED) and waits and admission is not None:
            self.jobs[key] = started(job, admission.pod_sets[0], self._control.cache.flavors)
            message = f"Admitted by clusterQueue {admission.cluster_queue}"
            self._control.tell(f"Job {key}", "Normal", "Started", message)
        elif not workload.has(ADMITTED) and not waits:
            self.jobs[key] = stopped(job, workload.pod_sets[0])
            evicted = workload.conditions[EVICTED]
            self._control.tell(f"Job {key}", "Normal", "Stopped", evicted.message)


def job_view(job: Manifest) -> dict[str, Any]:
    """Return a Job in the form of the records."""
    spec = spec_of(job)
    pod: Mapping[str, Any] = spec_of(spec.get("template") or {})
    parts = {name: pod.get(name) for name in ("nodeSelector", "tolerations", "schedulingGates")}
    gates = [one["name"] for one in parts.pop("schedulingGates") or ()]
    out: dict[str, Any] = {"suspend": bool(spec.get("suspend")), "parallelism": spec.get("parallelism", 1)}
    out |= {name: part for name, part in parts.items() if part}
    return {**out, "schedulingGates": gates} if gates else out
