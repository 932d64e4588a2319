"""The cache in the engine: what it decides in each mode, when events land, and how it is replayed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from scheduler_core import load
from scheduler_core.compare.cost import measure_costs
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.record.cache_record import ResultSource
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_cycle
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper
from scheduler_core.settings.settings import Settings

NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "110"}}, conditions: [{{type: Ready, status: "True"}}]}}
---"""
WEB = """
apiVersion: apps/v1
kind: ReplicaSet
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: web, image: web, resources: {{requests: {{cpu: {cpu}}}}}}}]
      {more}
"""
APART = """affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {labelSelector: {matchLabels: {app: web}}, topologyKey: kubernetes.io/hostname}]}}"""
TAINT = """---
kind: Scenario
spec:
  operations:
  - id: taint
    step: {major: 1, minor: 2}
    during: evaluation
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: node-0}
      patch: {spec: {taints: [{key: gone, effect: NoSchedule}]}}
"""


def bundle(nodes: int, replicas: int, cpu: str = "10m", more: str = "", history: str = "") -> Scenario:
    """Make some nodes and one ReplicaSet."""
    text = "".join(NODE.format(name=f"node-{n}") for n in range(nodes))
    return load(text + WEB.format(replicas=replicas, cpu=cpu, more=more) + history)


def run(scenario: Scenario, **settings: Any) -> tuple[Simulation, list[Cycle]]:
    """Run a scenario under settings."""
    simulation = Simulation(replace(scenario, settings=Settings(**settings)))
    return simulation, list(simulation)


def placed(simulation: Simulation) -> int:
    """Count the pods that were placed."""
    return sum(bool(node) for node in simulation.placement().values())


@pytest.mark.parametrize(("mode", "expected"), [("off", 10), ("sound", 10), ("designed", 12), ("v1.11", 12)])
def test_pods_that_must_stay_apart_meet_where_the_promise_is_trusted(mode: str, expected: int) -> None:
    """Ten nodes take ten such pods; a mode without the Pod/ADD row places twelve (#67680)."""
    simulation, cycles = run(bundle(10, 12, more=APART), cache=mode, audit=mode != "off")
    assert placed(simulation) == expected
    record = cycles[-1].cache
    if mode == "off":
        assert record is None
        return
    assert record is not None
    causes = {"MatchInterPodAffinity: not invalidated by Pod/ADD (rule pod-add-affinity)"}
    assert set(record.causes) == (set() if mode == "sound" else causes)


@pytest.mark.parametrize(
    ("mode", "expected", "stale"),
    # a stale hit for every node that is taken already: 0 + 1 + … + 99, then 100 for each of twenty pods
    [("off", 100, 0), ("sound", 100, 0), ("designed", 120, 6_950), ("v1.11", 120, 6_950)],
)
def test_a_hundred_nodes_take_a_hundred_pods_that_must_stay_apart(
    mode: str, expected: int, stale: int
) -> None:
    """Of 120 pods 20 wait with no cache and a sound one; v1.11 places all, and the audit names why."""
    simulation, cycles = run(bundle(100, 120, more=APART), cache=mode, audit=mode != "off")
    assert placed(simulation) == expected
    crowded = Counter(node for node in simulation.placement().values() if node)
    assert (len(crowded), sum(crowded.values()) - len(crowded)) == (100, expected - 100)
    if mode == "off":
        return
    last = cycles[-1].cache
    assert last is not None
    cause = "MatchInterPodAffinity: not invalidated by Pod/ADD (rule pod-add-affinity)"
    assert dict(last.causes) == ({cause: stale} if stale else {})
    assert last.totals.stale == stale


def test_a_cycle_tells_its_lookups_and_what_it_invalidated() -> None:
    """The second pod of a class is answered from the cache but for the node that the first one took."""
    _, cycles = run(bundle(3, 2), cache="sound")
    first, second = (cycle.cache for cycle in cycles)
    assert first is not None
    assert second is not None
    predicates = len(cycles[0].order)
    assert (first.counts.hits, first.counts.misses) == (0, 3 * predicates)
    assert (second.counts.hits, second.counts.misses) == (3 * predicates - 1, 1)
    [gone] = first.invalidations
    assert (gone.rule, gone.nodes, gone.cleared) == ("pod-add-general", (cycles[0].node,), 1)
    assert gone.event.startswith("Pod/ADD default/web-")
    reported = plain(trace_cycle(cycles[1]))["cache"]
    assert reported["class"] == "ReplicaSet default/web"
    assert reported["totals"]["hits"] == second.counts.hits


