"""Every recorded life of a v1.37 cluster, from its creation or from a dump: its timeline and its end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import MethodType
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.cluster.v1_37.go_sort import go_sorted
from scheduler_core.cluster.v1_37.template_hash import template_hash
from scheduler_core.run.living.records import answer, begun, outcome
from scheduler_core.run.living.timeline import Timeline
from scheduler_core.run.living.translation import seconds_of
from scheduler_core.run.several.lone import LoneSimulation

DATA = Path(__file__).parent / "data"
RECORDS, DUMPS = DATA / "life-v1.37.jsonl.gz", DATA / "life-dump-v1.37.jsonl.gz"
MATCHING = {
    "drain": 23, "nodefail": 23, "rollout": 19, "scale": 10, "statefulset": 27, "daemonset": 17, "pdb": 16,
    "preemption": 13, "spread": 9, "volumes": 12, "job": 25, "gc": 12, "minReadySeconds": 9, "priority": 11,
}  # fmt: skip
"""How many of the records with a feature are answered whole: all of them."""


def _records(path: Path = RECORDS) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


#: One after the other in one process: each time such a test is alone, every record is answered for it.
answered_once = pytest.mark.xdist_group("lives")


@pytest.fixture(scope="module")
def matching() -> dict[str, set[str]]:
    """Answer every record; return the features of those that match whole, by id."""
    return {
        record["id"]: set(record["features"])
        for record in _records()
        if json.loads(json.dumps(answer(record)["expect"])) == record["expect"]
    }


@answered_once
@pytest.mark.parametrize("feature", MATCHING)
def test_lives_are_answered_whole(matching: dict[str, set[str]], feature: str) -> None:
    """Timeline and final equal the recorded ones in every life with the feature."""
    assert sum(feature in features for features in matching.values()) == MATCHING[feature]


@answered_once
def test_no_life_differs(matching: dict[str, set[str]]) -> None:
    """The lives of other features match as well."""
    assert [record["id"] for record in _records() if record["id"] not in matching] == []


def _answer(simulation: LoneSimulation, record: dict[str, Any]) -> Any:
    """Return what a run or its copy comes to in the end, in the record's format."""
    for _ in simulation:
        pass
    (observe,) = simulation.plane.observers
    timeline = observe.__self__ if isinstance(observe, MethodType) else None
    assert isinstance(timeline, Timeline)
    return json.loads(json.dumps(outcome(simulation, timeline, seconds_of(record["steps"]))))


def test_a_control_plane_goes_on_from_a_dump() -> None:
    """A fresh control plane on the objects of a cluster that runs does what the real one did."""
    answers = [(record, json.loads(json.dumps(answer(record)["expect"]))) for record in _records(DUMPS)]
    assert [record["id"] for record, found in answers if found != record["expect"]] == []


def test_a_copy_goes_on_as_the_life_that_it_was_copied_from() -> None:
    """Copies of every eighth life, made after some of its cycles, end as the records do, and so does it."""
    for record in _records()[::8]:
        simulation, _ = begun(record)
        copies: list[LoneSimulation] = []
        while simulation.step() is not None:
            if simulation.is_copyable and simulation.index % 7 == 1 and len(copies) < 4:
                copies.append(simulation.fork(trace=False))
        for one in (*copies, simulation):
            assert _answer(one, record) == record["expect"], record["id"]


@pytest.mark.parametrize(("image", "expected"), [("app:1", "df9fd8989"), ("app:2", "d55464b96")])
def test_replica_sets_are_named_as_upstream(image: str, expected: str) -> None:
    """The hash of a template is that of ComputeHash in v1.37.1, as recorded."""
    requests = {"cpu": "500m", "memory": "128Mi"}
    container = {"name": "main", "image": image, "resources": {"requests": requests}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    assert template_hash(template) == expected


def test_a_bad_life_is_answered_with_an_error() -> None:
    """A step or an object that is none gives an error, and the next record is answered."""
    good = _records()[0]
    bad = [{"id": "a", "objects": [], "steps": [{"do": "dance"}]}, {"id": "b", "objects": [{}], "steps": []}]
    lines = [json.dumps(one) for one in (*bad, good)]
    answers = list(conform_records(lines, system="v1.37-life"))
    assert [sorted(one) for one in answers] == [["error", "id"], ["error", "id"], ["expect", "id"]]


def test_equal_pods_come_as_go_sorts_them() -> None:
    """Go's sort.Sort is not stable beyond twelve elements; recorded for twenty of three ranks."""
    state, ranks = 61, []
    for _ in range(20):
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        ranks.append((state >> 8) % 3)
    found = go_sorted(range(20), lambda one, other: ranks[one] - ranks[other])
    assert found == [12, 17, 0, 16, 7, 9, 13, 19, 3, 4, 8, 10, 5, 11, 14, 15, 6, 2, 18, 1]
