"""The engine against the oracle: on the recorded decisions, and on random clusters that nobody recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.cli.conform import decide
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import conformance_cycle
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.settings import Settings
from tests.conformance.oracle import Oracle
from tests.conformance.oracle.corrected import FixedOracle
from tests.conformance.random_records import record
from tests.core.engine.quirk_clusters import quirky
from tests.core.trials import trials

SEEDS, FIXED_SEEDS, QUIRKY = trials(150), trials(100), trials(60)
CHUNK = 50


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


def decide_fixed(scenario: Scenario, policy: Document | None) -> dict[str, Any]:
    """Run a record with the quirks fixed, and return what ``decide`` would."""
    settings = Settings(quirks="fixed")
    simulation = Simulation(replace(scenario, policy=policy, settings=settings), unabridged=True)
    cycles = [conformance_cycle(cycle) for cycle in simulation]
    bound = {d.pod: d.node for d in simulation.decisions if d.result == "scheduled"}
    pending = [key for key, node in simulation.placement().items() if not node]
    return {"cycles": cycles, "final": {"bound": bound, "pending": pending, "deleted": simulation.deleted}}


@pytest.mark.parametrize("start", range(0, FIXED_SEEDS, CHUNK))
def test_engine_decides_as_the_oracle_with_quirks_fixed(start: int) -> None:
    """Where quirks are fixed the two agree as well, on what the documentation promises."""
    for seed in range(start, start + CHUNK):
        case = record(seed)
        want = FixedOracle(case).run()
        loaded = load_documents(case["objects"], expand=False, admission=False)
        got = decide_fixed(loaded, case["policy"])
        assert got == want, f"seed {seed}: {first_difference(got, want)}"


def test_engine_and_oracle_agree_where_quirks_abound() -> None:
    """So do they on clusters made of what quirks are about, in force and fixed."""
    for seed in range(QUIRKY):
        cluster = quirky(seed)
        case = {"id": str(seed), "objects": list(cluster.documents), "policy": cluster.policy}
        want, fixed = Oracle(case).run(), FixedOracle(case).run()
        got, right = decide(case)["expect"], decide_fixed(cluster, cluster.policy)
        assert got == want, f"seed {seed}: {first_difference(got, want)}"
        assert right == fixed, f"seed {seed}, fixed: {first_difference(right, fixed)}"
