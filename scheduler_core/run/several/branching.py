"""Whether a run of one scenario may go on as another, which differs by operations that are still to come."""

from __future__ import annotations

from scheduler_core.run.waits import longest_wait
from scheduler_core.scenario.history_entries import SCENARIO_KIND
from scheduler_core.scenario.scenario import Operation, Scenario

_ALIKE = (
    "policy", "settings", "controllers", "most_pods", "schedulers", "answers", "presumed", "custom",
    "descheduler", "cron_jobs", "lives", "release",
)  # fmt: skip
"""What runs differ by from the start, beside the objects."""


def parting(scenario: Scenario, other: Scenario) -> float | None:
    """Return the second up to which two scenarios are the same cluster, by the clock of both.

    Infinity if no operation differs; ``None`` if they differ from the start, or by a number of cycles.
    """
    if any(getattr(scenario, name) != getattr(other, name) for name in _ALIKE):
        return None
    if _initial(scenario) != _initial(other) or longest_wait(scenario) != longest_wait(other):
        return None
    return _first_different(scenario.operations, other.operations)


def _initial(scenario: Scenario) -> list[object]:
    return [one for one in scenario.documents if one.get("kind") != SCENARIO_KIND]


def _first_different(ours: tuple[Operation, ...], theirs: tuple[Operation, ...]) -> float | None:
    number = next((n for n, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    further = (*ours[number:], *theirs[number:])
    if any(one.after is not None or not one.timed for one in further):
        return None
    return min((one.time for one in further), default=float("inf"))
