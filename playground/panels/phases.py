"""The phases of a PodGroup as a diagram: the phases and their transitions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from scheduler_core.schedulers.coscheduling.controller import (
    FINAL,
    PHASE_TABLES,
    GroupCounts,
    PhaseRule,
    PhaseTable,
)
from scheduler_core.schedulers.coscheduling.editions import EDITIONS

LIFE = ("", "Pending", "PreScheduling", "Scheduling", "Scheduled", "Running", "Finished", "Failed")
"""Phases in the order of a life without failures; Failed is the other final phase."""
FEW = range(3)  # enough members of each kind to find every transition of a rule

PhaseTransition = tuple[str, str, str]  # from, to, and when

POST_BIND: tuple[PhaseTransition, ...] = (
    ("PreScheduling", "Scheduling", "PostBind: a member was bound"),
    ("Scheduling", "Scheduled", "PostBind: scheduled ≥ minMember"),
)


@cache
def phases_of(edition: str) -> tuple[str, ...]:
    """Return the phases that a PodGroup of an edition can have, in the order of :data:`LIFE`."""
    reached = {phase for way in ways_of(edition) for phase in way[:2]}
    return tuple(phase for phase in LIFE if phase in reached)


def final_of(edition: str) -> tuple[str, ...]:
    """Return the phases after which the controller ignores a group."""
    return tuple(phase for phase in phases_of(edition) if phase in FINAL)


@cache
def ways_of(edition: str) -> tuple[PhaseTransition, ...]:
    """Return the transitions between phases, by the controller's rules and, if it has one, PostBind."""
    ways = dict.fromkeys(_ways(PHASE_TABLES[edition]))
    if EDITIONS[edition].post_bind:
        ways.update(dict.fromkeys(POST_BIND))
    return tuple(sorted(ways, key=lambda way: (LIFE.index(way[0]), LIFE.index(way[1]))))


def _ways(table: PhaseTable) -> Iterator[PhaseTransition]:
    for phase, rules in table.entry.items():
        yield from ((phase, rule.phase, rule.text) for rule in rules)
    targets = {rule.phase for rules in (*table.entry.values(), table.others) for rule in rules}
    others = (targets | {"Scheduling", "Scheduled"}) - set(table.entry) - FINAL
    if "PreScheduling" not in targets:
        others.discard("Scheduled")
    for phase in others:
        for rule in table.others:
            if rule.phase != phase and _applies(rule, phase):
                yield phase, rule.phase, rule.text


def _applies(rule: PhaseRule, phase: str) -> bool:
    """Return whether a rule can lead out of a phase, checking few members of each kind."""
    return any(
        rule.when(GroupCounts(phase, r + s + f + waiting, r, s, f, 2, scheduled))
        for r, s, f, waiting, scheduled in product(FEW, repeat=5)
    )


@cache
def _texts() -> dict[str, str]:
    tables = PHASE_TABLES.values()
    rules = (rule for table in tables for rules in (*table.entry.values(), table.others) for rule in rules)
    return {rule.id: rule.text for rule in rules}


def rule_text(name: str) -> str:
    """Return the text of a rule, by its id."""
    return _texts()[name]
