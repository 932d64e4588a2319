"""The static orders of predicates, and the aliases of predicates, from the rules' declarations.

There are two named orders of the same predicates: that of kube-scheduler v1.11, and that of the
design proposal behind it (predicates-ordering, "Static ordering"). A scenario's settings
choose one (:attr:`scheduler_core.settings.settings.Settings.predicate_order`).

The proposal lists the four members of GeneralPredicates, but not the bundle. Under its order the bundle is
therefore expanded: each member runs at its own place, and evaluation stops at a node's first failure, where
the bundle would run all four. A key that is not in the proposal (it was added later) is placed directly
after its predecessor in v1.11's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from scheduler_core.schedulers.v1_11.predicates import RULES


class OrderRow(Struct, frozen=True):
    """One place of an order: its name in that order, its keys in v1.11, and the reason."""

    name: str
    keys: tuple[str, ...]
    why: str = ""


V1_11 = tuple(OrderRow(rule.key, (rule.key,), rule.v1_11.why) for rule in RULES if rule.v1_11 is not None)
"""predicates.Ordering() of kube-scheduler v1.11, 21 rows."""


def _proposed() -> Iterator[OrderRow]:
    """Yield the proposal's rows; the rules of one row share its place."""
    placed = [(rule.proposal, rule.key) for rule in RULES if rule.proposal is not None]
    for place in sorted({place for place, _ in placed}):
        keys = tuple(key for other, key in placed if other == place)
        yield OrderRow(place.name or keys[0], keys, place.why)


PROPOSAL = tuple(_proposed())
"""The static order of the predicates-ordering proposal, 16 rows, with the proposal's names."""

ORDERS: Mapping[str, tuple[OrderRow, ...]] = {"v1.11": V1_11, "proposal": PROPOSAL}
"""The named orders, by the values of ``predicateOrder`` in a SimulationSettings document."""

BUNDLES: Mapping[str, tuple[str, ...]] = {rule.key: rule.members for rule in RULES if rule.members}
"""Predicates that run others: the bundle's key to its members, in the order of their reasons."""

UNREGISTERED = frozenset(rule.key for rule in RULES if rule.v1_11 is not None and not rule.registered)
"""Rows that have a place in v1.11's order but are not registered with its default feature gates."""

ALIASES: Mapping[str, tuple[str, ...]] = {row.name: row.keys for row in PROPOSAL if row.keys != (row.name,)}
"""The proposal's names to the keys of v1.11; a name that is not listed is itself a key."""

V1_11_ORDER = tuple(row.name for row in V1_11)


def keys_of(name: str) -> tuple[str, ...]:
    """Return the predicate keys of a name."""
    return ALIASES.get(name, (name,))


def static_order(name: str) -> tuple[str, ...]:
    """Return the keys of a named order; keys that it does not list are placed by the module's rule.

    A bundle whose members the order lists individually has no place in it.
    """
    order = [key for row in ORDERS[name] for key in row.keys]
    before = ""
    for key in V1_11_ORDER:
        if key not in order and not expanded(name, key):
            order.insert(order.index(before) + 1 if before in order else 0, key)
        before = key
    return tuple(order)


def expanded(name: str, key: str) -> tuple[str, ...]:
    """Return the members that a bundle is expanded to under a named order; empty if it is not."""
    listed = {of for row in ORDERS[name] for of in row.keys}
    return BUNDLES.get(key, ()) if key not in listed else ()
