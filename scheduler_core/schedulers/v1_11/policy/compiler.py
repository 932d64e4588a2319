"""A v1 ``Policy`` compiled for the scheduler: predicates in order, priorities with weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.schedulers.extenders.configuration import ignored_resources
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.quirks import in_variant, quirk
from scheduler_core.schedulers.v1_11.policy.order import expanded, static_order
from scheduler_core.schedulers.v1_11.policy.reader import NamedPredicate, PolicyReader
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_11.predicates.general import passing_over
from scheduler_core.schedulers.v1_11.quirks import QUIRK_IDS
from scheduler_core.settings.release import V1_11
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings


def quirks_in_force(settings: Settings) -> frozenset[str]:
    """Return the ids of the quirks that the settings reproduce."""
    return QUIRK_IDS - settings.fixed_too if settings.quirks == "v1.11" else frozenset()


def compile_policy(policy: Mapping[str, Any] | None, settings: Settings = DEFAULT_SETTINGS) -> Profile:
    """Compile a Policy document; ``None`` is the DefaultProvider.

    A predicate without ``order`` runs in the static order that ``settings`` names, one that is not in
    that order never runs; predicates with ``order`` run first, ascending (proposal predicates-ordering).

    Raises:
        PolicyError: With all errors, each with its path.
    """
    quirks = quirks_in_force(settings)
    reader = PolicyReader(policy or {})
    hard_weight = reader.hard_weight()
    predicates = reader.predicates()
    predicates = _taken_apart(predicates, settings)
    order, never_run = _arrange(predicates, settings, reader)
    priorities = reader.priorities(hard_weight)
    always = reader.flag("alwaysCheckAllPredicates")
    extenders = reader.extenders()
    if settings.time == "virtual" or settings.scheduler not in ("", V1_11):
        extenders = ()  # the other releases are simulated without them, and a warning reports it
    if extenders and settings.cache == "batching":
        reader.fail("extenders", "cache: batching takes a node without asking extenders: choose another mode")
    ignored = ignored_resources(extenders)
    if reader.problems:
        raise PolicyError(reader.problems)
    return Profile(
        order,
        tuple(passing_over(in_variant(predicates[key].run, quirks), ignored) for key in order),
        tuple(replace(priority, run=in_variant(priority.run, quirks)) for priority in priorities),
        always,
        never_run,
        tuple(reader.warnings),
        quirks,
        hard_weight,
        settings,
        reader.arguments(),
        extenders=extenders,
    )


def _taken_apart(predicates: Mapping[str, NamedPredicate], settings: Settings) -> dict[str, NamedPredicate]:
    """Replace a bundle that the static order does not list by its members.

    A bundle with an ``order`` in the policy is not expanded: the policy determines its place.
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
    """Return the keys in the order they run, and those that never run."""
    static = static_order(settings.predicate_order)
    place = {key: number for number, key in enumerate(static)}
    ordered = [
        (p.order, place.get(key, len(static)), key) for key, p in predicates.items() if p.order is not None
    ]
    _warn_of_equals(predicates, reader)
    first = [key for _, _, key in sorted(ordered, key=lambda entry: entry[:2])]
    rest = [key for key in static if key in predicates and predicates[key].order is None]
    unplaced = tuple(key for key in predicates if key not in first and key not in rest)
    if "unknown-predicate-never-run" not in quirks_in_force(settings):
        return (*first, *rest, *unplaced), ()
    for key in unplaced:
        reader.warn(
            predicates[key].entry,
            f"{key} is registered but never evaluated: it has no place in the static order",
        )
    return (*first, *rest), unplaced


def _warn_of_equals(predicates: Mapping[str, NamedPredicate], reader: PolicyReader) -> None:
    """Warn of predicates with equal ``order``: the proposal does not guarantee which of them runs first."""
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
