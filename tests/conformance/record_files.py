"""Files of records of an original, and the table of how many of each feature are matched."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
Record = dict[str, Any]


@cache
def read_lines(path: Path) -> list[str]:
    """Read a file of records."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.readlines()


def print_matches(
    default: Path,
    answer: Callable[[Record], Record],
    problems: Callable[[Record, Record], list[str]],
    features: Callable[[Record], Iterable[str]] = lambda record: record["features"],
) -> int:
    """Answer the records of the file that the command line names, and print a line for each feature.

    Return how many records are wrong.
    """
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    records = [json.loads(line) for line in read_lines(path)]
    began = time.perf_counter()
    wrong = {record["id"]: found for record in records if (found := problems(record, answer(record)))}
    seconds = time.perf_counter() - began
    uses, failed = Counter[str](), Counter[str]()
    for record in records:
        uses.update(features(record))
        failed.update(features(record) if record["id"] in wrong else ())
    for name in sorted(uses):
        print(f"{name:24} {uses[name] - failed[name]:4} of {uses[name]:4} match")
    for name, found in list(wrong.items())[:20]:
        print(name, *found[:3], sep="\n  ")
    rate = len(records) / seconds
    print(f"{len(records) - len(wrong)} of {len(records)} records match; {rate:.0f} records/s")
    return len(wrong)
