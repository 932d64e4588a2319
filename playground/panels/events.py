"""Events, as ``kubectl get events`` prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_core.cycle import Cycle


def events(cycle: Cycle) -> list[list[str]]:
    """Return ``[type, reason, object, message]`` for each event of the cycle."""
    return [[event.type, event.reason, event.object, event.message] for event in cycle.events]


def history(
    cycle_at: Callable[[int, Callable[[], bool]], Cycle], to: int, count: int, unwanted: Callable[[], bool]
) -> dict[str, Any]:
    """Return the newest ``count`` events up to cycle ``to``, newest first, and whether there are more."""
    first = max(1, to - count + 1)  # every cycle has an event, so no more cycles are needed
    listed: list[list[Any]] = []
    for index in range(first, to + 1):  # forwards: the reader's way
        listed += [[index, *event] for event in events(cycle_at(index, unwanted))]
    newest = listed[::-1][:count]
    return {"events": newest, "more": first > 1 or len(listed) > count}
