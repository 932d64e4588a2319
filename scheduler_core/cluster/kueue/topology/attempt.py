"""The part of topologies in an attempt: pod sets with a flavor are placed, or said why they cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cluster.kueue.assignment import Assignment, PodSetResult
from scheduler_core.cluster.kueue.objects import PodSet, ResourceFlavor
from scheduler_core.cluster.kueue.topology.flavors import is_explicit, only_flavor
from scheduler_core.cluster.kueue.topology.placement import PlacedPodSet, TopologyPlacement
from scheduler_core.cluster.kueue.topology.snapshot import TopologySnapshot, UsageByFlavor
from scheduler_core.cluster.kueue.topology.usage import DomainUsage
from scheduler_core.kubernetes.requests import spec_requests


class Placing(Struct, frozen=True):
    """Where an attempt places: the snapshot, the Workload's pod sets by name, the flavors with a topology.

    ``is_implied``: the queue has only such flavors.
    """

    snapshot: TopologySnapshot
    pod_sets: Mapping[str, PodSet]
    flavors: Mapping[str, ResourceFlavor]
    is_implied: bool

    @property
    def applies(self) -> bool:
        """Whether any pod set is to be placed."""
        return self.is_implied or any(map(is_explicit, self.pod_sets.values()))


def placed(assignment: Assignment, placing: Placing) -> Assignment:
    """Return an assignment with the domains of its pod sets, or with what a topology makes of it.

    Where quota suffices but the domains do not, it is Preempt, with the reason; where even an empty topology
    would not do, NoFit (assignFlavors).
    """
    if assignment.mode == "NoFit" or not placing.applies:
        return assignment
    assignment, requests = _requested(assignment, placing)
    if assignment.mode == "Fit":
        found = placing.snapshot.place(requests)
        if not found.reason:
            return _with_domains(assignment, found)
        assignment = _changed(assignment, [found.failed], lambda one: _failed(one, found.reason), "Preempt")
    empty = placing.snapshot.place(requests, is_empty=True)
    if empty.reason:
        return _changed(assignment, [empty.failed], lambda one: _with_mode(one, "NoFit"), "NoFit")
    names = [one.name for rows in requests.values() for one in rows]
    return _changed(assignment, names, lambda one: _with_mode(one, "Preempt"), "Preempt")


def reserved(assignment: Assignment, placing: Placing, targets: Iterable[UsageByFlavor]) -> Assignment:
    """Return an assignment that has to preempt with the domains it takes once its targets are gone.

    Without targets they are those of an empty topology: reserved, so that nobody behind takes them
    (updateAssignmentForTAS).
    """
    if assignment.mode != "Preempt" or not placing.applies:
        return assignment
    assignment, requests = _requested(assignment, placing)
    usages = list(targets)
    with placing.snapshot.without(usages):
        found = placing.snapshot.place(requests, is_empty=not usages)
    return _with_domains(assignment, found)


def holds(assignment: Assignment, placing: Placing, removed: Iterable[UsageByFlavor]) -> bool:
    """Return whether the pod sets could be placed without what some workloads use."""
    if not placing.applies:
        return True
    with placing.snapshot.without(removed):
        return not placing.snapshot.place(_requested(assignment, placing)[1]).reason


def usage_of_assignment(assignment: Assignment, placing: Placing) -> dict[str, list[DomainUsage]]:
    """Return what the placed pod sets will use: once for each *resource* of a flavor, as v0.17.0 counts it.

    So until the next cycle a pod set of two resources takes its domains twice (ComputeTASNetUsage).
    """
    usage: dict[str, list[DomainUsage]] = {}
    for one in assignment.pod_sets:
        if one.topology is None:
            continue
        flavors = {name: choice.flavor for name, choice in one.choices.items()}
        each = {
            name: amount // one.count if one.count else 0
            for name, amount in one.requests.items()
            if flavors.get(name) in placing.flavors
        }
        rows = [DomainUsage(key, each, count) for key, count in one.topology.domains]
        for flavor in flavors.values():
            if flavor in placing.flavors:
                usage.setdefault(flavor, []).extend(rows)
    return usage


def _requested(assignment: Assignment, placing: Placing) -> tuple[Assignment, dict[str, list[PlacedPodSet]]]:
    """Return what is to be placed by flavor; a pod set without one flavor for it gets an error instead.

    The error leaves the assignment's mode as it was: such a Workload is admitted without a placement.
    """
    requests: dict[str, list[PlacedPodSet]] = {}
    results: list[PodSetResult] = []
    for one in assignment.pod_sets:
        pod_set = placing.pod_sets[one.name]
        results.append(one)
        if one.error or one.topology is not None or not (placing.is_implied or is_explicit(pod_set)):
            continue
        try:
            flavor = only_flavor((choice.flavor for choice in one.choices.values()), placing.flavors)
        except ValueError as error:
            results[-1] = replace(one, error=str(error))
            continue
        requests.setdefault(flavor, []).append(
            PlacedPodSet(
                one.name,
                one.count,
                spec_requests(pod_set.pod_spec),
                pod_set.pod_spec,
                pod_set.topology,
                not is_explicit(pod_set),
            )
        )
    return replace(assignment, pod_sets=tuple(results), settled=assignment.mode), requests


def _with_domains(assignment: Assignment, found: TopologyPlacement) -> Assignment:
    domains = found.assignments
    return replace(
        assignment,
        pod_sets=tuple(
            replace(one, topology=domains[one.name]) if one.name in domains else one
            for one in assignment.pod_sets
        ),
    )


def _changed(
    assignment: Assignment, names: Sequence[str], change: Callable[[PodSetResult], PodSetResult], mode: str
) -> Assignment:
    pod_sets = tuple(change(one) if one.name in names else one for one in assignment.pod_sets)
    return replace(assignment, pod_sets=pod_sets, settled=mode)


def _with_mode(one: PodSetResult, mode: str) -> PodSetResult:
    return replace(one, choices={name: replace(it, mode=mode) for name, it in one.choices.items()})


def _failed(one: PodSetResult, reason: str) -> PodSetResult:
    return _with_mode(replace(one, reasons=(*one.reasons, reason)), "Preempt")
