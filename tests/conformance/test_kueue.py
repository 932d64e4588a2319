"""Every recorded cluster of Kueue v0.17: cycles, queues, conditions, events and Jobs to the byte."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.cluster.kueue import conformance
from scheduler_core.run import simulate
from scheduler_core.run.living.queue_records import answer, why_played
from scheduler_core.run.living.queue_translation import documents_of
from scheduler_core.run.several.lone import LoneSimulation
from scheduler_core.scenario.load import load_documents
from tests.conformance.kueue_records import FILE, problems
from tests.conformance.record_files import read_lines

RECORDS = 250


def records() -> list[dict[str, Any]]:
    """Return all records."""
    return [json.loads(line) for line in read_lines(FILE)]


def test_every_record_matches() -> None:
    """Heads, flavors, targets, messages, events, usage, Workloads and Jobs of users' runs are the original's.

    Only records that meet a controller that the recorder lacks are played by the engine alone.
    """
    wrong, why = {}, Counter[str]()
    for one in records():
        played = conformance.answer(one)
        why[why_played(one, played["expect"]["steps"])] += 1
        if found := problems(one, played) + problems(one, answer(one)):
            wrong[one["id"]] = found
    assert wrong == {}
    assert why == {
        "": 240,
        "the node controller taints a node that is not ready": 9,
        "the recorder broke off a run without rest": 1,
    }


def test_workloads_that_preempt_each_other_come_to_rest() -> None:
    """A loop of the original ends while nobody else writes, and is named."""
    (record,) = (one for one in records() if one["id"] == "kueue-000053")
    settings, *rest = documents_of(record, (1.0, 2.0, 3.0))
    simulation = simulate(load_documents([{**settings, "until": None}, *rest]), trace=False)
    assert isinstance(simulation, LoneSimulation) and simulation.kueue is not None
    simulation.kueue.stop_seconds = record["stopSeconds"]
    list(simulation)
    assert simulation.kueue.restless and simulation.kueue.count <= 1_000


def test_no_record_is_missing() -> None:
    """All records are there, with hierarchies, fair sharing, topologies and Jobs among them."""
    uses = Counter(feature for one in records() for feature in one["features"])
    assert len({one["id"] for one in records()}) == RECORDS
    assert min(uses[name] for name in ("hierarchy", "fairSharing", "tas", "job", "minCount")) >= 20


@pytest.mark.parametrize(
    ("part", "change", "found"),
    [
        ("t", 9, "t:  is 9, not 1"),
        ("queues", {}, "queues: .q is None, not {'active': []}"),
        ("events", [["Workload a", "x"], ["Job b", "z"]], "events: .Job b[0][0] is 'z', not 'y'"),
        ("events", [["Job b", "y"], ["Workload a", "x"]], ""),
        ("rejected", ["Cohort c: another text"], ""),
        ("rejected", [], "rejected: [0] is None, not 'Cohort c'"),
    ],
)
def test_the_comparison_finds_what_differs(part: str, change: Any, found: str) -> None:
    """Events count in order for each object alone, and refused objects without their texts."""
    expected = {
        "t": 1,
        "queues": {"q": {"active": []}},
        "events": [["Workload a", "x"], ["Job b", "y"]],
        "rejected": ["Cohort c: text"],
    }
    record, got = ({"expect": {"steps": [one]}} for one in (expected, {**expected, part: change}))
    assert problems(record, got) == ([f"step 0: {found}"] if found else [])


def test_conform_survives_bad_records() -> None:
    """A record that cannot be read is answered with an error, and the others as ever."""
    good = read_lines(FILE)[0]
    bad = ['{"id": "a"}', '{"id": "b", "objects": [], "steps": 3}']
    first, *failed, last = conform_records([good, *bad, good], system="kueue")
    assert [sorted(one) for one in failed] == [["error", "id"]] * 2
    assert first == last and problems(json.loads(good), first) == []
