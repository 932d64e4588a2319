"""A choice by one node of those that are alike for a class of pods."""

from __future__ import annotations

from functools import partial

import numpy as np

from scheduler_core.record.choice import ChoiceCounts
from scheduler_core.schedulers.columns import alike as nodes_alike
from scheduler_core.schedulers.columns.alike import AlikeNodes
from scheduler_core.schedulers.v1_37.class_results import Chosen, ClassResults
from scheduler_core.schedulers.v1_37.filters import feasible_wanted
from scheduler_core.schedulers.v1_37.node_choice import in_order
from scheduler_core.schedulers.v1_37.nodes import Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context


class AlikeResults(ClassResults):
    """One class of pods, on nodes that are compared once the class has had some choices."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.alike: AlikeNodes | None = None
        self.choices = 0  # until nodes are compared; -1 for never
        self.listed: tuple[Rows, Rows, Rows] | None = None

    def choose(self, start: int, given: int | None) -> Chosen | None:
        """Choose by one node of those that are alike, or as among any others."""
        if given is None and self._are_compared(feasible_wanted(self.ctx.profile.percentage, len(self.rows))):
            return self._choose_alike(start)
        return super().choose(start, given)

    def part(self) -> None:
        """Compare the nodes again before long."""
        self.alike, self.choices = None, min(self.choices, 0)

    def _nodes_differ(self) -> None:
        self.part()

    def _pods_differ(self, places: list[int]) -> None:
        if self.alike is not None and len(places) > nodes_alike.MOST_CHANGED:
            self.part()
        elif self.alike is not None:
            self._rescore(np.array([place for place in places if self.stale[place]], np.intp))
            self.alike.renew(places)

    def _are_compared(self, wanted: int) -> bool:
        """Return whether nodes that are alike are known, of all that are feasible."""
        number = len(self.rows)
        if (
            self.choices < 0
            or wanted < number
            or number <= nodes_alike.SCORED_ALONE
            or not self.looks_at_nodes_alone()
        ):
            return False
        if self.alike is None:
            self.choices += 1
            if self.choices > nodes_alike.CHOSEN_ALONE:
                self._compare()
        return self.alike is not None

    def _compare(self) -> None:
        """Find the nodes that are alike; too few of them are not worth it."""
        self.rescore_stale()
        columns = [self.plain, *self.raw.values(), *(soft.varies_by for soft in self.soft)]
        alike = AlikeNodes(columns, self.feasible, lambda places: places[in_order(len(places))])
        if alike.are_few:
            self.alike = alike
        else:
            self.choices = -1

    def _choose_alike(self, start: int) -> Chosen | None:
        """Choose as :meth:`choose` does, by one node of those that are alike."""
        alike = self.alike
        assert alike is not None
        alike.begin(start)
        number = len(alike.places)
        if not number:
            return None
        _, walked, feasible = self._listed(start)
        if number == 1:
            return Chosen(int(feasible[0]), start, walked, feasible, None)
        numbers, places = alike.different()
        totals = self._totals(places, number)
        best, tied, size = alike.best(numbers, totals)
        row = int(self.rows[alike.foremost(tied)])
        listed = partial(alike.listed().spread, numbers, totals)
        return Chosen(row, start, walked, feasible, listed, ChoiceCounts(number, best, size))

    def _listed(self, start: int) -> tuple[Rows, Rows, Rows]:
        """Return the feasible places, the rows of a whole walk, and the feasible rows in its order."""
        assert self.alike is not None
        places = self.alike.places
        if self.listed is None or self.listed[0] is not places:
            self.listed = places, self._walk(start, len(self.rows)), self.rows[places]
        return self.listed
