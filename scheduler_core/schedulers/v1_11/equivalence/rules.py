"""The invalidation table: which change of the cluster invalidates which cached results, and on which nodes.

One table for the engine, the reference page and a cycle's explanation. A row names the event; the predicates
that it invalidates declare it themselves, by its id, and are listed in v1.11's order. It applies in the modes
that are keys of its ``scopes``: ``designed`` is the proposal's text, ``v1.11`` the behavior of that version
with its bugs, ``sound`` everything needed for the same decisions as without a cache. The behavior of v1.11 is
taken from pkg/scheduler/factory/factory.go, core/equivalence_cache.go and scheduler.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.events import InvalidationEvent
from scheduler_core.schedulers.columns.view import Scope
from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.v1_11.equivalence.conditions import ALWAYS, rows_of
from scheduler_core.schedulers.v1_11.equivalence.row import ALL, InvalidationRow, Mode, in_modes
from scheduler_core.schedulers.v1_11.equivalence.rules_nodes import NODE_ROWS
from scheduler_core.schedulers.v1_11.equivalence.rules_pods import POD_ROWS
from scheduler_core.schedulers.v1_11.equivalence.rules_volumes import SERVICE_ROWS, VOLUME_ROWS
from scheduler_core.schedulers.v1_11.equivalence.topology import RowTopology
from scheduler_core.schedulers.v1_11.predicates import RULES

TABLE: tuple[InvalidationRow, ...] = (*VOLUME_ROWS, *SERVICE_ROWS, *POD_ROWS, *NODE_ROWS)

OTHER_NAMES = {name: rule.key for rule in RULES for name in rule.other_names}

MADE: Mapping[type, str] = {rule.made: rule.key for rule in RULES if rule.made is not None}
"""The classes of predicates that a policy's arguments create, and their keys."""

_UNKNOWN = {name for rule in RULES for name in rule.invalidated_by} - {row.id for row in TABLE}
if _UNKNOWN:
    raise ValueError(f"predicates are invalidated by rows that the table does not have: {_UNKNOWN}")

UNLISTED = InvalidationRow(
    "unlisted",
    "any",
    ("ADD", "UPDATE", "DELETE"),
    ALWAYS,
    (),
    in_modes("sound", ALL),
    "scope",
    "No row names the predicate: whatever its scope lets it read may have changed.",
)
"""Replaces the rows of a predicate without any in mode ``sound``, which must be correct."""


class Invalidation(Struct, frozen=True, eq=False):
    """The effect of a row on an event: the policy's predicates and the cache's rows, ``None`` for all."""

    row: InvalidationRow
    event: InvalidationEvent
    predicates: tuple[str, ...] | None
    rows: IntVector | None


class InvalidationRules:
    """The table as it applies to one mode and one policy.

    ``predicates`` are those that the policy evaluates, by key. A predicate with a custom key, as is possible
    for those with an argument, is invalidated like its kind, except in ``v1.11``, which compares keys. In
    ``sound`` a predicate that no row names is invalidated by every event within its scope. ``table`` allows
    evaluating another table.
    """

    def __init__(
        self, mode: Mode, predicates: Mapping[str, Predicate], table: tuple[InvalidationRow, ...] = TABLE
    ) -> None:
        self.mode = mode
        self._keys: dict[str, tuple[str, ...]] = {}
        for key, run in predicates.items():
            name = key if mode == "v1.11" else _kind(key, run)
            self._keys[name] = (*self._keys.get(name, ()), key)
        named = {name for row in TABLE for name in row.predicates or ()}
        unlisted = [(key, run.scope) for key, run in predicates.items() if _kind(key, run) not in named]
        self._unlisted = unlisted if mode == "sound" else []
        self._rows: dict[tuple[str, str], list[InvalidationRow]] = {}
        for row in table:
            if mode in row.scopes and (row.predicates is None or self._evaluated(row.predicates)):
                for operation in row.operations:
                    self._rows.setdefault((row.resource, operation), []).append(row)

    def of(self, event: InvalidationEvent, topology: RowTopology) -> list[Invalidation]:
        """Return the invalidations that an event causes, in the order of the table."""
        found: list[Invalidation] = []
        for row in self._rows.get((event.resource, event.operation), ()):
            if not row.condition.holds(event, topology):
                continue
            names = row.predicates if row.narrow is None else row.narrow(event, topology)
            keys = None if names is None else self._evaluated(names)
            rows = rows_of(row.scopes[self.mode], event, topology)
            if keys != () and (rows is None or len(rows)):
                found.append(Invalidation(row, event, keys, rows))
        by_pod = event.resource == "Pod"  # a rule of scope OBJECTS reads no pods
        unlisted = tuple(key for key, scope in self._unlisted if not (by_pod and scope is Scope.OBJECTS))
        if unlisted:
            found.append(Invalidation(UNLISTED, event, unlisted, None))
        return found

    def _evaluated(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(key for name in names for key in self._keys.get(name, ()))


def _kind(key: str, run: Predicate) -> str:
    return MADE.get(type(run)) or OTHER_NAMES.get(key, key)
