"""The shipped scenarios of the equivalence cache: what their pages claim is what the engine does."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest
from msgspec.structs import replace

from scheduler_core.authoring.examples import Claim, Example, examples
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.load import load
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_11.predicates.volumes import MaxVolumeCount
from scheduler_core.settings.settings import CACHE_MODES, STALE_WRITES

SHOWN = tuple(example for example in examples() if example.claims)
BUGS = tuple(example for example in SHOWN if any(claim.stale for claim in example.claims))
CASES = [
    pytest.param(example, mode, claim, id=f"{example.slug}-{mode}")
    for example in SHOWN
    for claim in example.claims
    for mode in claim.modes
]
WRONG = [case for case in CASES if getattr(case.values[2], "step", "")]


MEMBERS = """- {name: HostName}
- {name: PodFitsHostPorts}
- {name: MatchNodeSelector}
- {name: PodFitsResources}
"""


@cache
def run(example: Example, mode: str) -> tuple[Simulation, list[Cycle]]:
    """Run an example in a mode, which may name a remedy for stale writes."""
    scenario = example.load()
    cache_mode, _, remedy = mode.partition("/")
    settings = replace(
        scenario.settings, cache=cache_mode, stale_writes=remedy or scenario.settings.stale_writes
    )
    assert settings.audit, "the audit is on, so that the workbench shows what is wrong"
    simulation = Simulation(scenario.under(scenario.policy, settings))
    return simulation, list(simulation)


def own(example: Example) -> str:
    """Return the mode that an example is shipped in."""
    settings = example.load().settings
    return f"{settings.cache}/{settings.stale_writes}"


def pods_on(simulation: Simulation, node: str) -> list[Pod]:
    """Return the pods of a node."""
    return [pod.pod for pod in simulation.cluster.pods.values() if pod.node_name == node]


def cpu(simulation: Simulation, node: str) -> tuple[int, int]:
    """Return the cpus that are requested of a node, and those that it has."""
    found = simulation.cluster.find("Node", node)
    assert isinstance(found, Node)
    containers = [container for pod in pods_on(simulation, node) for container in pod.containers]
    asked = sum(container.requests.get("cpu", 0) for container in containers)
    return asked // 1000, found.allocatable["cpu"] // 1000


def disks(simulation: Simulation, node: str) -> tuple[int, int]:
    """Return how many different GCE disks the pods of a node have, and how many it takes."""
    limit = PREDICATES["MaxGCEPDVolumeCount"]
    assert isinstance(limit, MaxVolumeCount)
    volumes = [volume for pod in pods_on(simulation, node) for volume in pod.volumes]
    return len({volume.gce_pd for volume in volumes if volume.gce_pd}), limit.limit


def locks(simulation: Simulation, node: str) -> tuple[int, int]:
    """Return how many pods with required anti-affinity to one another a node has; one may be there."""
    return sum(pod.meta.labels.get("app") == "lock" for pod in pods_on(simulation, node)), 1


def batch(simulation: Simulation, node: str) -> tuple[int, int]:
    """Return how many batch pods a node of the database's zone has, where none may be."""
    zones = {
        found.meta.labels["zone"]
        for name in ("b-1", node)
        if isinstance(found := simulation.cluster.find("Node", name), Node)
    }
    assert simulation.placement()["default/db-0"] == "b-1"
    assert len(zones) == 1
    return sum(pod.meta.labels.get("app") == "batch" for pod in pods_on(simulation, node)), 0


MEASURES: dict[str, Callable[[Simulation, str], tuple[int, int]]] = {
    "cpu requested": cpu,
    "disks": disks,
    "lock pods": locks,
    "batch pod": batch,
}


@pytest.mark.parametrize(("example", "mode", "claim"), CASES)
def test_an_example_comes_out_as_its_page_says(example: Example, mode: str, claim: Claim) -> None:
    """Pods placed and waiting, hits, evaluations and stale hits with their cause are those of the claim."""
    simulation, cycles = run(example, mode)
    assert sum(cycle.result == "scheduled" for cycle in cycles) == claim.placed
    assert sum(not node for node in simulation.placement().values()) == claim.waiting
    for what, there, most in claim.holds:
        assert MEASURES[what](simulation, claim.node) == (there, most)
    if mode == "off":
        assert simulation.cache is None
        assert (claim.stale, claim.hits) == (0, 0)
        evaluated = sum(int((cycle.matrix.codes >= 0).sum()) for cycle in cycles if cycle.matrix is not None)
        assert claim.evaluations in (0, evaluated)
        return
    assert isinstance(simulation.cache, CacheKeeper)
    totals = simulation.cache.totals
    assert totals.stale == claim.stale
    assert dict(simulation.cache.audit.causes) == ({claim.cause: claim.stale} if claim.stale else {})
    if claim.hits:
        assert (totals.hits, totals.evaluations) == (claim.hits, claim.evaluations)


@pytest.mark.parametrize(("example", "mode", "claim"), WRONG)
def test_the_stale_hit_is_what_decides_wrongly(example: Example, mode: str, claim: Claim) -> None:
    """At the step that is named the pod goes where it does not fit, or waits for a node that it fits on."""
    _, cycles = run(example, mode)
    [cycle] = [cycle for cycle in cycles if cycle.step == claim.step]
    assert cycle is cycles[-1]
    assert cycle.cache is not None
    [hit] = [hit for hit in cycle.cache.stale if hit.node == claim.node]
    assert hit.cause == claim.cause
    assert hit.written == 1
    if cycle.result == "scheduled":
        assert (cycle.node, hit.cached) == (claim.node, ())
        assert hit.true
    else:
        assert hit.cached
        assert hit.true == ()


