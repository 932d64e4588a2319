"""Lines of arithmetic: what a priority computed for one node, with that node's numbers plugged in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.state import Cluster
from scheduler_core.cluster.view import View
from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.row import PriorityRow

LINES_SHOWN = 12  # of a list as long as the user likes, such as preferred terms
BINARY = (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


@dataclass(frozen=True, slots=True)
class Line:
    """``formula`` in words, ``numbers`` the same with the node's, and what it gives.

    ``exact`` is what stood there before truncation, where that differs from ``value``.
    """

    of: str
    formula: str
    numbers: str
    value: str
    exact: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return it as JSON."""
        return {
            "of": self.of,
            "formula": self.formula,
            "numbers": self.numbers,
            "exact": self.exact,
            "value": self.value,
        }


@dataclass(frozen=True, slots=True)
class Description:
    """What a priority prefers, in a sentence, and its steps on one node.

    ``value`` are the lines of Map (or of the Function, up to what it compares), ``scale`` those of Reduce.
    """

    prefers: str
    value: tuple[Line, ...]
    scale: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class LineQuestion:
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
        """The node by itself."""
        return View(self.cluster, self.feasible[self.place : self.place + 1])

    @property
    def raw(self) -> int:
        """What Map gave the node."""
        return int(self.values[self.place])

    @property
    def values(self) -> IntVector:
        """What Map gave the feasible nodes, ``(F,) int64``."""
        return self.row.score if self.row.raw is None else self.row.raw


def number(value: float) -> str:
    """Print a number: integers with their thousands apart, others with at most four decimals."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}".replace("-", "−")
    return f"{value:,.4f}".rstrip("0").replace("-", "−")


def unit_of(*amounts: int) -> tuple[str, int]:
    """Return the largest binary unit that all amounts of bytes are whole multiples of, by name and size."""
    for name, size in BINARY:
        if not any(amount % size for amount in amounts):
            return name, size
    return "bytes", 1


def truncated(of: str, formula: str, numbers: str, exact: float, whole: int | None = None) -> Line:
    """Make a line whose result is truncated to an integer: ``whole``, where integers were divided."""
    shown = number(exact)
    value = number(int(exact) if whole is None else whole)
    return Line(of, formula, numbers, value, "" if shown == value else shown)


def shortened(lines: list[Line], what: str) -> list[Line]:
    """Keep the first lines of a long list, and say how many more there are."""
    more = len(lines) - LINES_SHOWN
    if more <= 0:
        return lines
    return [*lines[:LINES_SHOWN], Line(f"{number(more)} more {what}", "not listed", "", "…")]


def as_dict(asked: LineQuestion, description: Description) -> dict[str, Any]:
    """Return a priority's explanation for one node as JSON: the lines, the values, and how nodes differ."""
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
        "value": [line.as_dict() for line in description.value],
        "scale": [line.as_dict() for line in description.scale],
    }
