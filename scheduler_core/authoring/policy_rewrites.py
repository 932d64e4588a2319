"""Changes to a Policy that concern several entries: the order, weights, arguments, a provider's lists.

Each is a function of a Policy, a name and a value, both text, and returns a new Policy; see
:data:`scheduler_core.authoring.policy_edits.EDITS`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.schedulers.v1_11.policy.order import ORDERS, keys_of, static_order
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PREDICATES, DEFAULT_PRIORITIES, PROVIDERS

MOST_WEIGHT = 2**31 - 1
VALUE_CHARACTERS = 20_000
VALUE_DEPTH = 40  # levels of lists and objects; the document around them needs some of those that it may have

Entries = list[dict[str, Any]]


class EditError(ValueError):
    """The change cannot be made; the text is the reason, ``problems`` are the fields at fault."""

    def __init__(self, text: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(text)
        self.problems = tuple(problems)


def default_predicates() -> Entries:
    """Return the DefaultProvider's predicates as a policy lists them."""
    return [{"name": key} for key in DEFAULT_PREDICATES]


def default_priorities() -> Entries:
    """Return the DefaultProvider's priorities as a policy lists them."""
    return [{"name": name, "weight": weight} for name, weight in DEFAULT_PRIORITIES]


def entries_of(policy: Document, field: str, default: Entries) -> Entries:
    """Return copies of a list's entries, or the default if the policy has no such list."""
    listed = policy.get(field)
    return [dict(entry) for entry in listed] if isinstance(listed, list) else default


def with_field(document: Document, field: str, value: Any, default: Any) -> Document:
    """Set a field, or leave it out if the value is the default."""
    rest = {key: old for key, old in document.items() if key != field}
    return rest if value == default else {**document, field: value}


def read_json(value: str, wanted: type, what: str) -> Any:
    """Parse a value as JSON of a type. Raises EditError."""
    try:
        read = json.loads(value) if len(value) <= VALUE_CHARACTERS else None
    except (ValueError, RecursionError):
        read = None
    if type(read) is not wanted:
        raise EditError(f"{what} must be written as JSON, not {value[:40]!r}.")
    if _is_deep(read):
        raise EditError(f"{what} may be nested at most {VALUE_DEPTH} levels deep.")
    return read


def _is_deep(value: Any) -> bool:
    """Return whether a value is nested deeper than allowed."""
    level = [value]
    for _ in range(VALUE_DEPTH + 1):
        lists = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [one for part in lists if isinstance(part, list) for one in part]
    return bool(level)


# --- the order


def reorder(policy: Document, name: str, value: str) -> Document:
    """Run predicates in the order of ``value``, all keys that run; ``name`` is the static order in force.

    ``order`` is set on as few of the first keys as needed for the rest to be in the static order, and on none
    if all of them are: entries with an ``order`` come first, ascending.
    """
    if name not in ORDERS:
        raise EditError(f"There is no static order {name[:40]!r}; it is one of {', '.join(ORDERS)}.")
    wanted = read_json(value, list, "The order")
    static = static_order(name)
    if len(set(map(str, wanted))) != len(wanted) or not all(type(key) is str for key in wanted):
        raise EditError("The order must name each predicate once.")
    first = _first(wanted, static)
    entries = [
        split
        for entry in entries_of(policy, "predicates", default_predicates())
        for split in _apart(entry, first)
    ]
    listed = {entry["name"] for entry in entries}
    entries += [{"name": key} for key in first if key not in listed]
    place = {key: number for number, key in enumerate(first, 1)}
    ordered = [
        {**{k: v for k, v in entry.items() if k != "order"}, **_order(place.get(entry["name"]))}
        for entry in entries
    ]
    return with_field(policy, "predicates", ordered, default_predicates())


def _first(wanted: Sequence[str], static: Sequence[str]) -> list[str]:
    """Return the fewest keys from the front without which the rest is in the static order."""
    place = {key: number for number, key in enumerate(static)}
    begin = len(wanted)
    later = len(static)
    while begin and wanted[begin - 1] in place and place[wanted[begin - 1]] < later:
        begin -= 1
        later = place[wanted[begin]]
    return list(wanted[:begin])


def _apart(entry: dict[str, Any], first: Sequence[str]) -> Entries:
    """Split an entry for several keys into those keys if one of them gets its own order."""
    name = str(entry.get("name"))
    keys = keys_of(name)
    if keys != (name,) and any(key in first for key in keys):
        return [{**entry, "name": key} for key in keys]
    return [entry]


def _order(place: int | None) -> dict[str, int]:
    return {} if place is None else {"order": place}


# --- weights, arguments, providers


def weigh(policy: Document, name: str, value: str) -> Document:
    """Set the weights of several priorities to ``value``, ``{name: weight}``; 0 removes one."""
    del name
    weights = read_json(value, dict, "The weights")
    entries = entries_of(policy, "priorities", default_priorities())
    listed = {entry.get("name") for entry in entries}
    for priority, weight in weights.items():
        if priority not in listed:
            raise EditError(f"The policy has no priority {priority[:60]!r}.")
        if type(weight) is not int or not 0 <= weight <= MOST_WEIGHT:
            raise EditError(
                f"The weight of {priority[:60]} must be a whole number from 0 to {MOST_WEIGHT:,}."
            )
    weighed = [{**entry, "weight": weights.get(entry["name"], entry.get("weight"))} for entry in entries]
    return with_field(
        policy, "priorities", [entry for entry in weighed if entry["weight"] != 0], default_priorities()
    )


LISTS = {"predicates": default_predicates, "priorities": default_priorities}


def argue(policy: Document, name: str, value: str) -> Document:
    """Add or change the predicate or priority of a name: ``{"list", "argument", "weight"?}`` in ``value``.

    Whether the argument is valid is validated when the policy is read.
    """
    given = read_json(value, dict, "The argument")
    field = given.get("list")
    if field not in LISTS or not isinstance(given.get("argument"), Mapping) or not name.strip():
        raise EditError("An argument needs a name and the list, predicates or priorities, that it is for.")
    entries = entries_of(policy, field, LISTS[field]())
    entry: dict[str, Any] = {"name": name.strip(), "argument": given["argument"]}
    if field == "priorities":
        entry["weight"] = given.get("weight", 1)
    place = next((n for n, old in enumerate(entries) if old.get("name") == entry["name"]), len(entries))
    kept = {
        key: old for key, old in (entries[place] if place < len(entries) else {}).items() if key == "order"
    }
    entries[place : place + 1] = [{**entry, **kept}]
    return {**policy, field: entries}


def provide(policy: Document, name: str, value: str) -> Document:
    """Replace the policy's predicates and priorities with those of an algorithm provider."""
    del name
    if value not in PROVIDERS:
        raise EditError(f"There is no provider {value[:40]!r}; it is one of {', '.join(PROVIDERS)}.")
    rest = {key: old for key, old in policy.items() if key not in LISTS}
    listed = [{"name": priority, "weight": weight} for priority, weight in PROVIDERS[value]]
    return with_field(rest, "priorities", listed, default_priorities())
