"""The second pass of a Workload whose node failed: its pods there get another, or it is evicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scheduler_core.cluster.kueue.assignment import Assignment, FlavorChoice, PodSetResult
from scheduler_core.cluster.kueue.entry import Entry, Tried
from scheduler_core.cluster.kueue.nomination import EVICTED, Nomination
from scheduler_core.cluster.kueue.topology.flavors import is_explicit
from scheduler_core.cluster.kueue.topology.placement import PlacedPodSet, TopologyPlacement
from scheduler_core.cluster.kueue.topology.replacement import Standing, replace_node
from scheduler_core.cluster.kueue.topology.snapshot import TopologySnapshot
from scheduler_core.cluster.kueue.topology.usage import DomainUsage
from scheduler_core.cluster.kueue.workload import Workload, usage_of
from scheduler_core.kubernetes.requests import spec_requests


def second_pass(entry: Entry, topologies: TopologySnapshot) -> Nomination:
    """Return what becomes of an admitted Workload whose placement has an unhealthy node."""
    workload = entry.workload
    (node,) = workload.unhealthy
    found, domains = TopologyPlacement(), {}
    for flavor, standing in _standing(workload, topologies).items():
        tree, used = topologies.trees[flavor], topologies.used.get(flavor, {})
        part = replace_node(tree, used, standing, node, topologies.gates)
        found.assignments |= part.assignments
        found.reason = found.reason or part.reason
        domains[flavor] = [row for one in standing for row in _gained(one, part)]
    assignment = Assignment(tuple(_results(workload, found)), usage_of(workload), Tried((), 0), "Fit")
    if found.reason:
        message = f"Workload was evicted as there was no replacement for unhealthy node(s): {node}"
        return Nomination(entry, assignment, [], message, EVICTED, is_second_pass=True)
    return Nomination(entry, assignment, [], domains=domains, is_second_pass=True)


def _standing(workload: Workload, topologies: TopologySnapshot) -> dict[str, list[Standing]]:
    """Return the pod sets that are placed, by flavor."""
    found: dict[str, list[Standing]] = {}
    pod_sets = {one.name: one for one in workload.pod_sets}
    for one in workload.admission.pod_sets if workload.admission else ():
        flavor = next((name for name in sorted(set(one.flavors.values())) if name in topologies.trees), "")
        if one.topology is None or not flavor or one.name not in pod_sets:
            continue
        pod_set = pod_sets[one.name]
        spec, is_implied = pod_set.pod_spec, not is_explicit(pod_set)
        made = PlacedPodSet(one.name, one.count, spec_requests(spec), spec, pod_set.topology, is_implied)
        found.setdefault(flavor, []).append((made, one.topology))
    return found


def _gained(standing: Standing, found: TopologyPlacement) -> Iterator[DomainUsage]:
    """Yield what a replacement takes on top of what stands."""
    pod_set, old = standing
    new = found.assignments.get(pod_set.name)
    before = Counter(dict(old.domains))
    for key, count in new.domains if new is not None else ():
        if count > before[key]:
            yield DomainUsage(key, pod_set.requests, count - before[key])


def _results(workload: Workload, found: TopologyPlacement) -> Iterator[PodSetResult]:
    for one in workload.admission.pod_sets if workload.admission else ():
        yield PodSetResult(
            name=one.name,
            count=one.count,
            requests=dict(one.usage),
            choices={
                resource: FlavorChoice(flavor, "Fit", 0, -1) for resource, flavor in one.flavors.items()
            },
            topology=found.assignments.get(one.name, one.topology),
        )
