"""The equivalence cache after a cycle: classes, members, the map, and why two pods differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from playground.panels.cache import cut, first_reasons
from playground.playback.tables import ABSENT, PENDING
from scheduler_core.kubernetes.model import Pod
from scheduler_core.run import Stepper
from scheduler_core.schedulers.v1_11.equivalence.cache import EquivalenceCache
from scheduler_core.schedulers.v1_11.equivalence.classes import Classes, Definition, EquivalenceClass
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper
from scheduler_core.schedulers.v1_11.equivalence.pages import Level, page, tallies
from scheduler_core.schedulers.v1_11.equivalence.pod_comparison import (
    FieldDifference,
    differences,
    equivalent,
)
from scheduler_core.settings.settings import Settings

ROWS = 100  # per answer
Row = TypeVar("Row")
SORTS = ("name", "members", "entries", "fits", "fails")
DEFINITIONS: tuple[Definition, ...] = ("controller", "attributes")


class Page(Struct, frozen=True):
    """The requested rows: ``count`` rows from ``first``, counted from 0, that contain ``find``.

    ``sort`` names a column of :data:`SORTS`, prefixed with ``-`` for descending; "" keeps the order of the
    rows.
    """

    first: int = 0
    count: int = ROWS
    find: str = ""
    sort: str = ""

    def of(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return ``from``, the total ``count``, and the page's ``rows``."""
        last = self.first + min(self.count, ROWS)
        return {"from": self.first, "count": len(rows), "rows": list(rows[self.first : last])}

    def sorted(self, rows: list[Row], columns: Mapping[str, Callable[[Row], Any]]) -> list[Row]:
        """Return the rows sorted by the requested column; ties, or all without one, keep their order."""
        value = columns.get(self.sort.removeprefix("-"))
        return sorted(rows, key=value, reverse=self.sort.startswith("-")) if value is not None else rows

    def has(self, *texts: str) -> bool:
        """Return whether a row with these texts matches the search."""
        search = self.find.casefold()
        return any(search in text.casefold() for text in texts)


def keeper_of(simulation: Stepper) -> CacheKeeper | None:
    """Return the active cache of a simulation; batching and a cache that is off keep no map."""
    keeper = simulation.cache
    return keeper if isinstance(keeper, CacheKeeper) else None


def classes(simulation: Stepper, wanted: Page) -> dict[str, Any]:
    """Return the protocol's answer to ``cache.classes``: those with most members first, unless sorted."""
    keeper = keeper_of(simulation)
    if keeper is None:
        return {**wanted.of([]), "without": 0}
    entries = {row.key: row.entries for row in tallies(keeper.cache, "class", keeper.profile.order)}
    known = sorted(keeper.classes, key=lambda each: (-len(each.members), each.name, each.hash))
    found = [each for each in known if wanted.has(each.name, digits(each.hash))]
    by: dict[str, Callable[[EquivalenceClass], Any]] = {
        "name": lambda each: natural(each.name),
        "members": lambda each: len(each.members),
        "entries": lambda each: entries.get(each.hash, 0),
    }
    answer = wanted.of(wanted.sorted(found, by))
    answer["rows"] = [
        {
            "hash": digits(each.hash),
            "name": cut(each.name),
            "members": len(each.members),
            "entries": entries.get(each.hash, 0),
        }
        for each in answer["rows"]
    ]
    members = sum(len(each.members) for each in known)
    return {**answer, "without": len(simulation.cluster.pods) - members}


def members(simulation: Stepper, number: int, wanted: Page, node_index: Mapping[str, int]) -> dict[str, Any]:
    """Return the protocol's answer to ``cache.members``; an unknown class has none."""
    keeper = keeper_of(simulation)
    known = keeper.classes.get(number) if keeper is not None else None
    answer = wanted.of(list(known.members) if known is not None else [])
    answer["rows"] = [[key, _node(simulation, key, node_index)] for key in answer["rows"]]
    return {"hash": digits(number), "name": cut(known.name) if known is not None else "", **answer}


def _node(simulation: Stepper, key: str, node_index: Mapping[str, int]) -> int:
    pod = simulation.cluster.pods.get(key)
    if pod is None:
        return ABSENT
    return node_index.get(pod.node_name, ABSENT) if pod.node_name else PENDING


def level_map(simulation: Stepper, level: Level, wanted: Page) -> dict[str, Any]:
    """Return the protocol's answer to ``cache.map`` without a key: one row for each key with entries."""
    keeper = keeper_of(simulation)
    if keeper is None:
        return {"by": level, **wanted.of([])}
    names = _names(keeper.classes)
    found = []
    for row in tallies(keeper.cache, level, keeper.profile.order):
        key, label = (
            (row.key, row.key) if isinstance(row.key, str) else (digits(row.key), names.get(row.key, ""))
        )
        if wanted.has(key, label):
            found.append((row.entries, key, label, row.fits))
    if level == "class":
        found.sort(key=lambda row: (-row[0], row[2], row[1]))
    by: dict[str, Callable[[tuple[int, str, str, int]], Any]] = {
        "name": lambda row: natural(row[2] or row[1]),
        "entries": lambda row: row[0],
        "fits": lambda row: row[3],
        "fails": lambda row: row[0] - row[3],
    }
    answer = wanted.of(wanted.sorted(found, by))
    answer["rows"] = [
        {"key": key, "label": cut(label), "entries": entries, "fits": fits, "fails": entries - fits}
        for entries, key, label, fits in answer["rows"]
    ]
    return {"by": level, **answer}


