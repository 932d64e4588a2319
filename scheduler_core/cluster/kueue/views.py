"""Workloads, queues and cycles in the form of the records (section 16 of the rules)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.kueue.amounts import by_flavor
from scheduler_core.cluster.kueue.assignment import PodSetResult
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.counters import used_by
from scheduler_core.cluster.kueue.issue import formatted
from scheduler_core.cluster.kueue.nomination import CycleRecord, Inadmissible, Nomination
from scheduler_core.cluster.kueue.quota import QuotaNode
from scheduler_core.cluster.kueue.shares import share_of
from scheduler_core.cluster.kueue.workload import ADMITTED, PodSetAssignment, Workload


def cycle_view(cycle: CycleRecord, start: float) -> dict[str, Any]:
    """Return a cycle; ``start`` is the time that counts as 0."""
    out: dict[str, Any] = {
        "t": int(cycle.time - start),
        "heads": cycle.heads,
        "entries": [_entry(one) for one in cycle.entries],
    }
    return _with(out, inadmissible=[_inadmissible(one) for one in cycle.inadmissible])


def _with(out: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Add the parts that are not empty."""
    return {**out, **{name: part for name, part in parts.items() if part}}


def _entry(one: Nomination) -> dict[str, Any]:
    assignment = one.assignment
    return _with(
        {
            "workload": one.entry.key,
            "clusterQueue": one.entry.cluster_queue,
            "status": one.status,
            "mode": assignment.mode,
            "podSets": [_result(result) for result in assignment.pod_sets],
        },
        borrowing=assignment.borrowing,
        message=one.message,
        requeueReason=one.reason,
        targets=[{"workload": it.reserving.key, "reason": it.reason} for it in one.targets],
        usage=by_flavor(assignment.usage, zeros=True),
        considered=assignment.considered,
    )


def _inadmissible(one: Inadmissible) -> dict[str, Any]:
    return _with(
        {
            "workload": one.entry.key,
            "clusterQueue": one.entry.cluster_queue,
            "status": "notNominated",
            "message": one.message,
        },
        requeueReason=one.reason,
    )


def _result(one: PodSetResult) -> dict[str, Any]:
    topology = one.topology
    return _with(
        {"name": one.name, "count": one.count, "mode": one.mode},
        flavors={name: choice.flavor for name, choice in one.choices.items()},
        modes={name: choice.mode for name, choice in one.choices.items()},
        tried={name: choice.tried for name, choice in one.choices.items()},
        topology=[{"values": list(values), "count": count} for values, count in topology.domains]
        if topology
        else None,
        levels=list(topology.levels) if topology else None,
    )


# --- states


def workload_view(workload: Workload, start: float) -> dict[str, Any]:
    """Return a Workload."""
    conditions = {
        kind: {
            "status": "True" if one.status else "False",
            "reason": one.reason,
            "message": one.message,
            "at": int(one.at - start),
        }
        for kind, one in workload.conditions.items()
    }
    out: dict[str, Any] = {"conditions": conditions}
    if workload.priority is not None:
        out["priority"] = workload.priority
    if not workload.active:
        out["active"] = False
    if workload.owner:
        rows = (
            {"count": one.count, "name": one.name, "minCount": one.min_count} for one in workload.pod_sets
        )
        pod_sets = [{key: value for key, value in row.items() if value is not None} for row in rows]
        out |= {"owner": workload.owner, "podSets": pod_sets, "queueName": workload.queue}
    admission = workload.admission
    return _with(
        out,
        admission=admission
        and {
            "clusterQueue": admission.cluster_queue,
            "podSets": [_assignment(one) for one in admission.pod_sets],
        },
        checks={name: [one.state, one.message] for name, one in workload.checks.items()},
        requests={name: dict(amounts) for name, amounts in workload.requests.items()},
    )


def _assignment(one: PodSetAssignment) -> dict[str, Any]:
    topology = one.topology
    return _with(
        {"name": one.name, "count": one.count},
        flavors=dict(one.flavors),
        usage=formatted(one.usage),
        topology=topology
        and {
            "levels": list(topology.levels),
            "domains": [[list(values), count] for values, count in topology.domains],
        },
    )


def queue_views(control: Control) -> dict[str, Any]:
    """Return the pending Workloads of all queues."""
    out = {}
    for name in sorted(control.queues):
        queue = control.queues[name]
        view = {
            "active": [one.key for one in queue.listed()],
            "inadmissible": [one.key for one in queue.waiting()],
        }
        out[name] = _with(view, sticky=queue.sticky)
    return out


def cluster_queue_views(control: Control) -> dict[str, Any]:
    """Return usage and activity of all queues."""
    return {name: _cluster_queue(control, name) for name in sorted(control.cache.queues)}


def _cluster_queue(control: Control, name: str) -> dict[str, Any]:
    cache = control.cache
    activity = cache.activity(name)
    reserving = list(cache.reserving.get(name, {}).values())
    node = cache.tree.queues[name]
    out = {"usage": by_flavor(used_by(reserving)), "active": activity.is_active}
    if control.configuration.is_fair:
        out["share"] = _share(node)
    if not activity.is_active:
        out |= {"reason": activity.reason, "message": activity.message}
    admitted = by_flavor(used_by(one for one in reserving if one.workload.has(ADMITTED)))
    return _with(out, admitted=admitted)


def _share(node: QuotaNode) -> float:
    value = share_of(node)[0]
    return -1 if value == float("inf") else value


def cohort_views(control: Control) -> dict[str, Any]:
    """Return usage and quota of all cohorts."""
    return {name: _cohort(control, node) for name, node in sorted(control.cache.tree.cohorts.items())}


def _cohort(control: Control, node: QuotaNode) -> dict[str, Any]:
    out: dict[str, Any] = {"usage": by_flavor(node.usage)}
    if control.configuration.is_fair and node.parent is not None:
        out["share"] = _share(node)
    return _with(out, subtreeQuota=by_flavor(node.subtree))


def changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the views that are not as they were."""
    return {key: view for key, view in new.items() if old.get(key) != view}
