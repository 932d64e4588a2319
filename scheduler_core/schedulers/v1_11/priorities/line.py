"""Lines of arithmetic: a priority's computation for one node, with that node's numbers."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY

LINES_SHOWN = 12  # of a list of arbitrary length, such as preferred terms
BINARY = (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


class FormulaLine(Struct, frozen=True):
    """A ``formula`` in words, the same with the node's ``numbers``, and its result ``value``.

    ``exact`` is the result before truncation, if that differs from ``value``.
    """

    of: str
    formula: str
    numbers: str
    value: str
    exact: str = ""


class Description(Struct, frozen=True):
    """A sentence on what a priority prefers, and its steps on one node.

    ``value`` are the lines of Map (or of the Function, up to the compared value), ``scale`` those of Reduce.
    """

    prefers: str
    value: tuple[FormulaLine, ...]
    scale: tuple[FormulaLine, ...] = ()


class LineQuestion(Struct, frozen=True):
    """One priority and one of the F feasible nodes, in the cluster as it was before the cycle.

    ``place`` is the node's position in ``feasible``, which holds node indices.
    """

    cluster: Cluster
    pod: PodState
    feasible: IntVector
    place: int
    row: PriorityRow

    @property
    def node(self) -> int:
        """The node's index."""
        return int(self.feasible[self.place])

    @property
    def view(self) -> View:
        """The feasible nodes."""
        return View(self.cluster, self.feasible)

    @property
    def alone(self) -> View:
        """The view of this node alone."""
        return View(self.cluster, self.feasible[self.place : self.place + 1])

    @property
    def raw(self) -> int:
        """The node's value from Map."""
        return int(self.values[self.place])

    @property
    def values(self) -> IntVector:
        """The feasible nodes' values from Map, ``(F,) int64``."""
        return self.row.score if self.row.raw is None else self.row.raw


def number(value: float) -> str:
    """Format a number: integers with thousands separators, others with at most four decimals."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}".replace("-", "−")
    return f"{value:,.4f}".rstrip("0").replace("-", "−")


EVERY = number(MAX_PRIORITY)
"""The highest score, as text."""


def unit_of(*amounts: int) -> tuple[str, int]:
    """Return the largest binary unit that divides all amounts of bytes, as (name, size)."""
    for name, size in BINARY:
        if not any(amount % size for amount in amounts):
            return name, size
    return "bytes", 1


def truncated(of: str, formula: str, numbers: str, exact: float, whole: int | None = None) -> FormulaLine:
    """Create a line whose result is truncated to an integer: to ``whole``, if that is an integer quotient."""
    shown = number(exact)
    value = number(int(exact) if whole is None else whole)
    return FormulaLine(of, formula, numbers, value, "" if shown == value else shown)


def shortened(lines: list[FormulaLine], what: str) -> list[FormulaLine]:
    """Truncate a long list to its first lines, and append how many more there are."""
    more = len(lines) - LINES_SHOWN
    if more <= 0:
        return lines
    return [*lines[:LINES_SHOWN], FormulaLine(f"{number(more)} more {what}", "not listed", "", "…")]


def as_dict(asked: LineQuestion, description: Description) -> dict[str, Any]:
    """Return a priority's explanation for one node as JSON: the lines, the values, and the scores' range."""
    row, place = asked.row, asked.place
    score = int(row.score[place])
    return {
        "name": row.name,
        "kind": row.kind,
        "weight": row.weight,
        "prefers": description.prefers,
        "map": None if row.raw is None else int(row.raw[place]),
        "score": score,
        "weighted": row.weight * score,
        "range": [int(row.score.min()), int(row.score.max())],
        "value": plain(description.value),
        "scale": plain(description.scale),
    }
