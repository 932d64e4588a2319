"""Workloads as manifests of v1beta2: what their controller writes of them to the API server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.kueue.amounts import format_amount
from scheduler_core.cluster.kueue.objects import GROUP, PodSet
from scheduler_core.cluster.kueue.workload import PodSetAssignment, Workload, WorkloadCondition
from scheduler_core.cluster.v1_37.objects import Manifest, stamp

API_VERSION = f"{GROUP}/v1beta2"


def workload_manifest(workload: Workload, owner: Mapping[str, Any] | None = None) -> Manifest:
    """Return a Workload that Kueue makes for an ``owner``, given by its reference."""
    namespace, _, name = workload.key.partition("/")
    meta: dict[str, Any] = {"name": name, "namespace": namespace, "uid": workload.uid}
    meta |= {"labels": dict(workload.labels)} if workload.labels else {}
    meta |= {"ownerReferences": [dict(owner)]} if owner else {}
    spec = {
        "queueName": workload.queue,
        "priority": workload.priority,
        "active": workload.active,
        "podSets": [_pod_set(one) for one in workload.pod_sets],
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Workload",
        "metadata": meta,
        "spec": {name: part for name, part in spec.items() if part is not None},
        "status": status_of(workload),
    }


def _pod_set(one: PodSet) -> dict[str, Any]:
    row: dict[str, Any] = {"name": one.name, "count": one.count, "template": dict(one.template)}
    return row if one.min_count is None else {**row, "minCount": one.min_count}


def written(workload: Workload, stored: Manifest) -> Manifest:
    """Return a stored Workload with what its controller has to say of it."""
    spec = {**(stored.get("spec") or {}), "active": workload.active}
    return {**stored, "spec": spec, "status": {**(stored.get("status") or {}), **status_of(workload)}}


def status_of(workload: Workload) -> dict[str, Any]:
    """Return a Workload's status."""
    out: dict[str, Any] = {
        "conditions": [_condition(kind, one) for kind, one in sorted(workload.conditions.items())]
    }
    admission = workload.admission
    out["admission"] = admission and {
        "clusterQueue": admission.cluster_queue,
        "podSetAssignments": [_assignment(one) for one in admission.pod_sets],
    }
    out["admissionChecks"] = [
        {"name": name, "state": one.state, "message": one.message} for name, one in workload.checks.items()
    ]
    out["reclaimablePods"] = [{"name": name, "count": count} for name, count in workload.reclaimable.items()]
    out["resourceRequests"] = [
        {"name": name, "resources": dict(amounts)} for name, amounts in workload.requests.items()
    ]
    out["unhealthyNodes"] = [{"name": name} for name in workload.unhealthy]
    if workload.past_execution_seconds:
        out["accumulatedPastExecutionTimeSeconds"] = workload.past_execution_seconds
    return {name: part for name, part in out.items() if part}


def _condition(kind: str, one: WorkloadCondition) -> dict[str, Any]:
    return {
        "type": kind,
        "status": "True" if one.status else "False",
        "reason": one.reason,
        "message": one.message,
        "lastTransitionTime": stamp(one.at),
    }


def _assignment(one: PodSetAssignment) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": one.name,
        "count": one.count,
        "flavors": dict(one.flavors),
        "resourceUsage": {name: format_amount(name, amount) for name, amount in one.usage.items()},
    }
    if one.topology is not None:
        domains = [{"values": list(values), "count": count} for values, count in one.topology.domains]
        row["topologyAssignment"] = {"levels": list(one.topology.levels), "domains": domains}
    return row
