"""Recorded lives of a v1.37 cluster: how many are answered whole, by feature. The numbers may only grow."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.run.living.records import answer

RECORDS = Path(__file__).parent / "data" / "life-v1.37.jsonl.gz"
MATCHING = {
    "drain": 23, "nodefail": 23, "rollout": 18, "scale": 10, "statefulset": 27, "daemonset": 17, "pdb": 16,
    "preemption": 13, "spread": 8, "volumes": 12, "job": 25, "gc": 11, "minReadySeconds": 9, "priority": 11,
}  # fmt: skip
"""How many of the records with a feature are answered whole, at least."""


def _records() -> list[dict[str, Any]]:
    with gzip.open(RECORDS, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def matching() -> Counter[str]:
    """Answer every record, and count those that match whole by feature."""
    found: Counter[str] = Counter()
    for record in _records():
        if json.loads(json.dumps(answer(record)["expect"])) == record["expect"]:
            found.update(set(record["features"]))
    return found


@pytest.mark.parametrize("feature", MATCHING)
def test_lives_are_answered_whole(matching: Counter[str], feature: str) -> None:
    """Timeline and final equal the recorded ones, in as many lives as before or more."""
    assert matching[feature] >= MATCHING[feature]


def test_a_bad_life_is_answered_with_an_error() -> None:
    """A step or an object that is none gives an error, and the next record is answered."""
    good = _records()[0]
    bad = [{"id": "a", "objects": [], "steps": [{"do": "dance"}]}, {"id": "b", "objects": [{}], "steps": []}]
    lines = [json.dumps(one) for one in (*bad, good)]
    answers = list(conform_records(lines, system="v1.37-life"))
    assert [sorted(one) for one in answers] == [["error", "id"], ["error", "id"], ["expect", "id"]]
