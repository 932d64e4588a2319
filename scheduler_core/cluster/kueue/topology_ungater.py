"""The pods of placed Workloads: each waits for its domain of the topology (the topology ungater)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.cluster.kueue.jobs import TOPOLOGY_GATE
from scheduler_core.cluster.kueue.workload import TopologyAssignment, Workload
from scheduler_core.cluster.v1_37.objects import Manifest, is_finished, node_of, spec_of, with_spec


def is_unplaced(pod: Manifest) -> bool:
    """Return whether a pod waits for a domain."""
    gates = spec_of(pod).get("schedulingGates") or ()
    return not node_of(pod) and any(one.get("name") == TOPOLOGY_GATE for one in gates)


def next_domain(workload: Workload, pods: Iterable[Manifest]) -> dict[str, str] | None:
    """Return the node labels of the first domain that has fewer of the pods than it is to have."""
    if workload.admission is None:
        return None
    topology = workload.admission.pod_sets[0].topology
    if topology is None:
        return None
    placed = [spec_of(one).get("nodeSelector") or {} for one in pods if _counts(one)]
    return next((one for one, count in _domains(topology) if _within(one, placed) < count), None)


def _counts(pod: Manifest) -> bool:
    return not is_unplaced(pod) and not is_finished(pod)


def _domains(topology: TopologyAssignment) -> Iterable[tuple[dict[str, str], int]]:
    for values, count in topology.domains:
        yield dict(zip(topology.levels, values)), count


def _within(domain: Mapping[str, str], selectors: Iterable[Mapping[str, str]]) -> int:
    return sum(domain.items() <= one.items() for one in selectors)


def placed_in(selector: Mapping[str, str], pod: Manifest) -> Manifest:
    """Return a pod without its gate, bound for a domain."""
    spec = spec_of(pod)
    gates = [one for one in spec.get("schedulingGates") or () if one.get("name") != TOPOLOGY_GATE]
    selected = {**(spec.get("nodeSelector") or {}), **selector}
    return with_spec(pod, schedulingGates=gates or None, nodeSelector=selected)
