"""Bounds of measurements: ratios of figures of the same run, and figures that say that the load was felt.

A ratio does not depend on the machine, and a load that nobody felt bounds nothing: a subject demands both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ratio:
    """One figure is at most ``most`` times another one, which counts as ``least`` if it is smaller."""

    name: str
    beside: str
    most: float
    least: float = 0.0  # in the unit of the figures: what is too short to be compared

    def problem(self, figures: Figures) -> str:
        """Return what is wrong, "" if nothing is."""
        missing = [name for name in (self.name, self.beside) if name not in figures]
        if missing:
            return f"{missing[0]} was not measured"
        value, beside = figures[self.name], max(figures[self.beside], self.least)
        if value <= self.most * beside:
            return ""
        return f"{self.name} is {value:,.3f}, more than {self.most:g} times {self.beside} ({beside:,.3f})"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A figure is at least ``least``: something was measured, a load was there."""

    name: str
    least: float = 1.0

    def problem(self, figures: Figures) -> str:
        """Return what is wrong, "" if nothing is."""
        if self.name not in figures:
            return f"{self.name} was not measured"
        value = figures[self.name]
        return "" if value >= self.least else f"{self.name} is {value:,.3f}, less than {self.least:g}"


@dataclass(frozen=True, slots=True)
class AtMost:
    """A figure is at most ``most``, such as the errors of a run."""

    name: str
    most: float = 0.0

    def problem(self, figures: Figures) -> str:
        """Return what is wrong, "" if nothing is."""
        if self.name not in figures:
            return f"{self.name} was not measured"
        value = figures[self.name]
        return "" if value <= self.most else f"{self.name} is {value:,.3f}, more than {self.most:g}"


Bound = Ratio | AtLeast | AtMost


def problems(figures: Figures, bounds: Sequence[Bound]) -> list[str]:
    """Return what does not hold of figures, in sentences."""
    return [found for bound in bounds if (found := bound.problem(figures))]


def judged(figures: Figures, bounds: Sequence[Bound]) -> int:
    """Print what does not hold of figures; return the exit status."""
    found = problems(figures, bounds)
    for problem in found:
        print(f"BEYOND {problem}")
    return int(bool(found))
