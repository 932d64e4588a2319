"""Fragmentation: the largest free holes, and how many pods of each size that is asked for fit into them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_core.explain.new_nodes import PASSING
from scheduler_core.kubernetes.keys import Key
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.room import Vacancies
from scheduler_core.studies.audit.row import AuditRow
from scheduler_core.studies.audit.words import amounts

SIZES = 5
"""Sizes of pods of which holes are shown."""
Free = Mapping[str, Mapping[str, int]]


def holes(cluster: AuditedCluster, room: Vacancies, subject: str) -> Iterator[AuditRow]:
    """Yield the largest hole, and of each size that is asked for how many fit against what is free in all."""
    free = _free_amounts(cluster, room)
    if not free:
        return
    total = {name: sum(max(0, one.get(name, 0)) for one in free.values()) for name in ("cpu", "memory")}
    by_cpu = max(free, key=lambda node: free[node].get("cpu", 0))
    by_memory = max(free, key=lambda node: free[node].get("memory", 0))
    evidence = list(_sizes(cluster, room, free))
    yield AuditRow(
        subject=subject,
        verdict="note" if any(": none fits" in one for one in evidence) else "ok",
        sentence=(
            f"The largest free holes: {_amount(free[by_cpu], 'cpu')} on {by_cpu}, "
            f"{_amount(free[by_memory], 'memory')} on {by_memory}; free in all: {amounts(total)}."
        ),
        evidence=tuple(evidence),
        about=tuple(f"Node {name}" for name in dict.fromkeys((by_cpu, by_memory))),
    )


def _free_amounts(cluster: AuditedCluster, room: Vacancies) -> Free:
    """Return what is free on each node that takes pods at all, by resource; ``pods`` is one of them."""
    table = room.nodes
    found: dict[str, dict[str, int]] = {}
    for node in cluster.nodes:
        row = table.row(node.meta.name)
        hard = [one for one in node.taints if one.effect != "PreferNoSchedule"]
        passing = all(one.key.startswith(PASSING) for one in hard)
        if row is None or node.unschedulable or (hard and passing):
            continue
        free = {
            name: int(column[row]) - int(table.requested[name][row] if name in table.requested else 0)
            for name, column in table.allocatable.items()
        }
        free["pods"] = (
            int(table.allocatable["pods"][row]) - int(table.pod_counts[row]) if "pods" in free else 0
        )
        found[node.meta.name] = free
    return found


def _sizes(cluster: AuditedCluster, room: Vacancies, free: Free) -> Iterator[str]:
    asked: dict[str, tuple[Mapping[str, int], Key]] = {}
    for key, pods in cluster.workloads.items():
        requests = room.requests_of(pods[0].meta.key)
        if key[0] != "DaemonSet" and requests:
            asked.setdefault(amounts(requests), (requests, key))
    largest = sorted(asked.values(), key=lambda one: -_share(one[0], free))
    for requests, (kind, name) in largest[:SIZES]:
        fits = sum(_times(requests, one) for one in free.values())
        whole = _times(requests, _summed(free))
        most = max((_times(requests, one) for one in free.values()), default=0)
        held = f"{fits:,} fit, {most:,} of them in the largest hole" if fits else "none fits"
        yield f"{amounts(requests)}, as of {kind} {name}: {held}; what is free in all is {whole:,} times that"


def _times(requests: Mapping[str, int], free: Mapping[str, int]) -> int:
    return max(0, min(free.get(name, 0) // value for name, value in {**requests, "pods": 1}.items() if value))


def _summed(free: Free) -> dict[str, int]:
    names = dict.fromkeys(name for one in free.values() for name in one)
    return {name: sum(max(0, one.get(name, 0)) for one in free.values()) for name in names}


def _share(requests: Mapping[str, int], free: Free) -> float:
    whole = _summed(free)
    return max(value / max(1, whole.get(name, 0)) for name, value in requests.items())


def _amount(free: Mapping[str, int], name: str) -> str:
    return amounts({name: max(0, free.get(name, 0))})