def test_a_pod_without_a_controller_takes_the_normal_path() -> None:
    """It has no class: every evaluation is beside the cache, and the cycle says why."""
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: alone}\nspec: {containers: [{name: c, image: c}]}\n"
    _, [cycle] = run(load(NODE.format(name="node-0") + "\n" + pod), cache="sound")
    assert cycle.cache is not None
    assert cycle.cache.counts.bypassed == len(cycle.order)
    assert "no controller" in cycle.cache.bypass
    _, [cycle] = run(
        load(NODE.format(name="node-0") + "\n" + pod), cache="sound", equivalence_class="attributes"
    )
    assert cycle.cache is not None
    assert cycle.cache.counts.misses == len(cycle.order)


NOMINATED = """---
kind: Scenario
spec:
  operations:
  - id: nominated
    step: {major: 1, minor: 2}
    createOperation:
      object:
        apiVersion: v1
        kind: Pod
        metadata: {name: awaited}
        spec: {containers: [{name: c, image: c}]}
        status: {nominatedNodeName: node-0}
"""


def test_a_node_that_a_pod_is_nominated_to_is_neither_looked_up_nor_written() -> None:
    """Its entries stay as they are, and are not asked, while other nodes answer from the cache (v1.10+)."""
    simulation = Simulation(replace(bundle(2, 4, history=NOMINATED), settings=Settings(cache="sound")))
    cycles = [simulation.step() for _ in range(4)]
    before, during = cycles[1], cycles[3]
    assert before is not None
    assert during is not None
    assert before.cache is not None
    assert during.cache is not None
    assert before.cache.sources is not None
    assert during.cache.sources is not None
    nominated = [found.node for found in during.nominated_passes]
    assert [during.nodes[node] for node in nominated] == ["node-0"]
    assert ResultSource.HIT in before.cache.sources[:, nominated]
    assert (during.cache.sources[:, nominated] == ResultSource.BYPASSED).all()
    assert (np.delete(during.cache.sources, nominated, axis=1) != ResultSource.BYPASSED).all()
    assert during.cache.counts.bypassed == len(during.order)
    assert isinstance(simulation.cache, CacheKeeper)
    entries, count = simulation.cache.cache.entries(node="node-0")
    assert count
    assert {entry.step for entry in entries} <= {1, 2}


@pytest.mark.parametrize(("remedy", "stale"), [("none", True), ("isUpToDate", False), ("generations", False)])
def test_a_result_that_an_event_overtook(remedy: str, stale: bool) -> None:
    """A taint between evaluating and writing is lost to the old answer unless a remedy sees it."""
    scenario = bundle(2, 6, history=TAINT)
    # a class that was not cached before: the third pod is the first of its own
    text = (
        scenario.to_yaml().replace("replicas: 6", "replicas: 2")
        + "---"
        + WEB.format(replicas=4, cpu="20m", more="").replace("web", "api")
    )
    _, cycles = run(load(text), cache="sound", audit=True, stale_writes=remedy)
    assert cycles[2].operations == ("taint",)
    assert cycles[2].cache is not None
    assert any(row.during and row.rule == "node-update-taints" for row in cycles[2].cache.invalidations)
    last = cycles[-1].cache
    assert last is not None
    assert bool(last.causes) is stale
    assert any(cycle.node == "node-0" for cycle in cycles[3:]) is stale
    if stale:
        assert list(last.causes) == [
            "PodToleratesNodeTaints: written after Node/UPDATE (rule node-update-taints)"
        ]


@pytest.mark.parametrize("mode", ["designed", "v1.11", "sound", "batching"])
def test_replaying_fills_the_cache_as_deciding_does(mode: str) -> None:
    """Wherever a run is rebuilt, the cycles from there on are the same, the cache's records included."""
    scenario = replace(
        bundle(4, 9, cpu="1500m", more=APART, history=TAINT), settings=Settings(cache=mode, audit=True)
    )
    whole = Simulation(scenario)
    cycles = [plain(trace_cycle(cycle)) for cycle in whole]
    for start in range(len(cycles)):
        rebuilt = Simulation(scenario)
        rebuilt.replay(whole.decisions[:start])
        assert [plain(trace_cycle(cycle)) for cycle in rebuilt] == cycles[start:]


