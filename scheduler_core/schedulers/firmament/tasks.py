"""Pods as Firmament sees them: tasks with a request, in jobs named by their owner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import Affinity, OwnerReference, Pod

THOUSANDTHS = 1_000  # memory and ephemeral storage are counted in thousandths of a byte
RESOURCES = ("cpu", "memory", "ephemeral-storage")
SCALES = (1, THOUSANDTHS, THOUSANDTHS)  # cpu is in millicores already
Request = tuple[int, int, int]
DEFAULT_TOLERATIONS = 2  # what admission adds; a pod needs more for its tolerations of hard taints to count
CREATED_BY = "kubernetes.io/created-by"
CONTROLLER_UID = "controller-uid"


class Task(Struct, frozen=True):
    """A pod with its job, a UID, and its request: millicores, and thousandths of a byte of memory and of
    ephemeral storage.
    """

    pod: Pod
    job: str
    request: Request

    @property
    def key(self) -> str:
        """``namespace/name`` of the pod."""
        return self.pod.meta.key


def task_of(pod: Pod) -> Task:
    """Return a pod as a task."""
    return Task(pod, job_of(pod), request_of(pod))


def request_of(pod: Pod) -> Request:
    """Return the sum over the containers; init containers and overhead are ignored."""
    cpu, memory, ephemeral = (
        scale * sum(container.requests.get(name, 0) for container in pod.containers)
        for name, scale in zip(RESOURCES, SCALES)
    )
    return cpu, memory, ephemeral


def requests_of(pods: Iterable[Pod]) -> IntVector:
    """Return the requests of pods as ``(3, pods)``; pods of one template share their containers."""
    found: dict[int, Request] = {}
    rows = []
    for pod in pods:
        known = found.get(id(pod.containers))
        if known is None:
            known = found[id(pod.containers)] = request_of(pod)
        rows.append(known)
    return np.array(rows, np.int64).reshape(-1, len(RESOURCES)).T


def controller_of(pod: Pod) -> OwnerReference | None:
    """Return the owner that controls a pod."""
    return next((owner for owner in pod.meta.owner_references if owner.controller), None)


def job_of(pod: Pod) -> str:
    """Return what identifies a pod's job (GetOwnerReference): equal for the pods of one controller."""
    owner = controller_of(pod)
    if owner is not None:
        return owner.uid
    return (
        pod.meta.labels.get(CONTROLLER_UID) or pod.meta.annotations.get(CREATED_BY) or f"pod {pod.meta.key}"
    )


def job_name(pod: Pod) -> str:
    """Return the name of a pod's job: that of its owner, or its own."""
    owner = controller_of(pod)
    return pod.meta.name if owner is None else owner.name


def has_pod_affinity(affinity: Affinity | None) -> bool:
    """Return whether an affinity has a part about other pods."""
    return affinity is not None and (affinity.has_pod_affinity or affinity.has_pod_anti_affinity)


def by_job(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    """Return the tasks of each job, in order."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.job, []).append(task)
    return found
