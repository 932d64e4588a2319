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
    listed = list(objects)
    if not any(isinstance(obj, Node) and SHARE in obj.allocatable for obj in listed):
        return False
    distinct = {id(obj.containers): obj.containers for obj in listed if isinstance(obj, Pod)}
    return any(one.requests.get(SHARE, 0) % WHOLE for containers in distinct.values() for one in containers)
