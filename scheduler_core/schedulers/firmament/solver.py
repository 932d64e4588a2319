"""The minimum of a network of task classes: which class gets which index of which machine (OR-Tools).

A class of n tasks has n units. Each goes through an arc to (machine, index), which carries one, or through
the unscheduled aggregator. Machines and processing units have a unit of capacity for each index: they never
bind and are left out.

``SimpleMinCostFlow`` sees few of the arcs at first, which is what makes thousands of machines and pods
possible. Its minimum gives prices: what one more task of a class would cost, and what a taken index is worth.
An arc that costs less than the price of its class is added, until there is none: the minimum is then that of
all arcs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scheduler_core.interrupts import look
from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.schedulers.firmament.classes import Arcs
from scheduler_core.schedulers.firmament.costs import UNSCHEDULED_COST

FIRST_INDICES = 8
SPARE = 16  # arcs of a class beyond those that the first guess uses
ADDED = 256  # arcs of a class that are added at once
ROUNDING = 4  # a cost may be less than one of a lower index by what truncation takes
ABSENT = 1 << 29  # the cost of an arc that does not exist
STRIDE = 1 << 24  # of the number that names an index of a machine: more than any limit of pods
Matrix = npt.NDArray[np.int32]


@dataclass
class CheapestArcs:
    """Arcs of one class, cheapest first: ``rows`` are machines, ``indices`` and ``costs`` are theirs."""

    rows: IntVector
    indices: IntVector
    costs: IntVector

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> IntVector:
        """A number for each (machine, index)."""
        return self.rows * STRIDE + self.indices

    def only(self, kept: BoolVector | IntVector | slice) -> CheapestArcs:
        """Return some of them."""
        return CheapestArcs(self.rows[kept], self.indices[kept], self.costs[kept])


def every(arcs: Arcs) -> CheapestArcs:
    """Return all arcs of a class in the order of cost, machine and index."""
    table = _Table.of([arcs], 0, int(arcs.counts.max(initial=0)))
    return table.chosen(np.flatnonzero(table.costs.ravel() < ABSENT))


def cheapest(arcs: Arcs) -> CheapestArcs:
    """Return the cheapest arc of a class, of the first machine and index that have one, if there is any."""
    return every(arcs).only(slice(1))


@dataclass
class _Table:
    """The arcs of classes that differ in nothing but their name, to the first ``depth`` indices.

    ``costs`` is ``(rows, depth)``; ``beyond`` is less than the cost of any arc to a later index.
    """

    members: list[Arcs]
    size: int
    rows: IntVector
    costs: Matrix
    beyond: int

    @classmethod
    def of(cls, members: list[Arcs], size: int, depth: int) -> _Table:
        """Return the arcs of equal classes with ``size`` tasks together."""
        arcs = members[0]
        rows = np.flatnonzero(arcs.counts)
        counts = arcs.counts[rows, None]
        costs = arcs.costs(rows, np.arange(depth + 1))
        deeper = counts[:, 0] > depth
        beyond = int(costs[deeper, depth].min(initial=ABSENT)) - ROUNDING if deeper.any() else ABSENT
        kept = np.where(np.arange(depth) < counts, costs[:, :depth], ABSENT).astype(np.int32)
        return cls(members, size, rows, kept, beyond)

    def chosen(self, flat: IntVector) -> CheapestArcs:
        """Return arcs by their places in the flattened matrix, in the order of cost, machine and index."""
        costs = self.costs.ravel()[flat].astype(np.int64)
        flat = flat[np.lexsort((flat, costs))]
        row, index = np.divmod(flat, max(self.costs.shape[1], 1))
        return CheapestArcs(self.rows[row], index, self.costs.ravel()[flat].astype(np.int64))


def minimum(classes: Sequence[Arcs], sizes: Sequence[int]) -> list[CheapestArcs]:
    """Return the arcs that carry flow in a minimum for ``sizes`` tasks of each class, as many as are placed.

    Raises:
        RuntimeError: The solver failed, which is a defect.
    """
    groups = _groups(classes, sizes)
    depth = FIRST_INDICES
    while True:
        look()
        tables = [_Table.of(members, size, depth) for members, size in groups]
        used, prices = _generate(tables, depth)
        if all(table.beyond >= price for table, price in zip(tables, prices)):
            break
        depth *= 2
    shares: dict[int, CheapestArcs] = {}
    of = {id(one): size for one, size in zip(classes, sizes)}
    for table, chosen in zip(tables, used):
        first = 0
        for member in table.members:
            shares[id(member)] = chosen.only(slice(first, first + of[id(member)]))
            first += of[id(member)]
    return [shares[id(one)] for one in classes]


def _groups(classes: Sequence[Arcs], sizes: Sequence[int]) -> list[tuple[list[Arcs], int]]:
    """Return the classes with equal arcs together, each group with its number of tasks."""
    found: dict[tuple[object, ...], list[Arcs]] = {}
    totals: dict[tuple[object, ...], int] = {}
    for arcs, size in zip(classes, sizes):
        key = arcs.of.first.request, arcs.counts.tobytes(), arcs.base.tobytes()
        found.setdefault(key, []).append(arcs)
        totals[key] = totals.get(key, 0) + size
    return [(members, totals[key]) for key, members in found.items()]


def _generate(tables: Sequence[_Table], depth: int) -> tuple[list[CheapestArcs], IntVector]:
    """Return the arcs that a minimum uses, and the price of each class, among the first ``depth`` indices."""
    offered = _first_guess(tables, depth)
    sizes = [table.size for table in tables]
    while True:
        look()
        chosen = [table.chosen(flat) for table, flat in zip(tables, offered)]
        used = flow([one.names for one in chosen], [one.costs for one in chosen], sizes)
        prices, worth = _prices(chosen, used, _machines(tables), depth)
        added = [_missing(table, price, worth, flat) for table, price, flat in zip(tables, prices, offered)]
        if not any(map(len, added)):
            return [one.only(at) for one, at in zip(chosen, used)], prices
        offered = [np.concatenate(pair) for pair in zip(offered, added)]


def _machines(tables: Iterable[_Table]) -> int:
    return max((int(table.rows.max(initial=-1)) + 1 for table in tables), default=0)


def _first_guess(tables: Sequence[_Table], depth: int) -> list[IntVector]:
    """Return the cheapest arcs of each class, and those that it gets if the classes choose in turn."""
    taken = np.zeros((_machines(tables), depth), bool)
    found = []
    for table in tables:
        costs = table.costs.ravel()
        order = np.argsort(costs, kind="stable")[: int((costs < ABSENT).sum())]
        free = order[~taken[table.rows].ravel()[order]][: table.size + SPARE]
        row, index = np.divmod(free[: table.size], depth)
        taken[table.rows[row], index] = True
        found.append(np.union1d(order[:SPARE], free))
    return found


def _prices(
    offered: Sequence[CheapestArcs], used: Sequence[BoolVector], machines: int, depth: int
) -> tuple[IntVector, IntVector]:
    """Return what one more task of each class costs, and ``(machines, depth)``: what an index is worth.

    They are the shortest distances to the sink in the residual network: by a free arc, by one whose index
    its owner gives up for another, or by the aggregator.
    """
    prices = np.full(len(offered), UNSCHEDULED_COST, np.int64)
    tails = np.repeat(np.arange(len(offered)), [len(one) for one in offered])
    rows, indices, costs = (
        np.concatenate([np.zeros(0, np.int64), *(getattr(one, name) for one in offered)])
        for name in ("rows", "indices", "costs")
    )
    at = np.concatenate([np.zeros(0, bool), *used])
    owner = np.full((machines, depth), -1)
    owner[rows[at], indices[at]] = tails[at]
    paid = np.zeros((machines, depth), np.int64)
    paid[rows[at], indices[at]] = costs[at]
    open_ = ~at
    tails, rows, indices, costs = tails[open_], rows[open_], indices[open_], costs[open_]
    owners, back = owner[rows, indices], paid[rows, indices]
    while True:
        look()
        before = prices.copy()
        np.minimum.at(prices, tails, costs + np.where(owners >= 0, prices[owners] - back, 0))
        if np.array_equal(before, prices):
            return prices, np.where(owner >= 0, paid - prices[owner], 0)


def _missing(table: _Table, price: int, worth: IntVector, offered: IntVector) -> IntVector:
    """Return arcs that would make the flow cheaper, the best first: they cost less than the class's price."""
    if not table.size or not len(table.rows):
        return np.zeros(0, np.int64)
    reduced = (table.costs - worth[table.rows] - price).ravel()
    reduced[offered] = 0
    better = np.flatnonzero(reduced < 0)
    if len(better) > ADDED:
        better = better[np.argpartition(reduced[better], ADDED)[:ADDED]]
    return better


