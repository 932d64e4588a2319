"""The published schema of a trace is generated from the types of its line, and says all of it."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from scheduler_core.authoring.examples import Example, examples
from scheduler_core.run.table import simulate
from scheduler_core.run.trace import trace_line
from scheduler_core.run.trace_schema import schema

PUBLISHED = Path(__file__).parents[3] / "docs" / "trace.schema.json"
CELLS = 80  # nodes times cycles of an example
VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_published_schema_is_the_generated_one() -> None:
    """After a change: python -m scheduler_core.run.trace_schema > docs/trace.schema.json."""
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == schema()


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.slug)
def test_every_example_keeps_to_it(example: Example) -> None:
    """The first cycles of each example are valid, whatever scheduler decides them."""
    for cycle in islice(simulate(example.load()), CELLS // (example.counts()[0] + 1)):
        VALIDATOR.validate(json.loads(trace_line(cycle)))


def objects(part: Any) -> list[dict[str, Any]]:
    """Return every object with named fields that a schema describes."""
    if isinstance(part, list):
        return [found for each in part for found in objects(each)]
    if not isinstance(part, dict):
        return []
    own = [part] if isinstance(part.get("properties"), dict) else []
    return own + [found for each in part.values() for found in objects(each)]


def test_no_object_has_more_fields_than_it_names() -> None:
    """Each is closed and requires its fields, except those of some runs only."""
    optional = set()
    for each in objects(schema()):
        assert each["additionalProperties"] is False
        optional |= set(each["properties"]) - set(each["required"])
    assert optional == {
        *(
            "error",
            "scheduler",
            "placements",
            "session",
            "round",
            "timed",
            "happenings",
            "consequences",
            "moves",
        ),
        *("extenders", "view", "descheduling", "queueing"),
        *("release", "profile", "entity", "attempts", "group", "hints", "filed"),  # v1.37
        *("entries", "bytes", "classes", "evictedClasses", "evictedEntries"),
    }
