"""What must hold of the cache whatever happens: mode ``sound`` is no cache at all, but for the work it saves.

The seeds are few here; for longer runs see ``histories``. An event that lands between evaluating and writing
makes the result that is written a lie from the start, and no row of the table can know: of the three remedies
only ``generations`` catches every one. ``isUpToDate`` looks at the node's own changes alone, and ``none`` at
nothing. These two are exact wherever no event lands inside a cycle; where one does, every stale hit must be
of this documented kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.kubernetes.plain import plain
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_cycle
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR, Codes
from scheduler_core.schedulers.v1_11.equivalence import keeper
from scheduler_core.schedulers.v1_11.equivalence.cache import EquivalenceCache
from scheduler_core.schedulers.v1_11.equivalence.row import Mode
from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE
from scheduler_core.settings.settings import EQUIVALENCE_CLASSES, STALE_WRITES, Settings
from tests.conformance.random_records import Dice
from tests.core.equivalence.histories import STARTS, bundle, read, seeds
from tests.core.equivalence.reference import HostPredicate, PlainCache


def simulate(scenario: Scenario, **settings: Any) -> Simulation:
    """Prepare a run under settings."""
    return Simulation(scenario.under(scenario.policy, Settings(**settings)), quirk_effects=False)


def cycles(simulation: Simulation, *, cache: bool = False) -> list[dict[str, Any]]:
    """Run to the end and return all that is mentioned each cycle: decision, message, verdicts and scores."""
    reported = [plain(trace_cycle(cycle)) for cycle in simulation]
    return (
        reported
        if cache
        else [{key: part for key, part in line.items() if key != "cache"} for line in reported]
    )


def stale(simulation: Simulation) -> Counter[str]:
    """Run to the end and return the stale hits by cause, over all restarts."""
    causes: Counter[str] = Counter()
    for cycle in simulation:
        assert cycle.cache is not None
        assert len(cycle.cache.stale) == cycle.cache.counts.stale, "too many to be listed one by one"
        causes.update(hit.cause for hit in cycle.cache.stale)
    return causes


def lands_inside(scenario: Scenario) -> bool:
    """Tell whether an event lands between evaluating and writing."""
    return any(operation.during for operation in scenario.operations)


def definition_of(seed: int) -> str:
    """Return the definition of a class that a seed is tried with."""
    return EQUIVALENCE_CLASSES[seed % 2]


def test_the_histories_hold_what_they_promise() -> None:
    """Together they have every kind of event at every kind of moment; else they would show little."""
    kinds: Counter[str] = Counter()
    results: Counter[str] = Counter()
    victims = hits = minor = rebound = 0
    for seed in range(1000, 1020):
        scenario = read(bundle(seed))
        for operation in scenario.operations:
            kinds[f"{operation.kind}/{operation.action}"] += 1
            kinds["inside"] += operation.during
            minor += operation.after is not None
        simulation = simulate(scenario, cache="sound", equivalence_class=definition_of(seed))
        for cycle in simulation:
            results[cycle.result] += 1
            assert cycle.cache is not None
            hits += cycle.cache.counts.hits
            rebound += sum("(bound elsewhere)" in row.event for row in cycle.cache.invalidations)
        victims += len(simulation.deleted)
    for kind in ("Pod", "Node", "PersistentVolume", "PersistentVolumeClaim", "Service", "StorageClass"):
        for action in ("create", "update", "delete"):
            assert kinds[f"{kind}/{action}"], (kind, action)
    assert kinds["Policy/create"] > 10
    assert kinds["inside"] > 25
    assert min(results["scheduled"], results["unschedulable"], results["error"]) > 25
    assert min(victims, minor, rebound) > 2
    assert hits > 1000


@pytest.mark.parametrize("start", STARTS)
def test_sound_decides_exactly_as_off(start: int) -> None:
    """Every verdict on every node, score, message and decision is as without a cache; no hit is stale."""
    for seed in seeds(start):
        scenario = read(bundle(seed))
        expected = cycles(simulate(scenario))
        remedies = ("generations",) if lands_inside(scenario) else STALE_WRITES
        settings = {
            "equivalence_class": definition_of(seed),
            "stale_writes": remedies[seed // 2 % len(remedies)],
        }
        assert cycles(simulate(scenario, cache="sound", **settings)) == expected, seed
        audited = simulate(scenario, cache="sound", audit=True, **settings)
        assert stale(audited) == Counter(), seed


@pytest.mark.parametrize("start", STARTS)
def test_without_the_right_remedy_only_overtaken_results_are_stale(start: int) -> None:
    """Where events land inside cycles, ``none`` and ``isUpToDate`` leave stale writes and nothing else."""
    for seed in seeds(start):
        scenario = read(bundle(seed))
        if not lands_inside(scenario):
            continue
        remedy = ("none", "isUpToDate")[seed // 2 % 2]
        settings = {"equivalence_class": definition_of(seed), "stale_writes": remedy}
        for cause in stale(simulate(scenario, cache="sound", audit=True, **settings)):
            assert ": written after " in cause, (seed, cause)


@pytest.mark.parametrize("start", STARTS)
def test_a_run_is_replayed_with_its_cache(start: int) -> None:
    """From any cycle on, a run rebuilt from its decisions is the same, and so is what the cache tells."""
    for seed in seeds(start):
        scenario = read(bundle(seed))
        settings = {"cache": "sound", "equivalence_class": definition_of(seed), "audit": True}
        whole = simulate(scenario, **settings)
        reported = cycles(whole, cache=True)
        at = Dice(seed).randint(0, len(reported))
        rebuilt = simulate(scenario, **settings)
        rebuilt.replay(whole.decisions[:at])
        assert cycles(rebuilt, cache=True) == reported[at:], (seed, at)
        assert rebuilt.placement() == whole.placement(), seed


@pytest.mark.parametrize("mode", ["designed", "v1.11"])
def test_every_stale_hit_of_a_lesser_mode_has_a_cause(mode: Mode) -> None:
    """The audit always knows what made a hit stale, and never blames a row that the mode has too."""
    causes: Counter[str] = Counter()
    for seed in range(1020, 1040):
        settings = {"equivalence_class": definition_of(seed), "audit": True}
        simulation = simulate(read(bundle(seed)), cache=mode, **settings)
        found = stale(simulation)
        causes += found
        own = {row.id for row in TABLE if mode in row.scopes and row.scopes[mode] is row.scopes.get("sound")}
        for cause in found:
            assert "no event" not in cause, (seed, cause)
            if ": not invalidated by " in cause:
                assert cause.partition("(rule ")[2].rstrip(")") not in own, (seed, cause)
    assert any("members of one class differ in" in cause for cause in causes)
    assert any("not invalidated by Pod/ADD (rule pod-came-general)" in cause for cause in causes)


class Mirrored(EquivalenceCache):
    """The cache of arrays with the three maps beside it; every lookup is asked of both."""

    compared = 0

    def __init__(self, nodes: tuple[str, ...]) -> None:
        super().__init__(nodes)
        self.plain = PlainCache()
        self.known: set[str] = set()

    def lookup(self, number: int, predicate: str, rows: IntVector | None = None) -> tuple[Codes, BoolVector]:
        """Compare the answers for every node."""
        codes, valid = super().lookup(number, predicate, rows)
        for row, node in enumerate(self.nodes if rows is None else [self.nodes[r] for r in rows]):
            entry = self.plain.lookup(node, predicate, number)
            assert bool(valid[row]) is (entry is not None), (node, predicate, number)
            if entry is not None:
                assert entry == _entry(int(codes[row])), (node, predicate, number)
                Mirrored.compared += 1
        return codes, valid

    def write(self, number: int, predicate: str, codes: Codes | None, step: int, **where: Any) -> int:
        """Write to both what neither an error nor a generation keeps out."""
        rows, generations = where.get("rows"), where.get("generations")
        places = np.arange(len(self.nodes)) if rows is None else rows
        fresh = None if generations is None else self.generations(predicate, places) == generations
        written = 0
        for place, row in enumerate(places.tolist()):
            code = 0 if codes is None else int(codes[place])
            if code != FAILED_BY_ERROR and (fresh is None or fresh[place]):
                self.plain.update(self.nodes[row], predicate, number, _entry(code), step)
                written += 1
        self.known.add(predicate)
        assert super().write(number, predicate, codes, step, **where) == written
        return written

    def invalidate(self, predicates: Any, rows: IntVector | None) -> int:
        """Invalidate in both."""
        keys = set(self.known) if predicates is None else set(predicates)
        nodes = self.nodes if rows is None else [self.nodes[row] for row in rows.tolist()]
        cleared = sum(self.plain.invalidate(node, keys) for node in nodes)
        assert super().invalidate(predicates, rows) == cleared
        return cleared

    def remap(self, nodes: Any) -> int:
        """Forget in both the nodes that left."""
        lost = sum(self.plain.remove_node(node) for node in self.nodes if node not in set(nodes))
        if tuple(nodes) != self.nodes:
            self.plain.moved.clear()
        assert super().remap(nodes) == lost
        assert self.stats.entries == self.plain.size
        return lost


def _entry(code: int) -> HostPredicate:
    return HostPredicate(code == 0, (str(code),))


@pytest.fixture
def mirrored(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let every keeper of this test have such a cache; return how many entries were found in both."""
    monkeypatch.setattr(keeper, "EquivalenceCache", Mirrored)
    Mirrored.compared = 0
    return lambda: Mirrored.compared


@pytest.mark.parametrize("start", STARTS)
def test_every_lookup_is_answered_as_three_maps_would(start: int, mirrored: Callable[[], int]) -> None:
    """Through nodes that come and go, restarts and overtaken results, arrays and dictionaries agree."""
    for seed in seeds(start):
        scenario = read(bundle(seed))
        remedy = ("none", "generations")[seed // 2 % 2]
        run = simulate(scenario, cache="sound", equivalence_class=definition_of(seed), stale_writes=remedy)
        assert sum(1 for _ in run) == run.index
    assert mirrored() > 50 * len(seeds(start))
