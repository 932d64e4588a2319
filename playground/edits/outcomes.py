"""What a branch came to beside its parent: workloads over time, where pods are, and which wait for a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from playground.playback.deadlines import Unwanted, never
from playground.playback.playback import Playback
from playground.playback.tables import PENDING
from playground.protocol.drafts import PendingOutcomeWire
from scheduler_core.cluster.availability_series import thinned
from scheduler_core.compare.availability import WorkloadDifference, difference
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.availability import Availability, WorkloadAvailability
from scheduler_core.scenario.history_entries import entries_of, ids_of, resolved

WORKLOADS = 12
NODES = 12
WAITING = 5  # workloads whose pending pods are explained
MOMENTS = 120  # of a series, which a chart of 600 pixels shows


def outcome(branch: Playback, parent: Playback, unwanted: Unwanted = never) -> dict[str, Any]:
    """Return what differs at the end of both, which are computed as far as they will be.

    Without controllers no workload is followed over time: ``workloads`` is then empty and ``calm`` null.
    """
    at = _begins(branch, parent)
    here, there = branch.availability(unwanted), parent.availability(unwanted)
    result = {
        "at": at,
        "nodes": _nodes(branch, parent, unwanted),
        "pending": _pending(branch, parent, unwanted),
    }
    if here is None:
        none: dict[str, Any] = {"until": None, "calm": None, "total": None, "workloads": [], "leftOut": 0}
        return {**result, **none, "failed": [], "followed": 0}
    if there is None:  # the parent has nothing for controllers to do: it stays as it is
        sides = [WorkloadDifference(None, one) for one in here.workloads if one.last.at >= at]
        left_out, until, failed = here.left_out, here.until, here.failed
    else:
        found = difference(there, here)
        sides, left_out, until = list(found.workloads), found.left_out, found.branch.until
        failed = found.failed
    return {
        **result,
        "until": until,
        "calm": max(0.0, here.calm_at - at),
        "total": _added(here, there),
        "workloads": [_workload(one) for one in sides[:WORKLOADS] if one.branch or one.parent],
        "leftOut": left_out + max(0, len(sides) - WORKLOADS),
        "failed": [*failed, *_refused(sides)],
        "followed": sum(map(_has_pods, here.workloads)) + here.left_out,
    }


def _refused(sides: Sequence[WorkloadDifference]) -> Iterator[str]:
    """Yield the workloads of whose pods a budget refused more evictions than in the parent."""
    for branch, parent in ((one.branch, one.parent) for one in sides):
        more = 0 if branch is None else branch.refused - (parent.refused if parent else 0)
        if branch is not None and more > 0:
            pods = "1 pod" if more == 1 else f"{more:,} pods"
            yield f"{branch.name}: the eviction of {pods} was refused at least once"


def _has_pods(one: WorkloadAvailability) -> bool:
    """Return whether a workload ever desired or had a pod, of whose readiness something can be said."""
    return any(sample.desired or sample.ready for sample in one.moments)


def _added(here: Availability, there: Availability | None) -> dict[str, int]:
    """Return how many more pods than in the parent lost their node, or were kept by a budget."""
    names = "evicted", "refused", "preempted"
    return {name: getattr(here.total, name) - (getattr(there.total, name) if there else 0) for name in names}


def _begins(branch: Playback, parent: Playback) -> float:
    """Return the virtual second at which the first operation that the parent lacks landed."""
    known = set(ids_of(entries_of(parent.scenario.documents)))
    entries = entries_of(branch.scenario.documents)
    number = 1
    for name, (_, made) in zip(ids_of(entries), resolved(entries, branch.scenario)):
        if name not in known and made:
            landed = min(branch.trail.lands(number) - 1, len(branch))
            return max(float(made[0].time), branch.trail.time(landed) if landed else 0.0)
        number += len(made)
    return 0.0


def _workload(one: WorkloadDifference) -> dict[str, Any]:
    named = one.branch or one.parent
    assert named is not None
    return {
        "kind": named.kind,
        "key": named.key,
        "branch": one.branch and _side(one.branch),
        "parent": one.parent and _side(one.parent),
    }


def _side(one: WorkloadAvailability) -> dict[str, Any]:
    side: dict[str, Any] = plain(replace(one, moments=thinned(one.moments, MOMENTS)))
    return side


def _nodes(branch: Playback, parent: Playback, unwanted: Unwanted) -> list[list[Any]]:
    """Return the nodes with another number of pods at the end, most different first: name, before, after."""
    before, after = _counts(parent, unwanted), _counts(branch, unwanted)
    rows: list[list[Any]] = [
        [name, before[name], after[name]] for name in {**before, **after} if before[name] != after[name]
    ]
    return sorted(rows, key=lambda row: (-abs(row[2] - row[1]), row[0]))[:NODES]


def _counts(playback: Playback, unwanted: Unwanted) -> Counter[str]:
    names = [node.meta.name for node in playback.tables.nodes]
    places = playback.placement_at_end(unwanted)
    return Counter(names[place] for place in places[places >= 0].tolist())


def _pending(branch: Playback, parent: Playback, unwanted: Unwanted) -> list[PendingOutcomeWire]:
    """Return the workloads with more pods that wait for a node than in the parent, and the message of one."""
    before, after = _waiting(parent, unwanted), _waiting(branch, unwanted)
    more = [(owner, pods) for owner, pods in after.items() if len(pods) > len(before.get(owner, ()))]
    more.sort(key=lambda row: -len(row[1]))
    return [
        {
            "kind": kind,
            "key": key,
            "pods": len(pods),
            "more": len(pods) - len(before.get((kind, key), ())),
            "message": _message(branch, pods[-1], unwanted),
        }
        for (kind, key), pods in more[:WAITING]
    ]


def _waiting(playback: Playback, unwanted: Unwanted) -> dict[Key, list[str]]:
    """Return the pods that are pending at the end, by their controller."""
    found: dict[Key, list[str]] = {}
    places = playback.placement_at_end(unwanted).tolist()
    for pod, place in zip(playback.tables.pods, places):
        if place != PENDING:
            continue
        owner = pod.meta.controller
        key = ("", "") if owner is None else (owner.kind, f"{pod.meta.namespace}/{owner.name}")
        found.setdefault(key, []).append(pod.meta.key)
    return found


def _message(playback: Playback, pod: str, unwanted: Unwanted) -> str:
    """Return what the last cycle of a pod answered, "" if it had none."""
    decisions = playback.trail.decisions
    last = next((n for n in range(len(decisions), 0, -1) if decisions[n - 1].pod == pod), 0)
    return (playback.cycle(last, unwanted).message or "") if last else ""
