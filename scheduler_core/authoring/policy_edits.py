"""Small changes to a Policy and to the SimulationSettings, as a user would make them by hand.

All functions work on documents and return new ones. What a change does not name stays as it was written, and
a document left without content is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.authoring.configuration_edits import CONFIGURATION_EDITS, weigh_priorities
from scheduler_core.authoring.descheduler_edits import (
    HEAD,
    change_profile,
    enable_strategy,
    run_descheduler,
    with_descheduler,
)
from scheduler_core.authoring.policy_rewrites import (
    MOST_WEIGHT,
    EditError,
    Entries,
    argue,
    default_predicates,
    default_priorities,
    entries_of,
    provide,
    reorder,
    weigh,
    with_field,
)
from scheduler_core.authoring.scheduler_edits import design, schedule
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.schedulers.v1_11.policy.order import BUNDLES, keys_of
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PREDICATES, MANDATORY_PREDICATES
from scheduler_core.schedulers.v1_11.policy.reader import ARGUMENT_OF
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.conversion import Conversion, to_policy
from scheduler_core.schedulers.v1_22.configuration.from_policy import from_policy
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY
from scheduler_core.settings.release import CONFIGURATION_GROUP, CONFIGURATION_KIND, RELEASES, can_read
from scheduler_core.settings.settings import (
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
    DESCHEDULER_POLICY: HEAD,
}
CHOICES: Mapping[str, tuple[Sequence[str], str]] = {
    "quirks": (QUIRK_MODES, DEFAULT_SETTINGS.quirks),
    "predicateOrder": (PREDICATE_ORDERS, DEFAULT_SETTINGS.predicate_order),
    "cache": (CACHE_MODES, DEFAULT_SETTINGS.cache),
    "equivalenceClass": (EQUIVALENCE_CLASSES, DEFAULT_SETTINGS.equivalence_class),
    "audit": (("false", "true"), str(DEFAULT_SETTINGS.audit).lower()),
    "staleWrites": (STALE_WRITES, DEFAULT_SETTINGS.stale_writes),
    "scheduler": (("", *RELEASES), DEFAULT_SETTINGS.scheduler),
}
"""The values of each setting, as text, and the default if no document sets it."""

SWITCHES = frozenset({"audit"})  # settings that a document writes as a boolean


def edited(documents: Sequence[Document], what: str, name: str, value: str) -> tuple[Document, ...]:
    """Return the documents of a bundle with one change; ``what`` is one of :data:`EDITS`.

    Raises:
        EditError: The change does not exist, or cannot be made.
    """
    if what == "form":
        return _in_form(documents, name, value)
    if what == "descheduling":
        return with_descheduler(documents, value)
    if what in CONFIGURATION_EDITS:
        return _configured(documents, what, name, value)
    if what not in EDITS:
        known = ", ".join([*EDITS, *CONFIGURATION_EDITS, "form", "descheduling"])
        raise EditError(f"No entry named {what[:40]!r} to change; it is one of {known}.")
    kind, change = EDITS[what]
    if kind == POLICY_KIND:
        for number, document in enumerate(documents):
            if document.get("kind") == CONFIGURATION_KIND:
                direct = DIRECT.get(what)
                changed = (
                    direct(document, name, value)
                    if direct is not None
                    else _as_policy(document, lambda policy: change(policy, name, value))
                )
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
    """Change a KubeSchedulerConfiguration as a Policy, if it contains no more than a Policy can express.

    Its first profile is rewritten; every other field stays.
    """
    policy = _whole(to_policy(document), f"A Policy cannot hold all of this {CONFIGURATION_KIND}")
    version = str(document.get("apiVersion")).removeprefix(f"{CONFIGURATION_GROUP}/")
    written = _whole(
        from_policy(change(policy), version), f"{CONFIGURATION_KIND} {version} has no corresponding plugin"
    )
    return {**document, "profiles": written["profiles"]}


def _configured(documents: Sequence[Document], what: str, name: str, value: str) -> tuple[Document, ...]:
    """Change the bundle's KubeSchedulerConfiguration directly."""
    place = next((n for n, document in enumerate(documents) if _is(document, CONFIGURATION_KIND)), None)
    if place is None:
        raise EditError(f"There is no {CONFIGURATION_KIND} whose plugins could be changed.")
    changed = CONFIGURATION_EDITS[what](documents[place], name, value)
    return (*documents[:place], changed, *documents[place + 1 :])


def _in_form(documents: Sequence[Document], kind: str, version: str) -> tuple[Document, ...]:
    """Rewrite the configuration as a document of the other kind; an empty Policy is dropped.

    A release in the settings that does not read this kind is dropped, too: the configuration chooses one.
    A KubeSchedulerConfiguration has ``version``, or without one the newest of those that lose least.
    """
    if kind not in (POLICY_KIND, CONFIGURATION_KIND) or version not in ("", *VERSIONS):
        raise EditError(f"There is no {kind[:40]} {version[:40]}: a version is one of {', '.join(VERSIONS)}.")
    place = next(
        (n for n, d in enumerate(documents) if _is(d, POLICY_KIND) or _is(d, CONFIGURATION_KIND)), None
    )
    document = documents[place] if place is not None else None
    made = other_form(document, kind, version)
    settings = next((one for one in documents if _is(one, SETTINGS_KIND)), {})
    if not can_read(str(settings.get("scheduler") or ""), made):
        documents = edited(documents, "setting", "scheduler", "")
        place = None if document is None else documents.index(document)
    kept = [] if made is None or set(made) <= set(HEADS[POLICY_KIND]) else [made]
    if place is None:
        return (*documents, *kept)
    return (*documents[:place], *kept, *documents[place + 1 :])


