"""Whom fair sharing preempts, in small cohorts."""

from __future__ import annotations

import pytest

from tests.core.kueue.clusters import control_of

FAIR: dict[str, dict[str, str]] = {"fairSharing": {}}
#: ``a`` preempts its own workloads of a lower priority; ``b`` borrows what ``a`` leaves.
QUEUES = {
    "a": {
        "quota": {"default": 4},
        "cohortName": "team",
        "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Never"},
    },
    "b": {"quota": {"default": 2}, "cohortName": "team"},
}
#: Workloads in the order in which they come, and those that have quota in the end.
CASES = {
    "a queue within its quota preempts its own": (
        {"low": "a 2", "loan": "b 4", "high": "a 2 priority=10"},
        {"loan", "high"},
    ),
    "a queue that would borrow preempts its own": (
        {"low": "a 4", "theirs": "b 2", "high": "a 3 priority=10"},
        {"theirs", "high"},
    ),
    "none of its own is lower": (
        {"first": "a 2", "loan": "b 4", "second": "a 2"},
        {"first", "loan"},
    ),
}


@pytest.mark.parametrize(("workloads", "holding"), CASES.values(), ids=CASES)
def test_own_workloads_are_preempted(workloads: dict[str, str], holding: set[str]) -> None:
    """The preemptor's queue is asked whether it borrows or not."""
    control = control_of({"config": FAIR, "queues": QUEUES, "workloads": workloads})
    assert {
        one.key.removeprefix("default/") for one in control.workloads.values() if one.admission is not None
    } == holding
