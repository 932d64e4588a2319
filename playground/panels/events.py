"""Simulated events, in the columns of ``kubectl get events``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playground.protocol.answers import EventListWire
from scheduler_core.record.cycle import Cycle, KubernetesEvent


def events(cycle: Cycle) -> list[list[str]]:
    """Return ``[type, reason, object, message]`` for each event of the cycle."""
    return rows(cycle.events)


def rows(found: Sequence[KubernetesEvent]) -> list[list[str]]:
    """Return ``[type, reason, object, message]`` for each event."""
    return [[event.type, event.reason, event.object, event.message] for event in found]


def history(
    cycle_at: Callable[[int, Callable[[], bool]], Cycle],
    to: int,
    count: int,
    unwanted: Callable[[], bool],
    *,
    later: Sequence[KubernetesEvent] = (),
) -> EventListWire:
    """Return the newest ``count`` events up to cycle ``to``, newest first, and whether there are more.

    ``later`` are those of the end of the run, which follow that cycle.
    """
    first = max(1, to - count + 1)  # every cycle has an event, so no more cycles are needed
    listed: list[list[Any]] = []
    for index in range(first, to + 1):  # ascending, as the reader advances
        listed += [[index, *event] for event in events(cycle_at(index, unwanted))]
    listed += [[to + 1, *event] for event in rows(later)]
    newest = listed[::-1][:count]
    return {"events": newest, "more": first > 1 or len(listed) > count}
