"""Coscheduling against the oracle: on the recorded decisions, and on random clusters that nobody recorded.

``PODSTEP_PROPERTY_RUNS`` says how many random records of each kind there are, for longer runs than the
suite's.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from tests.conformance.gang_oracle import answer
from tests.conformance.gang_oracle.reader import CLASSIC, EDITIONS, least
from tests.conformance.gang_oracle.runs import PACES, outcome
from tests.conformance.gang_records import MAKERS, record, spoil
from tests.conformance.gang_scenarios import crowded, scenario
from tests.core.trials import trials

FILE = Path(__file__).parent / "data" / "coscheduling.jsonl.gz"
RUNS = trials(80)


def engine(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answer records as the command line does."""
    return list(conform_records([json.dumps(one) for one in records], system="coscheduling"))


def differs(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Tell whether the engine's ``expect`` says anything else; a gap's text is Go's print of a map."""
    return found != {name: value for name, value in wanted.items() if value != "resource gap"}


def test_the_oracle_alone_answers_as_recorded() -> None:
    """The plain second reading of the rules gives every recorded decision by itself."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    asked = [one for one in records if one["input"]["kind"] in MAKERS]
    wrong = [one["id"] for one in asked if not one["expect"].items() <= answer(one).items()]
    assert wrong == []
    assert len(asked) == 134


@pytest.mark.parametrize("kind", MAKERS)
def test_engine_and_oracle_agree(kind: str) -> None:
    """On random clusters the two give the same answer, and no answer is the only one there is."""
    records = [record(kind, seed) for seed in range(RUNS)]
    answers = [answer(one) for one in records]
    for asked, wanted, got in zip(records, answers, engine(records), strict=True):
        assert "expect" in got, got
        assert not differs(got["expect"], wanted), f"{asked['id']}: {got['expect']} is not {wanted}"
    assert len({json.dumps(one) for one in answers}) > 1


def test_a_spoilt_record_is_answered_and_the_next_one_too() -> None:
    """Whatever is missing or wrong in a record, its id comes back with a reason or with a decision."""
    errors = 0
    for kind in MAKERS:
        spoilt = [spoil(record(kind, seed), seed) for seed in range(RUNS // 3)]
        for asked, found in zip(spoilt, engine(spoilt), strict=True):
            assert found["id"] == asked.get("id")
            assert sorted(found) in (["error", "id"], ["expect", "id"])
            assert found.get("error", "x").strip()
            errors += "error" in found
    assert errors > RUNS


SCENARIOS = max(RUNS // 8, 12)
PARTED = (27, 127, 184, 336, 369, 485)
"""Seeds on which the two once differed: preemption with room elsewhere, and what gets its turn first."""


def reported(asked: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the engine's ``expect`` of a run and the oracle's."""
    (found,) = engine([asked])
    return found["expect"], outcome(asked)


def ungrouped(pods: list[str]) -> set[str]:
    """Leave out members: which of a group are bound is arbitrary."""
    return {pod for pod in pods if pod.startswith("ns/s")}


def test_the_oracle_alone_plays_the_recorded_runs() -> None:
    """At the recorded scheduler's pace the oracle binds what every real run bound, and what none did not."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        records = [one for one in map(json.loads, file) if one["input"]["kind"] == "scenario"]
    wrong = []
    for one in records:
        found, wanted = outcome(one, runs=2), one["expect"]
        counts = {key: n for key, n in wanted.get("perGroup", {}).items() if n != "*"}
        right = set(wanted["bound"]) <= set(found["bound"]), set(wanted["notBound"]) <= set(found["notBound"])
        if not (all(right) and counts.items() <= found["perGroup"].items()):
            wrong.append(one["id"])
    assert wrong == []
    assert len(records) == 46


@pytest.mark.parametrize("rich", [False, True])
def test_runs_end_as_the_oracle_plays_them(rich: bool) -> None:
    """Whatever luck and pace leave determined of a random cluster's run is so in the engine's run."""
    for seed in (*PARTED, *range(SCENARIOS)):
        found, wanted = reported(scenario(seed, rich=rich))
        counts = {group: n for group, n in wanted["perGroup"].items() if n != "*"}
        assert counts.items() <= found["perGroup"].items(), f"seed {seed}: {found} is not {wanted}"
        if not rich:
            assert ungrouped(wanted["bound"]) <= set(found["bound"]), f"seed {seed}"
            assert ungrouped(wanted["notBound"]) <= set(found["notBound"]), f"seed {seed}"


def test_full_nodes_lose_the_pods_that_the_oracle_takes_away() -> None:
    """By priority, then start time, with victims that are gone already: who is bound and who is evicted."""
    evicted = 0
    for seed in range(SCENARIOS * 3):
        asked = crowded(seed)
        found, wanted = reported(asked)
        there = {f"ns/{o['metadata']['name']}" for o in asked["objects"] if o.get("spec", {}).get("nodeName")}
        assert not there & set(found["bound"]), f"seed {seed}"
        assert ungrouped(wanted["bound"]) <= set(found["bound"]), f"seed {seed}"
        assert ungrouped(wanted["notBound"]) <= set(found["notBound"]), f"seed {seed}"
        counts = {group: n for group, n in wanted["perGroup"].items() if n != "*"}
        assert counts.items() <= found["perGroup"].items(), f"seed {seed}"
        evicted += len(there & set(wanted["notBound"]))
    assert evicted > SCENARIOS


@pytest.mark.parametrize("edition", EDITIONS)
def test_what_holds_at_any_pace_holds_in_the_engine(edition: str) -> None:
    """A group of fewer pods than minMember never runs, and where there is room for all pods all run."""
    for seed in range(SCENARIOS):
        asked = scenario(seed, edition=edition)
        asked["input"]["horizonSeconds"] = 3  # current may try a group that does not fit without a pause
        (found,) = engine([asked])
        counts = found["expect"]["perGroup"]
        groups = {f"ns/{o['metadata']['name']}": o for o in asked["objects"] if o["kind"] == "PodGroup"}
        pods = [o for o in asked["objects"] if o["kind"] == "Pod"]
        for name, group in groups.items():
            size = sum(name[3:] in p["metadata"].get("labels", {}).values() for p in pods)
            assert size >= least(group) or not counts.get(name), f"seed {seed}: {name}"
            if len({p["spec"]["priority"] for p in pods}) == 1:  # nobody is evicted
                assert counts.get(name, 0) == 0 or counts[name] >= least(group), f"seed {seed}: {name}"
        for o in asked["objects"]:
            if o["kind"] == "Node":
                o["status"]["allocatable"] = {"cpu": "500", "pods": "500"}
            if o["kind"] == "PodGroup":
                o["spec"]["minMember"] = 1
        (found,) = engine([asked])
        assert found["expect"]["notBound"] == [], f"seed {seed}"


def test_at_any_pace_some_of_the_engines_runs_are_determined() -> None:
    """What the oracle says of a run at every pace the engine says too, and it is most of what there is."""
    sure = 0
    for seed in range(SCENARIOS // 2):
        asked = scenario(seed, edition=CLASSIC)
        wanted = outcome(asked, 1, PACES)["perGroup"]
        (found,) = engine([asked])
        counts = {group: n for group, n in wanted.items() if n != "*"}
        assert counts.items() <= found["expect"]["perGroup"].items(), f"seed {seed}"
        sure += len(counts) == len(wanted)
    assert sure > SCENARIOS // 4
