"""Firmament's records: how an answer is compared, and how many records each feature has.

``python -m tests.conformance.firmament_records`` prints that with the records answered in a second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scheduler_core.schedulers.firmament.conformance import answer
from tests.conformance.record_files import DATA, print_matches

FILE = DATA / "firmament.jsonl.gz"
WHOLE = "original-costs"  # the source of records that list every field


def differences(expected: Any, found: Any, path: str = "", *, whole: bool = True) -> Iterator[str]:
    """Yield where an answer contradicts the record; ``whole``: it may have no further fields.

    A pair instead of a number is the range of what optimal solutions have.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected.keys() | found.keys():
            if key not in expected:
                if whole:
                    yield f"{path}/{key} is too many"
            elif key in found:
                yield from differences(expected[key], found[key], f"{path}/{key}", whole=whole)
            elif not (_is_range(expected[key]) and expected[key][0] == 0):  # a node with 0 is omitted
                yield f"{path}/{key} is missing"
    elif _is_range(expected) and isinstance(found, int):
        if not expected[0] <= found <= expected[1]:
            yield f"{path} is {found}, not within {expected}"
    elif type(expected) is not type(found) or expected != found:
        yield f"{path} is {found!r}, not {expected!r}"


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value)


def problems(record: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return what is wrong with an answer."""
    whole = record["source"] == WHOLE
    return list(differences(record["expect"], found["expect"], whole=whole))


if __name__ == "__main__":
    sys.exit(bool(print_matches(FILE, answer, problems)))
