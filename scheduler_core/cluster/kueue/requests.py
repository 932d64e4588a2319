"""What pod sets request: overhead of runtime classes, LimitRanges, limits, exclusions, transformations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct, field

from scheduler_core.cluster.kueue.objects import Amounts, PodSet
from scheduler_core.kubernetes.quantity import exact_resource, rounded
from scheduler_core.kubernetes.requests import spec_requests

CONTAINERS = ("initContainers", "containers")


class Transformation(Struct, frozen=True):
    """A resource that counts as others: ``outputs`` are quantities for one of ``input``."""

    input: str
    replaces: bool
    outputs: Mapping[str, str]


class ResourceRules(Struct, frozen=True):
    """``resources`` of Kueue's Configuration."""

    excluded: tuple[str, ...] = ()
    transformations: Mapping[str, Transformation] = field(default_factory=dict)


def read_rules(part: Mapping[str, Any]) -> ResourceRules:
    """Read ``resources`` of the Configuration."""
    rows = [
        Transformation(row["input"], row.get("strategy") == "Replace", row.get("outputs") or {})
        for row in part.get("transformations") or ()
    ]
    return ResourceRules(tuple(part.get("excludeResourcePrefixes") or ()), {one.input: one for one in rows})


class Surroundings(Struct, frozen=True):
    """What a pod's requests depend on besides its spec: RuntimeClass overheads and container LimitRanges."""

    overheads: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limit_ranges: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)

    def adjusted(self, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return a pod's spec as its requests are counted (workload.AdjustResources)."""
        out = dict(spec)
        overhead = self.overheads.get(out.get("runtimeClassName") or "")
        if overhead and not out.get("overhead"):
            out["overhead"] = overhead
        defaults = summary(self.limit_ranges.get(namespace, ()), "Container")
        for name in CONTAINERS:
            if out.get(name):
                out[name] = [_adjusted(one, defaults) for one in out[name]]
        return out


def summary(ranges: Iterable[Mapping[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Sum the items of LimitRanges up: the least ``max``, the greatest ``min``, the first defaults."""
    out: dict[str, dict[str, Any]] = {name: {} for name in ("max", "min", "default", "defaultRequest")}
    for row in (row for one in ranges for row in one.get("limits") or () if row.get("type") == kind):
        for name in ("default", "defaultRequest"):
            out[name] = {**(row.get(name) or {}), **out[name]}
        _narrow(out["max"], row.get("max") or {}, is_max=True)
        _narrow(out["min"], row.get("min") or {}, is_max=False)
    return out


def _narrow(found: dict[str, Any], more: Mapping[str, Any], *, is_max: bool) -> None:
    for resource, text in more.items():
        old = found.get(resource)
        if old is None or (_exact(resource, text) < _exact(resource, old)) == is_max:
            found[resource] = text


def _exact(resource: str, text: Any) -> Any:
    return exact_resource(resource, str(text))


def _adjusted(container: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    resources = container.get("resources") or {}
    limits = {**defaults["default"], **(resources.get("limits") or {})}
    requests = {**limits, **defaults["defaultRequest"], **(resources.get("requests") or {})}
    return {**container, "resources": {**resources, "limits": limits, "requests": requests}}


def pod_requests(
    namespace: str, spec: Mapping[str, Any], around: Surroundings, rules: ResourceRules
) -> Amounts:
    """Return what one pod requests of a quota."""
    plain = spec_requests(around.adjusted(namespace, spec))
    kept = {name: amount for name, amount in plain.items() if not name.startswith(rules.excluded)}
    return _transformed(kept, rules.transformations)


def _transformed(amounts: Amounts, rules: Mapping[str, Transformation]) -> Amounts:
    if not rules:
        return amounts
    out: Amounts = {}
    for name, amount in amounts.items():
        rule = rules.get(name)
        if rule is None or not rule.replaces:
            out[name] = out.get(name, 0) + amount
        for other, text in (rule.outputs if rule else {}).items():
            out[other] = out.get(other, 0) + _output(name, amount, other, text)
    return out


def _output(name: str, amount: int, other: str, text: str) -> int:
    """Return an input's amount times what one of it counts as; cpu is in thousandths on either side."""
    factor = exact_resource(other, str(text))
    return rounded(factor * Fraction(amount, 1000 if name == "cpu" else 1))


# --- whether a pod's requests are allowed at all


def refusal(pod_sets: Iterable[PodSet], namespace: str, around: Surroundings) -> str:
    """Return why a Workload's resources are not allowed, "" if they are."""
    specs = [
        (f"spec.podSets[{index}].template.spec", around.adjusted(namespace, one.pod_spec))
        for index, one in enumerate(pod_sets)
    ]
    above = [text for path, spec in specs for text in _above_limits(spec, path)]
    if above:
        return f"resources validation failed: {_joined(above)}"
    ranges = around.limit_ranges.get(namespace, ())
    beyond = [text for path, spec in specs for text in _beyond_ranges(spec, path, ranges)]
    return f"resources didn't satisfy LimitRange constraints: {_joined(beyond)}" if beyond else ""


def _joined(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _containers(spec: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for kind in CONTAINERS:
        for index, container in enumerate(spec.get(kind) or ()):
            yield f"{path}.{kind}[{index}]", container.get("resources") or {}


def _above_limits(spec: Mapping[str, Any], path: str) -> Iterator[str]:
    for where, resources in _containers(spec, path):
        names = _greater(resources.get("requests") or {}, resources.get("limits") or {})
        yield from _invalid(where, names, "requests must not exceed its limits")


def _beyond_ranges(spec: Mapping[str, Any], path: str, ranges: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    container, pod = summary(ranges, "Container"), summary(ranges, "Pod")
    for where, resources in _containers(spec, path):
        parts = [resources.get("requests") or {}, resources.get("limits") or {}]
        yield from _outside(where, _extreme(parts, greatest=False), _extreme(parts, greatest=True), container)
    total = {name: f"{amount}m" if name == "cpu" else amount for name, amount in spec_requests(spec).items()}
    yield from _outside(path, total, total, pod)


def _outside(
    where: str, low: Mapping[str, Any], high: Mapping[str, Any], allowed: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    yield from _invalid(
        where, _greater(high, allowed["max"]), "requests must not be above the limitRange max"
    )
    yield from _invalid(where, _greater(allowed["min"], low), "requests must not be below the limitRange min")


def _extreme(parts: Iterable[Mapping[str, Any]], *, greatest: bool) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for part in parts:
        _narrow(out, part, is_max=not greatest)
    return out


def _greater(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the resources of which one list has more than another that has them too."""
    return sorted(
        name for name in one if name in other and _exact(name, one[name]) > _exact(name, other[name])
    )


def _invalid(where: str, names: list[str], why: str) -> Iterator[str]:
    if names:
        quoted = ",".join(f'"{name}"' for name in names)
        yield f"{where}: Invalid value: [{quoted}]: {why}"
