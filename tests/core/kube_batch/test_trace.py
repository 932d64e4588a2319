"""A session in a line of the trace: docs/trace.schema.json has every step with every field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import jsonschema
import msgspec
import pytest

from scheduler_core.kubernetes.plain import plain
from scheduler_core.run.trace import trace_line
from scheduler_core.schedulers.kube_batch import record
from scheduler_core.schedulers.kube_batch.record import SessionRecord
from tests.core.kube_batch.parts import group, members, node, queue
from tests.core.kube_batch.test_record import preemption, recorded
from tests.core.timed.parts import ended
from tests.core.timed.test_kube_batch import PREEMPTING

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "trace.schema.json").read_text())
SESSION = {"$ref": "#/$defs/SessionRecord", "$defs": SCHEMA["$defs"]}


def test_the_schema_has_every_step_with_its_fields() -> None:
    """By the name that the step has in the trace, and with a sentence on what happened."""
    for cls in get_args(record.Step):
        written = SCHEMA["$defs"][cls.__name__]
        fields = {one.encode_name for one in msgspec.structs.fields(cls)}
        assert set(written["required"]) == set(written["properties"]) == {"step", *fields}, cls
        assert written["properties"]["step"]["enum"] == [cls.__struct_config__.tag]
        assert written["description"].endswith(".")


@pytest.mark.parametrize(
    "found",
    [
        preemption(2),
        preemption(3),
        recorded(node("n", 1), group("g", 2), members("g", 2), group("lost", queue="nowhere")),
        recorded(node("n", 8, 8), queue("a"), group("ga", queue="a"), members("ga", 1)),
        recorded(node("n"), group("g", 3), members("g", 2)),
    ],
)
def test_sessions_follow_the_schema(found: SessionRecord) -> None:
    """With every step, in order."""
    written = plain(found)
    jsonschema.validate(written, SESSION)
    assert [step["step"] for step in written["steps"]] == [
        type(step).__struct_config__.tag for step in found.steps
    ]


def test_a_cycle_that_is_a_session_has_it_in_its_line() -> None:
    """With what it evicted and bound."""
    _, cycles = ended(*PREEMPTING)
    first, second = (json.loads(trace_line(cycle)) for cycle in cycles)
    for line in (first, second):
        jsonschema.validate(line, SCHEMA)
    assert len(first["session"]["evicted"]) == 1
    assert (first["session"]["bound"], second["session"]["bound"]) == ({}, {"default/h": "n1"})
