"""Small changes to a Policy and to the SimulationSettings, as one would make them by hand.

Everything works on documents and returns new ones. What a change does not name stays as it was
written, and a document that says nothing any more goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.configuration import CONFIGURATION_KIND, Conversion, from_policy, to_policy
from scheduler_core.configuration.versions import GROUP
from scheduler_core.policy.order import BUNDLES, keys_of
from scheduler_core.policy.providers import DEFAULT_PREDICATES, DEFAULT_PRIORITIES, MANDATORY_PREDICATES
from scheduler_core.policy.reading import ARGUMENT_OF
from scheduler_core.predicates import PREDICATES
from scheduler_core.priorities import PRIORITIES
from scheduler_core.scenario import Document
from scheduler_core.settings import (
    CACHE_MODES,
    DEFAULT_SETTINGS,
    EQUIVALENCE_CLASSES,
    PREDICATE_ORDERS,
    QUIRK_MODES,
    SETTINGS_KIND,
    STALE_WRITES,
)

POLICY_KIND = "Policy"
HEADS: Mapping[str, Document] = {
    POLICY_KIND: {"apiVersion": "v1", "kind": POLICY_KIND},
    SETTINGS_KIND: {"apiVersion": "podstep/v1", "kind": SETTINGS_KIND},
}
CHOICES: Mapping[str, tuple[Sequence[str], str]] = {
    "quirks": (QUIRK_MODES, DEFAULT_SETTINGS.quirks),
    "predicateOrder": (PREDICATE_ORDERS, DEFAULT_SETTINGS.predicate_order),
    "cache": (CACHE_MODES, DEFAULT_SETTINGS.cache),
    "equivalenceClass": (EQUIVALENCE_CLASSES, DEFAULT_SETTINGS.equivalence_class),
    "audit": (("false", "true"), str(DEFAULT_SETTINGS.audit).lower()),
    "staleWrites": (STALE_WRITES, DEFAULT_SETTINGS.stale_writes),
}
"""What each setting may be, as text, and what holds where no document says it."""

SWITCHES = frozenset({"audit"})  # settings that a document writes as a boolean
MOST_WEIGHT = 2**31 - 1

Entries = list[dict[str, Any]]


class EditError(ValueError):
    """The change cannot be made; the text says why."""


def edited(documents: Sequence[Document], what: str, name: str, value: str) -> tuple[Document, ...]:
    """Return the documents of a bundle with one change; ``what`` is one of :data:`EDITS`.

    Raises:
        EditError: There is no such thing to change, or it cannot be changed so.
    """
    if what not in EDITS:
        raise EditError(f"There is nothing called {what[:40]!r} to change; it is one of {', '.join(EDITS)}.")
    kind, change = EDITS[what]
    if kind == POLICY_KIND:
        for number, document in enumerate(documents):
            if document.get("kind") == CONFIGURATION_KIND:
                changed = _as_policy(document, lambda policy: change(policy, name, value))
                return (*documents[:number], changed, *documents[number + 1 :])
    place = next((n for n, document in enumerate(documents) if _is(document, kind)), None)
    changed = change({**HEADS[kind], **(documents[place] if place is not None else {})}, name, value)
    kept = [] if set(changed) <= set(HEADS[kind]) else [changed]
    if place is None:
        return (*documents, *kept)
    return (*documents[:place], *kept, *documents[place + 1 :])


def _is(document: Document, kind: str) -> bool:
    if kind == POLICY_KIND and document.get("apiVersion", "v1") != "v1":
        return False
    return document.get("kind") == kind


def _as_policy(document: Document, change: Callable[[Document], Document]) -> Document:
    """Change a KubeSchedulerConfiguration as a Policy, where it says no more than a Policy can.

    Its first profile is written anew; every other field stays.
    """
    policy = _whole(to_policy(document), f"A Policy cannot hold all of this {CONFIGURATION_KIND}")
    version = str(document.get("apiVersion")).removeprefix(f"{GROUP}/")
    written = _whole(
        from_policy(change(policy), version), f"{CONFIGURATION_KIND} {version} has no such plugin"
    )
    return {**document, "profiles": written["profiles"]}


def _whole(conversion: Conversion, otherwise: str) -> Document:
    if conversion.lost:
        raise EditError(f"{otherwise} ({conversion.lost[0]}): edit it in the YAML.")
    return conversion.document


def _entries(policy: Document, field: str, default: Entries) -> Entries:
    listed = policy.get(field)
    return [dict(entry) for entry in listed] if isinstance(listed, list) else default


def _with(document: Document, field: str, value: Any, default: Any) -> Document:
    """Set a field, or leave it out where it would say what holds anyway."""
    rest = {key: old for key, old in document.items() if key != field}
    return rest if value == default else {**document, field: value}


def _default_predicates() -> Entries:
    return [{"name": key} for key in DEFAULT_PREDICATES]


def _default_priorities() -> Entries:
    return [{"name": name, "weight": weight} for name, weight in DEFAULT_PRIORITIES]


def _predicate(policy: Document, key: str, value: str) -> Document:
    if value not in ("on", "off"):
        raise EditError(f"A predicate is switched on or off, not {value[:40]!r}.")
    if key in MANDATORY_PREDICATES:
        raise EditError(f"{key} always runs: v1.11 adds it to every policy.")
    entries = _entries(policy, "predicates", _default_predicates())
    listed = {entry.get("name") for entry in entries}
    if key not in PREDICATES and key not in ARGUMENT_OF and key not in listed:
        raise EditError(f"There is no predicate {key[:60]!r} that a policy can name.")
    present = [key in keys_of(str(entry.get("name"))) for entry in entries]
    if value == "on" and not any(present):
        if key not in PREDICATES:
            raise EditError(f"{key} needs an argument: write it into the Policy in the YAML.")
        entries = _in_default_order([*entries, {"name": key}])
    elif value == "off":
        entries = [kept for entry in entries for kept in _without(entry, key)]
    return _with(policy, "predicates", entries, _default_predicates())


def _without(entry: dict[str, Any], key: str) -> Entries:
    """Take a key out of an entry; one that stands for several leaves the others, with its ``order``."""
    name = str(entry.get("name"))
    keys = BUNDLES.get(name, keys_of(name))
    if key == name or key not in keys:
        return [] if key == name else [entry]
    return [{**entry, "name": other} for other in keys if other != key]


def _in_default_order(entries: Entries) -> Entries:
    """Order plain entries as the default provider lists them, so that switching off and on is no change."""
    if all(set(entry) == {"name"} for entry in entries) and {e["name"] for e in entries} == set(
        DEFAULT_PREDICATES
    ):
        return _default_predicates()
    return entries


def _priority(policy: Document, name: str, value: str) -> Document:
    weight = _integer(value, 0, MOST_WEIGHT, f"The weight of {name[:60]}")
    entries = _entries(policy, "priorities", _default_priorities())
    listed = any(entry.get("name") == name for entry in entries)
    if not listed and name not in PRIORITIES:
        raise EditError(f"There is no priority {name[:60]!r}; one with an argument is written in the YAML.")
    if not weight:
        entries = [entry for entry in entries if entry.get("name") != name]
    elif listed:
        entries = [{**entry, "weight": weight} if entry.get("name") == name else entry for entry in entries]
    else:
        entries = _in_order([*entries, {"name": name, "weight": weight}])
    return _with(policy, "priorities", entries, _default_priorities())


def _in_order(entries: Entries) -> Entries:
    default = _default_priorities()
    return default if all(entry in default for entry in entries) and len(entries) == len(default) else entries


def _flag(policy: Document, name: str, value: str) -> Document:
    if name != "alwaysCheckAllPredicates" or value not in ("true", "false"):
        raise EditError("Only alwaysCheckAllPredicates can be set, to true or false.")
    return _with(policy, name, value == "true", default=False)


def _number(policy: Document, name: str, value: str) -> Document:
    if name != "hardPodAffinitySymmetricWeight":
        raise EditError("Only hardPodAffinitySymmetricWeight can be set to a number.")
    return _with(policy, name, _integer(value, 1, 100, name), 1)


def _setting(settings: Document, name: str, value: str) -> Document:
    if name not in CHOICES or value not in CHOICES[name][0]:
        listed = "; ".join(f"{field} is {' or '.join(words)}" for field, (words, _) in CHOICES.items())
        raise EditError(f"There is no setting {name[:40]!r} of {value[:40]!r}: {listed}.")
    default = CHOICES[name][1]
    if name in SWITCHES:
        return _with(settings, name, value == "true", default == "true")
    return _with(settings, name, value, default)


def _integer(value: str, low: int, high: int, what: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) < 12 and low <= int(value) <= high):
        raise EditError(f"{what} must be a whole number from {low} to {high:,}, not {value[:40]!r}.")
    return int(value)


EDITS: Mapping[str, tuple[str, Callable[[Document, str, str], Document]]] = {
    "predicate": (POLICY_KIND, _predicate),
    "priority": (POLICY_KIND, _priority),
    "flag": (POLICY_KIND, _flag),
    "number": (POLICY_KIND, _number),
    "setting": (SETTINGS_KIND, _setting),
}
"""What can be changed, and in which document: a predicate on or off, a priority's weight (0: off), …"""
