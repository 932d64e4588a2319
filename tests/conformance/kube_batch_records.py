"""kube-batch's records: how an answer is compared, and how many records exercise each action and plugin.

``python -m tests.conformance.kube_batch_records`` prints that with the records answered in a second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scheduler_core.schedulers.kube_batch.configuration import ConfigurationError, parse_configuration
from scheduler_core.schedulers.kube_batch.conformance import answer
from tests.conformance.record_files import DATA, print_matches

FILE = DATA / "kube-batch.jsonl.gz"
TOLERANCE = 1e-5
ANY = "*"  # the value varied between the original's runs


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


if __name__ == "__main__":
    sys.exit(bool(print_matches(FILE, answer, problems, exercised)))
