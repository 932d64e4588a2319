"""What may be optimized. An objective is a row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from scheduler_core.compare.optimum.model import THOUSAND, Expression, Model

SHARED: Final = ("cpu", "memory")  # the resources whose shares are compared


class Objective(Struct, frozen=True):
    """``expression`` is maximized, or minimized; ``means`` says in a few words what its number is.

    ``figure`` is the field of a placement's figures that has it (:class:`.greed.PlacementFigures`).
    """

    means: str
    figure: str
    maximized: bool
    expression: Callable[[Model], Expression]


def _priorities(model: Model) -> Expression:
    return sum(
        of.first.priority * (sum(counts.values()) - of.running)
        for of, counts in zip(model.problem.classes, model.x)
    )


def _nodes(model: Model) -> Expression:
    """The nodes with a pod, fixed ones included."""
    taken = {node for _, node in model.problem.fixed}
    total: Expression = len(taken)
    for node, free in enumerate(model.problem.free):
        if node not in taken:
            used = model.cp.new_bool_var(f"used{node}")
            for name, amount in free.items():  # each resource, which gives better bounds than the pods alone
                model.cp.add(model.used(node, name) <= max(amount, 0) * used)
            total += used
    return total


def _balance(model: Model) -> Expression:
    """The largest share of a node's cpu or memory that is used, in thousandths."""
    share = model.cp.new_int_var(0, 10 * THOUSAND, "share")
    for node, of in enumerate(model.problem.nodes):
        for name in SHARED:
            whole = of.allocatable.get(name, 0)
            if whole:
                fixed = whole - model.problem.free[node].get(name, 0)
                model.cp.add((model.used(node, name) + fixed) * THOUSAND <= share * whole)
    return share


def _fragmentation(model: Model) -> Expression:
    """The sum over nodes of the difference between free cpu and free memory, in thousandths of the node."""
    total: Expression = 0
    for node, of in enumerate(model.problem.nodes):
        wholes = [of.allocatable.get(name, 0) for name in SHARED]
        if not all(wholes):
            continue
        shares = []
        for name, whole in zip(SHARED, wholes):
            free = model.problem.free[node].get(name, 0) - model.used(node, name)
            share = model.cp.new_int_var(-10 * THOUSAND, THOUSAND, f"free{node},{name}")
            model.cp.add(share * whole <= free * THOUSAND)
            model.cp.add((share + 1) * whole >= free * THOUSAND)
            shares.append(share)
        apart = model.cp.new_int_var(0, 11 * THOUSAND, f"apart{node}")
        model.cp.add(apart >= shares[0] - shares[1])
        model.cp.add(apart >= shares[1] - shares[0])
        total += apart
    return total


def _moves(model: Model) -> Expression:
    """The running pods that go to another node."""
    total: Expression = 0
    names = [node.meta.name for node in model.problem.nodes]
    for of, counts in zip(model.problem.classes, model.x):
        for name, there in of.home.items():
            node = names.index(name)
            stay = model.cp.new_int_var(0, there, f"stay{id(of)},{node}")
            model.cp.add(stay <= counts.get(node, 0))
            total += there - stay
    return total


OBJECTIVES: Mapping[str, Objective] = {
    "most-pods": Objective("pods placed, less those evicted", "placed", True, lambda model: model.placed),
    "priorities": Objective(
        "sum of the priorities of the pods placed, less those evicted", "priorities", True, _priorities
    ),
    "fewest-nodes": Objective("nodes with a pod", "nodes", False, _nodes),
    "balance": Objective("largest share used of a node's cpu or memory, ‰", "share", False, _balance),
    "fragmentation": Objective(
        "free cpu without free memory, or the reverse, ‰", "fragmentation", False, _fragmentation
    ),
    "fewest-moves": Objective("running pods that move or are evicted", "evicted", False, _moves),
}
"""The objectives by name."""
