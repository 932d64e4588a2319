"""Whether a run of one scenario may go on as another, which differs by operations that are still to come."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from scheduler_core.run.waits import longest_wait
from scheduler_core.scenario.history_entries import SCENARIO_KIND
from scheduler_core.scenario.scenario import Operation, Scenario

_ALIKE = (
    "policy", "settings", "controllers", "most_pods", "schedulers", "answers", "presumed", "custom",
    "descheduler", "cron_jobs", "lives", "release",
)  # fmt: skip
"""What runs differ by from the start, beside the objects."""


class BranchPoint(NamedTuple):
    """Where two scenarios part that share ``number`` operations.

    It is at a second, infinity for never, or ``after`` so many cycles of the step after those operations.
    """

    number: int
    second: float
    after: int | None = None


def parting(scenario: Scenario, other: Scenario) -> BranchPoint | None:
    """Return where two scenarios of the same cluster part; ``None`` if they differ from the start."""
    if any(getattr(scenario, name) != getattr(other, name) for name in _ALIKE):
        return None
    if _initial(scenario) != _initial(other) or longest_wait(scenario) != longest_wait(other):
        return None
    return _first_different(scenario.operations, other.operations)


def _initial(scenario: Scenario) -> list[object]:
    return [one for one in scenario.documents if one.get("kind") != SCENARIO_KIND]


def _first_different(ours: tuple[Operation, ...], theirs: tuple[Operation, ...]) -> BranchPoint:
    number = next((n for n, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    first = [listed[number] for listed in (ours, theirs) if number < len(listed)]
    counted = [one.after for one in first if one.after is not None]
    if counted and len(ours) == number:  # one that is to come at a second makes a run wait for it
        return BranchPoint(number, inf, min(counted))
    return BranchPoint(number, 0.0 if counted else min((one.time for one in first), default=inf))