def test_an_operation_lands_after_the_cycle_it_names() -> None:
    """With a minor step an operation does not wait for the queue to run empty."""
    _, cycles = run(bundle(2, 6, history=TAINT.replace("    during: evaluation\n", "")))
    assert [cycle.step for cycle in cycles] == ["1.1", "1.2", "2.1", "2.2", "2.3", "2.4"]
    assert cycles[2].operations == ("taint",)
    assert {cycle.node for cycle in cycles[2:]} == {"node-1"}


@pytest.mark.parametrize(
    ("change", "line", "part"),
    [
        ("    step: {major: 1, minor: -1}", 23, "must be"),
        ("    step: {minor: 2}", 23, "major is missing"),
        ("    step: 1\n    during: binding", 24, "'binding' is not allowed"),
    ],
)
def test_a_moment_that_is_none_is_refused(change: str, line: int, part: str) -> None:
    """A wrong step or phase is reported on its line."""
    history = TAINT.replace("    step: {major: 1, minor: 2}\n    during: evaluation", change)
    with pytest.raises(BundleError) as caught:
        bundle(1, 1, history=history)
    problem = caught.value.problems[0]
    assert problem.line == line
    assert part in problem.message


def test_batching_serves_pods_that_fill_their_nodes() -> None:
    """Pods that take a node each are offered the next best one; the others on the nodes are not evaluated."""
    policy = (
        "---\napiVersion: v1\nkind: Policy\npredicates: [{name: GeneralPredicates}]\n"
        "priorities: [{name: EqualPriority, weight: 1}]\n"
    )
    simulation, cycles = run(bundle(5, 5, cpu="3", history=policy), cache="batching")
    assert placed(simulation) == 5
    records = [cycle.cache for cycle in cycles]
    assert [bool(record and record.hint) for record in records] == [False, True, True, True, True]
    small, cycles = run(bundle(5, 3, history=policy), cache="batching")
    assert [cycle.cache and cycle.cache.bypass for cycle in cycles[1:]] == [
        "the node selected before has room for another pod"
    ] * 2
    assert placed(small) == 3


@pytest.mark.parametrize("checks", ["", "alwaysCheckAllPredicates: true\n"])
def test_what_batching_saves_is_what_no_cache_would_evaluate(checks: str) -> None:
    """Short-circuiting saves on cordoned and on full nodes already: that is no merit of a kept ranking."""
    policy = (
        "---\napiVersion: v1\nkind: Policy\npredicates: [{name: PodToleratesNodeTaints}, {name: HostName},"
        " {name: GeneralPredicates}, {name: NoDiskConflict}, {name: MatchInterPodAffinity}]\n"
        f"priorities: [{{name: EqualPriority, weight: 1}}]\n{checks}"
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-9}\nspec: {unschedulable: true}\n"
    )
    scenario = bundle(6, 6, cpu="3", history=policy)
    _, plain = run(scenario)
    simulation, batched = run(scenario, cache="batching")
    assert [cycle.cache and bool(cycle.cache.counts.hits) for cycle in batched] == [False] + 5 * [True]
    for off, offered in zip(plain, batched, strict=True):
        assert offered.cache is not None
        assert offered.cache.counts.hits + offered.cache.counts.evaluations == off.evaluations
    assert "evaluations saved" in next(simulation.cache.report() if simulation.cache else iter([""]))


def test_the_cost_of_each_strategy_is_counted() -> None:
    """A cache evaluates less and decides alike; one that breaks promises shows in the placements."""
    off, sound, wrong = measure_costs(bundle(10, 12, more=APART), ("off", "sound", "v1.11"))
    assert off.evaluations > sound.evaluations > 0
    assert (sound.first, sound.differing) == (None, 0)
    assert off.evaluations == sound.evaluations + sound.hits
    assert (off.placed, wrong.placed) == (10, 12)
    assert wrong.first is not None
