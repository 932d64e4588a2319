"""A v1 ``Policy`` compiled to what the scheduler runs: predicates in order, priorities with weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.config.policy.order import expanded, static_order
from scheduler_core.config.policy.providers import DEFAULT_HARD_POD_AFFINITY_WEIGHT
from scheduler_core.config.policy.reading import NamedPredicate, PolicyReader, WeightedPriority
from scheduler_core.config.settings import DEFAULT_SETTINGS, Settings
from scheduler_core.objects.problems import Problem
from scheduler_core.predicates import PREDICATES, Predicate
from scheduler_core.quirks import in_variant, quirk


class PolicyError(ValueError):
    """A policy that cannot be used. ``problems`` holds everything wrong with it, at once."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{p.path}: {p.message}" for p in problems[:10]))


@dataclass(frozen=True, slots=True)
class Profile:
    """What runs in a cycle.

    ``never_run`` names predicates that are configured and not evaluated, ``quirks`` the ids of the
    deviations in force (:data:`scheduler_core.quirks.QUIRKS`), ``arguments`` what the policy gives to
    its predicates and priorities, by their name. ``preempts`` tells whether pods that fit nowhere make room,
    ``framework_preemption`` whether they do by the rules of 1.22's DefaultPreemption: among equals the pods
    that started last go, and a node where nobody would have to go is none to choose.
    """

    order: tuple[str, ...]
    predicates: tuple[Predicate, ...]
    priorities: tuple[WeightedPriority, ...]
    always_check_all: bool = False
    never_run: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    quirks: frozenset[str] = DEFAULT_SETTINGS.quirk_ids
    hard_weight: int = DEFAULT_HARD_POD_AFFINITY_WEIGHT
    settings: Settings = DEFAULT_SETTINGS
    arguments: Mapping[str, Any] = field(default_factory=dict)
    preempts: bool = True
    framework_preemption: bool = False

    def summary(self) -> dict[str, Any]:
        """Describe the profile as the workbench shows it."""
        return {
            "predicates": list(self.order),
            "neverRun": list(self.never_run),
            "priorities": [[p.name, p.weight] for p in self.priorities],
            "arguments": dict(self.arguments),
            "hardPodAffinitySymmetricWeight": self.hard_weight,
            "alwaysCheckAllPredicates": self.always_check_all,
            "quirks": self.settings.quirks,
            "predicateOrder": self.settings.predicate_order,
            "cache": self.settings.cache,
            "equivalenceClass": self.settings.equivalence_class,
            "audit": self.settings.audit,
            "staleWrites": self.settings.stale_writes,
            "warnings": [problem.message for problem in self.warnings],
        }


def compile_policy(policy: Mapping[str, Any] | None, settings: Settings = DEFAULT_SETTINGS) -> Profile:
    """Compile a Policy document; ``None`` is the DefaultProvider.

    A predicate without ``order`` runs in the static order that ``settings`` names, one that is not in
    that order never runs; predicates with ``order`` come first, ascending (proposal predicates-ordering).

    Raises:
        PolicyError: With everything that is wrong, each with its path.
    """
    quirks = settings.quirk_ids
    reader = PolicyReader(policy or {})
    hard_weight = reader.hard_weight()
    predicates = reader.predicates()
    predicates = _taken_apart(predicates, settings)
    order, never_run = _arrange(predicates, settings, reader)
    priorities = reader.priorities(hard_weight)
    always = reader.flag("alwaysCheckAllPredicates")
    if reader.problems:
        raise PolicyError(reader.problems)
    return Profile(
        order,
        tuple(in_variant(predicates[key].run, quirks) for key in order),
        tuple(replace(priority, run=in_variant(priority.run, quirks)) for priority in priorities),
        always,
        never_run,
        tuple(reader.warnings),
        quirks,
        hard_weight,
        settings,
        reader.arguments(),
    )


def _taken_apart(predicates: Mapping[str, NamedPredicate], settings: Settings) -> dict[str, NamedPredicate]:
    """Put the members in the place of a bundle that the static order does not list.

    A bundle that the policy itself gives an ``order`` stays one: its place is the policy's to choose.
    """
    apart: dict[str, NamedPredicate] = {}
    for key, named in predicates.items():
        members = expanded(settings.predicate_order, key) if named.order is None else ()
        for member in members:
            apart.setdefault(member, predicates.get(member, NamedPredicate(PREDICATES[member])))
        if not members:
            apart[key] = named
    return apart


@quirk("unknown-predicate-never-run")
def _arrange(
    predicates: Mapping[str, NamedPredicate], settings: Settings, reader: PolicyReader
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys in the order they run in, and those that never do."""
    static = static_order(settings.predicate_order)
    place = {key: number for number, key in enumerate(static)}
    ordered = [
        (p.order, place.get(key, len(static)), key) for key, p in predicates.items() if p.order is not None
    ]
    _warn_of_equals(predicates, reader)
    first = [key for _, _, key in sorted(ordered, key=lambda entry: entry[:2])]
    rest = [key for key in static if key in predicates and predicates[key].order is None]
    unplaced = tuple(key for key in predicates if key not in first and key not in rest)
    if "unknown-predicate-never-run" not in settings.quirk_ids:
        return (*first, *rest, *unplaced), ()
    for key in unplaced:
        reader.warn(
            predicates[key].entry, f"{key} is registered but never evaluated: it is not in the static order"
        )
    return (*first, *rest), unplaced


def _warn_of_equals(predicates: Mapping[str, NamedPredicate], reader: PolicyReader) -> None:
    """Tell every predicate whose ``order`` another has too: the proposal does not promise which is first."""
    sharing: dict[int, dict[str, str]] = {}  # order -> entry -> key
    for key, named in predicates.items():
        if named.order is not None:
            sharing.setdefault(named.order, {}).setdefault(named.entry, key)
    for order, entries in sharing.items():
        for entry in entries if len(entries) > 1 else ():
            others = ", ".join(f"{key} ({path})" for path, key in entries.items() if path != entry)
            reader.warn(
                f"{entry}.order",
                f"{entries[entry]} has the order {order}, as {others}: order among equals is not guaranteed; "
                "here it is the static order",
            )
