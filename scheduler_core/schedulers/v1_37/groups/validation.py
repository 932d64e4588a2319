"""What all pods of a group must have in common (validatePodGroup)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from scheduler_core.schedulers.v1_37.pods import CompiledPod

_ALL = "all pods in a single pod group should have the same"


def invalid(pods: Iterable[CompiledPod], priority: int) -> str | None:
    """Return the error of the first pod that differs, if one does; queued pods first, then bound ones."""
    first: CompiledPod | None = None
    for pod in pods:
        first = first or pod
        if pod.scheduler_name != first.scheduler_name:
            names = f"{json.dumps(pod.scheduler_name)} and {json.dumps(first.scheduler_name)}"
            return f"{_ALL} .spec.schedulerName set, got: {names}"
        if pod.priority != priority:
            return f"{_ALL} priority as the pod group's priority, got {pod.priority} and {priority}"
        if preemption_policy(pod) != preemption_policy(first):
            return f"{_ALL} preemption policy, got {preemption_policy(pod)} and {preemption_policy(first)}"
    return None


def preemption_policy(pod: CompiledPod) -> str:
    """Return the pod's preemptionPolicy."""
    return str(pod.spec.get("preemptionPolicy") or "PreemptLowerPriority")
