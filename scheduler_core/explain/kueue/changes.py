"""The search for the smallest change that admits a Workload; each is run on a copy before it is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.workload import Workload
from scheduler_core.explain.kueue.change import KueueChange, ProposedChange
from scheduler_core.explain.kueue.position import FlavorStanding
from scheduler_core.explain.kueue.proposals import (
    count_proposal,
    door_proposals,
    flavor_proposals,
    limit_proposals,
    priority_proposals,
    quota_proposals,
    topology_proposals,
)
from scheduler_core.explain.kueue.trials import TrialBounds, course

SEARCH_SECONDS = 6.0
MOST_TRIALS = 60


def changes_for(
    control: Control, workload: Workload, queue: str, tried: Sequence[FlavorStanding], ahead: Sequence[str]
) -> list[KueueChange]:
    """Return one change of each kind that admits a Workload, those that preempt nobody first."""
    clock = TrialBounds(SEARCH_SECONDS, MOST_TRIALS)
    kinds = _kinds(control, workload, queue, tried, ahead)
    found = [_first(control, workload.key, kind, clock) for kind in kinds]
    found.append(_fewer(control, workload, clock) if queue else None)
    verified = [one for one in found if one is not None]
    return sorted(verified, key=lambda one: len(one.preempts))


def _kinds(
    control: Control, workload: Workload, queue: str, tried: Sequence[FlavorStanding], ahead: Sequence[str]
) -> Iterator[Iterable[ProposedChange]]:
    """Yield the proposals by kind; of each kind the first that helps is taken."""
    yield door_proposals(control, workload)
    if not queue:
        return
    for flavor in tried:
        if not flavor.reasons:
            yield quota_proposals(control, queue, flavor, ahead)
            yield limit_proposals(control, queue, flavor)
    yield priority_proposals(control, workload, queue)
    yield flavor_proposals(workload, control.cache.flavors, tried)
    names = {flavor.flavor for flavor in tried}
    topologies = {control.cache.flavors[name].topology for name in names if name in control.cache.flavors}
    for name in sorted(topologies & control.cache.topologies.keys()):
        yield topology_proposals(workload, control.cache.topologies[name].levels)


def _first(
    control: Control, key: str, proposals: Iterable[ProposedChange], clock: TrialBounds
) -> KueueChange | None:
    for proposal in proposals:
        found = _verified(control, key, proposal, clock)
        if found is not None:
            return found
    return None


def _verified(control: Control, key: str, proposal: ProposedChange, clock: TrialBounds) -> KueueChange | None:
    """Return a proposal as a change if the Workload is admitted with it."""
    if not clock.allows():
        return None
    made = course(control, proposal.edit, key)
    if not made.admits(key):
        return None
    return KueueChange(proposal.about, proposal.words, proposal.patches, tuple(dict.fromkeys(made.preempted)))


def _fewer(control: Control, workload: Workload, clock: TrialBounds) -> KueueChange | None:
    """Return the largest number of pods with which it is admitted, of its largest pod set."""
    counts = [one.count for one in workload.pod_sets]
    at = counts.index(max(counts, default=0)) if counts else -1
    if at < 0 or counts[at] < 2:
        return None
    low, high, best = 1, counts[at] - 1, None
    while low <= high:
        middle = (low + high) // 2
        found = _verified(control, workload.key, count_proposal(workload, at, middle), clock)
        best, low, high = (found, middle + 1, high) if found else (best, low, middle - 1)
    return best
