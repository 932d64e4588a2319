"""kube-batch's records: how an answer is compared, and how many records exercise each action and plugin.

``python -m tests.conformance.kube_batch_records`` prints that with the records answered in a second.
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

from scheduler_core.schedulers.kube_batch.configuration import (
    ACTION_NAMES,
    PLUGIN_NAMES,
    ConfigurationError,
    parse_configuration,
)
from scheduler_core.schedulers.kube_batch.conformance import answer

FILE = Path(__file__).parent / "data" / "kube-batch.jsonl.gz"
TOLERANCE = 1e-5
ANY = "*"  # the value varied between the original's runs


@cache
def lines(path: Path = FILE) -> list[str]:
    """Read the file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.readlines()


def differences(expected: Any, found: Any, path: str = "") -> Iterator[str]:
    """Yield where an answer contradicts the record: a key too many or too few, or another value."""
    if expected == ANY:
        return
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected.keys() | found.keys():
            if expected.get(key) == ANY:
                continue
            if key not in expected or key not in found:
                yield f"{path}/{key} is {'missing' if key in expected else 'too many'}"
            else:
                yield from differences(expected[key], found[key], f"{path}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif _number(expected) and _number(found):
        if abs(expected - found) > TOLERANCE * max(abs(expected), abs(found)):
            yield f"{path} is {found}, not {expected}"
    elif type(expected) is not type(found) or expected != found:
        yield f"{path} is {found!r}, not {expected!r}"


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def problems(record: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return what is wrong with an answer; of a YAML error only that it is one counts."""
    expected, found = record["expect"], found["expect"]
    if "configError" in expected and expected["configError"].startswith("yaml:"):
        return [] if list(found) == ["configError"] else ["there is no error"]
    return list(differences(expected, found))


def exercised(record: dict[str, Any]) -> set[str]:
    """Return the actions and plugins of a record's configuration, and its features."""
    try:
        configuration = parse_configuration(record["config"]["schedulerConf"])
    except ConfigurationError:
        return {"configuration error", *record["features"]}
    actions = {f"action {name}" for name in configuration.actions}
    return {*actions, *(f"plugin {name}" for name in configuration.names()), *record["features"]}


def main(path: Path) -> int:
    """Answer every record of a file and print the table; return how many are wrong."""
    records = [json.loads(line) for line in lines(path)]
    began = time.perf_counter()
    wrong = {record["id"]: found for record in records if (found := problems(record, answer(record)))}
    seconds = time.perf_counter() - began
    uses, failed = Counter[str](), Counter[str]()
    for record in records:
        uses.update(exercised(record))
        failed.update(exercised(record) if record["id"] in wrong else ())
    for name in (
        *(f"action {one}" for one in ACTION_NAMES),
        *(f"plugin {one}" for one in PLUGIN_NAMES),
        *sorted(name for name in uses if not name.startswith(("action ", "plugin "))),
    ):
        print(f"{name:24} {uses[name] - failed[name]:4} of {uses[name]:4} match")
    for name, found in list(wrong.items())[:20]:
        print(name, *found[:3], sep="\n  ")
    rate = len(records) / seconds
    print(f"{len(records) - len(wrong)} of {len(records)} records match; {rate:.0f} records/s")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)))
