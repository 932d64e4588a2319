"""What became of each candidate for preemption, as the Kueue panel lists them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.kueue.clusters import control_of, manifests, write

OWN = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
QUEUES = {
    "a": {"quota": {"default": 4}, "cohortName": "team", "preemption": OWN},
    "b": {"quota": {"default": 2}, "cohortName": "team"},
    "c": {"quota": {"default": 0}, "cohortName": "team"},
}


def fair(strategy: str) -> dict[str, Any]:
    """Return a configuration with one strategy of fair sharing."""
    return {"fairSharing": {"preemptionStrategies": [strategy]}}


#: Kueue's configuration, workloads in the order in which they come, and the verdicts at the last one.
CASES: dict[str, tuple[Any, dict[str, str], dict[str, str]]] = {
    "nothing suffices": (
        None,
        {"low": "a 1", "firm": "a 3 priority=10", "theirs": "b 2", "high": "a 2 priority=10"},
        {"low": "put back: all of them would not suffice"},
    ),
    "nothing suffices with fair sharing": (
        fair("LessThanOrEqualToFinalShare"),
        {"low": "a 1", "firm": "a 3 priority=10", "theirs": "b 2", "high": "a 2 priority=10"},
        {"low": "put back: all of them would not suffice"},
    ),
    "the first suffices": (
        None,
        {"large": "a 3", "small": "a 1", "theirs": "b 2", "high": "a 3 priority=10"},
        {"large": "preempted: InClusterQueue", "small": "not reached: enough is free without it"},
    ),
    "the first is put back": (
        None,
        {"small": "a 1", "large": "a 3", "theirs": "b 2", "high": "a 3 priority=10"},
        {"small": "put back: the others suffice", "large": "preempted: InClusterQueue"},
    ),
    "a queue within its quota is spared": (
        None,
        {"first": "c 1", "loan": "b 1", "spared": "b 2", "last": "c 2", "high": "a 4"},
        {
            "first": "preempted: InCohortReclamation",
            "loan": "preempted: InCohortReclamation",
            "spared": "passed over: b does not borrow any more",
            "last": "preempted: InCohortReclamation",
        },
    ),
    "the share after the preemption": (
        fair("LessThanOrEqualToFinalShare"),
        {"mine": "a 3", "loan": "b 3", "high": "a 2"},
        {
            "loan": "passed over: its queue's share would fall below the preemptor's "
            "(LessThanOrEqualToFinalShare)"
        },
    ),
    "the share before the preemption": (
        fair("LessThanInitialShare"),
        {"mine": "a 3", "loan": "b 3", "high": "a 2"},
        {"loan": "passed over: its queue's share is not above the preemptor's (LessThanInitialShare)"},
    ),
}


@pytest.mark.parametrize(("config", "workloads", "verdicts"), CASES.values(), ids=CASES)
def test_verdicts(config: Any, workloads: dict[str, str], verdicts: dict[str, str]) -> None:
    """The rule follows the verdict; without success nothing is called preempted."""
    earlier = dict(list(workloads.items())[:-1])
    control = control_of({"config": config, "queues": QUEUES, "workloads": earlier})
    *_, last = manifests({"queues": QUEUES, "workloads": workloads})
    write(control, last)
    control.settle()
    (entry,) = control.cycle().entries
    found = {one.key.removeprefix("default/"): one.verdict for one in entry.considered}
    assert found == verdicts
