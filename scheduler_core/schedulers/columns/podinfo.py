"""A pod compiled for scheduling, once for all pods of one template.

A :class:`PodInfo` holds the fields of a pod that predicates and priorities read, and nothing that
differs between replicas: name, uid, priority, node and nomination are in
:class:`~scheduler_core.schedulers.columns.pods.PodState`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import Container, Pod, PodAffinityTerm, Volume
from scheduler_core.kubernetes.resources import is_scalar
from scheduler_core.kubernetes.shared_devices import DeviceDemand, demand_of
from scheduler_core.schedulers.columns.columns import clamp
from scheduler_core.schedulers.columns.pod_selectors import Selector, compile_selector, matches
from scheduler_core.schedulers.columns.reads import CLASS_FIELDS, PodFields

NONZERO_CPU = 100  # millicores, priorityutil.DefaultMilliCPURequest
NONZERO_MEMORY = 200 * 1024 * 1024  # bytes, priorityutil.DefaultMemoryRequest

Port = tuple[str, str, int]  # ip, protocol, port


class Term(Struct, frozen=True):
    """One pod affinity term with its namespaces resolved; ``weight`` is 0 for a required one."""

    namespaces: tuple[str, ...]
    selector: Selector | None
    topology_key: str
    weight: int = 0

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Return whether the term selects a pod (priorityutil.PodMatchesTermsNamespaceAndSelector)."""
        return namespace in self.namespaces and matches(self.selector, labels)


class AffinityTerms(Struct, frozen=True):
    """The compiled inter-pod part of ``spec.affinity``."""

    required: tuple[Term, ...] = ()
    preferred: tuple[Term, ...] = ()
    anti_required: tuple[Term, ...] = ()
    anti_preferred: tuple[Term, ...] = ()


NO_TERMS = AffinityTerms()


class PodInfo(Struct, frozen=True, eq=False):
    """Everything that scheduling reads of a pod, shared by the pods of one class.

    ``request`` is ``(4,) int64`` (cpu, memory, ephemeral-storage, one pod) as PodFitsResources
    reads it; ``usage`` is ``(6,) int64``: the pod's usage of its node in the same order, then
    non-zero cpu and memory. Scalars are sorted by name.
    """

    number: int  # the number of the class, in order of first appearance
    fields: PodFields  # the fields that rules declare; for those rarely read
    namespace: str
    labels: Mapping[str, str]
    terminating: bool
    request: IntVector
    scalar_request: tuple[tuple[str, int], ...]
    requests_nothing: bool  # if true, only the number of pods is checked
    usage: IntVector
    scalar_usage: tuple[tuple[str, int], ...]
    best_effort: bool
    limits: tuple[int, int]  # cpu, memory
    ports: tuple[Port, ...]
    volumes: tuple[Volume, ...]
    claims: tuple[str, ...]
    terms: AffinityTerms
    images: tuple[str, ...]
    owner: tuple[str, str] | None  # kind and uid of the controlling owner
    demand: DeviceDemand | None = None  # for shared devices


class PodResources(Struct, frozen=True):
    """What a release counts for a pod, where that is not what v1.11 makes of its containers.

    Amounts by resource, sorted by name: cpu in millicores, else base units. ``nonzero`` are cpu and memory.
    """

    request: tuple[tuple[str, int], ...]
    usage: tuple[tuple[str, int], ...]
    nonzero: tuple[int, int]

    def counted_in(self, info: PodInfo) -> PodInfo:
        """Return the class of pods with these resources."""
        request, usage = dict(self.request), dict(self.usage)
        basics, used = _basics(request), _basics(usage)
        scalars = tuple((name, clamp(amount)) for name, amount in self.request if is_scalar(name))
        return replace(
            info,
            request=np.array([*basics, 1], np.int64),
            scalar_request=scalars,
            requests_nothing=not any(basics) and not scalars,
            usage=np.array([*used, 1, *map(clamp, self.nonzero)], np.int64),
            scalar_usage=tuple((name, clamp(n)) for name, n in self.usage if is_scalar(name) and n),
            demand=demand_of(request),
        )


