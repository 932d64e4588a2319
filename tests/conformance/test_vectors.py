"""Every recorded decision of kube-scheduler v1.11, whole: predicates, scores, choice, preemption, end."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records, decide

DATA = Path(__file__).parent / "data"
COUNTS = {"cycles": 300, "runs": 60}
CHUNKS = [("cycles", start, 50) for start in range(0, 300, 50)] + [
    ("runs", start, 15) for start in range(0, 60, 15)
]


@cache
def lines(name: str) -> list[str]:
    """Read one of the two files."""
    with gzip.open(DATA / f"scheduler-v1.11-{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return file.readlines()


@pytest.mark.parametrize("name", COUNTS)
def test_no_record_is_missing(name: str) -> None:
    """The files hold as many different records as their description says."""
    starts = [re.match(r'\{"id":"([^"]+)"', line) for line in lines(name)]
    assert len({start[1] for start in starts if start}) == len(starts) == COUNTS[name]


@pytest.mark.parametrize(("name", "start", "count"), CHUNKS)
def test_every_record_matches_whole(name: str, start: int, count: int) -> None:
    """The engine's answer equals the recorded one in every field."""
    records = [json.loads(line) for line in lines(name)[start : start + count]]
    differing = [r["id"] for r in records if decide(r) != {"id": r["id"], "expect": r["expect"]}]
    assert differing == []


def test_conform_answers_in_order_and_survives_bad_records() -> None:
    """On the command line a bad record is answered with an error and the others are decided as ever."""
    good = [lines("cycles")[7], lines("cycles")[8]]
    stream = [good[0], "{not json\n", '{"id": "x", "objects": 3}\n', '["no object"]\n', "\n", good[1]]
    stream += ['{"id": NaN, "objects": []}\n', '{"id": "\\ud800", "objects": []}\n']
    done = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "conform"],
        input="".join(stream), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    first, last = (json.loads(line) for line in good)
    assert answers[0] == {"id": first["id"], "expect": first["expect"]}
    assert [sorted(answer) for answer in answers[1:4]] == [["error", "id"]] * 3
    assert answers[2]["id"] == "x"
    assert answers[4] == {"id": last["id"], "expect": last["expect"]}
    assert "error" in answers[5]
    assert answers[6]["id"] == "\ud800"
    assert len(answers) == 7


BAD_RECORDS: dict[str, dict[str, Any]] = {
    "objects are missing": {"id": "b"},
    "an object is no object": {"id": "b", "objects": ["pod"]},
    "a quantity cannot be read": {
        "id": "b",
        "objects": [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n"},
                "status": {"allocatable": {"cpu": "4x"}},
            }
        ],
    },
    "a policy names an unknown predicate": {
        "id": "b",
        "objects": [],
        "policy": {"predicates": [{"name": "Nope"}]},
    },
    "a policy is a list": {"id": "b", "objects": [], "policy": []},
}


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_a_bad_record_is_answered_by_its_id(case: str) -> None:
    """Whatever is wrong with a record, its answer is its id and a text that is not empty."""
    (answer,) = conform_records([json.dumps(BAD_RECORDS[case])])
    assert answer["id"] == "b"
    assert answer["error"].strip()
    assert "expect" not in answer
