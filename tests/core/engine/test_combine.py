"""What the Cycle carries of the priorities: the kind, map, reduced and weighted values, and Combine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import conformance_cycle, trace_cycle
from scheduler_core.scenario.load import load_documents
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_11.scores import combine
from tests.conformance.random_records import record
from tests.core.trials import trials

KINDS = {
    "SelectorSpreadPriority": "map/reduce",
    "ServiceSpreadingPriority": "map/reduce",
    "InterPodAffinityPriority": "function",
    "LeastRequestedPriority": "map",
    "MostRequestedPriority": "map",
    "RequestedToCapacityRatioPriority": "map",
    "BalancedResourceAllocation": "map",
    "NodePreferAvoidPodsPriority": "map",
    "NodeAffinityPriority": "map/reduce",
    "TaintTolerationPriority": "map/reduce",
    "ImageLocalityPriority": "map",
    "EqualPriority": "map",
    "ResourceLimitsPriority": "map",
}


def ranked(seeds: range) -> Iterator[Cycle]:
    """Yield the cycles of random clusters that ranked nodes by at least one priority."""
    for seed in seeds:
        case = record(seed)
        read = load_documents(case["objects"], expand=False, admission=False)
        for cycle in Simulation(replace(read, policy=case["policy"])):
            if cycle.priorities:
                yield cycle


def test_each_priority_is_of_the_kind_that_v1_11_has_it_in() -> None:
    """Only inter-pod affinity is a Function in v1.11, and four priorities have a Reduce (defaults.go)."""
    assert {name: priority.kind for name, priority in PRIORITIES.items()} == KINDS


@pytest.mark.parametrize("start", range(0, trials(30), 30))
def test_combine_of_all_rows_is_the_totals(start: int) -> None:
    """Each node's total is the sum of its column, each row is what its kind says; the best ones tie."""
    seen = set()
    for cycle in ranked(range(start, start + 30)):
        assert cycle.totals is not None
        rows = cycle.priorities
        zero = np.zeros(len(cycle.feasible), np.int64)
        assert combine(((row.weight, row.score) for row in rows), zero).tolist() == cycle.totals.tolist()
        assert sum(row.weighted for row in rows).tolist() == cycle.totals.tolist()
        for row in rows:
            seen.add(row.kind)
            assert (row.raw is None) == (row.kind == "function")
            assert row.kind != "map" or row.raw.tolist() == row.score.tolist()
        best = {cycle.feasible[n] for n in np.flatnonzero(cycle.totals == cycle.totals.max())}
        assert set(cycle.ties.tolist()) == best
    assert seen == {"function", "map", "map/reduce"}


def test_the_trace_adds_kind_and_weighted_to_the_recorded_fields() -> None:
    """A priority of the trace is that of the conformance format and two fields more."""
    for cycle in ranked(range(20)):
        recorded = conformance_cycle(cycle)["priorities"]
        traced = plain(trace_cycle(cycle))["priorities"]
        assert list(recorded) == list(traced)
        for name, row in traced.items():
            assert row["weighted"] == {node: row["weight"] * score for node, score in row["score"].items()}
            assert row["kind"] in ("function", "map", "map/reduce")
            assert {key: row[key] for key in ("weight", "map", "score")} == recorded[name]
            assert set(row) == {"kind", "weight", "map", "score", "weighted"}
