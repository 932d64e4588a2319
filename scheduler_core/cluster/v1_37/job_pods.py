"""What a Job reads of its pods: indexes, failures and the policy about them, when they ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    condition_of,
    created_at,
    is_deleting,
    phase_of,
    second,
    spec_of,
    status_of,
    with_meta,
)

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"


def is_tracked(pod: Manifest) -> bool:
    """Return whether a pod has the finalizer of Jobs."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def untracked(pod: Manifest) -> Manifest:
    """Return a pod without the finalizer of Jobs."""
    kept = [one for one in pod["metadata"].get("finalizers") or () if one != TRACKING]
    return with_meta(pod, finalizers=kept or None)


def index_of(pod: Manifest) -> int | None:
    """Return a pod's completion index."""
    written = annotations_of(pod).get(INDEX, "")
    return int(written) if written.isdecimal() else None


def indexes_of(pods: Iterable[Manifest]) -> set[int]:
    """Return the completion indexes of pods."""
    return {index for pod in pods if (index := index_of(pod)) is not None}


def is_indexed(job: Manifest) -> bool:
    """Return whether a Job's pods have indexes."""
    return spec_of(job).get("completionMode") == "Indexed"


def replaces_failed_only(job: Manifest) -> bool:
    """Return whether a pod is replaced only when it has failed, and not while it terminates."""
    return spec_of(job).get("podReplacementPolicy") == "Failed"


def has_failed(pod: Manifest, job: Manifest) -> bool:
    """Return whether a pod counts as failed (isPodFailed)."""
    if phase_of(pod) == "Failed":
        return True
    return not replaces_failed_only(job) and is_deleting(pod) and phase_of(pod) != "Succeeded"


def failures_of(pod: Manifest, *, ignored: bool = True) -> int:
    """Return how often pods of this index had failed before, with those that the policy ignores."""
    marks = annotations_of(pod)
    return int(marks.get(FAILURES, 0)) + (int(marks.get(IGNORED_FAILURES, 0)) if ignored else 0)


def finished_at(pod: Manifest) -> float:
    """Return when a pod ended, in seconds since 1970 (getFinishedTime)."""
    states = [
        (one.get("state") or {}).get("terminated") for one in status_of(pod).get("containerStatuses") or ()
    ]
    if states and all(state and state.get("finishedAt") for state in states):
        return max(second(state["finishedAt"]) for state in states if state)
    row = condition_of(pod, "Ready")
    if row is not None and row["status"] == "False" and row.get("lastTransitionTime"):
        return second(row["lastTransitionTime"])
    meta = pod["metadata"]
    if is_deleting(pod):
        return second(meta["deletionTimestamp"]) - float(meta.get("deletionGracePeriodSeconds") or 0)
    return created_at(pod)


def policy_action(job: Manifest, pod: Manifest) -> str | None:
    """Return the action of the first rule of podFailurePolicy that matches a failed pod."""
    for rule in (spec_of(job).get("podFailurePolicy") or {}).get("rules") or ():
        if rule.get("onExitCodes"):
            matching = _exits(pod, rule["onExitCodes"])
        else:
            matching = _meets(pod, rule.get("onPodConditions") or ())
        if matching:
            return str(rule["action"])
    return None


def is_counted(job: Manifest, pod: Manifest) -> bool:
    """Return whether a failed pod counts against the limits."""
    return policy_action(job, pod) != "Ignore"


def _exits(pod: Manifest, wanted: Mapping[str, Any]) -> bool:
    for one in status_of(pod).get("containerStatuses") or ():
        state = (one.get("state") or {}).get("terminated")
        code = state.get("exitCode") if state else 0
        if not code or wanted.get("containerName") not in (None, one["name"]):
            continue
        if (code in wanted["values"]) == (wanted["operator"] == "In"):
            return True
    return False


def _meets(pod: Manifest, patterns: Iterable[Mapping[str, Any]]) -> bool:
    for pattern in patterns:
        row = condition_of(pod, pattern["type"])
        if row is not None and row["status"] == pattern.get("status", "True"):
            return True
    return False


def read_indexes(text: str | None, completions: int) -> set[int]:
    """Return the indexes of a text such as ``0,2-4``."""
    found: set[int] = set()
    for part in filter(None, (text or "").split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return {index for index in found if index < completions}


def write_indexes(indexes: Iterable[int]) -> str:
    """Return indexes as a text; three or more in a row are written as a range."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(_run(first, last) for first, last in runs)


def _run(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"
