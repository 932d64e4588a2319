"""Objects of kinds that scheduling does not read: kept for export, and never a reason to reject a file.

A ConfigMap with a megabyte of text, a CustomResourceDefinition with a schema of ninety levels: if such an
object exceeds a bound on content, it is left out and reported by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.kubernetes.kinds import KINDS

_READ = frozenset(
    [*KINDS, "Policy", "KubeSchedulerConfiguration", "Scenario", "SimulationSettings", "ResourcePatch"]
)
CROWDED = "objects of these kinds are too large to keep"


def matters(kind: Any) -> bool:
    """Return whether scheduling may read a kind; it may for a missing kind and for lists of objects."""
    return not isinstance(kind, str) or kind in _READ or kind.endswith("List")


class Skipped(dict[str, Any]):
    """The remainder of an object that is left out: apiVersion, kind, name and namespace, and the reason."""

    def __init__(self, value: Mapping[str, Any], reason: str) -> None:
        metadata = value.get("metadata")
        named = metadata if isinstance(metadata, Mapping) else {}
        super().__init__({key: value[key] for key in ("apiVersion", "kind") if key in value})
        self["metadata"] = {key: named[key] for key in ("name", "namespace") if key in named}
        self.reason = reason


class ValueTally(Struct):
    """The number of values of a bundle so far: those that are read, and those only kept for export."""

    limits: Limits
    values: int = 0
    kept: int = 0
    written: int = 0  # characters in expanded aliases, as they appear when the documents are written

    def alias(self, characters: int) -> None:
        """Count the characters of an expanded alias. Raises FormatError if there are too many."""
        self.written += characters
        if self.written > self.limits.size:
            most = f"{self.limits.size / 2**20:g} MiB"
            raise FormatError(f"aliases stand for more than {most} of text: expand fewer aliases")

    def __call__(self, number: int) -> None:
        """Count values. Raises FormatError if there are too many."""
        self.values += number
        if self.values > self.limits.values:
            raise self.error()

    def provisionally(self, number: int) -> None:
        """Count values that may turn out to be only kept for export. Raises FormatError."""
        self.values += number
        if self.values > self.limits.values + self.limits.kept:
            raise self.error()

    def keep(self, number: int) -> bool:
        """Count values that are only kept for export; return False if they exceed the bound."""
        if self.kept + number > self.limits.kept:
            return False
        self.kept += number
        return True

    def error(self) -> FormatError:
        """Return the error for too many values."""
        return FormatError(f"more than {self.limits.values:,} values, aliases written out")


def characters(value: Any) -> int:
    """Count the characters of a value's strings, including keys; shared values count each time."""
    size, left = 0, [value]
    while left:
        part = left.pop()
        if isinstance(part, str):
            size += len(part)
        elif isinstance(part, dict):
            size += sum(map(len, part))
            left += part.values()
        elif isinstance(part, list):
            left += part
    return size


def spare(value: Any, tally: ValueTally) -> tuple[Any, int]:
    """Skip a document's objects beyond the bound on kept values; return it, and how many values do not count.

    Objects are the document itself, the items of a list, and those of an object's ``items``.
    """
    if isinstance(value, list):
        return value, _spare_items(value, tally)
    if not isinstance(value, dict):
        return value, 0
    items = value.get("items")
    spared = _spare_items(items, tally) if isinstance(items, list) else 0
    if matters(value.get("kind")):
        return value, spared
    size = size_of(value) - spared
    return (value if tally.keep(size) else Skipped(value, CROWDED)), spared + size


def _spare_items(items: list[Any], tally: ValueTally) -> int:
    spared = 0
    for place, item in enumerate(items):
        if isinstance(item, dict) and not isinstance(item, Skipped) and not matters(item.get("kind")):
            size = size_of(item)
            spared += size
            if not tally.keep(size):
                items[place] = Skipped(item, CROWDED)
    return spared


def size_of(value: Any) -> int:
    """Count the scalars, keys, lists and objects of a value."""
    size, left = 0, [value]
    while left:
        part = left.pop()
        size += 1
        if isinstance(part, dict):
            size += len(part)
            left += part.values()
        elif isinstance(part, list):
            left += part
    return size


def children(level: list[Any]) -> list[Any]:
    """Return the lists and objects directly inside the given ones, each shared one once."""
    found: dict[int, Any] = {}
    for value in level:
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            if isinstance(part, (dict, list)):
                found[id(part)] = part
    return list(found.values())
