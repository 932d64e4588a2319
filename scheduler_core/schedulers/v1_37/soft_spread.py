"""Soft topology spreading of one class of pods: matching pods by node and by domain, and their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from scheduler_core.schedulers.v1_37.nodes import Ints, Mask, Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import (
    HOSTNAME,
    SOFT,
    TopologySpreadConstraint,
    constraints_of,
    counted_by_row,
    eligible_rows,
    rounded,
    turned,
    weighted,
)


class SoftSpread(Struct):
    """A soft spreading constraint: matching pods by place for the hostname, else by value."""

    constraint: TopologySpreadConstraint
    ids: Ints
    eligible: Mask | None
    counts: NDArray[np.float64]
    values: int
    domains: int
    """Number of values over all places."""

    def follow(self, place: int, sign: int) -> None:
        """Count a matching pod in or out at a place."""
        if self.constraint.key == HOSTNAME:
            self.counts[place] += sign
        elif self.eligible is None or self.eligible[place]:
            self.counts[self.ids[place]] += sign

    @property
    def varies_by(self) -> NDArray[np.float64] | Ints:
        """What the scores of places depend on."""
        return self.counts if self.constraint.key == HOSTNAME else self.ids

    def raw(self, places: Rows | None, number: int) -> NDArray[np.float64]:
        """Return the raw scores of places, all for None, of so many that are feasible."""
        skew = self.constraint.max_skew
        if self.constraint.key == HOSTNAME:
            counts = self.counts if places is None else self.counts[places]
            return weighted(counts, math.log(number + 2), skew)
        ids, domains = self.ids, self.domains
        if places is not None:
            ids = ids[places]
            domains = int(np.count_nonzero(np.bincount(ids, minlength=self.values)))
        return weighted(self.counts, math.log(domains + 2), skew)[ids]


def soft_spreads(ctx: Context, rows: Rows) -> list[SoftSpread] | None:
    """Return a pod's soft constraints, with what they count on the rows; None if a row lacks a label."""
    out = []
    for constraint in constraints_of(ctx, SOFT):
        column = ctx.nodes.label(constraint.key)
        ids = column.ids[rows]
        if (ids < 0).any():
            return None
        counts = counted_by_row(ctx, constraint)[rows]
        eligible = eligible_rows(ctx, constraint)
        eligible = None if eligible is None else eligible[rows]
        if constraint.key != HOSTNAME:
            here = slice(None) if eligible is None else eligible
            counts = np.bincount(ids[here], counts[here], len(column.values)).astype(np.int64)
        domains = int(np.count_nonzero(np.bincount(ids)))
        as_floats = counts.astype(np.float64)
        out.append(SoftSpread(constraint, ids, eligible, as_floats, len(column.values), domains))
    return out


def soft_scores(spreads: Sequence[SoftSpread], places: Rows | None, number: int) -> Ints:
    """Return the normalized scores of places, all for None, of so many that are feasible."""
    total: NDArray[np.float64] | None = None
    for soft in spreads:
        own = soft.raw(places, number)
        total = own if total is None else total + own
    assert total is not None
    scores = rounded(total)
    return turned(scores, int(scores.max()), int(scores.min()))