def _basics(amounts: Mapping[str, int]) -> list[int]:
    return [clamp(amounts.get(name, 0)) for name in ("cpu", "memory", "ephemeral-storage")]


def compile_pod(pod: Pod, number: int, names: Iterable[str] = CLASS_FIELDS) -> PodInfo:
    """Compile a pod (v1.11's predicateMetadata and NodeInfo.calculateResource combined).

    ``names`` are the fields that rules declare.
    """
    usage = _sum_requests(pod.containers)
    request = _with_init(usage, pod.init_containers)
    scalars = tuple(sorted((name, amount) for name, amount in request.items() if is_scalar(name)))
    basics, used = _basics(request), _basics(usage)
    nonzero_cpu = sum(c.requests.get("cpu", NONZERO_CPU) for c in pod.containers)
    nonzero_memory = sum(c.requests.get("memory", NONZERO_MEMORY) for c in pod.containers)
    limits = _with_init(_sum_limits(pod.containers), pod.init_containers, limits=True)
    controller = pod.meta.controller
    return PodInfo(
        number=number,
        fields=PodFields(pod, names),
        namespace=pod.meta.namespace,
        labels=pod.meta.labels,
        terminating=pod.meta.deletion_timestamp is not None,
        request=np.array([*basics, 1], np.int64),
        scalar_request=tuple((name, clamp(amount)) for name, amount in scalars),
        requests_nothing=not any(basics) and not scalars,
        usage=np.array([*used, 1, clamp(nonzero_cpu), clamp(nonzero_memory)], np.int64),
        scalar_usage=tuple(sorted((n, clamp(a)) for n, a in usage.items() if is_scalar(n) and a)),
        best_effort=_is_best_effort(pod.containers),
        limits=(clamp(limits.get("cpu", 0)), clamp(limits.get("memory", 0))),
        ports=tuple((p.ip, p.protocol, p.port) for c in pod.containers for p in c.host_ports),
        volumes=pod.volumes,
        claims=tuple(volume.claim for volume in pod.volumes if volume.claim is not None),
        terms=_compile_terms(pod),
        images=tuple(normalized_image(c.image) for c in pod.containers),
        owner=None if controller is None else (controller.kind, controller.uid),
        demand=demand_of(request),
    )


def _sum_requests(containers: Iterable[Container]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        for name, amount in container.requests.items():
            total[name] = total.get(name, 0) + amount
    return total


def _sum_limits(containers: Iterable[Container]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        for name, amount in container.limits.items():
            total[name] = total.get(name, 0) + amount
    return total


def _with_init(total: dict[str, int], init: Iterable[Container], *, limits: bool = False) -> dict[str, int]:
    """Raise each resource to the maximum over the init containers (predicates.GetResourceRequest)."""
    result = dict(total)
    for container in init:
        for name, amount in (container.limits if limits else container.requests).items():
            result[name] = max(result.get(name, 0), amount)
    return result


def _is_best_effort(containers: Iterable[Container]) -> bool:
    return not any(
        part.get(name, 0) > 0
        for c in containers
        for part in (c.requests, c.limits)
        for name in ("cpu", "memory")
    )


def normalized_image(image: str) -> str:
    """Append ``:latest`` to an image that names no tag (parsers.NormalizeImageRef's rule)."""
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"


def _compile_terms(pod: Pod) -> AffinityTerms:
    affinity = pod.affinity
    if affinity is None or not (affinity.has_pod_affinity or affinity.has_pod_anti_affinity):
        return NO_TERMS

    def term(raw: PodAffinityTerm, weight: int = 0) -> Term:
        namespaces = raw.namespaces or (pod.meta.namespace,)
        return Term(tuple(sorted(set(namespaces))), compile_selector(raw.selector), raw.topology_key, weight)

    return AffinityTerms(
        tuple(term(t) for t in affinity.pod_required),
        tuple(term(t.term, t.weight) for t in affinity.pod_preferred),
        tuple(term(t) for t in affinity.anti_required),
        tuple(term(t.term, t.weight) for t in affinity.anti_preferred),
    )
