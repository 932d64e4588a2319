"""What surprises people about a Workload that waits, each by the public thread that asked about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from scheduler_core.cluster.kueue.assignment import FITS
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.nomination import Nomination
from scheduler_core.cluster.kueue.objects import POD_GROUP_LABEL, ClusterQueue
from scheduler_core.cluster.kueue.queues import STRICT
from scheduler_core.cluster.kueue.workload import EVICTED, Workload
from scheduler_core.explain.kueue.position import QueuePlace


class _Case(Struct, frozen=True):
    """A pending Workload with all that a surprise may be about."""

    control: Control
    workload: Workload
    queue: ClusterQueue
    place: QueuePlace | None
    tried: Nomination | None


def surprises(
    control: Control, workload: Workload, queue: str, place: QueuePlace | None, tried: Nomination | None
) -> Iterator[str]:
    """Yield the surprises that concern a Workload, each with its thread."""
    found = control.cache.queues.get(queue)
    if found is None:
        return
    case = _Case(control, workload, found, place, tried)
    for thread, about in _SURPRISES:
        yield from (f"{text} ({thread})" for text in about(case))


def _pending_flavors(case: _Case) -> Iterator[str]:
    """A Workload whose search left flavors returns to the head of its queue at once, for ever."""
    one = case.tried
    if one is None or one.assignment.mode == "Fit" or case.queue.strategy == STRICT:
        return
    if len(case.workload.pod_sets) > 1 and one.assignment.tried.is_pending:
        yield (
            "one of its pod sets has flavors left to try, and another has none: it goes back to the head "
            "of the queue at once, and what is behind it waits"
        )


def _strict_head(case: _Case) -> Iterator[str]:
    place = case.place
    if place is not None and case.queue.strategy == STRICT and place.number > 1:
        yield (
            f"StrictFIFO: {place.ahead[0]} at the head is not admitted, so nothing behind it is tried, "
            "whatever is free"
        )


def _fair_victims(case: _Case) -> Iterator[str]:
    targets = case.tried.targets if case.tried else ()
    victims = [one.reserving.workload for one in targets]
    above = [one.key for one in victims if one.rank > case.workload.rank]
    if above and case.control.configuration.is_fair:
        yield (
            f"fair sharing compares shares, not priorities: {', '.join(above)} would be preempted "
            "in spite of a higher priority"
        )


def _loops(case: _Case) -> Iterator[str]:
    gates, preemption = case.control.configuration.gates, case.queue.preemption
    if preemption.borrow_within_cohort != "Never" and not gates["PrioritySortingWithinCohort"]:
        yield (
            "borrowWithinCohort without the gate PrioritySortingWithinCohort: what is preempted may borrow "
            "first and be preempted again"
        )


def _over_borrowing(case: _Case) -> Iterator[str]:
    if case.queue.fungibility.preference != "PreemptionOverBorrowing" or case.tried is None:
        return
    for one in case.tried.assignment.pod_sets:
        fitting = [a.flavor for a in one.attempts if a.mode == FITS]
        chosen = {choice.flavor for choice in one.choices.values()}
        if one.mode != "Fit" and fitting and not chosen & set(fitting):
            yield (
                f"preference PreemptionOverBorrowing takes {', '.join(sorted(chosen))} for {one.name}, "
                f"where it has to wait, though it fits in {', '.join(fitting)} by borrowing"
            )


def _sticky_head(case: _Case) -> Iterator[str]:
    queue = case.control.queues[case.queue.name]
    if queue.sticky and queue.sticky != case.workload.key and case.queue.strategy != STRICT:
        yield (
            f"{queue.sticky} stays at the head while the workloads that it preempts stop: "
            "until then nothing else of this queue is tried"
        )


def _selects_nothing(case: _Case) -> Iterator[str]:
    if case.queue.namespace_selector is None:
        yield "a ClusterQueue without namespaceSelector selects no namespace; {} selects all"


def _returned(case: _Case) -> Iterator[str]:
    if case.workload.has(EVICTED):
        yield "it was evicted, and waits at its old place: its creation time counts, not that of its return"


def _held(case: _Case) -> Iterator[str]:
    targets = case.tried.targets if case.tried else ()
    if any(one.reserving.workload.has(EVICTED) for one in targets):
        yield "quota of evicted workloads stays reserved until their pods are gone"


def unsimulated(control: Control, workload: Workload) -> Iterator[str]:
    """Yield what of Kueue's own decision about a Workload, or beside it, is not simulated."""
    alone = "here each of its pods is admitted by itself (pod groups are not simulated)"
    if group := workload.labels.get(POD_GROUP_LABEL):
        yield f"Kueue admits all pods of the group {group} or none; {alone}"
        return
    root = _root(control, workload)
    beside = [one for one in control.workloads.values() if POD_GROUP_LABEL in one.labels]
    if any(_root(control, one) == root for one in beside):
        yield f"there are pods of groups in its cohort, of which Kueue admits all or none; {alone}"


def _root(control: Control, workload: Workload) -> str:
    node = control.cache.tree.queues.get(control.cache.queue_of(workload))
    return node.root.name if node is not None else ""


_SURPRISES: tuple[tuple[str, Callable[[_Case], Iterator[str]]], ...] = (
    ("kueue#3710", _pending_flavors),
    ("kueue#8309", _strict_head),
    ("kueue#10131", _fair_victims),
    ("kueue#2821", _loops),
    ("kueue#13607", _over_borrowing),
    ("kueue#2270", _sticky_head),
    ("as documented", _selects_nothing),
    ("as documented", _returned),
    ("as documented", _held),
)
