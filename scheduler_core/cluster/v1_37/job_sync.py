"""One sync of a Job: which pods to create or delete, and its status."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.cluster.v1_37.controller import gone, pod_from, slow_start
from scheduler_core.cluster.v1_37.job_backoff import backoff_left
from scheduler_core.cluster.v1_37.job_pods import (
    FAILURES,
    IGNORED_FAILURES,
    INDEX,
    TRACKING,
    failures_of,
    finished_at,
    has_failed,
    index_of,
    indexes_of,
    is_counted,
    is_indexed,
    is_tracked,
    replaces_failed_only,
    untracked,
    write_indexes,
)
from scheduler_core.cluster.v1_37.job_state import JobState, is_over
from scheduler_core.cluster.v1_37.loop import StatusError, Together, Work, Write
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_in,
    is_deleting,
    is_ready,
    key_of,
    name_of,
    phase_of,
    stamp,
    uid_of,
    with_meta,
    with_status,
)
from scheduler_core.cluster.v1_37.replicaset import BURST, by_age
from scheduler_core.cluster.v1_37.revisions import is_assumed


class JobSync(JobState):
    """Creates and deletes the pods of a Job, and writes its status."""

    # --- pods

    def manage(self) -> Work:
        """Delete or create pods; return the first error."""
        suspended = bool(self.spec.get("suspend"))
        if not self.status.get("startTime") and not suspended:
            self.status["startTime"] = stamp(self.now)
        self.count = len(self.active)
        self.finished = self._is_over()
        error = None
        if self.finished is not None:
            deleted, error = yield from self._delete(self.active, let_go=False)
            if deleted != len(self.active):
                self.finished = None
        else:
            managed = not is_deleting(self.job)
            if managed:
                error = yield from self._manage()
            if self._is_complete():
                self.finished = self._condition("SuccessCriteriaMet", "CompletionsReached")
            elif managed:
                self._mark_suspended(suspended)
        fresh = {"active": self.count, "ready": self.ready, "terminating": self.terminating}
        self.changed |= any(self.status.get(name) != value for name, value in fresh.items())
        self.status |= fresh
        return error

    def _is_complete(self) -> bool:
        if self.count or is_assumed(self.job):
            return False
        return (
            self.succeeded > 0 if self.spec.get("completions") is None else self.succeeded >= self.completions
        )

    def _mark_suspended(self, suspended: bool) -> None:
        conditions = self.status["conditions"]
        known = condition_in(conditions, "Suspended")
        wanted = "True" if suspended else "False"
        if (known is None and not suspended) or (known is not None and known["status"] == wanted):
            return
        row = self._condition("Suspended", "JobSuspended" if suspended else "JobResumed", wanted)
        self.status["conditions"] = [*(one for one in conditions if one is not known), row]
        self.status["startTime"] = None if suspended else stamp(self.now)
        self.changed = True

    def _delete(self, pods: Sequence[Manifest], *, let_go: bool) -> Work:
        """Delete pods in parallel; return how many went, and the first error."""
        results = yield Together([self._delete_one(pod, let_go=let_go) for pod in pods])
        failed = [one for one in results if isinstance(one, StatusError) and not gone(one)]
        removed = len(pods) - len(failed)
        self.count -= removed
        self.terminating += removed
        self.ready -= sum(map(is_ready, pods))
        return removed, next(iter(failed), None)

    def _delete_one(self, pod: Manifest, *, let_go: bool) -> Work:
        if let_go and is_tracked(pod):
            yield self.client.patch(pod, untracked)
        return (yield self.client.delete(pod))

    def _manage(self) -> Work:
        """Create or delete as many pods as are missing or too many (manageJob)."""
        if self.spec.get("suspend"):
            return (yield from self._delete(self._to_remove(len(self.active)), let_go=True))[1]
        wanted = self._wanted()
        surplus = self._to_remove(max(0, len(self.active) - wanted))[:BURST]
        if surplus:
            return (yield from self._delete(surplus, let_go=True))[1]
        missing = wanted - len(self.active) - (self.terminating if replaces_failed_only(self.job) else 0)
        return (yield from self._create(min(missing, BURST))) if missing > 0 else None

    def _wanted(self) -> int:
        parallelism = int(self.spec["parallelism"])
        if self.spec.get("completions") is None:
            return len(self.active) if self.succeeded > 0 else parallelism
        return max(0, min(self.completions - self.succeeded, parallelism))

    def _to_remove(self, least: int) -> list[Manifest]:
        """Return the pods to delete: first those of an index that another one has (activePodsForRemoval)."""
        going, left = [], self.active
        if is_indexed(self.job):
            seen: dict[int | None, list[Manifest]] = {}
            for pod in self.active:
                seen.setdefault(index_of(pod), []).append(pod)
            left = []
            for index, pods in sorted(seen.items(), key=lambda item: -1 if item[0] is None else item[0]):
                if index is None or index >= self.completions:
                    going += pods
                else:
                    ordered = by_age(pods)
                    going += ordered[:-1]
                    left += ordered[-1:]
        if len(going) < least:
            going += by_age(left)[: least - len(going)]
        return going

    def _create(self, number: int) -> Work:
        per_index = self.spec.get("backoffLimitPerIndex") is not None
        left = 0.0 if per_index else self.record.left(self.now)
        indexes: list[int] = []
        if not left and is_indexed(self.job):
            indexes = self._pending_indexes(number)
            if per_index:
                waits = {
                    index: backoff_left(failures_of(pod) + 1, finished_at(pod), self.now) if pod else 0.0
                    for index in indexes
                    for pod in (self.delayed.get(index),)
                }
                indexes = [index for index in indexes if not waits[index]]
                left = min(waits.values(), default=0.0) if not indexes else 0.0
            number = len(indexes)
        if left:
            self.controller.sync_later(self.job, left)
            return None
        pods = [self._new_pod(indexes[place] if indexes else None) for place in range(number)]
        self.count += number
        return (yield from slow_start(number, lambda place: self._creation(pods[place])))

    def _creation(self, pod: Manifest) -> Write:
        return self.client.create(pod)

    def _pending_indexes(self, number: int) -> list[int]:
        taken = self.succeeded_indexes | indexes_of(self.active) | (self.failed_indexes or set())
        if replaces_failed_only(self.job):
            taken |= indexes_of(pod for pod in self.pods if is_deleting(pod) and not is_over(pod))
        return [index for index in range(self.completions) if index not in taken][:number]

    def _new_pod(self, index: int | None) -> Manifest:
        pod = pod_from(self.spec["template"], self.job, finalizers=[TRACKING])
        if index is None:
            return pod
        meta = pod["metadata"]
        marks = {**meta["annotations"], INDEX: str(index), **self._failure_marks(index)}
        name = f"{name_of(self.job)}-{index}-"
        return with_meta(
            pod, annotations=marks, labels={**meta["labels"], INDEX: str(index)}, generateName=name
        )

    def _failure_marks(self, index: int) -> dict[str, str]:
        if self.spec.get("backoffLimitPerIndex") is None:
            return {}
        last = self.delayed.get(index)
        if last is None:
            return {FAILURES: "0"}
        counted = is_counted(self.job, last)
        failures = failures_of(last, ignored=False)
        ignored = failures_of(last) - failures + (not counted)
        marks = {FAILURES: str(failures + counted)}
        return {**marks, IGNORED_FAILURES: str(ignored)} if ignored else marks

    # --- status

    def track(self) -> Work:
        """Count ended pods in the status, let them go, and end the Job."""
        tracked = {uid_of(pod) for pod in self.pods if is_tracked(pod)}
        self._clean(tracked)
        going = [pod for pod in self.pods if is_tracked(pod) and self._may_go(pod)]
        fresh: set[int] = set()
        for pod in going:
            self._count(pod, fresh)
        if is_indexed(self.job):
            self._write_indexes(fresh)
        self._target()
        if self.changed:
            yield from self._flush()
            self.controller.backoffs[key_of(self.job)] = self.record
        if going:
            tracked -= yield from self.controller.remove_finalizers(going)
        self._clean(tracked)
        self._enact()
        if self.changed:
            yield from self._flush()

    def _clean(self, tracked: set[str]) -> None:
        """Count pods that are let go (cleanUncountedPodsWithoutFinalizers)."""
        for kind in ("succeeded", "failed"):
            kept = [uid for uid in self.uncounted[kind] if uid in tracked]
            if len(kept) != len(self.uncounted[kind]):
                self.status[kind] = (self.status.get(kind) or 0) + len(self.uncounted[kind]) - len(kept)
                self.uncounted = {**self.uncounted, kind: kept}
                self.changed = True

    def _may_go(self, pod: Manifest) -> bool:
        if is_deleting(self.job) or self.finished is not None or phase_of(pod) == "Succeeded":
            return True
        if not has_failed(pod, self.job):
            return False
        index = index_of(pod)
        last = self.delayed.get(index) if index is not None else None
        return last is None or uid_of(last) != uid_of(pod)

    def _count(self, pod: Manifest, fresh: set[int]) -> None:
        uid, index = uid_of(pod), index_of(pod)
        counts = not is_indexed(self.job) or (index is not None and index < self.completions)
        if phase_of(pod) == "Succeeded" and uid not in self.uncounted["failed"]:
            if is_indexed(self.job):
                if counts and index is not None and index not in self.known_indexes:
                    fresh.add(index)
                    self.changed = True
            elif uid not in self.uncounted["succeeded"]:
                self._add("succeeded", uid)
        elif counts and self._is_new_failure(pod):
            self._add("failed", uid)

    def _is_new_failure(self, pod: Manifest) -> bool:
        failing = self.finished is not None and self.finished["type"] != "SuccessCriteriaMet"
        failed = failing or has_failed(pod, self.job)
        return failed and uid_of(pod) not in self.uncounted["failed"] and is_counted(self.job, pod)

    def _add(self, kind: str, uid: str) -> None:
        self.uncounted = {**self.uncounted, kind: [*self.uncounted[kind], uid]}
        self.changed = True

    def _write_indexes(self, fresh: set[int]) -> None:
        self.succeeded_indexes |= fresh
        written = write_indexes(self.succeeded_indexes)
        texts = {"completedIndexes": written}
        if self.failed_indexes is not None:
            texts["failedIndexes"] = write_indexes(self.failed_indexes)
        self.changed |= any((self.status.get(name) or "") != text for name, text in texts.items())
        self.status |= {**texts, "succeeded": len(self.succeeded_indexes)}

    def _target(self) -> None:
        """Write what the Job ends with, before it has ended."""
        finished, conditions = self.finished, self.status["conditions"]
        if finished is None:
            return
        if finished["type"] == "FailureTarget":
            self.status["conditions"] = [*conditions, finished]
            self.finished = self._condition("Failed", finished["reason"])
            self.changed = True
        elif finished["type"] == "SuccessCriteriaMet":
            if condition_in(conditions, "SuccessCriteriaMet") is None:
                self.status["conditions"] = [*conditions, finished]
                self.changed = True
            self.finished = self._condition("Complete", finished["reason"])

    def _enact(self) -> None:
        """End the Job once all its pods are counted and gone (enactJobFinished)."""
        if self.finished is None or self.terminating or any(self.uncounted.values()):
            return
        self.status["conditions"] = [*self.status["conditions"], self.finished]
        if self.finished["type"] == "Complete":
            self.status["completionTime"] = self.finished["lastTransitionTime"]
        self.changed = True

    def _flush(self) -> Work:
        status = {name: value for name, value in self.status.items() if value is not None}
        status["uncountedTerminatedPods"] = self.uncounted
        self.job = yield self.client.update_status(with_status(self.job, status))
        self.changed = False
