"""What a branch did to the availability of its parent's workloads."""

from __future__ import annotations

from math import isclose
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.keys import Key
from scheduler_core.record.availability import Availability, WorkloadAvailability

MOST_DIFFERENCES = 50
RESOLUTION = 6
"""The decimals of durations in seconds."""

COMPARED = attrgetter("fewest_ready", "most_pending", "below", "longest", "evicted", "refused", "preempted")


class WorkloadDifference(Struct, frozen=True):
    """One workload in both runs, ``None`` in the one that does not list it."""

    parent: WorkloadAvailability | None
    branch: WorkloadAvailability | None

    @property
    def below(self) -> float:
        """The seconds below desired that the branch adds; negative if it saves some."""
        return _below(self.branch) - _below(self.parent)

    @property
    def evicted(self) -> int:
        """The pods evicted or preempted that the branch adds."""
        return _lost(self.branch) - _lost(self.parent)

    @property
    def is_difference(self) -> bool:
        """Whether anything but the moments differs."""
        return _facts(self.parent) != _facts(self.branch)


class AvailabilityDifference(Struct, frozen=True):
    """The workloads that differ, those first to which the branch adds most time below desired.

    ``calm`` is the seconds by which the last change came later in the branch.
    """

    parent: Availability
    branch: Availability
    workloads: tuple[WorkloadDifference, ...]
    left_out: int
    calm: float

    @property
    def failed(self) -> tuple[str, ...]:
        """What failed in the branch, and not in the parent."""
        return tuple(one for one in self.branch.failed if one not in self.parent.failed)


def difference(parent: Availability, branch: Availability) -> AvailabilityDifference:
    """Compare two runs as if both had lasted as long as the longer one, in which nothing changed any more.

    Of the workloads beyond the bound of either record nothing is said; ``left_out`` counts the differences
    beyond :data:`MOST_DIFFERENCES`.
    """
    until = max(parent.until, branch.until)
    one, other = lasting(parent, until), lasting(branch, until)
    own, branched = _by_key(one), _by_key(other)
    both = [WorkloadDifference(own.get(key), branched.get(key)) for key in {**own, **branched}]
    found = sorted((each for each in both if each.is_difference), key=_weight)
    return AvailabilityDifference(
        parent=one,
        branch=other,
        workloads=tuple(found[:MOST_DIFFERENCES]),
        left_out=max(0, len(found) - MOST_DIFFERENCES),
        calm=branch.calm_at - parent.calm_at,
    )


def lasting(run: Availability, until: float) -> Availability:
    """Return a run that stays as it was at its end until a later time."""
    more = until - run.until
    if more <= 0:
        return run
    stretched = tuple(_lasting(one, run.until, more) for one in run.workloads)
    return replace(run, until=until, total=_lasting(run.total, run.until, more), workloads=stretched)


def _lasting(one: WorkloadAvailability, until: float, more: float) -> WorkloadAvailability:
    if not one.is_below:
        return one
    is_open = one.longest_from is not None and isclose(one.longest_from + one.longest, until, abs_tol=1e-6)
    longest = round(one.longest + more, RESOLUTION) if is_open else one.longest
    return replace(one, below=round(one.below + more, RESOLUTION), longest=longest)


def _by_key(run: Availability) -> dict[Key, WorkloadAvailability]:
    return {(one.kind, one.key): one for one in run.workloads}


def _below(one: WorkloadAvailability | None) -> float:
    return 0.0 if one is None else one.below


def _lost(one: WorkloadAvailability | None) -> int:
    return 0 if one is None else one.evicted + one.preempted


def _facts(one: WorkloadAvailability | None) -> tuple[Any, ...] | None:
    return None if one is None else (*one.last[1:], *COMPARED(one))


def _weight(one: WorkloadDifference) -> tuple[Any, ...]:
    named = one.branch or one.parent
    assert named is not None
    return -one.below, -one.evicted, named.kind, named.key
