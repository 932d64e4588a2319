"""What the pods of a Job have become, and whether the Job is over."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.v1_37.job_backoff import BackoffRecord
from scheduler_core.cluster.v1_37.job_pods import (
    failures_of,
    finished_at,
    has_failed,
    index_of,
    indexes_of,
    is_counted,
    is_indexed,
    is_tracked,
    policy_action,
    read_indexes,
)
from scheduler_core.cluster.v1_37.job_queue import JobQueue
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_in,
    is_active,
    is_deleting,
    is_ready,
    key_of,
    phase_of,
    restarts_of,
    second,
    spec_of,
    stamp,
    status_of,
    uid_of,
)

Condition = dict[str, Any]


class JobState:
    """The pods of a Job as a sync found them. ``status`` becomes the Job's."""

    def __init__(self, controller: JobQueue, job: Manifest, pods: list[Manifest]) -> None:
        self.controller = controller
        self.client = controller.client
        self.job = job
        self.spec = spec_of(job)
        self.now = controller.now
        self.pods = sorted(pods, key=lambda pod: index_of(pod) or 0) if is_indexed(job) else pods
        self.active = [pod for pod in pods if is_active(pod)]
        self.terminating = sum(is_deleting(pod) for pod in pods if not is_over(pod))
        self.ready = sum(map(is_ready, self.active))
        self.status: dict[str, Any] = {"conditions": [], **status_of(job)}
        self.uncounted = {"succeeded": [], "failed": []} | (self.status.get("uncountedTerminatedPods") or {})
        self.completions: int = self.spec.get("completions") or 0
        """0 of a Job without, which ends with its first success."""
        self.changed = False
        self.failed_before = self._new("failed")
        self.succeeded_before = self._new("succeeded")
        counted = [pod for pod in self.failed_before if is_counted(job, pod)]
        self.failed = int(self.status.get("failed") or 0) + len(counted) + len(self.uncounted["failed"])
        succeeded = int(self.status.get("succeeded") or 0)
        self.succeeded = succeeded + len(self.succeeded_before) + len(self.uncounted["succeeded"])
        self.record = self._backoff()
        self.delayed: dict[int, Manifest] = {}
        self.failed_indexes: set[int] | None = None
        self._read_indexes()
        self.finished: Condition | None = None

    # --- what the pods have become

    def _valid(self) -> list[Manifest]:
        """Return the pods that are not let go yet, of indexes that count."""
        found = [pod for pod in self.pods if is_tracked(pod)]
        if not is_indexed(self.job):
            return found
        return [pod for pod in found if (index := index_of(pod)) is not None and index < self.completions]

    def _new(self, kind: str) -> list[Manifest]:
        found = [pod for pod in self._valid() if uid_of(pod) not in self.uncounted[kind]]
        if kind == "succeeded":
            return [pod for pod in found if phase_of(pod) == "Succeeded"]
        return [pod for pod in found if has_failed(pod, self.job)]

    def _backoff(self) -> BackoffRecord:
        """Return the failures since the last success (newBackoffRecord)."""
        known = self.controller.backoffs.get(key_of(self.job), BackoffRecord())
        failures = sorted(map(finished_at, self.failed_before))
        if not self.succeeded_before:
            return BackoffRecord(known.failures + len(failures), failures[-1]) if failures else known
        last = max(map(finished_at, self.succeeded_before))
        later = [at for at in failures if at > last]
        return BackoffRecord(len(later), later[-1] if later else None)

    def _read_indexes(self) -> None:
        if not is_indexed(self.job):
            return
        valid = self._valid()
        self.known_indexes = read_indexes(self.status.get("completedIndexes"), self.completions)
        succeeded = indexes_of(pod for pod in valid if phase_of(pod) == "Succeeded")
        self.succeeded_indexes = self.known_indexes | succeeded
        self.succeeded = len(self.succeeded_indexes)
        if self.spec.get("backoffLimitPerIndex") is None:
            return
        known = read_indexes(self.status.get("failedIndexes"), self.completions)
        self.failed_indexes = known | indexes_of(pod for pod in valid if self._fails_index(pod))
        over = self.succeeded_indexes | self.failed_indexes | indexes_of(self.active)
        for pod in valid:
            index = index_of(pod)
            if index is None or index in over or not has_failed(pod, self.job):
                continue
            last = self.delayed.get(index)
            if last is None or (
                failures_of(last) <= failures_of(pod) and finished_at(pod) >= finished_at(last)
            ):
                self.delayed[index] = pod

    def _fails_index(self, pod: Manifest) -> bool:
        if not has_failed(pod, self.job):
            return False
        if policy_action(self.job, pod) == "FailIndex":
            return True
        limit = int(self.spec["backoffLimitPerIndex"])
        return is_counted(self.job, pod) and failures_of(pod, ignored=False) >= limit

    # --- whether it is over

    def _condition(self, kind: str, reason: str, status: str = "True") -> Condition:
        return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": stamp(self.now)}

    def _is_over(self) -> Condition | None:
        """Return the condition with which the Job ends, before its pods are looked after."""
        conditions = self.status["conditions"]
        met = condition_in(conditions, "SuccessCriteriaMet")
        if met is not None and met["status"] == "True":
            return met
        target = condition_in(conditions, "FailureTarget")
        if target is not None and target["status"] == "True":
            return self._condition("Failed", target["reason"])
        if any(has_failed(pod, self.job) and policy_action(self.job, pod) == "FailJob" for pod in self.pods):
            return self._condition("FailureTarget", "PodFailurePolicy")
        reason = self._failure() or self._index_failure()
        if reason:
            return self._condition("FailureTarget", reason)
        if is_indexed(self.job) and self._meets_policy():
            return self._condition("SuccessCriteriaMet", "SuccessPolicy")
        return None

    def _failure(self) -> str:
        if self.failed > int(self.spec["backoffLimit"]) or self._restarts_too_often():
            return "BackoffLimitExceeded"
        seconds, begun = self.spec.get("activeDeadlineSeconds"), self.status.get("startTime")
        if seconds is None or not begun or self.spec.get("suspend"):
            return ""
        left = seconds - (self.now - second(begun))
        if left <= 0:
            return "DeadlineExceeded"
        self.controller.queue.add_after(key_of(self.job), left)
        return ""

    def _restarts_too_often(self) -> bool:
        if spec_of(self.spec["template"]).get("restartPolicy") != "OnFailure":
            return False
        restarts = sum(restarts_of(pod) for pod in self.pods if phase_of(pod) in ("Running", "Pending"))
        return restarts > 0 and restarts >= int(self.spec["backoffLimit"])

    def _index_failure(self) -> str:
        if not self.failed_indexes:
            return ""
        most = self.spec.get("maxFailedIndexes")
        if most is not None and len(self.failed_indexes) > most:
            return "MaxFailedIndexesExceeded"
        done = len(self.failed_indexes) + len(self.succeeded_indexes)
        return "FailedIndexes" if done >= self.completions else ""

    def _meets_policy(self) -> bool:
        """Return whether a rule of the success policy is met (matchSuccessPolicy)."""
        rules = (self.spec.get("successPolicy") or {}).get("rules") or ()
        return bool(self.succeeded_indexes) and any(map(self._meets_rule, rules))

    def _meets_rule(self, rule: dict[str, Any]) -> bool:
        least, text = rule.get("succeededCount"), rule.get("succeededIndexes")
        if text is None:
            return least is not None and len(self.succeeded_indexes) >= least
        wanted = read_indexes(text, self.completions)
        done = wanted & self.succeeded_indexes
        return bool(wanted) and (done == wanted or (least is not None and len(done) >= least))


def is_over(pod: Manifest) -> bool:
    """Return whether a pod has ended."""
    return phase_of(pod) in ("Succeeded", "Failed")
