"""Defaulting and admission by the API server, before the scheduler sees an object.

Rules of v1.11: defaults of ``pkg/apis/core/v1``, and the admission plugins Priority,
DefaultTolerationSeconds and DefaultStorageClass. Namespaces are defaulted when an object is read.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from scheduler_core.kubernetes.model import (
    Container,
    KubernetesObject,
    Node,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    StorageClass,
    Toleration,
)
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.replicas import specification
from scheduler_core.kubernetes.selectors import matches

SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
MOST_KEPT = 1_000  # specifications of pods
PREEMPTS = "PreemptLowerPriority"
_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_SPACE_BYTES = uuid.UUID("6f5d2f4e-3f0c-5a0e-9b6a-706f64737465").bytes

Warn = Callable[[str, str], None]  # field, message


def uid_for(kind: str, namespace: str, name: str) -> str:
    """Return the uid of an object whose manifest has none; deterministic for the same object."""
    import hashlib

    named = _SPACE_BYTES + f"{kind}/{namespace}/{name}".encode()
    digits = hashlib.sha1(named, usedforsecurity=False).hexdigest()  # as uuid.uuid5, in a fifth of its time
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def with_requests(container: Container) -> Container:
    """Default absent requests to the limits (SetDefaults_Pod)."""
    if all(name in container.requests for name in container.limits):
        return container
    return replace(container, requests={**container.limits, **container.requests})


def _defaulted(container: Container, pod: Pod) -> Container:
    """Default a container's requests, and its host ports if the pod uses the host network."""
    filled = with_requests(container)
    if not (pod.host_network and container.network_ports):
        return filled
    return replace(filled, host_ports=filled.ports_taken(host_network=True), network_ports=())


def _with_default_tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    added = tuple(
        Toleration(key, "Exists", "", "NoExecute", 300)
        for key in (_NOT_READY, _UNREACHABLE)
        if not any(t.key in (key, "") and t.effect in ("NoExecute", "") for t in tolerations)
    )
    return tolerations + added


class Admission:
    """The admission state of the API server: the classes that pods and claims reference."""

    def __init__(self, objects: Iterable[KubernetesObject] = ()) -> None:
        self.priorities: dict[str, PriorityClass] = {}
        self.default_storage_class: str | None = None
        self._known: dict[tuple[int, ...], tuple[Pod, Pod]] = {}  # pods without notices, and as admitted
        for obj in objects:
            self.learn(obj)

    def forked(self) -> Admission:
        """Return an independent copy."""
        other = Admission()
        other.priorities, other.default_storage_class = dict(self.priorities), self.default_storage_class
        return other

    def learn(self, obj: KubernetesObject) -> None:
        """Register a PriorityClass or a default StorageClass for the objects admitted after it."""
        if isinstance(obj, PriorityClass):
            self.priorities[obj.meta.name] = obj
            self._known.clear()
        elif isinstance(obj, StorageClass) and any(
            obj.meta.annotations.get(a) == "true" for a in _DEFAULT_CLASS
        ):
            self.default_storage_class = obj.meta.name

    def forget(self, obj: KubernetesObject) -> None:
        """Unregister a deleted class."""
        if isinstance(obj, PriorityClass):
            self.priorities.pop(obj.meta.name, None)
            self._known.clear()
        elif isinstance(obj, StorageClass) and obj.meta.name == self.default_storage_class:
            self.default_storage_class = None

    def admit(
        self, obj: KubernetesObject, warn: Warn, *, priority_given: bool = False, refuse: Warn | None = None
    ) -> KubernetesObject:
        """Return the object as the API server would store it.

        ``warn`` is called for conflicting values and dangling references, ``refuse`` for references that
        are an error; without ``refuse`` they are warnings too.
        """
        if isinstance(obj, Pod):
            return self.admit_pod(obj, warn, priority_given=priority_given, refuse=refuse)
        if isinstance(obj, Node) and not obj.allocatable and obj.capacity:
            return replace(obj, allocatable=obj.capacity)
        if isinstance(obj, PersistentVolumeClaim) and obj.storage_class is None and not obj.volume_name:
            return replace(obj, storage_class=self.default_storage_class)
        if isinstance(obj, StorageClass) and obj.binding_mode is None:
            return replace(obj, binding_mode="Immediate")
        return obj

    def admit_pod(
        self, pod: Pod, warn: Warn, *, priority_given: bool = False, refuse: Warn | None = None
    ) -> Pod:
        """Default requests, host ports, priority, preemptionPolicy and tolerations.

        Pods whose specifications are the same objects share what was admitted once without a notice.
        """
        admitted = self.admitted_like(pod, priority_given=priority_given)
        if admitted is not None:
            return replace(admitted, meta=pod.meta)
        noted: list[str] = []

        def note(field: str, text: str) -> None:
            noted.append(field)
            warn(field, text)

        def deny(field: str, text: str) -> None:
            noted.append(field)
            (refuse or warn)(field, text)

        admitted = self._admitted(pod, note, priority_given, None if refuse is None else deny)
        if not noted and len(self._known) < MOST_KEPT:  # each pod is warned of
            self._known[priority_given, *map(id, specification(pod))] = pod, admitted
        return admitted

    def admitted_like(self, pod: Pod, *, priority_given: bool) -> Pod | None:
        """Return what a pod of the same specification was admitted as; ``None`` if none was, or a notice."""
        known = self._known.get((priority_given, *map(id, specification(pod))))
        return None if known is None else known[1]

    def _admitted(self, pod: Pod, warn: Warn, priority_given: bool, refuse: Warn | None) -> Pod:
        priority = self._priority(pod, warn, priority_given, refuse)
        return replace(
            pod,
            containers=tuple(_defaulted(one, pod) for one in pod.containers),
            init_containers=tuple(_defaulted(one, pod) for one in pod.init_containers),
            tolerations=_with_default_tolerations(pod.tolerations),
            priority=priority,
            priority_given=True,
            preemption_policy=self._preemption_policy(pod, warn),
        )

    def _preemption_policy(self, pod: Pod, warn: Warn) -> str:
        """Return the pod's own policy, or that of its class."""
        found = self.priorities.get(pod.priority_class_name) if pod.priority_class_name else self._default()
        wanted = (found.preemption_policy if found is not None else "") or PREEMPTS
        if pod.preemption_policy not in ("", wanted) and found is not None:
            mismatch = f"is {pod.preemption_policy}, but PriorityClass {found.meta.name!r} has {wanted}"
            warn("preemptionPolicy", f"{mismatch}: {pod.preemption_policy} is used")
        return pod.preemption_policy or ("" if wanted == PREEMPTS else wanted)

    def _default(self) -> PriorityClass | None:
        """Return the class of pods that name none: of several global defaults the one of lowest value."""
        defaults = [c for c in self.priorities.values() if c.global_default]
        return min(defaults, key=lambda c: c.value, default=None)

    def _priority(self, pod: Pod, warn: Warn, given: bool, refuse: Warn | None) -> int:
        name = pod.priority_class_name
        if name:
            value = self.priorities[name].value if name in self.priorities else SYSTEM_CLASSES.get(name)
            if value is None and not given:
                known = [*self.priorities, *SYSTEM_CLASSES]
                hint = did_you_mean(name, known)
                message = f"there is no PriorityClass {name!r}"
                if refuse is None:
                    warn("priorityClassName", f"{message}{hint or ':'} the pod gets priority 0")
                else:
                    refuse("priorityClassName", f"{message}{hint or ': add it, or give the pod a priority'}")
            elif value is not None and given and value != pod.priority:
                differs = f"is {pod.priority}, but PriorityClass {name!r} has the value {value}"
                warn("priority", f"{differs}: {pod.priority} is used")
            return pod.priority if given or value is None else value
        if given:
            return pod.priority
        default = self._default()
        return 0 if default is None else default.value


