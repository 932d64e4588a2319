"""What predicates and scores read of a task, compiled once for all tasks that look the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.columns.podinfo import PodInfo, compile_pod
from scheduler_core.schedulers.columns.reads import CLASS_FIELDS, POD_FIELDS
from scheduler_core.schedulers.kube_batch.resources import (
    CPU_EPSILON,
    MEMORY_EPSILON,
    SCALAR_EPSILON,
    Resource,
)

MOST_CLASSES = 20_000  # beyond, all are compiled again

FloatVector = npt.NDArray[np.float64]
ALL_FIELDS = tuple(name for name in POD_FIELDS if name in CLASS_FIELDS)
UNLABELED = tuple(name for name in ALL_FIELDS if name not in ("namespace", "labels", "controller", "volumes"))


class TaskClass(Struct, frozen=True, eq=False):
    """Tasks that no predicate and no score can distinguish, labels and namespace aside.

    ``info`` is compiled from the first such pod: only what does not depend on labels and namespace may be
    read of it. ``has_terms`` is whether its pods have inter-pod (anti-)affinity. ``number`` is
    its place in the order of appearance.
    """

    number: int
    pod: Pod
    info: PodInfo
    request: Resource
    init_request: Resource

    @property
    def has_terms(self) -> bool:
        """Whether the pods have inter-pod affinity or anti-affinity of any kind."""
        affinity = self.pod.affinity
        return affinity is not None and (affinity.has_pod_affinity or affinity.has_pod_anti_affinity)

    @property
    def nonzero(self) -> tuple[int, int]:
        """The cpu and memory that scores count, with the defaults of containers without requests."""
        return int(self.info.usage[4]), int(self.info.usage[5])


@dataclass(slots=True)
class TaskClasses:
    """The classes of the pods seen so far."""

    _classes: dict[Hashable, TaskClass] = field(default_factory=dict)
    _seen: int = 0

    def of(self, pod: Pod) -> TaskClass:
        """Return the class of a pod."""
        key = tuple([POD_FIELDS[name].key(pod) for name in UNLABELED])
        known = self._classes.get(key)
        if known is None:
            if len(self._classes) >= MOST_CLASSES:
                self._classes.clear()
            self._seen += 1
            number = self._seen
            request, init_request = requests_of(pod)
            info = compile_pod(pod, number, ALL_FIELDS)
            known = self._classes[key] = TaskClass(number, pod, info, request, init_request)
        return known


def requests_of(pod: Pod) -> tuple[Resource, Resource]:
    """Return the sum over containers, and that raised to each init container
    (GetPodResourceWithoutInitContainers, GetPodResourceRequest).
    """
    request = Resource()
    for container in pod.containers:
        request.add(Resource.of(container.requests))
    init_request = request.copy()
    for container in pod.init_containers:
        init_request.raise_to(Resource.of(container.requests))
    return request, init_request


def vector(resource: Resource, names: tuple[str, ...]) -> FloatVector:
    """Return the amounts in the order of ``names``, ``(R,) float64``."""
    return np.array([resource.get(name) for name in names], np.float64)


def least_free(request: Resource, names: tuple[str, ...]) -> FloatVector:
    """Return the amounts that a node's free amounts have to exceed to fit a request, ``(R,) float64``.

    This is Resource.LessEqual by columns: ``a < b or |a − b| < epsilon`` is ``b > a − epsilon``. A scalar
    resource of at most the epsilon is not compared.
    """
    epsilons = {"cpu": CPU_EPSILON, "memory": MEMORY_EPSILON}
    found = np.full(len(names), -np.inf)
    for place, name in enumerate(names):
        amount = request.get(name)
        if name in epsilons or amount > SCALAR_EPSILON:
            found[place] = amount - epsilons.get(name, SCALAR_EPSILON)
    return found
