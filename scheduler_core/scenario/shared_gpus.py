"""The warning that shares of GPUs are placed otherwise than by kube-scheduler alone."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.shared_devices import SHARE, WHOLE

ON_ONE_GPU = Problem(
    f"a share of a GPU ({SHARE}) is of one GPU here, under every release of kube-scheduler: by itself "
    "kube-scheduler adds up what is free on all GPUs of a node, and would place more pods"
)


def shares_devices(objects: Iterable[KubernetesObject]) -> bool:
    """Return whether there are nodes with GPUs to share, and pods that ask for a part of one."""
    has, asks = False, False
    for obj in objects:
        if isinstance(obj, Node):
            has = has or SHARE in obj.allocatable
        elif isinstance(obj, Pod) and not asks:
            asks = any(container.requests.get(SHARE, 0) % WHOLE for container in obj.containers)
        if has and asks:
            return True
    return False
