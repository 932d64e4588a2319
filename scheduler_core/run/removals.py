"""How events say who has deleted a pod."""

from __future__ import annotations

from collections.abc import Mapping

_MESSAGES: Mapping[str, str] = {
    "DeletingOrphanedPod": "deleted by the pod garbage collector",
    "EvictionByEvictionAPI": "evicted by the eviction API",
    "FailedDaemonPod": "deleted by the DaemonSet controller: it has failed",
    "GarbageCollected": "deleted by the garbage collector",
    "Killing": "deleted by the kubelet",
    "PodGC": "deleted by the pod garbage collector",
    "Preempted": "preempted",
    "RecreatingFailedPod": "deleted by the StatefulSet controller: it has failed",
    "RollingUpdate": "deleted by its controller for a rolling update",
    "SuccessfulDelete": "deleted by its controller",
    "TaintManagerEviction": "evicted by the taint eviction controller",
}


def removal_message(reason: str) -> str:
    """Return the message of the event with which a pod is deleted, by the event's reason."""
    return _MESSAGES.get(reason, f"deleted by a controller: {reason}")