def other_form(document: Document | None, kind: str, version: str = "") -> Document | None:
    """Return a configuration as ``kind``; ``None`` is the DefaultProvider. Raises EditError."""
    is_configuration = document is not None and document.get("kind") == CONFIGURATION_KIND
    try:
        if kind == CONFIGURATION_KIND and is_configuration:
            assert document is not None
            made: Document = {**document, "apiVersion": VERSIONS[version or list(VERSIONS)[-1]].api_version}
            compile_configuration(made)
            return made
        if kind == CONFIGURATION_KIND:
            return from_policy(document, version).document
        if not is_configuration:
            return document
        assert document is not None
        policy = to_policy(document).document
    except PolicyError as error:
        raise EditError(f"{error.problems[0].path}: {error.problems[0].message}") from error
    policy = with_field(policy, "predicates", policy.get("predicates"), default_predicates())
    return with_field(policy, "priorities", policy.get("priorities"), default_priorities())


def _whole(conversion: Conversion, otherwise: str) -> Document:
    if conversion.lost:
        raise EditError(f"{otherwise} ({conversion.lost[0]}): edit it in the YAML.")
    return conversion.document


def _predicate(policy: Document, key: str, value: str) -> Document:
    if value not in ("on", "off"):
        raise EditError(f"A predicate is switched on or off, not {value[:40]!r}.")
    if key in MANDATORY_PREDICATES:
        raise EditError(f"{key} always runs: v1.11 adds it to every policy.")
    entries = entries_of(policy, "predicates", default_predicates())
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
    return with_field(policy, "predicates", entries, default_predicates())


def _without(entry: dict[str, Any], key: str) -> Entries:
    """Remove a key from an entry; an entry for several keys is replaced by the others, with its ``order``."""
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
        return default_predicates()
    return entries


def _priority(policy: Document, name: str, value: str) -> Document:
    weight = _integer(value, 0, MOST_WEIGHT, f"The weight of {name[:60]}")
    entries = entries_of(policy, "priorities", default_priorities())
    listed = any(entry.get("name") == name for entry in entries)
    if not listed and name not in PRIORITIES:
        raise EditError(f"There is no priority {name[:60]!r}; one with an argument is written in the YAML.")
    if not weight:
        entries = [entry for entry in entries if entry.get("name") != name]
    elif listed:
        entries = [{**entry, "weight": weight} if entry.get("name") == name else entry for entry in entries]
    else:
        entries = _in_order([*entries, {"name": name, "weight": weight}])
    return with_field(policy, "priorities", entries, default_priorities())


def _in_order(entries: Entries) -> Entries:
    default = default_priorities()
    return default if all(entry in default for entry in entries) and len(entries) == len(default) else entries


def _flag(policy: Document, name: str, value: str) -> Document:
    if name != "alwaysCheckAllPredicates" or value not in ("true", "false"):
        raise EditError("Only alwaysCheckAllPredicates can be set, to true or false.")
    return with_field(policy, name, value == "true", default=False)


def _number(policy: Document, name: str, value: str) -> Document:
    if name != "hardPodAffinitySymmetricWeight":
        raise EditError("Only hardPodAffinitySymmetricWeight can be set to a number.")
    return with_field(policy, name, _integer(value, 1, 100, name), 1)


def _setting(settings: Document, name: str, value: str) -> Document:
    if name not in CHOICES or value not in CHOICES[name][0]:
        listed = "; ".join(f"{field} is {' or '.join(words)}" for field, (words, _) in CHOICES.items())
        raise EditError(f"There is no setting {name[:40]!r} of {value[:40]!r}: {listed}.")
    default = CHOICES[name][1]
    if name in SWITCHES:
        return with_field(settings, name, value == "true", default == "true")
    return with_field(settings, name, value, default)


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
    "scheduler": (SETTINGS_KIND, schedule),
    "design": (SETTINGS_KIND, design),
    "descheduler": (SETTINGS_KIND, run_descheduler),
    "strategy": (DESCHEDULER_POLICY, enable_strategy),
    "descheduler-profile": (DESCHEDULER_POLICY, change_profile),
    "order": (POLICY_KIND, reorder),
    "weights": (POLICY_KIND, weigh),
    "argument": (POLICY_KIND, argue),
    "provider": (POLICY_KIND, provide),
}
"""The changes, and their document: a predicate on or off, a priority's weight (0: off), …"""

DIRECT: Mapping[str, Callable[[Document, str, str], Document]] = {"weights": weigh_priorities}
"""Changes made to a KubeSchedulerConfiguration directly; the others must be expressible in a Policy."""
