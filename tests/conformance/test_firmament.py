"""Every recorded round of Firmament, field by field."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.schedulers.firmament.conformance import answer
from tests.conformance.firmament_records import FILE, differences, problems
from tests.conformance.record_files import read_lines

RECORDS = 251
CHUNKS = [(start, 84) for start in range(0, RECORDS, 84)]


def records(start: int = 0, count: int = RECORDS) -> list[dict[str, Any]]:
    """Return some of the records."""
    return [json.loads(line) for line in read_lines(FILE)[start : start + count]]


def test_no_record_is_missing() -> None:
    """The file is whole."""
    assert len({record["id"] for record in records()}) == RECORDS


@pytest.mark.parametrize(("start", "count"), CHUNKS)
def test_every_round_matches(start: int, count: int) -> None:
    """Arcs, costs, placements, gangs and overcommitted nodes are those of the original."""
    wrong = {}
    for record in records(start, count):
        if found := problems(record, answer(record)):
            wrong[record["id"]] = found
    assert wrong == {}


@pytest.mark.parametrize(
    ("expected", "found", "wrong"),
    [
        ({"a": [1, 3]}, {"a": 2}, []),
        ({"a": [1, 3]}, {"a": 4}, ["/a is 4, not within [1, 3]"]),
        ({"a": [0, 3]}, {}, []),
        ({"a": [1, 3]}, {}, ["/a is missing"]),
        ({}, {"a": 1}, ["/a is too many"]),
        ({"a": True}, {"a": 1}, ["/a is 1, not True"]),
        ({"a": [1, 2, 3]}, {"a": [1, 2, 4]}, ["/a is [1, 2, 4], not [1, 2, 3]"]),
    ],
)
def test_the_comparison_finds_what_differs(expected: Any, found: Any, wrong: list[str]) -> None:
    """Only what some optimum reaches is right."""
    assert list(differences(expected, found)) == wrong


CONFIG: dict[str, Any] = {"schedulerName": "poseidon", "flow_scheduling_cost_model": 10}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {
                "kind": "available",
                "capacity_cpu_milli": 1000,
                "cpu_utilization": 0.5,
                "memory_capacity_units": 32000,
                "memory_utilization": 0.25,
            },
            {"available_cpu_milli": 500, "available_memory_units": 24000},
        ),
        (
            {
                "kind": "nodeRequirements",
                "labels": {"a": "1", "gen": "5"},
                "requirements": [
                    {"key": "gen", "operator": "Gt", "values": ["4"]},
                    {"key": "b", "operator": "NotIn", "values": ["1"]},
                ],
            },
            {"match": True},
        ),
    ],
)
def test_single_facts(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Facts that need no round are answered from ``input``."""
    assert answer({"id": "x", "config": CONFIG, "objects": [], "input": given})["expect"] == expected


def test_conform_answers_in_order_and_survives_bad_records() -> None:
    """On the command line a bad record is answered with an error and the others are decided as ever."""
    good = read_lines(FILE)[:2]
    bad = [
        '{"id": "a"}\n',
        '{"id": "b", "config": {"flow_scheduling_cost_model": 6}, "objects": []}\n',
        '{"id": "c", "config": {}, "objects": {}}\n',
        '{"id": "d", "config": {}, "objects": [{"apiVersion": "v1", "kind": "Pod"}]}\n',
        '{"id": "e", "config": {}, "objects": [], "input": {"kind": "x"}}\n',
        "{no json\n",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "conform", "--system", "firmament"],
        input="".join([good[0], *bad, good[1]]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [sorted(one) for one in answers[1:7]] == [["error", "id"]] * 6
    for line, found in zip(good, (answers[0], answers[7]), strict=True):
        assert found["id"] == json.loads(line)["id"]
        assert problems(json.loads(line), found) == []


def test_a_record_without_expectation_is_answered() -> None:
    """Records come without ``expect`` too."""
    record = next(one for one in records() if one["source"] == "original-costs")
    del record["expect"]
    (found,) = conform_records([json.dumps(record)], system="firmament")
    assert {"solver", "arcs", "bound"} <= found["expect"].keys()
