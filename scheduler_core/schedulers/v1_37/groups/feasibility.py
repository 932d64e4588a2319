"""Can a gang still be complete? Asked before the first member and after each (PlacementFeasible plugins)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.status import OK, UNSCHEDULABLE, WAIT, Status

PLUGIN = "GangScheduling"


def feasibility(minimum: int, scheduled: int, remaining: int) -> Status:
    """Return Unschedulable if the rest cannot make up the number, Wait if it must, else Success."""
    if scheduled + remaining < minimum:
        text = f"minCount ({minimum}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"
        return Status(UNSCHEDULABLE, (text,), PLUGIN)
    if scheduled < minimum:
        text = f"minCount ({minimum}) is not yet satisfied: {scheduled} scheduled, {remaining} remaining"
        return Status(WAIT, (text,), PLUGIN)
    return OK
