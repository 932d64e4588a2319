"""Resizes in place that a node has no room for: they count as if they were done, and so keep others away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.explain.world import Resize
from scheduler_core.kubernetes.requests import reports_amounts
from scheduler_core.schedulers.v1_37.pods import CompiledPod

PENDING, DEFERRED = "PodResizePending", "Deferred"


def deferred_resizes(pods: Iterable[CompiledPod], name: str) -> Iterator[Resize]:
    """Yield the pods of a node that hold more of a resource because of a resize that is deferred.

    Source: ``resourcehelper.PodRequests``, which takes the most of what is specified, allocated and in use.
    """
    for pod in pods:
        status = pod.status
        if not _is_deferred(status) or not reports_amounts(status):
            continue
        undone = {**status, "conditions": [{"type": PENDING, "reason": "Infeasible"}]}
        before = int(pod.read_held(pod.spec, undone).get(name, 0))
        after = int(pod.read_held(pod.spec, status).get(name, 0))
        if after > before:
            yield Resize(pod.key, before, after)


def _is_deferred(status: Mapping[str, Any]) -> bool:
    rows = status.get("conditions") or ()
    return any((row.get("type"), row.get("reason")) == (PENDING, DEFERRED) for row in rows)
