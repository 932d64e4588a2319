"""A row of the invalidation table, and the constants that rows are written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from scheduler_core.schedulers.columns.events import EventVerb, InvalidationEvent
from scheduler_core.schedulers.v1_11.equivalence.conditions import InvalidatedNodes, RowCondition
from scheduler_core.schedulers.v1_11.equivalence.topology import RowTopology
from scheduler_core.schedulers.v1_11.predicates import RULES

Mode = Literal["designed", "v1.11", "sound"]
MODES: tuple[Mode, ...] = ("designed", "v1.11", "sound")  # in addition to "off"


class InvalidationRow(Struct, frozen=True):
    """One row. ``predicates`` is ``None`` for all of them; ``narrow`` selects those affected by an event."""

    id: str
    resource: str
    operations: tuple[EventVerb, ...]
    condition: RowCondition
    predicates: tuple[str, ...] | None
    scopes: Mapping[Mode, InvalidatedNodes]
    source: str
    why: str
    narrow: Callable[[InvalidationEvent, RowTopology], tuple[str, ...]] | None = None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes in which the row applies."""
        return tuple(mode for mode in MODES if mode in self.scopes)


def row(
    id: str,  # noqa: A002 -- the field's name
    resource: str,
    operations: tuple[EventVerb, ...],
    condition: RowCondition,
    scopes: Mapping[Mode, InvalidatedNodes],
    source: str,
    why: str,
    narrow: Callable[[InvalidationEvent, RowTopology], tuple[str, ...]] | None = None,
    *,
    every: bool = False,
) -> InvalidationRow:
    """Create the row for the predicates that declare it in ``invalidated_by``, or for ``every`` predicate."""
    named = None if every else tuple(rule.key for rule in RULES if id in rule.invalidated_by)
    return InvalidationRow(id, resource, operations, condition, named, scopes, source, why, narrow)


def in_modes(modes: str, scope: InvalidatedNodes) -> dict[Mode, InvalidatedNodes]:
    """Return the same scope for each of these space-separated modes."""
    return {mode: scope for mode in MODES if mode in modes.split()}


NODE, DOMAIN, DOMAIN_OR_ALL, ALL = (
    InvalidatedNodes.NODE,
    InvalidatedNodes.DOMAIN,
    InvalidatedNodes.DOMAIN_OR_ALL,
    InvalidatedNodes.ALL,
)
EVERY_MODE = "designed v1.11 sound"
AS_DESIGNED = "designed sound"
SINCE_V1_9 = "v1.11 sound"

ADD: tuple[EventVerb, ...] = ("ADD",)
UPDATE: tuple[EventVerb, ...] = ("UPDATE",)
DELETE: tuple[EventVerb, ...] = ("DELETE",)
