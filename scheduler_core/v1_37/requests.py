"""Resource requests of pods: containers, sidecars, pod-level and resized resources, overhead, defaults for scores.

Amounts are millicores of cpu and base units of everything else, rounded up (component-helpers' resource.PodRequests).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.objects.quantity import parse_resource

Amounts = dict[str, int]

DEFAULTS: Amounts = {"cpu": 100, "memory": 200 * 1024 * 1024}
"""What scores put in for a container that requests no cpu or memory (util.GetNonzeroRequests)."""

_Request = Callable[[Mapping[str, Any]], Mapping[str, int]]


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """Read a ResourceList."""
    return {name: parse_resource(name, str(text)) for name, text in (resources or {}).items()}


def pod_level(name: str) -> bool:
    """Return whether a pod may request the resource as a whole (IsSupportedPodLevelResource)."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def spec_requests(spec: Mapping[str, Any], *, level: bool = True, defaults: Mapping[str, int] = {}) -> Amounts:
    """Return what the specification requests: for a pod that is to be scheduled.

    ``level``: whether ``spec.resources`` replaces the containers' sum. ``defaults``: amounts for every container that
    lacks the resource.
    """
    total = _aggregate(spec, lambda container: _requests(container.get("resources")), defaults)
    if level:
        total |= _level(spec.get("resources"))
    return _with_overhead(total, spec)


def held_requests(
    spec: Mapping[str, Any], status: Mapping[str, Any], *, nonzero: bool = False
) -> Amounts:
    """Return what a pod on a node holds: per resource the most of what is specified, allocated and in use.

    With a resize that is infeasible the specification does not count. ``nonzero`` puts in the defaults of scores.
    """
    defaults: Mapping[str, int] = {}
    if nonzero:
        defaults = DEFAULTS
        if _level(spec.get("resources")):
            plain = held_requests(spec, status)
            defaults = {name: amount for name, amount in DEFAULTS.items() if name not in plain}
    infeasible = any(
        condition.get("type") == "PodResizePending" and condition.get("reason") == "Infeasible"
        for condition in status.get("conditions") or ()
    )
    statuses = {
        entry["name"]: entry
        for key in ("containerStatuses", "initContainerStatuses")
        for entry in status.get(key) or ()
    }

    def specified(container: Mapping[str, Any]) -> Amounts:
        return _requests(container.get("resources"))

    def otherwise(container: Mapping[str, Any]) -> Amounts:
        return {} if infeasible else specified(container)

    def allocated(container: Mapping[str, Any]) -> Amounts:
        entry = statuses.get(container["name"], {})
        return amounts(entry["allocatedResources"]) if entry.get("allocatedResources") else otherwise(container)

    def actual(container: Mapping[str, Any]) -> Amounts:
        entry = statuses.get(container["name"], {})
        own = (entry.get("resources") or {}).get("requests")
        return amounts(own) if own else allocated(container)

    sources: list[_Request] = [allocated, actual] if statuses or infeasible else []
    if not infeasible:
        sources.insert(0, specified)
    total: Amounts = {}
    for source in sources:
        total = _greatest(total, _aggregate(spec, source, defaults))
    level = [status.get("resources"), {"requests": status.get("allocatedResources")}]
    if not infeasible:
        level.append(spec.get("resources"))
    whole: Amounts = {}
    if _level(spec.get("resources")):
        for resources in level:
            whole = _greatest(whole, _level(resources))
        whole = whole or _level(spec.get("resources"))  # infeasible, but nothing is allocated to the pod as a whole
    return _with_overhead(total | whole, spec)


def _requests(resources: Mapping[str, Any] | None) -> Amounts:
    return amounts((resources or {}).get("requests"))


def _level(resources: Mapping[str, Any] | None) -> Amounts:
    return {name: amount for name, amount in _requests(resources).items() if pod_level(name)}


def _aggregate(spec: Mapping[str, Any], request: _Request, defaults: Mapping[str, int]) -> Amounts:
    """Sum the containers; init containers count by their peak beside the sidecars started before them."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, _filled(request(container), defaults))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = _filled(request(container), defaults)
        if container.get("restartPolicy") == "Always":
            _add(total, own)
            _add(sidecars, own)
            peak = _greatest(peak, sidecars)
        else:
            _add(own, sidecars)
            peak = _greatest(peak, own)
    return _greatest(total, peak)


def _filled(own: Mapping[str, int], defaults: Mapping[str, int]) -> Amounts:
    return {**defaults, **own}


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _greatest(left: Mapping[str, int], right: Mapping[str, int]) -> Amounts:
    out = dict(left)
    for name, amount in right.items():
        out[name] = max(out.get(name, amount), amount)
    return out


def _with_overhead(total: Amounts, spec: Mapping[str, Any]) -> Amounts:
    if spec.get("overhead"):
        _add(total, amounts(spec["overhead"]))
    return total


def is_scalar(name: str) -> bool:
    """Return whether the scheduler counts the resource as a scalar (schedutil.IsScalarResourceName)."""
    return (
        is_extended(name)
        or name.startswith(("hugepages-", "attachable-volumes-"))
        or "kubernetes.io/" in name
    )


def is_extended(name: str) -> bool:
    """Return whether it is an extended resource: one of a domain that is not Kubernetes' own."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def counted(total: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    """Yield the resources that nodes are held to."""
    return (
        (name, amount)
        for name, amount in total.items()
        if name in ("cpu", "memory", "ephemeral-storage") or is_scalar(name)
    )
