"""The topologies of all flavors with what workloads use of them, as a cycle sees and changes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct, field

from scheduler_core.cluster.kueue.topology.placement import (
    PlacedPodSet,
    TopologyGates,
    TopologyPlacement,
    place,
)
from scheduler_core.cluster.kueue.topology.tree import TopologyTree
from scheduler_core.cluster.kueue.topology.usage import (
    DomainUsage,
    TopologyUsage,
    add_usage,
    fits,
    remove_usage,
)
from scheduler_core.cluster.kueue.workload import PodSetAssignment, Workload

UsageByFlavor = Mapping[str, Sequence[DomainUsage]]
RequestsByFlavor = Mapping[str, Sequence[PlacedPodSet]]


class TopologySnapshot(Struct):
    """The trees of the flavors with a topology, and what is used of each."""

    trees: Mapping[str, TopologyTree] = field(default_factory=dict)
    used: dict[str, TopologyUsage] = field(default_factory=dict)
    gates: TopologyGates = TopologyGates()

    def add(self, usage: UsageByFlavor) -> None:
        """Use more; flavors without a tree have none."""
        for flavor, rows in usage.items():
            add_usage(self.used.setdefault(flavor, {}), rows)

    def remove(self, usage: UsageByFlavor) -> None:
        """Use less."""
        for flavor, rows in usage.items():
            remove_usage(self.used.setdefault(flavor, {}), rows)

    @contextmanager
    def without(self, usages: Iterable[UsageByFlavor]) -> Iterator[None]:
        """Leave usages out for a while."""
        gone = list(usages)
        for usage in gone:
            self.remove(usage)
        yield
        for usage in gone:
            self.add(usage)

    def fits(self, usage: UsageByFlavor) -> bool:
        """Return whether what is free holds each row of a usage."""
        return all(
            flavor in self.trees and fits(self.trees[flavor], self.used.get(flavor, {}), rows)
            for flavor, rows in usage.items()
        )

    def place(self, requests: RequestsByFlavor, *, is_empty: bool = False) -> TopologyPlacement:
        """Place pod sets in the trees of their flavors; ``is_empty``: as if no workload used anything."""
        whole = TopologyPlacement()
        for flavor, pod_sets in requests.items():
            used: TopologyUsage = {} if is_empty else self.used.get(flavor, {})
            found = place(self.trees[flavor], used, pod_sets, self.gates)
            whole.assignments |= found.assignments
            if found.reason and not whole.reason:
                whole.failed, whole.reason = found.failed, found.reason
        return whole


def topology_usage_of(workload: Workload) -> dict[str, list[DomainUsage]]:
    """Return what a Workload with a reservation uses, by the flavors of its placed pod sets."""
    usage: dict[str, list[DomainUsage]] = {}
    for one in workload.admission.pod_sets if workload.admission else ():
        rows = list(_rows(one))
        for flavor in sorted(set(one.flavors.values())) if rows else ():
            usage.setdefault(flavor, []).extend(rows)
    return usage


def _rows(assignment: PodSetAssignment) -> Iterable[DomainUsage]:
    if assignment.topology is None or not assignment.count:
        return
    each = {name: amount // assignment.count for name, amount in assignment.usage.items()}
    for key, count in assignment.topology.domains:
        yield DomainUsage(key, each, count)
