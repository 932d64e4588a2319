"""Resource requests of pods: containers, sidecars, pod level, resizes, overhead, defaults for scores.

Amounts are millicores of cpu and base units of everything else. They are added as they are written; the sums
are rounded up (resource.PodRequests).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from scheduler_core.kubernetes.quantity import exact_resource, parse_resource, rounded

Amounts = dict[str, int]
Exact = dict[str, int | Fraction]

DEFAULTS: Amounts = {"cpu": 100, "memory": 200 * 1024 * 1024}
"""What scores put in for a container that requests no cpu or memory (util.GetNonzeroRequests)."""

Request = Callable[[Mapping[str, Any]], Mapping[str, int | Fraction]]


class HeldRequests(Protocol):
    """A rule for what a pod on a node holds, by its specification and status."""

    def __call__(
        self, spec: Mapping[str, Any], status: Mapping[str, Any], *, nonzero: bool = False
    ) -> Amounts:
        """Return the amounts; ``nonzero`` puts in the defaults of scores."""
        ...


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """Read a ResourceList, each amount rounded up."""
    return {name: parse_resource(name, str(text)) for name, text in (resources or {}).items()}


def _exact(resources: Mapping[str, Any] | None) -> Exact:
    return {name: exact_resource(name, str(text)) for name, text in (resources or {}).items()}


def pod_level(name: str) -> bool:
    """Return whether a pod may request the resource as a whole (IsSupportedPodLevelResource)."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def spec_requests(
    spec: Mapping[str, Any], *, level: bool = True, defaults: Mapping[str, int] = {}
) -> Amounts:
    """Return what the specification requests: for a pod that is to be scheduled.

    ``level``: whether ``spec.resources`` replaces the containers' sum. ``defaults``: amounts for every
    container that lacks the resource.
    """
    total = _aggregate(spec, lambda container: _requests(container.get("resources")), defaults)
    if level:
        total |= _level(spec.get("resources"))
    return _total(total, spec)


def held_requests(spec: Mapping[str, Any], status: Mapping[str, Any], *, nonzero: bool = False) -> Amounts:
    """Return what a pod on a node holds: per resource the most of what is specified, allocated and in use.

    With an infeasible resize the specification does not count. ``nonzero`` puts in the defaults of scores.
    """
    defaults = _defaults(spec, status, held_requests) if nonzero else {}
    infeasible = _is_infeasible(status)
    whole_allocated = status.get("allocatedResources")
    whole_actual = (status.get("resources") or {}).get("requests")
    specified = _aggregate(spec, lambda container: _requests(container.get("resources")), defaults)
    if whole_allocated is not None and whole_actual is not None:
        allocated, actual = _exact(whole_allocated), _exact(whole_actual)
    elif not infeasible and not any(map(_has_amounts, _container_statuses(status))):
        allocated = actual = specified  # nothing is reported: what is specified holds
    else:
        allocated, actual = _status_aggregates(spec, status, defaults, infeasible=infeasible)
    total = dict(specified) if actual is specified else _greatest(allocated, actual)
    if not infeasible and actual is not specified:
        total = _greatest(total, specified)
    level = _level(spec.get("resources"))
    if level:
        total |= _effective(level, status, infeasible=infeasible)
    return _total(total, spec)


def held_by_container(
    spec: Mapping[str, Any], status: Mapping[str, Any], *, nonzero: bool = False
) -> Amounts:
    """Return what a pod on a node holds if each container counts by itself.

    A container whose status has ``resources`` holds the most of what is specified, allocated and in use; of
    init containers only sidecars do.
    """
    defaults = _defaults(spec, status, held_by_container) if nonzero else {}
    return _total(_by_container(spec, status, defaults) | _level(spec.get("resources")), spec)


def held_by_container_and_level(
    spec: Mapping[str, Any], status: Mapping[str, Any], *, nonzero: bool = False
) -> Amounts:
    """Return the same with the pod-level requests in effect (InPlacePodLevelResourcesVerticalScaling)."""
    defaults = _defaults(spec, status, held_by_container_and_level) if nonzero else {}
    level = _level(spec.get("resources"))
    effective = _effective(level, status, infeasible=_is_infeasible(status)) if level else level
    return _total(_by_container(spec, status, defaults) | effective, spec)