def flow(
    names: Sequence[IntVector], costs: Sequence[IntVector], sizes: Sequence[int], *, scale: int = 1
) -> list[BoolVector]:
    """Return which arcs carry flow in a minimum: ``(arcs,)`` of each class.

    ``names`` are numbers of the arcs' heads, each of which takes one unit, whatever class it is from.
    ``costs`` are in units of 1 / ``scale``.
    """
    from ortools.graph.python import min_cost_flow  # a tenth of a second, and only rounds need it

    count = len(sizes)
    heads, inverse = np.unique(np.concatenate([np.zeros(0, np.int64), *names]), return_inverse=True)
    sink, first = count, count + 1
    nodes = np.arange(count)
    network = min_cost_flow.SimpleMinCostFlow()
    tails = np.repeat(nodes, [len(one) for one in names])
    arcs = network.add_arcs_with_capacity_and_unit_cost(
        tails, first + inverse, np.ones_like(tails), np.concatenate([np.zeros(0, np.int64), *costs])
    )
    network.add_arcs_with_capacity_and_unit_cost(
        nodes, np.full(count, sink), np.array(sizes), np.full(count, UNSCHEDULED_COST * scale)
    )
    each = np.arange(len(heads))
    network.add_arcs_with_capacity_and_unit_cost(
        first + each, np.full(len(heads), sink), np.ones_like(each), np.zeros_like(each)
    )
    network.set_nodes_supplies(np.append(nodes, sink), np.append(sizes, -sum(sizes)))
    if (status := network.solve()) != network.OPTIMAL:
        raise RuntimeError(f"the minimum-cost flow was not found: {status}")
    carried = network.flows(arcs) > 0
    return np.split(carried, np.cumsum([len(one) for one in names])[:-1])
