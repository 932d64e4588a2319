"""``conformance``: pods that keep the cluster running are never evicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.schedulers.kube_batch.model import TaskInfo
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.session import Session

CRITICAL_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
SYSTEM_NAMESPACE = "kube-system"


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Register the victims."""
    del session, arguments
    return Registration(preemptable=_evictable, reclaimable=_evictable)


def _evictable(evictor: TaskInfo, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
    """Return the candidates that are not critical."""
    del evictor
    return [
        one
        for one in candidates
        if one.namespace != SYSTEM_NAMESPACE and one.pod.priority_class_name not in CRITICAL_CLASSES
    ]
