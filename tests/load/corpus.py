"""Good bundles to start from: every example and golden bundle, records of v1.37, and shapes of every kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from scheduler_core.authoring.examples import examples
from tests.conformance.v1_37_scenarios import RecordedScenario, records
from tests.parts import REPOSITORY

SHAPES = Path(__file__).parent / "shapes"
GOLDEN = REPOSITORY / "tests" / "playground" / "data"
LONGEST = 40_000  # characters of a bundle: a larger one is mutated no better, only slower
RECORDS = {"cycles": 60, "runs": 30, "gang": 30}  # how many of each file

Documents = list[dict[str, Any]]


@cache
def starts() -> tuple[Documents, ...]:
    """Return the documents of every bundle, in a fixed order."""
    return tuple(found for found in _found() if len(json.dumps(found)) <= LONGEST)


def _found() -> Iterator[Documents]:
    for path in (*sorted(SHAPES.glob("*.yaml")), *sorted(GOLDEN.glob("*.yaml"))):
        yield _read(path.read_text())
    for example in examples():
        text = example.read()
        if len(text) <= LONGEST:
            yield _read(text)
    for name, count in RECORDS.items():
        yield from (RecordedScenario(one).documents for one in records(name, count=count))


def _read(text: str) -> Documents:
    """Return the documents of a text, lists of manifests being taken apart, as JSON has them."""
    out: Documents = []
    for one in yaml.load_all(text, _Plain):
        if isinstance(one, dict):
            out += one["items"] if one.get("kind") == "List" else [one]
    return out


class _Plain(yaml.SafeLoader):
    """Reads times as texts, as JSON would have them."""


_Plain.yaml_implicit_resolvers = {
    first: [row for row in rows if row[0] != "tag:yaml.org,2002:timestamp"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
