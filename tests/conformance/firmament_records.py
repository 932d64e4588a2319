"""Firmament's records: how an answer is compared, and how many records each feature has.

``python -m tests.conformance.firmament_records`` prints that with the records answered in a second.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.schedulers.firmament.conformance import answer

FILE = Path(__file__).parent / "data" / "firmament.jsonl.gz"
WHOLE = "original-costs"  # the source of records that list every field


@cache
def lines(path: Path = FILE) -> list[str]:
    """Read the file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.readlines()


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


def main(path: Path) -> int:
    """Answer every record of a file and print the table; return how many are wrong."""
    records = [json.loads(line) for line in lines(path)]
    began = time.perf_counter()
    wrong = {record["id"]: found for record in records if (found := problems(record, answer(record)))}
    seconds = time.perf_counter() - began
    uses, failed = Counter[str](), Counter[str]()
    for record in records:
        uses.update(record["features"])
        failed.update(record["features"] if record["id"] in wrong else ())
    for name in sorted(uses):
        print(f"{name:24} {uses[name] - failed[name]:4} of {uses[name]:4} match")
    for name, found in list(wrong.items())[:20]:
        print(name, *found[:3], sep="\n  ")
    rate = len(records) / seconds
    print(f"{len(records) - len(wrong)} of {len(records)} records match; {rate:.0f} records/s")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)))
