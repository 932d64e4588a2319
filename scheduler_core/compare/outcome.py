"""The effects of a decision, by which cycles of different runs are compared."""

from __future__ import annotations

from typing import Any

from scheduler_core.record.cycle import Decision

CycleOutcome = tuple[Any, ...]


def outcome(decision: Decision) -> CycleOutcome:
    """Return the effects of a decision on the cluster, regardless of whether it scored nodes."""
    return (
        decision.pod,
        decision.result,
        decision.node,
        decision.nominated,
        decision.victims,
        decision.cleared,
        decision.further,
    )
