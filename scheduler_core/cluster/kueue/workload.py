"""A Workload with its status, which is replaced as a whole by each write; and what its conditions say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.cluster.kueue.objects import Amounts, FlavorResource, PodSet, Usage
from scheduler_core.cluster.kueue.reader import read_pod_sets
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from scheduler_core.kubernetes.quantity import parse_resource
from scheduler_core.kubernetes.times import seconds_of

ADMITTED, EVICTED, FINISHED = "Admitted", "Evicted", "Finished"
PREEMPTED, QUOTA_RESERVED, REQUEUED = "Preempted", "QuotaReserved", "Requeued"
DEACTIVATION_TARGET = "DeactivationTarget"


class WorkloadCondition(Struct, frozen=True):
    """A status condition; ``at`` is when its status last changed, in seconds since 1970."""

    status: bool
    reason: str
    message: str
    at: float


class TopologyAssignment(Struct, frozen=True):
    """The domains that a pod set's pods are placed in: values of the levels, and the number of pods."""

    levels: tuple[str, ...]
    domains: tuple[tuple[tuple[str, ...], int], ...]


class PodSetAssignment(Struct, frozen=True):
    """What a pod set has been admitted with; ``usage`` is that of all its pods."""

    name: str
    count: int
    flavors: Mapping[str, str]
    usage: Mapping[str, int]
    topology: TopologyAssignment | None = None


class Assigned(Struct, frozen=True):
    """``status.admission``: the queue whose quota is reserved, and the assignment of each pod set."""

    cluster_queue: str
    pod_sets: tuple[PodSetAssignment, ...]


class CheckState(Struct, frozen=True):
    """What an admission check says of a Workload: Pending, Ready, Retry or Rejected."""

    state: str = "Pending"
    message: str = ""


