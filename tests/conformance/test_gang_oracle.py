"""Coscheduling against the oracle: on the recorded decisions, and on random clusters that nobody recorded.

``PODSTEP_PROPERTY_RUNS`` says how many random records of each kind there are, for longer runs than the
suite's.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from tests.conformance.gang_oracle import answer
from tests.conformance.gang_records import MAKERS, record

FILE = Path(__file__).parent / "data" / "coscheduling.jsonl.gz"
RUNS = int(os.environ.get("PODSTEP_PROPERTY_RUNS", "150"))


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
