"""What a write of a controller or a kubelet is reported as: the reason and the message of its event."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_of,
    is_deleting,
    is_finished,
    is_ready,
    node_of,
    phase_of,
    ready_status,
    spec_of,
    status_of,
    taints_of,
)
from scheduler_core.cluster.v1_37.watches import EvictionOutcome, StoredWrite
from scheduler_core.run.control import NOTEWORTHY
from scheduler_core.run.removals import removal_message

REMOVALS = {
    "tainteviction": "TaintManagerEviction",
    "api": "EvictionByEvictionAPI",
    "gc": "GarbageCollected",
    "podgc": "DeletingOrphanedPod",
    "kubelet": "Killing",
}
"""Why a pod is deleted, by client; controllers of workloads report SuccessfulDelete."""

PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
"""The condition of a rollout that has waited too long, which ``kubectl rollout status`` reports."""

Reason = tuple[str, str]


def reason_of(write: StoredWrite) -> Reason:
    """Return the reason, "" for what is not worth an event, and the message if it is not the usual one."""
    old, new = write.old, write.new
    if write.outcome is not None:
        return write.outcome
    if new is None:
        assert old is not None
        if write.kind == "Pod":
            return ("", "") if is_deleting(old) else (_removal(write.by), "")
        return REMOVALS.get(write.by, "SuccessfulDelete"), ""
    if old is None:
        return _CREATED.get(write.kind, "SuccessfulCreate"), ""
    return _UPDATED.get(write.kind, _nothing)(old, new, write.by)


def is_event(write: StoredWrite) -> bool:
    """Return whether a write is worth an event: a creation, a placement, or one with a reason."""
    old, new = write.old, write.new
    reason = reason_of(write)[0]
    if write.kind != "Pod" or new is None:
        return reason in NOTEWORTHY if new is not None else bool(reason)
    return bool(reason) or bool(old is not None and node_of(new) and not node_of(old))


NO_DESCHEDULER = EvictionOutcome(
    "DescheduleFailed", "the bundle has no descheduler to run: add a DeschedulerPolicy"
)
"""What a pass that somebody asks for comes to without a policy, or without settings that start it."""


NO_REVISION = EvictionOutcome("RollbackFailed", "there is no such revision in the history")
"""What a rollback comes to without a revision to go back to."""


REFUSED = "EvictionRefused"


def eviction_refused(message: str) -> EvictionOutcome:
    """Return that a budget refused an eviction, with the API server's message."""
    return EvictionOutcome(REFUSED, message)


def eviction_failed(message: str) -> EvictionOutcome:
    """Return that an eviction ended in an error, which ``kubectl drain`` does not retry."""
    return EvictionOutcome("EvictionFailed", f"{message} kubectl drain does not retry it")


def drained(bare: Iterable[str]) -> EvictionOutcome:
    """Return how a drain ended; the pods in ``bare``, which have no controller, ended it."""
    names = ", ".join(bare)
    text = f"{names} declare no controller: drain with force to delete them"
    return (
        EvictionOutcome("DrainFailed", text)
        if names
        else EvictionOutcome("Drained", "no pod is left to evict")
    )


def _removal(by: str) -> str:
    return REMOVALS.get(by, "SuccessfulDelete")


_CREATED = {"PersistentVolume": "ProvisioningSucceeded"}


def _nothing(old: Manifest, new: Manifest, by: str) -> Reason:
    del old, new, by
    return "", ""


def _pod(old: Manifest, new: Manifest, by: str) -> Reason:
    if is_deleting(new) and not is_deleting(old):
        reason = _removal(by)
        return reason, removal_message(reason)
    if is_finished(new) and not is_finished(old):
        status = status_of(new) if by == "kubelet" and phase_of(old) == "Pending" else {}
        return status.get("reason") or phase_of(new), status.get("message") or ""
    if phase_of(new) != "Running" or is_ready(old) == is_ready(new):
        return "", ""
    if is_ready(new):
        return "Started", ""
    return ("BackOff" if by == "kubelet" else "NodeNotReady"), ""


def _node(old: Manifest, new: Manifest, by: str) -> Reason:
    del by
    if ready_status(old) != ready_status(new):
        return ("NodeReady" if ready_status(new) == "True" else "NodeNotReady"), ""
    return ("TaintsChanged" if taints_of(old) != taints_of(new) else ""), ""


def _job(old: Manifest, new: Manifest, by: str) -> Reason:
    del by
    for kind, reason in (("Complete", "Completed"), ("Failed", "")):
        row = condition_of(new, kind)
        if row is not None and row["status"] == "True" and condition_of(old, kind) != row:
            return reason or str(row.get("reason")), ""
    return "", ""


def _deployment(old: Manifest, new: Manifest, by: str) -> Reason:
    del by
    after = condition_of(new, "Progressing") or {}
    if after.get("reason") != PROGRESS_DEADLINE_EXCEEDED:
        return "", ""
    if (condition_of(old, "Progressing") or {}).get("reason") == after["reason"]:
        return "", ""
    return PROGRESS_DEADLINE_EXCEEDED, f"{spec_of(new).get('progressDeadlineSeconds')} s without progress"


_UPDATED = {"Pod": _pod, "Node": _node, "Job": _job, "Deployment": _deployment}
