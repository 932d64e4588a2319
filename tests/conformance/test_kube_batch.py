"""Every recorded session of kube-batch, field by field."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.schedulers.kube_batch.configuration import ACTION_NAMES, PLUGIN_NAMES
from scheduler_core.schedulers.kube_batch.conformance import answer, rounded
from tests.conformance.kube_batch_records import FILE, differences, exercised, problems
from tests.conformance.record_files import read_lines

RECORDS = 512
CHUNKS = [(start, 64) for start in range(0, RECORDS, 64)]


def records(start: int = 0, count: int = RECORDS) -> list[dict[str, Any]]:
    """Return some of the records."""
    return [json.loads(line) for line in read_lines(FILE)[start : start + count]]


def test_no_record_is_missing_and_every_part_is_exercised() -> None:
    """Each action and plugin is in at least twenty configurations."""
    assert len({record["id"] for record in records()}) == RECORDS
    uses = Counter(name for record in records() for name in exercised(record))
    parts = [*(f"action {name}" for name in ACTION_NAMES), *(f"plugin {name}" for name in PLUGIN_NAMES)]
    assert min(uses[part] for part in parts) >= 20


@pytest.mark.parametrize(("start", "count"), CHUNKS)
def test_every_session_matches(start: int, count: int) -> None:
    """Binds, evictions, tasks, shares, queues, phases and conditions are those of the original."""
    wrong = {}
    for record in records(start, count):
        if found := problems(record, answer(record)):
            wrong[record["id"]] = found
    assert wrong == {}


@pytest.mark.parametrize(
    ("expected", "found", "reported"),
    [
        ({"a": 1}, {"a": 1.000001}, []),
        ({"a": 1}, {"a": 1.1}, ["/a is 1.1, not 1"]),
        ({"a": "*"}, {}, []),
        ({"a": 1}, {}, ["/a is missing"]),
        ({}, {"a": 1}, ["/a is too many"]),
        ({"a": True}, {"a": 1}, ["/a is 1, not True"]),
        ([{"a": "x"}], [{"a": "y"}], ["[0]/a is 'y', not 'x'"]),
        ([1], [1, 2], [" is [1, 2], not [1]"]),
    ],
)
def test_the_comparison_finds_what_differs(expected: Any, found: Any, reported: list[str]) -> None:
    """Only a value that the record leaves open may be anything."""
    assert list(differences(expected, found)) == reported


def test_conform_answers_in_order_and_survives_bad_records() -> None:
    """On the command line a bad record is answered with an error and the others are decided as ever."""
    good = read_lines(FILE)[:2]
    bad = [
        '{"id": "a"}\n',
        '{"id": "b", "config": {"schedulerConf": 3}, "objects": []}\n',
        '{"id": "c", "config": {"schedulerConf": null}, "objects": {}}\n',
        '{"id": "d", "config": {}, "objects": [{"apiVersion": "v1", "kind": "Pod"}]}\n',
        "{no json\n",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "conform", "--system", "kube-batch"],
        input="".join([good[0], *bad, good[1]]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [sorted(one) for one in answers[1:6]] == [["error", "id"]] * 5
    assert [one["id"] for one in answers[1:6]] == ["a", "b", "c", "d", None]
    for line, found in zip(good, (answers[0], answers[6]), strict=True):
        assert found["id"] == json.loads(line)["id"]
        assert problems(json.loads(line), found) == []


def test_a_record_without_expectation_is_answered() -> None:
    """Records come without ``expect`` too."""
    record = records(0, 1)[0]
    del record["expect"]
    (found,) = conform_records([json.dumps(record)], system="kube-batch")
    assert len(found["expect"]["sessions"]) >= 2


@pytest.mark.parametrize(
    ("share", "written"),
    [(1 / 128, 0.007813), (3 / 128, 0.023438), (9 / 128, 0.070313), (1 / 3, 0.333333), (1.25, 1.25), (0, 0)],
)
def test_shares_are_rounded_half_up(share: float, written: float) -> None:
    """A half of the seventh digit is more than the tolerance where a share is small."""
    assert rounded(share) == written
