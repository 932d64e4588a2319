"""What the API server refuses of Kueue's objects when they are created."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_core.cluster.v1_37.objects import Manifest, spec_of
from scheduler_core.kubernetes.quantity import QuantityError, exact_quantity

_FUNGIBILITY = ("TryNextFlavor", "MayStopSearch", "Borrow", "Preempt")
_PREFERENCES = ("BorrowingOverPreemption", "PreemptionOverBorrowing")
_MOST_GROUPS, _MOST_FLAVORS, _MOST_POD_SETS = 16, 64, 8


def refusals_of(manifest: Manifest) -> list[str]:
    """Return why an object is refused, [] if it is not."""
    check = _CHECKS.get(str(manifest.get("kind")))
    return list(check(spec_of(manifest))) if check else []


def _cluster_queue(spec: Mapping[str, Any]) -> Iterator[str]:
    cohort = spec.get("cohortName") or spec.get("cohort")
    yield from _groups(spec, limits=bool(cohort), what="cohort", lends_nominal=True)
    preemption = spec.get("preemption") or {}
    borrowing = preemption.get("borrowWithinCohort") or {}
    reclaims = (preemption.get("reclaimWithinCohort") or "Never") != "Never"
    if not reclaims and (borrowing.get("policy") or "Never") != "Never":
        yield "spec.preemption: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"
    yield from _preference(spec.get("flavorFungibility") or {})


def _preference(part: Mapping[str, Any]) -> Iterator[str]:
    if not part.get("preference"):
        return
    borrow = part.get("whenCanBorrow") or "MayStopSearch"
    preempt = part.get("whenCanPreempt") or "TryNextFlavor"
    if (borrow, preempt) != ("TryNextFlavor", "TryNextFlavor"):
        yield "spec.flavorFungibility.preference: whenCanBorrow and whenCanPreempt must be TryNextFlavor"


def _cohort(spec: Mapping[str, Any]) -> Iterator[str]:
    parent = spec.get("parentName") or spec.get("parent")
    yield from _groups(spec, limits=bool(parent), what="parent", lends_nominal=False)


def _groups(spec: Mapping[str, Any], *, limits: bool, what: str, lends_nominal: bool) -> Iterator[str]:
    groups = spec.get("resourceGroups") or ()
    if len(groups) > _MOST_GROUPS:
        yield f"spec.resourceGroups: must have at most {_MOST_GROUPS} items"
    seen: set[str] = set()
    for index, group in enumerate(groups):
        path = f"spec.resourceGroups[{index}]"
        covered = list(group.get("coveredResources") or ())
        flavors = group.get("flavors") or ()
        if len(flavors) > _MOST_FLAVORS:
            yield f"{path}.flavors: must have at most {_MOST_FLAVORS} items"
        for name in [*covered, *(f"flavor {flavor['name']}" for flavor in flavors)]:
            if name in seen:
                yield f"{path}: Duplicate value: {name}"
            seen.add(name)
        for flavor in flavors:
            rows = flavor.get("resources") or ()
            if [row.get("name") for row in rows] != covered:
                yield f"{path}.flavors {flavor['name']}: resources must match coveredResources in order"
            for row in rows:
                where = f"{path}.flavors {flavor['name']}.{row.get('name')}"
                yield from _quota(row, where, limits=limits, what=what, lends_nominal=lends_nominal)


def _quota(
    row: Mapping[str, Any], where: str, *, limits: bool, what: str, lends_nominal: bool
) -> Iterator[str]:
    amounts = {}
    for name in ("nominalQuota", "borrowingLimit", "lendingLimit"):
        if row.get(name) is None:
            continue
        try:
            amounts[name] = exact_quantity(str(row[name]))
        except QuantityError as error:
            yield f"{where}.{name}: {error}"
            continue
        if amounts[name] < 0:
            yield f"{where}.{name}: must be greater than or equal to 0"
        if name != "nominalQuota" and not limits:
            yield f"{where}.{name}: must be nil when {what} is empty"
    lending = amounts.get("lendingLimit")
    if lends_nominal and lending is not None and lending > amounts.get("nominalQuota", 0):
        yield f"{where}.lendingLimit: must be less than or equal to the nominalQuota"


def _workload(spec: Mapping[str, Any]) -> Iterator[str]:
    pod_sets = spec.get("podSets") or ()
    if not 1 <= len(pod_sets) <= _MOST_POD_SETS:
        yield f"spec.podSets: must have 1 to {_MOST_POD_SETS} items"
    names = [row.get("name") or "main" for row in pod_sets]
    if len(set(names)) != len(names):
        yield "spec.podSets: Duplicate value: the name"
    reducible = [row for row in pod_sets if row.get("minCount") is not None]
    if len(reducible) > 1:
        yield "spec.podSets: at most one podSet can use minCount"
    for row in pod_sets:
        count = 1 if row.get("count") is None else row["count"]
        least = row.get("minCount")
        if count < 0:
            yield f"spec.podSets {row.get('name')}: count must be greater than or equal to 0"
        if least is not None and not 0 < least <= count:
            yield f"spec.podSets {row.get('name')}: minCount should be positive and less or equal to count"
    has_class = spec.get("priorityClassRef") or spec.get("priorityClassName")
    if has_class and spec.get("priority") is None:
        yield "spec.priority: priority should not be nil when priorityClassName is set"


def _topology(spec: Mapping[str, Any]) -> Iterator[str]:
    levels = [row.get("nodeLabel") for row in spec.get("levels") or ()]
    if not levels:
        yield "spec.levels: must have at least 1 item"
    if len(set(levels)) != len(levels):
        yield "spec.levels: Duplicate value"
    if "kubernetes.io/hostname" in levels[:-1]:
        yield "spec.levels: the kubernetes.io/hostname label can only be used at the lowest level of topology"


def _flavor(spec: Mapping[str, Any]) -> Iterator[str]:
    if spec.get("topologyName") and not spec.get("nodeLabels"):
        yield "spec.nodeLabels: at least one nodeLabel is required when topology is set"


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "ResourceFlavor": _flavor,
    "Topology": _topology,
    "Workload": _workload,
}