@pytest.mark.parametrize("example", SHOWN, ids=lambda example: example.slug)
def test_the_sound_table_with_generations_decides_as_no_cache_does(example: Example) -> None:
    """Not one cycle differs, in every example, whatever it is shipped to show."""
    plain, _ = run(example, "off")
    sound, _ = run(example, "sound/generations")
    assert sound.decisions == plain.decisions
    assert isinstance(sound.cache, CacheKeeper)
    assert sound.cache.totals.stale == 0


@pytest.mark.parametrize("example", SHOWN, ids=lambda example: example.slug)
def test_an_example_says_which_modes_it_speaks_of(example: Example) -> None:
    """Modes exist, none is claimed twice, off and sound are among them, and so is the example's own."""
    modes = [mode for claim in example.claims for mode in claim.modes]
    assert len(set(modes)) == len(modes)
    assert {mode.partition("/")[0] for mode in modes} <= set(CACHE_MODES)
    assert {mode.partition("/")[2] for mode in modes} <= {*STALE_WRITES, ""}
    assert {"off", "sound"} <= {mode.partition("/")[0] for mode in modes}
    assert {own(example), own(example).partition("/")[0]} & set(modes)
    assert example.step in {cycle.step for cycle in run(example, own(example))[1]}
    assert example.tab == "cache"


@pytest.mark.parametrize("example", BUGS, ids=lambda example: example.slug)
def test_a_bug_is_open_where_it_is_seen(example: Example) -> None:
    """As shipped the example has a claim of stale hits first or next to it, and opens at their step."""
    settings = own(example)
    [claim] = [c for c in example.claims if {settings, settings.partition("/")[0]} & set(c.modes) and c.stale]
    assert claim.step == example.step


@pytest.mark.parametrize("example", SHOWN, ids=lambda example: example.slug)
def test_every_number_of_the_text_is_counted(example: Example) -> None:
    """A number on the page is a claim's, or how many nodes, pods, replicas there are; issues stand aside."""
    _, cycles = run(example, own(example))
    text = re.sub(r"#\d+|v1\.11", "", example.text)
    numbers = {int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*", text)}
    known = {cycle.cache.counts.evaluations for cycle in cycles if cycle.cache is not None}
    known |= set(example.counts())
    for claim in example.claims:
        known |= {claim.placed, claim.waiting, claim.stale, claim.hits, claim.evaluations}
        known |= {number for _, there, most in claim.holds for number in (there, most)}
    assert numbers
    assert numbers <= known


def test_the_good_day_evaluates_one_pair_a_pod_and_two_after_an_event() -> None:
    """After the first pod each costs one evaluation; a taint costs one more, and leaves the rest alone."""
    example = next(example for example in SHOWN if example.slug == "cache-good-day")
    _, cycles = run(example, "sound/generations")
    evaluations = [cycle.cache.counts.evaluations for cycle in cycles if cycle.cache is not None]
    assert evaluations == [260, *[1] * 49, 2, *[1] * 49]
    [tainted] = [cycle for cycle in cycles if cycle.operations]
    assert tainted.step == "2.1"
    assert tainted.cache is not None
    [row, _] = tainted.cache.invalidations
    assert (row.rule, row.predicates, row.nodes, row.cleared) == (
        "node-update-taints",
        ("PodToleratesNodeTaints",),
        ("worker-07",),
        1,
    )
    assert all(cycle.node != "worker-07" for cycle in cycles[50:])


@pytest.mark.parametrize(
    ("slug", "cure"),
    [
        ("cache-broken-promise", ("cache: v1.11", "cache: sound")),
        ("cache-overcommit", (MEMBERS, "- {name: GeneralPredicates}\n")),
        ("cache-volume-count", ("cache: designed", "cache: v1.11")),
        ("cache-stale-write", ("staleWrites: none", "staleWrites: isUpToDate")),
        ("cache-half-remedy", ("staleWrites: isUpToDate", "staleWrites: generations")),
    ],
)
def test_the_change_that_the_comment_proposes_mends_it(slug: str, cure: tuple[str, str]) -> None:
    """An edit of the text, as a reader would make it, leaves no stale hit and decides as without a cache."""
    example = next(example for example in BUGS if example.slug == slug)
    old, new = cure
    text = example.read()
    assert old in text
    mended = load(text.replace(old, new, 1))
    simulation = Simulation(mended)
    for _ in simulation:
        pass
    assert isinstance(simulation.cache, CacheKeeper)
    assert simulation.cache.totals.stale == 0
    assert simulation.placement() == run(example, "off")[0].placement()


def test_preemption_does_not_ask_the_cache() -> None:
    """It finds that the pod fits, with nobody to delete: the node is nominated, and nothing moves."""
    example = next(example for example in SHOWN if example.slug == "cache-stale-write")
    simulation, [before, starving] = run(example, "sound/none")
    assert before.preemption is not None
    assert before.preemption.leaving == ("default/report",)
    decision = starving.decision
    assert (decision.result, decision.nominated, decision.victims) == ("unschedulable", "worker-1", ())
    assert len(simulation.queue) == 0
