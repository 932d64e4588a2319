"""The engine against the oracle: on the recorded decisions, and on random clusters that nobody recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.cli.conform import decide
from tests.conformance.oracle import Oracle
from tests.conformance.random_records import record

SEEDS = 600
CHUNK = 100


def first_difference(got: dict[str, Any], want: dict[str, Any]) -> str:
    """Say where two ``expect`` objects part, for a failing seed's message."""
    for i, (a, b) in enumerate(zip(got["cycles"], want["cycles"], strict=False)):
        for field in b:
            if a.get(field) != b[field]:
                return f"cycle {i} {b['pod']} {field}: {short(a.get(field))} != {short(b[field])}"
    return f"final: {short(got['final'])} != {short(want['final'])}"


def short(value: Any) -> str:
    """Print enough of a value to see the difference."""
    return json.dumps(value)[:600]


@pytest.mark.parametrize("start", range(0, SEEDS, CHUNK))
def test_engine_decides_as_the_oracle(start: int) -> None:
    """On random clusters the engine and the plain second reading of the rules agree in every field."""
    for seed in range(start, start + CHUNK):
        case = record(seed)
        want = Oracle(case).run()
        got = decide(case)["expect"]
        assert got == want, f"seed {seed}: {first_difference(got, want)}"
