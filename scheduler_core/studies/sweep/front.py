"""Which of two figures is better, and the cells that no other is better than."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SIGNS: Mapping[str, int] = {
    "placed": 1,
    "gangsPlaced": 1,
    **dict.fromkeys(("pending", "preemptions", "victims", "failedCycles", "nodesUsed", "fragmentation"), -1),
    **dict.fromkeys(
        ("cpuDeviation", "zoneSpread", "meanWait", "p95Wait", "meanGangWait", "pricePerHour"), -1
    ),
}
"""The figures by which cells are ranked: 1 if more is better, -1 if less is."""

FRONT = ("placed", "nodesUsed", "fragmentation")
"""The figures of the Pareto front."""


def pareto_front(rows: Sequence[Mapping[str, Any] | None]) -> set[int]:
    """Return the numbers of the rows of figures that no other row is better than by :data:`FRONT`."""
    points = [
        None if row is None else tuple(SIGNS[name] * float(row[name]) for name in FRONT) for row in rows
    ]
    known = {point for point in points if point is not None}
    front = {one for one in known if not any(_dominates(other, one) for other in known)}
    return {number for number, point in enumerate(points) if point in front}


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other))
