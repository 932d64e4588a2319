"""Every recorded cluster of Kueue v0.17: cycles, queues, conditions, events and Jobs to the byte."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.cluster.kueue.conformance import answer
from tests.conformance.kueue_records import FILE, problems
from tests.conformance.record_files import read_lines

RECORDS = 250


def records() -> list[dict[str, Any]]:
    """Return all records."""
    return [json.loads(line) for line in read_lines(FILE)]


def test_every_record_matches() -> None:
    """Heads, flavors, targets, messages, events, usage, Workloads and Jobs are the original's."""
    wrong = {one["id"]: found for one in records() if (found := problems(one, answer(one)))}
    assert wrong == {}


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
