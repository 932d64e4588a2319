"""The consequences of a cycle's decisions: what is written to Workloads, and the events about them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cluster.kueue.amounts import format_amount
from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.candidates import (
    FAIR_SHARING,
    IN_QUEUE,
    RECLAMATION,
    WHILE_BORROWING,
    PreemptionTarget,
)
from scheduler_core.cluster.kueue.entry import Entry
from scheduler_core.cluster.kueue.nomination import Nomination
from scheduler_core.cluster.kueue.objects import JOB_UID_LABEL
from scheduler_core.cluster.kueue.status import admission_synced, due_checks, evicted, reserved, unreserved
from scheduler_core.cluster.kueue.workload import (
    ADMITTED,
    EVICTED,
    PREEMPTED,
    REQUEUED,
    Assigned,
    Workload,
)
from scheduler_core.cluster.kueue.workload_controller import admitted_text

EVENT_BYTES = 1024

_WHY = {
    IN_QUEUE: "prioritization in the ClusterQueue",
    RECLAMATION: "reclamation within the cohort",
    FAIR_SHARING: "Fair Sharing within the cohort",
    WHILE_BORROWING: "reclamation within the cohort while borrowing",
}


class KueueEvent(Struct, frozen=True):
    """An event about an object, named ``Kind namespace/name``."""

    about: str
    kind: str
    reason: str
    message: str


class Issued(Struct, frozen=True):
    """A Workload as it is written, with the events about that."""

    workload: Workload
    events: tuple[KueueEvent, ...]


def about(workload: Workload) -> str:
    """Return how events name a Workload."""
    return f"Workload {workload.key}"


def admitted(one: Nomination, workload: Workload, cache: Cache, now: float) -> Issued:
    """Return a Workload with the quota that it was nominated for, and admitted if no check is due."""
    name = one.entry.cluster_queue
    admission = Assigned(name, tuple(result.assigned for result in one.assignment.pod_sets))
    out = reserved(workload, admission, now)
    if due_checks(cache.queues[name], out) <= set(out.checks):
        out = admission_synced(out, now)
    considered = one.assignment.considered
    waited = now - _queued_since(workload)
    message = f"Quota reserved in ClusterQueue {name}, wait time since queued was {waited:.0f}s"
    message += f"; Flavors considered: {considered}" if considered else ""
    events = [KueueEvent(about(out), "Normal", "QuotaReserved", message)]
    if out.has(ADMITTED):
        events.append(KueueEvent(about(out), "Normal", "Admitted", admitted_text(name, 0)))
    return Issued(out, tuple(events))


def _queued_since(workload: Workload) -> float:
    requeued = workload.conditions.get(REQUEUED)
    return requeued.at if requeued is not None else workload.created


def issue_preemption(
    one: Nomination, target: PreemptionTarget, preemptee: Workload, cache: Cache, now: float
) -> Issued:
    """Return a target preempted for a nominated Workload, or as it is if it is already evicted."""
    if preemptee.has(EVICTED):
        return Issued(preemptee, ())
    preemptor = one.entry.workload
    queues = cache.tree.queues
    job = preemptor.labels.get(JOB_UID_LABEL) or "UNKNOWN"
    message = (
        f"Preempted to accommodate a workload (UID: {preemptor.uid}, JobUID: {job}) due to "
        f"{_WHY[target.reason]}; preemptor path: {queues[one.entry.cluster_queue].path}; "
        f"preemptee path: {queues[target.reserving.queue].path}"
    )
    out = evicted(preemptee, "Preempted", message, now).set(PREEMPTED, True, target.reason, message, now)
    ranks = (
        f"preemptor effective priority: {preemptor.rank} (base: {preemptor.rank}, boost: 0); "
        f"preemptee effective priority: {preemptee.rank} (base: {preemptee.rank}, boost: 0)"
    )
    notice = (
        f"Preempted workload {preemptee.key} (UID: {preemptee.uid}) in ClusterQueue "
        f"{target.reserving.queue}; {ranks}"
    )
    events = (
        KueueEvent(about(preemptee), "Normal", "EvictedDueToPreempted", message),
        KueueEvent(about(preemptee), "Normal", "Preempted", f"{message}; {ranks}"),
        KueueEvent(about(preemptor), "Normal", "PreemptedWorkload", notice),
    )
    return Issued(out, events)


def replaced(one: Nomination, workload: Workload) -> Workload:
    """Return a Workload with the placement of its second pass."""
    assert workload.admission is not None
    pod_sets = tuple(result.assigned for result in one.assignment.pod_sets)
    return replace(workload, admission=replace(workload.admission, pod_sets=pod_sets), unhealthy=())


def evicted_for_nodes(workload: Workload, message: str, now: float) -> Issued:
    """Return a Workload evicted because nodes of its placement failed."""
    event = KueueEvent(about(workload), "Normal", "EvictedDueToNodeFailures", message)
    return Issued(evicted(workload, "NodeFailures", message, now), (event,))


def pending(entry: Entry, workload: Workload, message: str, now: float, *, counts_pods: bool) -> Issued:
    """Return a Workload with the message of an attempt that failed, and what it requests."""
    out = unreserved(workload, "Pending", message, now)
    requests = {
        one.pod_set.name: formatted({**one.total, "pods": one.count} if counts_pods else one.total)
        for one in entry.requests
    }
    out = replace(out, requests=requests)
    shown = message.encode()
    if len(shown) > EVENT_BYTES:
        message = shown[: EVENT_BYTES - 3].decode(errors="ignore") + "..."
    return Issued(out, (KueueEvent(about(out), "Warning", "Pending", message),))


def formatted(amounts: Mapping[str, int]) -> dict[str, str]:
    """Print amounts."""
    return {name: format_amount(name, amount) for name, amount in sorted(amounts.items())}