def _by_container(spec: Mapping[str, Any], status: Mapping[str, Any], defaults: Mapping[str, int]) -> Exact:
    statuses = {entry["name"]: entry for entry in _container_statuses(status)}
    infeasible = _is_infeasible(status)
    passing = {
        one["name"] for one in spec.get("initContainers") or () if one.get("restartPolicy") != "Always"
    }

    def request(container: Mapping[str, Any]) -> Exact:
        found = {} if container["name"] in passing else statuses.get(container["name"], {})
        if found.get("resources") is None:
            return _requests(container.get("resources"))
        held = _greatest(_requests(found["resources"]), _exact(found.get("allocatedResources")))
        return held if infeasible else _greatest(held, _requests(container.get("resources")))

    return _aggregate(spec, request, defaults)


def _defaults(spec: Mapping[str, Any], status: Mapping[str, Any], held: HeldRequests) -> Mapping[str, int]:
    """Return what scores put in: with pod-level requests only for what the pod as a whole lacks."""
    if not _level(spec.get("resources")):
        return DEFAULTS
    plain = held(spec, status)
    return {name: amount for name, amount in DEFAULTS.items() if name not in plain}


def _is_infeasible(status: Mapping[str, Any]) -> bool:
    """Return whether the kubelet has refused a resize for good."""
    pending = (c for c in status.get("conditions") or () if c.get("type") == "PodResizePending")
    return next((c.get("reason") == "Infeasible" for c in pending), False)


def reports_amounts(status: Mapping[str, Any]) -> bool:
    """Return whether a status has a part in what its pod holds: amounts, or a resize that is pending."""
    if status.get("allocatedResources") is not None or status.get("resources") is not None:
        return True
    for row in status.get("conditions") or ():
        if row.get("type") == "PodResizePending":
            return True
    for entry in _container_statuses(status):
        if entry.get("allocatedResources") is not None or entry.get("resources"):
            return True
    return False


def _has_amounts(entry: Mapping[str, Any]) -> bool:
    return entry.get("allocatedResources") is not None or bool(entry.get("resources"))


def _container_statuses(status: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    own: Sequence[Mapping[str, Any]] = status.get("containerStatuses") or ()
    init = status.get("initContainerStatuses")
    return [*init, *own] if init else own


def _status_aggregates(
    spec: Mapping[str, Any], status: Mapping[str, Any], defaults: Mapping[str, int], *, infeasible: bool
) -> tuple[Exact, Exact]:
    """Return what is allocated and what is in use, by the containers' statuses."""
    statuses = {entry["name"]: entry for entry in _container_statuses(status)}

    def allocated(container: Mapping[str, Any]) -> Exact:
        found = statuses.get(container["name"], {}).get("allocatedResources")
        if found is not None:
            return _exact(found)
        return {} if infeasible else _requests(container.get("resources"))

    def actual(container: Mapping[str, Any]) -> Exact:
        own = (statuses.get(container["name"], {}).get("resources") or {}).get("requests")
        return allocated(container) if own is None else _exact(own)

    return _aggregate(spec, allocated, defaults), _aggregate(spec, actual, defaults)


def _effective(level: Exact, status: Mapping[str, Any], *, infeasible: bool) -> Exact:
    """Return the pod-level requests in effect (effectivePodLevelResources).

    They are those of the specification until the status has what is in use by the pod as a whole.
    """
    if status.get("resources") is None:
        return level
    out: Exact = {} if infeasible else level
    for resources in (_requests(status["resources"]), _exact(status.get("allocatedResources"))):
        out = _greatest(out, {name: amount for name, amount in resources.items() if pod_level(name)})
    return out


def _requests(resources: Mapping[str, Any] | None) -> Exact:
    return _exact((resources or {}).get("requests"))


def _level(resources: Mapping[str, Any] | None) -> Exact:
    return {name: amount for name, amount in _requests(resources).items() if pod_level(name)}


def _aggregate(spec: Mapping[str, Any], request: Request, defaults: Mapping[str, int]) -> Exact:
    """Sum the containers; init containers count by their peak with the sidecars started before them."""
    total: Exact = {}
    for container in spec.get("containers") or ():
        _add(total, _filled(request(container), defaults))
    sidecars: Exact = {}
    peak: Exact = {}
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


def _filled(own: Mapping[str, int | Fraction], defaults: Mapping[str, int]) -> Exact:
    return {**defaults, **own}


def _add(total: Exact, more: Mapping[str, int | Fraction]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _greatest(left: Mapping[str, int | Fraction], right: Mapping[str, int | Fraction]) -> Exact:
    out = dict(left)
    for name, amount in right.items():
        out[name] = max(out.get(name, amount), amount)
    return out


def _total(total: Exact, spec: Mapping[str, Any]) -> Amounts:
    """Add the overhead and round up."""
    if spec.get("overhead"):
        _add(total, _exact(spec["overhead"]))
    return {name: amount if isinstance(amount, int) else rounded(amount) for name, amount in total.items()}


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
