"""Kueue's records: where an answer differs from what the original did.

``python -m tests.conformance.kueue_records`` prints what differs, and the records answered in a second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from scheduler_core.run.living.queue_records import answer
from tests.conformance.record_files import DATA, print_matches

FILE = DATA / "kueue.jsonl.gz"


def problems(record: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return where an answer differs from the record; of a restless one, what comes before the end."""
    if "error" in found:
        return [f"it is not answered: {found['error']}"]
    pairs = zip_longest(record["expect"]["steps"], found["expect"]["steps"])
    return [
        f"step {index}: {text}"
        for index, (wanted, got) in enumerate(pairs)
        for text in _differences(wanted, got)
    ]


def _differences(wanted: dict[str, Any] | None, got: dict[str, Any] | None) -> Iterator[str]:
    if wanted is None or got is None:
        yield "is missing" if got is None else "is too much"
        return
    for name in sorted(wanted.keys() | got.keys()):
        one, other = _comparable(name, wanted.get(name)), _comparable(name, got.get(name))
        if one != other:
            yield f"{name}: {_first(one, other)}"


def _comparable(name: str, part: Any) -> Any:
    """Return a part as it is compared: events by object, refused objects without their texts."""
    if name == "rejected":
        return sorted(text.partition(":")[0] for text in part or ())
    if name != "events":
        return part
    by_object: dict[str, list[Any]] = {}
    for about, *rest in part or ():
        by_object.setdefault(about, []).append(rest)
    return by_object


def _first(wanted: Any, got: Any, path: str = "") -> str:
    """Return the first place where two parts differ."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        key = next(key for key in [*wanted, *got] if wanted.get(key) != got.get(key))
        return _first(wanted.get(key), got.get(key), f"{path}.{key}")
    if isinstance(wanted, list) and isinstance(got, list):
        rows = enumerate(zip_longest(wanted, got))
        index, (one, other) = next(row for row in rows if row[1][0] != row[1][1])
        return _first(one, other, f"{path}[{index}]")
    return f"{path} is {got!r}, not {wanted!r}"


if __name__ == "__main__":
    sys.exit(print_matches(FILE, answer, problems))
