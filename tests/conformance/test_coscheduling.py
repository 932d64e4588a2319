"""Every recorded decision of Coscheduling, both editions: extension points, controller, whole runs."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.cli.coscheduling_records import ANSWERS, answer

FILE = Path(__file__).parent / "data" / "coscheduling.jsonl.gz"
COUNTS = {
    "args": 3, "clusterResource": 2, "controller": 31, "less": 34, "permit": 15, "postBind": 1,
    "postFilter": 23, "preFilter": 25, "scenario": 46,
}  # fmt: skip
WRONG_RECORDS: dict[str, str] = {}
"""Derived records that are wrong, by id, each with the section of the description that says so."""


@cache
def lines() -> list[str]:
    """Read the file."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return file.readlines()


def records(kind: str) -> list[dict[str, Any]]:
    """Return the records of one kind."""
    return [record for record in map(json.loads, lines()) if record["input"]["kind"] == kind]


def test_no_record_is_missing() -> None:
    """The file holds as many records of each kind as are answered, and no kind besides."""
    assert Counter(json.loads(line)["input"]["kind"] for line in lines()) == COUNTS
    assert set(ANSWERS) == set(COUNTS)


@pytest.mark.parametrize("kind", [kind for kind in COUNTS if kind != "scenario"])
def test_every_decision_matches(kind: str) -> None:
    """Whatever a record states of a decision, the plugin decides; a message left open may be reported."""
    differing = {}
    for record in records(kind):
        expected, found = record["expect"], answer(record)["expect"]
        reported = {"message": found["message"]} if "message" in found and "message" not in expected else {}
        if found != {**expected, **reported}:
            differing[record["id"]] = found
    assert differing.keys() == {key for key in WRONG_RECORDS if key.endswith(kind)}


@pytest.mark.parametrize("source", ["original-run", "integration-test"])
def test_every_run_ends_as_recorded(source: str) -> None:
    """What was bound in every real run is bound, what was in none is not, and each group has its number."""
    differing = {}
    for record in records("scenario"):
        if record["source"] != source:
            continue
        expected, found = record["expect"], answer(record)["expect"]
        groups = {key: n for key, n in expected.get("perGroup", {}).items() if n != "*"}
        if (
            not set(expected["bound"]) <= set(found["bound"])
            or not set(expected["notBound"]) <= set(found["notBound"])
            or not groups.items() <= found.get("perGroup", {}).items()
        ):
            differing[record["id"]] = found
    assert differing == {}


def test_a_run_answers_for_every_pod_in_creation_order() -> None:
    """Bound and unbound pods together are all pods; members are counted for groups in order of appearance."""
    record = next(record for record in records("scenario") if record["id"] == "cos-s-run-009")
    pods = [f"ns/{o['metadata']['name']}" for o in record["objects"] if o["kind"] == "Pod"]
    found = answer(record)["expect"]
    assert sorted(found["bound"] + found["notBound"]) == sorted(pods)
    assert found["bound"] == [pod for pod in pods if pod in found["bound"]]
    assert list(found["perGroup"]) == ["ns/g1", "ns/g2", "ns/g0"]


def test_conform_answers_in_order_and_survives_bad_records() -> None:
    """On the command line a bad record is answered with an error and the others are decided as ever."""
    good = [lines()[0], lines()[1]]
    bad = [
        '{"id": "a", "objects": []}\n',
        '{"id": "b", "input": {"kind": "nope"}, "config": {}}\n',
        "{no json\n",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "conform", "--system", "coscheduling"],
        input="".join([good[0], *bad, good[1]]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    first, last = (json.loads(line) for line in good)
    assert answers[0] == {"id": first["id"], "expect": first["expect"]}
    assert [sorted(one) for one in answers[1:4]] == [["error", "id"]] * 3
    assert [one["id"] for one in answers[1:4]] == ["a", "b", None]
    assert answers[4] == {"id": last["id"], "expect": last["expect"]}


CONFIG = {"implementation": "v0.22.6", "args": {}}
BAD_RECORDS: dict[str, dict[str, Any]] = {
    "an unknown implementation": {
        "config": {"implementation": "v9"}, "input": {"kind": "args"}, "objects": []
    },
    "an unknown kind": {"config": CONFIG, "input": {"kind": "score"}, "objects": []},
    "a kind that is a list": {"config": CONFIG, "input": {"kind": []}, "objects": []},
    "objects that are no list": {"config": CONFIG, "input": {"kind": "permit"}, "objects": {}},
    "no pod": {"config": CONFIG, "input": {"kind": "permit"}, "objects": []},
    "a pod that is a node": {
        "config": CONFIG,
        "input": {"kind": "permit", "pod": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}},
        "objects": [],
    },
    "a group that is not there": {
        "config": CONFIG, "input": {"kind": "controller", "podGroup": "ns/g"}, "objects": []
    },
    "arguments of the other edition": {
        "config": {**CONFIG, "args": {"podGroupBackoffSeconds": 3}},
        "input": {"kind": "scenario"},
        "objects": [],
    },
    "a horizon without end": {
        "config": CONFIG, "input": {"kind": "scenario", "horizonSeconds": 1e12}, "objects": []
    },
    "a horizon that is no number": {
        "config": CONFIG, "input": {"kind": "scenario", "horizonSeconds": "x"}, "objects": []
    },
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_a_bad_record_is_answered_by_its_id(case: str) -> None:
    """Whatever is wrong with a record, its answer is its id and a text that is not empty."""
    (found,) = conform_records([json.dumps({"id": "b", **BAD_RECORDS[case]})], system="coscheduling")
    assert found["id"] == "b"
    assert found["error"].strip()
    assert "expect" not in found
