"""The queues at the moment the cycle's pod was taken."""

from __future__ import annotations

from typing import Any

from scheduler_core.cycle import Cycle

KEY = "highest priority first, then earliest created"


def queue(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``queue`` part."""
    state = cycle.queue
    return {
        "active": [list(entry) for entry in state.active],
        "activeCount": state.active_count,
        "unschedulable": [list(entry) for entry in state.unschedulable],
        "unschedulableCount": state.unschedulable_count,
        "key": KEY,
    }
