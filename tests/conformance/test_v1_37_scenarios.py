"""Every recorded decision of kube-scheduler v1.37 that a bundle can express, as a scenario."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper, pack, simulate, unpack
from scheduler_core.run.several.lone import LoneStepper
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.scenario.scenario import Scenario
from tests.conformance.v1_37_records import COUNTS
from tests.conformance.v1_37_scenarios import RecordedScenario, records

CHUNKS = [(name, start, 40) for name, count in COUNTS.items() for start in range(0, count, 40)]
EVERY = 5  # of so many records of a chunk, one is simulated in three ways
REFUSED = frozenset(
    (
        "mc-000002 mc-000017 mc-000038 mc-000040 mc-000048 mc-000078 mc-000155 mc-000178 mc-000201 "
        "mc-000227 mc-000257 mc-000269 mc-000280 mc-000311 mc-000326 mc-000346 mc-000366 mc-000371 "
        "mr-000033 mr-000039 mr-000050 mr-000060 mr-000062 mr-000069"
    ).split()
)
"""Records that the API server refuses: two containers on one host port, or a label that is none."""


def recorded(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is compared of each recorded cycle."""
    fields = ("entity", "attempts", "group", "bound", "deleted")
    return [{name: cycle.get(name) for name in fields} for cycle in record["expect"]["cycles"]]


def simulated(simulation: Stepper, end: float) -> list[dict[str, Any]]:
    """Return the same of each cycle of a run up to a second: a record ends while groups back off."""
    out = []
    for cycle in simulation:
        if cycle.time > end:
            break
        kept = release_record(cycle)
        assert kept is not None
        reported = {
            "entity": kept.entity,
            "attempts": [attempt.document() for attempt in kept.attempts],
            "group": kept.group,
            "bound": dict(cycle.decision.placements),
            "deleted": cycle.decision.victims,
        }
        out.append(json.loads(json.dumps(reported)))
    return out


@pytest.mark.parametrize(("name", "start", "count"), CHUNKS)
def test_a_scenario_is_decided_as_the_record_is(name: str, start: int, count: int) -> None:
    """Each attempt, PodGroup, binding and deletion is that of the real scheduler, in every field.

    So it is in the run in which controllers may act, here without any, where no time passes by itself.
    """
    differing = []
    for record in records(name, start, count):
        made = RecordedScenario(record)
        scenario = made.load()
        assert (scenario is None) == (record["id"] in REFUSED), record["id"]
        if scenario is None:
            continue
        expected = recorded(record)
        if simulated(simulate(scenario), made.end) != expected:
            differing.append(record["id"])
        if _takes_time(record):
            continue
        if simulated(LoneStepper(replace(scenario, controllers=False)), made.end) != expected:
            differing.append(f"{record['id']}, in the API server's run")
    assert differing == []


def _takes_time(record: dict[str, Any]) -> bool:
    """Return whether binding a volume takes a second, or a step lets seconds pass without a cycle."""
    kinds = {one["kind"] for one in record["objects"]}
    passes = any(step["do"] == "advance" for step in record.get("steps", ()))
    return passes or bool(kinds & {"PersistentVolume", "StorageClass"})


SHOWN = ("index", "step", "time", "decision", "message", "asked", "order", "operations")


def shown(cycle: Cycle) -> tuple[Any, ...]:
    """Return what a cycle shows whether it is traced or not."""
    totals = None if cycle.totals is None else cycle.totals.tolist()
    return *(getattr(cycle, name) for name in SHOWN), cycle.feasible.tolist(), cycle.ties.tolist(), totals


def continue_packed(packed: bytes, scenario: Scenario | None) -> list[str]:
    """Return the trace of the rest of a run that was packed; ``scenario`` was read again."""
    assert scenario is not None
    simulation = unpack(packed, scenario)
    simulation.record(trace=True)
    return [trace_line(cycle) for cycle in simulation]


@pytest.mark.parametrize(("name", "start", "count"), CHUNKS)
def test_untraced_replayed_and_packed_runs_continue_as_the_traced_one(
    name: str, start: int, count: int
) -> None:
    """Decision, message, feasible nodes and totals are equal, so is the rest of a run after a replay; a run
    that was packed halfway has the rest of the trace.
    """
    differing = []
    for record in list(records(name, start, count))[::EVERY]:
        made = RecordedScenario(record)
        scenario = made.load()
        if scenario is None:
            continue
        traced = simulate(scenario)
        whole = list(traced)
        cycles = [shown(cycle) for cycle in whole]
        half = len(cycles) // 2
        replayed = simulate(scenario, trace=False)
        replayed.replay(traced.decisions[:half])
        packed = pack(replayed)
        untraced = simulate(scenario, trace=False)
        rest, again = ([shown(cycle) for cycle in one] for one in (replayed, untraced))
        continued = [] if packed is None else continue_packed(packed, made.load())
        if again != cycles or rest != cycles[half:] or continued != [trace_line(one) for one in whole[half:]]:
            differing.append(record["id"])
    assert differing == []