def _is_bound(pod: Pod) -> bool:
    return bool(pod.node_name)


def disruptions_allowed(
    budget: PodDisruptionBudget,
    pods: Iterable[Pod],
    scale: Mapping[tuple[str, str, str], int],
    *,
    healthy: Callable[[Pod], bool] = _is_bound,
) -> int:
    """Return the value that the disruption controller would write to ``status.disruptionsAllowed``.

    ``healthy`` returns whether a pod is healthy; without virtual time, the bound pods are. ``scale`` is the
    replica count of a controller (kind, namespace, name).
    """
    well, desired = healthy_pods(budget, pods, scale, healthy=healthy)
    return max(0, well - desired)


def healthy_pods(
    budget: PodDisruptionBudget,
    pods: Iterable[Pod],
    scale: Mapping[tuple[str, str, str], int],
    *,
    healthy: Callable[[Pod], bool],
) -> tuple[int, int]:
    """Return the values of ``status.currentHealthy`` and ``desiredHealthy``; 0 where no pod is expected."""
    own = [
        pod
        for pod in pods
        if pod.meta.namespace == budget.meta.namespace
        and not pod.terminal
        and matches(budget.selector, pod.meta.labels)
    ]
    well = sum(1 for pod in own if pod.meta.deletion_timestamp is None and healthy(pod))
    counted = budget.max_unavailable is not None or isinstance(budget.min_available, str)
    expected = _expected(own, scale) if counted else len(own)
    if budget.max_unavailable is not None:
        desired = max(0, expected - _share(budget.max_unavailable, expected))
    else:
        desired = _share(budget.min_available or 0, expected)
    return (well if expected > 0 else 0), desired


def _expected(pods: list[Pod], scale: Mapping[tuple[str, str, str], int]) -> int:
    owners = {
        (owner.kind, pod.meta.namespace, owner.name)
        for pod in pods
        if (owner := pod.meta.controller) is not None
    }
    return sum(scale.get(owner, 0) for owner in owners)


def _share(amount: int | str, whole: int) -> int:
    if isinstance(amount, int):
        return amount
    return -(-whole * int(amount[:-1]) // 100)  # percentages round up
