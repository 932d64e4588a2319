"""Every recorded decision of kube-scheduler v1.35 and v1.36, whole, and that their differences matter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.run import simulate
from scheduler_core.schedulers.v1_37.records import answer
from scheduler_core.schedulers.v1_37.releases import DIALECTS
from tests.conformance.record_files import DATA, read_lines
from tests.conformance.test_v1_37_scenarios import recorded, simulated
from tests.conformance.v1_37_records import comparable
from tests.conformance.v1_37_scenarios import RecordedScenario

EVERY = 4  # of so many records one is simulated as a scenario
COUNTS = {
    ("v1.35", "cycles"): 200,
    ("v1.35", "runs"): 81,
    ("v1.36", "cycles"): 200,
    ("v1.36", "runs"): 50,
}


def lines(release: str, name: str) -> list[str]:
    """Read one of the files."""
    return read_lines(DATA / f"scheduler-{release}-{name}.jsonl.gz")


@pytest.mark.parametrize(("release", "name"), COUNTS)
def test_every_record_matches_whole(release: str, name: str) -> None:
    """The answer of ``conform --system`` equals the recorded one in every field but the log."""
    records = [json.loads(line) for line in lines(release, name)]
    assert len({record["id"] for record in records}) == COUNTS[release, name]
    answers = conform_records(lines(release, name), system=release)
    differing = [
        record["id"]
        for record, made in zip(records, answers, strict=True)
        if json.loads(json.dumps(made.get("expect"))) != comparable(record["expect"])
    ]
    assert differing == []


@pytest.mark.parametrize(("release", "name"), COUNTS)
def test_a_scenario_is_decided_as_the_record_is(release: str, name: str) -> None:
    """So is what a visitor pastes with ``scheduler`` in its settings: attempts, bindings, deletions."""
    differing, refused = [], 0
    for line in lines(release, name)[::EVERY]:
        record = json.loads(line)
        made = RecordedScenario(record)
        scenario = made.load()
        refused += scenario is None
        if scenario is not None and simulated(simulate(scenario), made.end) != recorded(record):
            differing.append(record["id"])
    assert differing == []
    assert refused < 6, "two containers on one host port, or a label that is none"


def test_the_same_inputs_are_decided_otherwise() -> None:
    """Most records of a release are not answered by another one, so that agreement says something."""
    records = [json.loads(line) for line in lines("v1.35", "cycles")[:40]]
    later = [answer(record, DIALECTS["v1.37"])["expect"] for record in records]
    assert sum(json.loads(json.dumps(one)) != comparable(r["expect"]) for one, r in zip(later, records)) > 30


def test_what_a_release_has_otherwise_is_refused_by_name() -> None:
    """Groups of v1.36 are of another API than those that are simulated: such a record is not answered."""
    record: dict[str, Any] = {"id": "g", "featureGates": {"GenericWorkload": True}, "objects": []}
    (made,) = conform_records([json.dumps(record)], system="v1.36")
    assert made == {"id": "g", "error": "featureGates.GenericWorkload is not implemented"}