class Workload(Struct, frozen=True):
    """A Workload as Kueue's controllers read it. Times are seconds since 1970.

    ``unhealthy`` are the nodes of its placement that failed.
    """

    key: str
    uid: str
    created: float
    queue: str = ""
    priority: int | None = None
    priority_class: str = ""
    active: bool = True
    max_execution_seconds: int | None = None
    pod_sets: tuple[PodSet, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    conditions: Mapping[str, WorkloadCondition] = field(default_factory=dict)
    admission: Assigned | None = None
    checks: Mapping[str, CheckState] = field(default_factory=dict)
    requeue_at: float | None = None
    reclaimable: Mapping[str, int] = field(default_factory=dict)
    requests: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    past_execution_seconds: float = 0
    unhealthy: tuple[str, ...] = ()

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self.key.partition("/")[0]

    @property
    def queue_key(self) -> str:
        """The key of its LocalQueue."""
        return f"{self.namespace}/{self.queue}"

    @property
    def rank(self) -> int:
        """Its priority, 0 where none is given."""
        return self.priority or 0

    def has(self, kind: str) -> bool:
        """Return whether a condition is True."""
        found = self.conditions.get(kind)
        return found is not None and found.status

    def lacks(self, kind: str) -> bool:
        """Return whether a condition is False, not merely absent."""
        found = self.conditions.get(kind)
        return found is not None and not found.status

    @property
    def is_reserving(self) -> bool:
        """Whether it holds quota."""
        return self.has(QUOTA_RESERVED) and self.admission is not None

    @property
    def is_admissible(self) -> bool:
        """Whether a queue may hold it: active, not finished, without reservation."""
        return self.active and not self.has(FINISHED) and not self.has(QUOTA_RESERVED)

    @property
    def queued_since(self) -> float:
        """The time that orders it in its queue (GetQueueOrderTimestamp)."""
        evicted = self.conditions.get(EVICTED)
        if evicted and evicted.status and evicted.reason in ("PodsReadyTimeout", "AdmissionCheck"):
            return evicted.at
        return self.created

    def set(self, kind: str, status: bool, reason: str, message: str, now: float) -> Workload:
        """Return it with a condition, whose time stays while its status does."""
        old = self.conditions.get(kind)
        at = old.at if old is not None and old.status == status else now
        new = WorkloadCondition(status, reason, message, at)
        return self if new == old else replace(self, conditions={**self.conditions, kind: new})

    def without(self, kind: str) -> Workload:
        """Return it without a condition."""
        kept = {name: one for name, one in self.conditions.items() if name != kind}
        return replace(self, conditions=kept)

    def count_of(self, pod_set: PodSet, count: int | None = None) -> int:
        """Return the pods of a pod set that still count: less those that are reclaimable."""
        whole = pod_set.count if count is None else count
        return max(0, whole - self.reclaimable.get(pod_set.name, 0))


def usage_of(workload: Workload) -> Usage:
    """Return the quota that an admitted Workload uses, less that of its reclaimable pods."""
    total: Usage = {}
    if workload.admission is None:
        return total
    for one in workload.admission.pod_sets:
        left = max(0, one.count - workload.reclaimable.get(one.name, 0))
        for resource, flavor in one.flavors.items():
            amount = one.usage.get(resource, 0)
            if left != one.count and one.count:
                amount = amount // one.count * left
            pair: FlavorResource = flavor, resource
            total[pair] = total.get(pair, 0) + amount
    return total


# --- reading


def read_workload(manifest: Manifest, now: float) -> Workload:
    """Read a Workload of v1beta1 or v1beta2, with the status that it carries."""
    spec, status, meta = spec_of(manifest), status_of(manifest), manifest["metadata"]
    key = f"{namespace_of(manifest) or 'default'}/{name_of(manifest)}"
    state = status.get("requeueState") or {}
    reference = spec.get("priorityClassRef") or {}
    created = seconds_of(meta.get("creationTimestamp"))
    return Workload(
        key=key,
        uid=str(meta.get("uid") or f"uid-{key}"),
        created=now if created is None else created,
        queue=spec.get("queueName") or "",
        priority=spec.get("priority"),
        priority_class=reference.get("name") or spec.get("priorityClassName") or "",
        active=spec.get("active") is not False,
        max_execution_seconds=spec.get("maximumExecutionTimeSeconds"),
        pod_sets=read_pod_sets(spec),
        labels=labels_of(manifest),
        owner=_owner(meta),
        conditions={one["type"]: _condition(one, now) for one in status.get("conditions") or ()},
        admission=_assigned(status.get("admission")),
        checks={one["name"]: _check(one) for one in status.get("admissionChecks") or ()},
        requeue_at=seconds_of(state.get("requeueAt")),
        reclaimable={one["name"]: int(one["count"]) for one in status.get("reclaimablePods") or ()},
        past_execution_seconds=status.get("accumulatedPastExecutionTimeSeconds")
        or status.get("accumulatedPastExexcutionTimeSeconds")  # as v1beta1 spells it
        or 0,
        unhealthy=tuple(one["name"] for one in status.get("unhealthyNodes") or ()),
    )


_OF_USERS = ("queue", "priority", "priority_class", "active", "max_execution_seconds", "pod_sets", "labels")
_ROWS_OF_USERS = ("conditions", "checks", "reclaimable")


def with_write(known: Workload, old: Manifest, new: Manifest, now: float) -> Workload:
    """Return a Workload with what somebody else changes of it: its spec, and rows of its status."""
    before, after = read_workload(old, now), read_workload(new, now)
    changed = {name: getattr(after, name) for name in _OF_USERS}
    for name in _ROWS_OF_USERS:
        rows = getattr(after, name).items() - getattr(before, name).items()
        changed[name] = {**getattr(known, name), **dict(rows)}
    kept = {name: getattr(known, name) for name in _OF_USERS if changed[name] == getattr(before, name)}
    return replace(known, **{**changed, **kept})


def _owner(meta: Mapping[str, Any]) -> str:
    owners = meta.get("ownerReferences") or ()
    return next((f"{one['kind']} {one['name']}" for one in owners if one.get("controller")), "")


def _condition(row: Mapping[str, Any], now: float) -> WorkloadCondition:
    at = seconds_of(row.get("lastTransitionTime"))
    return WorkloadCondition(
        row.get("status") == "True",
        row.get("reason") or "",
        row.get("message") or "",
        now if at is None else at,
    )


def _check(row: Mapping[str, Any]) -> CheckState:
    return CheckState(row.get("state") or "Pending", row.get("message") or "")


def _assigned(part: Mapping[str, Any] | None) -> Assigned | None:
    if not part:
        return None
    rows = part.get("podSetAssignments") or ()
    return Assigned(part.get("clusterQueue") or "", tuple(map(_pod_set_assignment, rows)))


def _pod_set_assignment(row: Mapping[str, Any]) -> PodSetAssignment:
    usage: Amounts = {
        name: parse_resource(name, str(text)) for name, text in (row.get("resourceUsage") or {}).items()
    }
    count = row.get("count")
    return PodSetAssignment(
        name=row.get("name") or "main",
        count=1 if count is None else int(count),
        flavors=row.get("flavors") or {},
        usage=usage,
        topology=_topology_assignment(row.get("topologyAssignment")),
    )


def _topology_assignment(part: Mapping[str, Any] | None) -> TopologyAssignment | None:
    """Read a topology assignment: v1beta1's list of domains, or v1beta2's slices of columns."""
    if not part:
        return None
    plain = [(tuple(one["values"]), int(one["count"])) for one in part.get("domains") or ()]
    sliced = [row for one in part.get("slices") or () for row in _slice_rows(one)]
    return TopologyAssignment(tuple(part.get("levels") or ()), tuple(plain + sliced))


def _slice_rows(part: Mapping[str, Any]) -> list[tuple[tuple[str, ...], int]]:
    size = int(part.get("domainCount") or 0)
    columns = [_column(one, size) for one in part.get("valuesPerLevel") or ()]
    counts = part.get("podCounts") or {}
    numbers = counts.get("individual") or [counts.get("universal") or 0] * size
    return [(tuple(column[row] for column in columns), int(numbers[row])) for row in range(size)]


def _column(part: Mapping[str, Any], size: int) -> list[str]:
    if "universal" in part:
        return [str(part["universal"])] * size
    individual = part.get("individual") or {}
    prefix, suffix = individual.get("prefix") or "", individual.get("suffix") or ""
    return [f"{prefix}{root}{suffix}" for root in individual.get("roots") or ()]
