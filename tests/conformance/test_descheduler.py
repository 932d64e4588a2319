"""Every recorded run of the descheduler: an answer lies within what the original did in many runs."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.cluster.descheduler.conformance import answer
from tests.conformance.descheduler_records import FILE, problems
from tests.conformance.record_files import read_lines

RECORDS = 618


def records() -> list[dict[str, Any]]:
    """Return all records."""
    return [json.loads(line) for line in read_lines(FILE)]


def test_every_run_is_within_the_record() -> None:
    """Evictions, counts, refusals, order and errors, in both editions."""
    wrong = {one["id"]: found for one in records() if (found := problems(one, answer(one)))}
    assert wrong == {}


def test_no_record_is_missing() -> None:
    """Each strategy of the rules is in at least twenty records."""
    uses = Counter(feature for one in records() for feature in one["features"])
    assert len({one["id"] for one in records()}) == RECORDS
    assert min(uses.values()) >= 18 and len(uses) == 7


EXPECTED = {
    "error": None,
    "evicted": {"a/p": "S"},
    "evictedInSomeRuns": ["a/q"],
    "evictedCount": [1, 2],
    "perNode": {"n": "*"},
    "perStrategy": {"S": 1},
    "refusedByPDB": ["a/r"],
    "refusedByPDBInSomeRuns": ["a/s"],
}
GOOD = {
    "error": None,
    "evicted": {"a/p": "S"},
    "evictedInSomeRuns": [],
    "evictedCount": [1, 1],
    "perNode": {"n": 1},
    "perStrategy": {"S": 1},
    "refusedByPDB": ["a/r"],
    "refusedByPDBInSomeRuns": [],
}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"refusedByPDB": ["a/r", "a/s"]}, []),
        ({"error": "no"}, ["the error is 'no'"]),
        ({"evicted": {}, "evictedCount": [0, 0]}, ["a/p stays", "0 are evicted, not 1 to 2"]),
        ({"evicted": {"a/p": "S", "a/z": "S"}, "evictedCount": [2, 2]}, ["a/z is evicted"]),
        ({"evicted": {"a/p": "T"}}, ["a/p is evicted by T, not S"]),
        ({"evictedCount": [1, 2]}, ["1 are evicted, not 1 to 2"]),
        ({"perStrategy": {"S": 2}}, ["perStrategy is {'S': 2}, not {'S': 1}"]),
        ({"refusedByPDB": []}, ["refused are [], not ['a/r'] and some of ['a/s']"]),
    ],
)
def test_the_comparison_finds_what_is_outside(change: dict[str, Any], found: list[str]) -> None:
    """What varied between the original's runs may be anything that it was, and nothing else may."""
    assert problems({"expect": EXPECTED}, {"expect": {**GOOD, **change}}) == found


def test_conform_survives_bad_records() -> None:
    """A record that cannot be read is answered with an error, and the others as ever."""
    good = read_lines(FILE)[0]
    bad = [
        '{"id": "a"}',
        '{"id": "b", "config": {"policy": "a: [", "implementation": "v0.9.0"}, "objects": []}',
    ]
    first, *failed, last = conform_records([good, *bad, good], system="descheduler")
    assert [sorted(one) for one in failed] == [["error", "id"]] * 2
    assert first == last and problems(json.loads(good), first) == []