def entry_map(
    simulation: Stepper, level: Level, key: str, wanted: Page, node_index: Mapping[str, int]
) -> dict[str, Any]:
    """Return the protocol's answer to ``cache.map`` with a key: its entries. An unknown key has none."""
    keeper = keeper_of(simulation)
    rows: list[dict[str, Any]] = []
    total = 0
    number = number_of(key) if level == "class" else None
    if keeper is not None and (level != "class" or number is not None):
        names = _names(keeper.classes)
        cache: EquivalenceCache = keeper.cache
        entries, total = page(
            cache,
            sorted(
                ((each, names.get(each, "")) for each in cache.slots), key=lambda pair: (pair[1], pair[0])
            ),
            keeper.profile.order,
            node=key if level == "node" else None,
            predicate=key if level == "predicate" else None,
            number=number,
            find=wanted.find,
            first=wanted.first,
            count=min(wanted.count, ROWS),
        )
        texts = simulation.cluster.reasons.texts
        rows = [
            {
                "node": node_index[entry.node],
                "predicate": entry.predicate,
                "hash": digits(entry.hash),
                "class": cut(names.get(entry.hash, "")),
                "fit": not entry.code,
                "reasons": first_reasons(texts[entry.code]),
                "written": entry.step,
            }
            for entry in entries
        ]
    return {"by": level, "key": key, "from": wanted.first, "count": total, "rows": rows}


def _names(known: Classes) -> dict[int, str]:
    return {each.hash: each.name for each in known}


def natural(name: str) -> list[tuple[bool, int, str]]:
    """Return the sort key of a name, which sorts ``node-2`` before ``node-10``."""
    parts = re.findall(r"\d+|\D+", name)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def digits(number: int) -> str:
    """Return a class's hash as text: 16 hexadecimal digits."""
    return f"{number:016x}"


def number_of(text: str) -> int | None:
    """Parse a hash; return ``None`` if the text is not valid."""
    if len(text) != 16 or not set(text) <= set("0123456789abcdef"):
        return None
    return int(text, 16)


# Why two pods are equivalent, or not


def compared(first: Pod, second: Pod, settings: Settings) -> dict[str, Any]:
    """Return the protocol's answer to ``cache.equivalent``, by the definition that is in force.

    In mode ``sound`` a class by controller is split by the attributes too: no event reports that members
    differ.
    """
    split = settings.cache == "sound"
    force: Definition = "attributes" if settings.equivalence_class == "attributes" else "controller"
    same = equivalent(first, second, force, split=split)
    plain = {definition: equivalent(first, second, definition) for definition in DEFINITIONS}
    found = [] if same else differences(first, second, force, split=split)
    return {
        "equivalent": same,
        "text": _sentence(first, second, force, same=same, found=found, plain=plain, split=split),
        "differences": [{"field": row.field, "first": row.first, "second": row.second} for row in found],
        "definitions": plain,
    }


def _sentence(
    first: Pod,
    second: Pod,
    force: Definition,
    *,
    same: bool,
    found: Sequence[FieldDifference],
    plain: Mapping[Definition, bool],
    split: bool,
) -> str:
    if same:
        text = "The pods are of one class: what a predicate finds on a node for one answers for the other."
    elif force == "controller" and None in (first.meta.controller, second.meta.controller):
        alone = [pod.meta.key for pod in (first, second) if pod.meta.controller is None]
        which = f"{cut(alone[0])} has" if len(alone) == 1 else "The pods have"
        text = f"{which} no controller, and so no equivalence class: the cache is bypassed."
    else:
        text = f"The pods are of two classes: they differ in {_listed(found)}."
    if force == "controller" and split and plain["controller"] and not same:
        return f"{text} Their controller is the same; mode sound tells its templates apart."
    if plain["controller"] == plain["attributes"]:
        return text
    other: Definition = "attributes" if force == "controller" else "controller"
    if same and not split:
        differing = differences(first, second, other)
        return f"{text} By {_by(other)} they would be two: {_listed(differing)} differ."
    if plain[other] and not same:
        return f"{text} By {_by(other)} they would be of one."
    return text


def _by(definition: Definition) -> str:
    return "their attributes" if definition == "attributes" else "their controller"


def _listed(found: Sequence[FieldDifference]) -> str:
    """Return the top-level fields of the paths, each once, as an enumeration."""
    names = list(dict.fromkeys(row.field.partition("[")[0].partition(".")[0] for row in found))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"
