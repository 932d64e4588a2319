"""Sentences of a cycle's story about the PodGroup of its pod."""

from __future__ import annotations

from playground.panels.sentences import Sentence, SentencePart, counted, listed
from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.coscheduling.record import PodGroupRecord, record_of


def turned_away(cycle: Cycle) -> list[Sentence]:
    """Describe that PreFilter rejected the pod for its group."""
    record = record_of(cycle).pod_group
    found = record.pre_filter if record is not None else None
    if record is None or found is None or found.success:
        return []
    why = f": {found.message}" if found.message else ""
    group: SentencePart = {"group": record.key}
    return [["No predicate ran, for PreFilter turns away the pods of ", group, f"{why.removesuffix('.')}."]]


def awaited(cycle: Cycle) -> Sentence:
    """Return the members for which a pod waits at Permit, to end a sentence with."""
    record = record_of(cycle).pod_group
    if record is None or record.min_member is None:
        return []
    assigned = _assigned(record)
    holds = "holds a node" if assigned == 1 else "hold a node"
    return [
        f": {assigned:,} of the {counted(record.min_member, 'member')} that ",
        {"group": record.key},
        f" needs {holds}. Its room is taken all the same.",
    ]


def _assigned(record: PodGroupRecord) -> int:
    """Return how many members hold a node as counted by Permit, including the cycle's pod."""
    counted_then = record.permit.assigned if record.permit is not None else None
    return record.assigned if counted_then is None else counted_then


def permitted(cycle: Cycle) -> list[Sentence]:
    """Describe that the pod completes its group, and which pods waited at Permit for that."""
    record = record_of(cycle).pod_group
    found = record.permit if record is not None else None
    if record is None or found is None or not found.allowed:
        return []
    members = counted(record.min_member or 0, "member")
    complete: Sentence = [f"With it {_assigned(record):,} of the {members} that ", {"group": record.key}]
    bound = (
        "waited at Permit for that, and is bound too"
        if len(found.allowed) == 1
        else ("waited at Permit for that, and are bound too")
    )
    return [[*complete, " needs hold a node: ", *listed("pod", list(found.allowed)), f" {bound}."]]


def rejected(cycle: Cycle) -> list[Sentence]:
    """Describe that PostFilter rejected the pod's group, with the counts."""
    record = record_of(cycle).pod_group
    found = record.post_filter if record is not None else None
    if record is None or found is None or found.rejection is None:
        return []
    count = len(found.rejection.rejected)
    gone = f"{counted(count, 'waiting member')} {'gives its node' if count == 1 else 'give their nodes'} back"
    effect = gone if count else "no other member was waiting"
    return [[{"group": record.key}, f" is rejected as a whole: {effect}."]]
