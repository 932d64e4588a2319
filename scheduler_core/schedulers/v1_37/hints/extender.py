"""What a pod waits for that an extender rejected: anything (runtime.defaultEnqueueExtension)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.extending import EXTENDER
from scheduler_core.schedulers.v1_37.interface import Hints, Registration

_RESOURCES = (
    "AssignedPod",
    "UnscheduledPod",
    "TargetPod",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/CSIStorageCapacity",
    "storage.k8s.io/StorageClass",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/DeviceClass",
)
"""What the wildcard stands for (framework.UnrollWildCardResource)."""

_ANYTHING = frozenset({"Add", "Update", "Delete"})

HINTS = Hints(
    EXTENDER,
    tuple(Registration(resource, _ANYTHING) for resource in _RESOURCES),
    "a pod, a node, a volume, a claim or a class changes: an extender names no events",
)
