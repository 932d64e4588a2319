"""Every recorded decision of kube-scheduler v1.37, whole: attempts, preemption, moves of the queue, end."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.schedulers.v1_37.config import IMPLEMENTED
from scheduler_core.schedulers.v1_37.records import answer
from tests.conformance.v1_37_records import COUNTS, comparable, lines

CHUNKS = [(name, start, 40) for name, count in COUNTS.items() for start in range(0, count, 40)]


@pytest.mark.parametrize("name", COUNTS)
def test_no_record_is_missing(name: str) -> None:
    """The files hold as many different records as their description says."""
    names = [json.loads(line)["id"] for line in lines(name)]
    assert len(set(names)) == len(names) == COUNTS[name]


@pytest.mark.parametrize(("name", "start", "count"), CHUNKS)
def test_every_record_matches_whole(name: str, start: int, count: int) -> None:
    """The engine's answer equals the recorded one in every field but the log."""
    records = [json.loads(line) for line in lines(name)[start : start + count]]
    differing = [
        record["id"]
        for record in records
        if json.loads(json.dumps(answer(record)["expect"])) != comparable(record["expect"])
    ]
    assert differing == []


def test_conform_answers_in_order_and_survives_bad_records() -> None:
    """On the command line a bad record is answered with an error and the others are decided as ever."""
    good = [lines("cycles")[3], lines("runs")[4]]
    bad = ['{"id": "a", "objects": 3}\n', "{no json\n", '{"id": "b", "objects": [{"kind": "Pod"}]}\n']
    done = subprocess.run(
        [sys.executable, "-m", "scheduler_core", "conform", "--system", "v1.37"],
        input="".join([good[0], *bad, good[1]]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    first, last = (json.loads(line) for line in good)
    assert answers[0] == {"id": first["id"], "expect": comparable(first["expect"])}
    assert [sorted(one) for one in answers[1:4]] == [["error", "id"]] * 3
    assert [one["id"] for one in answers[1:4]] == ["a", None, "b"]
    assert answers[4] == {"id": last["id"], "expect": comparable(last["expect"])}


FILTERED = {
    "NodeUnschedulable": {"UU"}, "TaintToleration": {"UU"}, "NodeAffinity": {"UU"}, "NodePorts": {"U"},
    "NodeResourcesFit": {"U", "UU"}, "VolumeRestrictions": {"U"}, "NodeVolumeLimits": {"U", "E"},
    "VolumeBinding": {"UU"}, "VolumeZone": {"UU"}, "PodTopologySpread": {"U", "UU"},
    "InterPodAffinity": {"U", "UU"},
    "DynamicResources": {"UU", "E"}, "NodeDeclaredFeatures": {"UU"},
}  # fmt: skip
"""How each plugin's Filter fails nodes in the records: U, UU (unresolvable), E (an error)."""

CODES = {"Unschedulable": "U", "UnschedulableAndUnresolvable": "UU", "Error": "E"}


def test_the_records_cover_every_plugin() -> None:
    """Every plugin fails nodes in each way that it can: agreement with the records says something."""
    found: dict[str, set[str]] = {}
    scoring: set[str] = set()
    for name in COUNTS:
        for record in map(json.loads, lines(name)):
            for cycle in record["expect"]["cycles"]:
                for attempt in cycle["attempts"]:
                    scoring |= attempt["scores"].keys()
                    for status in attempt["failed"].values():
                        found.setdefault(status["plugin"], set()).add(CODES[status["code"]])
    assert found == FILTERED
    assert scoring == set(IMPLEMENTED["score"])


BAD_RECORDS: dict[str, dict[str, Any]] = {
    "objects that are no list": {"objects": {}},
    "an object without a name": {"objects": [{"kind": "Node", "metadata": {}}]},
    "steps that are no list": {"objects": [], "steps": {}},
    "a step that is none": {"objects": [], "steps": [{"do": "dance"}]},
    "a configuration of another version": {
        "objects": [], "config": {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}
    },
    "extenders": {"objects": [], "config": {"extenders": [{"urlPrefix": "http://x"}]}},
    "a plugin at a point that it does not implement": {
        "objects": [],
        "config": {"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodePorts"}]}}}]},
    },
    "a filter without its preparation": {
        "objects": [],
        "config": {"profiles": [{"plugins": {"preFilter": {"disabled": [{"name": "VolumeZone"}]}}}]},
    },
    "a plugin that is unknown": {
        "objects": [], "config": {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Mine"}]}}}]}
    },
    "a scoring strategy that is unknown": {
        "objects": [],
        "config": {"profiles": [{"pluginConfig": [
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "Best"}}}
        ]}]},
    },
    "a quantity that is none": {
        "objects": [{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "x"}}}]
    },
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_a_bad_record_is_answered_by_its_id(case: str) -> None:
    """Whatever is wrong with a record, its answer is its id and a text that is not empty."""
    (found,) = conform_records([json.dumps({"id": "b", **BAD_RECORDS[case]})], system="v1.37")
    assert found["id"] == "b"
    assert found["error"].strip()
    assert "expect" not in found
