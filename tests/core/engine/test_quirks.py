"""The quirks of v1.11: each can be fixed alone, and a Cycle tells which one changed a result."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.authoring.examples import find
from scheduler_core.kubernetes.model import Node
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle, Decision
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import conformance_cycle, trace_cycle
from scheduler_core.scenario.load import load, load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.quirk_causes import CAUSES
from scheduler_core.schedulers.v1_11.quirks import QUIRK_IDS, QUIRKS
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings
from tests.conformance.random_records import record
from tests.core.engine.builders import node, pod, simulate
from tests.core.engine.quirk_cases import CASES, Case, outcome
from tests.core.engine.quirk_clusters import beside, quirky
from tests.core.trials import trials

FIXED = Settings(quirks="fixed")
QUIRKY_SEEDS = trials(40)


@pytest.fixture(params=sorted(QUIRK_IDS))
def quirk_id(request: pytest.FixtureRequest) -> str:
    """Every id of the table."""
    return str(request.param)


@pytest.fixture
def case(quirk_id: str) -> Case:
    """The clusters of a quirk; a new row without a case fails here."""
    return CASES[quirk_id]


def test_it_decides_as_v1_11_or_as_it_should(quirk_id: str, case: Case) -> None:
    """With the quirk in force v1.11's outcome comes out, with this one fixed or all of them the other."""
    assert outcome(case.cycle(case.matters, DEFAULT_SETTINGS)) == case.v1_11
    alone = replace(DEFAULT_SETTINGS, fixed_too=frozenset({quirk_id}))
    assert outcome(case.cycle(case.matters, alone)) == case.fixed
    assert outcome(case.cycle(case.matters, FIXED)) == case.fixed


def test_it_is_flagged_where_it_changed_something(quirk_id: str, case: Case) -> None:
    """The flag names the quirk, what it changed, on which nodes, and the facts."""
    (effect,) = case.cycle(case.matters, DEFAULT_SETTINGS).quirks
    assert (effect.id, effect.changed, effect.nodes) == (quirk_id, case.changed, case.nodes)
    assert case.text in effect.text


def test_it_is_not_flagged_where_it_did_not(case: Case) -> None:
    """In the cluster beside it nothing is flagged, and the fixed rules come to the same."""
    cycle = case.cycle(case.idle, DEFAULT_SETTINGS)
    assert cycle.quirks == ()
    assert outcome(cycle) == outcome(case.cycle(case.idle, FIXED))


def test_nothing_is_flagged_where_quirks_are_fixed(case: Case) -> None:
    """A quirk that is not in force changes nothing."""
    assert case.cycle(case.matters, FIXED).quirks == ()


def test_the_table_has_a_test_and_a_case_for_every_row() -> None:
    """Rows, the tests whether they can matter, and the clusters here are of the same ids."""
    assert list(CAUSES) == [row.id for row in QUIRKS]
    assert set(CASES) == QUIRK_IDS


def test_every_reference_upstream_has_an_address() -> None:
    """Issues and pull requests are named as GitHub names them; a row without one tells the function."""
    for row in QUIRKS:
        assert row.function
        for reference in row.upstream:
            assert reference.name == f"kubernetes/kubernetes#{reference.number}"
            assert reference.url.startswith("https://github.com/kubernetes/kubernetes/")
            assert reference.url.endswith(f"/{reference.number}")
            assert reference.about


def test_with_every_quirk_in_force_the_rules_are_the_registered_ones() -> None:
    """The default profile runs the very objects of the tables, so that v1.11 costs nothing extra."""
    from scheduler_core.schedulers.v1_11.predicates import PREDICATES
    from scheduler_core.schedulers.v1_11.priorities import PRIORITIES

    profile = compile_profile(None)
    assert all(rule is PREDICATES[key] for key, rule in zip(profile.order, profile.predicates, strict=True))
    assert all(
        entry.run is PRIORITIES[entry.name]
        for entry in profile.priorities
        if entry.name != "InterPodAffinityPriority"  # it has a weight of its own
    )


def test_without_a_trace_nobody_looks_for_quirks() -> None:
    """Neither a cheap Cycle nor a simulation that is reported not to pays for the second decision."""
    case = CASES["anti-affinity-terms-anded"]
    (*_, untraced) = simulate(*case.matters, trace=False)
    (*_, silent) = simulate(*case.matters, quirk_effects=False)
    (*_, reported) = simulate(*case.matters)
    assert (untraced.quirks, silent.quirks) == ((), ())
    assert reported.quirks


def test_quirks_that_hide_each_other_are_reported_together() -> None:
    """Where two quirks must both go before anything differs, both are flagged and the text says so."""
    anti = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "q"}}},
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "r"}}},
        ]
    }
    cycle = simulate(
        node("n", labels={"zone": "a"}),
        pod("p", affinity={"podAntiAffinity": anti}),
        pod("waiting", {"cpu": "100"}, nominatedNodeName="n", labels={"app": "q"}),
    ).step()
    assert cycle is not None
    assert all("It takes anti-affinity-terms-anded and" in effect.text for effect in cycle.quirks)
    assert [effect.id for effect in cycle.quirks] == [
        "anti-affinity-terms-anded",
        "nominated-pods-are-no-targets",
    ]


def test_the_trace_tells_the_quirks_and_the_conformance_format_does_not() -> None:
    """The trace's cycle lists the effects; the recorded format stays as it is."""
    case = CASES["unrequested-resources-checked"]
    cycle = case.cycle(case.matters, DEFAULT_SETTINGS)
    (reported,) = plain(trace_cycle(cycle))["quirks"]
    assert reported["id"] == "unrequested-resources-checked"
    assert reported["changed"] == ["predicates", "preemption", "decision"]
    assert reported["nodes"] == ["n"]
    assert "quirks" not in conformance_cycle(cycle)


def compared(cycle: Cycle, other: Cycle) -> bool:
    """Tell whether two first cycles' records differ in a result, by the JSON alone."""
    one, two = conformance_cycle(cycle), conformance_cycle(other)
    for reported in (one, two):
        reported.pop("order")
    predicates, others = one.pop("predicates"), two.pop("predicates")
    return one != two or any(
        _verdict(predicates, name, key) != _verdict(others, name, key)
        for name in predicates
        for key in {*predicates[name], *others[name]}
    )


def _verdict(predicates: dict[str, Any], name: str, key: str) -> Any:
    verdict = predicates[name].get(key)
    return None if verdict is None or verdict["fit"] else verdict


def again(scenario: Scenario, settings: Settings, decisions: list[Decision]) -> Cycle:
    """Decide the cycle after some decisions under other settings."""
    simulation = Simulation(replace(scenario, settings=settings), quirk_effects=False)
    simulation.replay(decisions)
    cycle = simulation.step()
    assert cycle is not None
    return cycle


def flags_are_right(scenario: Scenario, most: int) -> None:
    """Hold the flags of up to ``most`` cycles against deciding without each quirk."""
    simulation = Simulation(scenario)
    for cycle in islice(simulation, most):
        before = simulation.decisions[:-1]
        flagged = {effect.id for effect in cycle.quirks}
        alone = {
            name
            for name in sorted(QUIRK_IDS)
            if compared(
                cycle, again(scenario, replace(DEFAULT_SETTINGS, fixed_too=frozenset({name})), before)
            )
        }
        together = flagged - alone
        assert alone <= flagged, f"{cycle.pod}: {sorted(alone - flagged)} not reported"
        assert not (alone and together), f"{cycle.pod}: {sorted(together)} changed nothing"
        fixed = again(scenario, FIXED, before)
        assert flagged or not compared(cycle, fixed), (
            f"{cycle.pod}: something differs, and nothing is reported"
        )


@pytest.mark.parametrize("start", range(0, trials(30), 30))
def test_the_flags_of_recorded_kinds_of_clusters_are_exact(start: int) -> None:
    """On the random clusters of the conformance tests, a quirk is flagged where fixing it alone differs."""
    for seed in range(start, start + 30):
        case = record(seed)
        loaded = load_documents(case["objects"], expand=False, admission=False)
        flags_are_right(replace(loaded, policy=case["policy"]), 1)


@pytest.mark.parametrize("start", range(0, QUIRKY_SEEDS, 20))
def test_the_flags_are_exact_where_quirks_abound(start: int) -> None:
    """On clusters made of what quirks are about the same holds in every cycle."""
    for seed in range(start, start + 20):
        flags_are_right(quirky(seed), 3)


def test_the_flags_are_exact_beside_other_nodes_and_pods(case: Case, quirk_id: str) -> None:
    """With random nodes and pods beside a case the same holds, and its quirk still matters in some."""
    clusters = [beside(case, seed) for seed in range(8)]
    for cluster in clusters:
        flags_are_right(cluster, 3)
    assert any(
        e.id == quirk_id for cluster in clusters for cycle in Simulation(cluster) for e in cycle.quirks
    )


def test_the_example_shows_what_its_text_says() -> None:
    """Each of its three pods meets a quirk, and all end up elsewhere where quirks are fixed."""
    example = find("quirks")
    assert example is not None
    as_is = example.load()
    assert as_is.settings.quirks == "v1.11"
    reported = {cycle.pod: cycle for cycle in Simulation(as_is)}
    assert {key: [effect.id for effect in cycle.quirks] for key, cycle in reported.items()} == {
        "default/web": ["last-anti-affinity-term"],
        "default/report": ["anti-affinity-terms-anded"],
        "default/job": ["unrequested-resources-checked"],
    }
    nodes = {node.meta.name: node for node in as_is.objects if isinstance(node, Node)}
    assert nodes[reported["default/web"].node or ""].meta.labels["zone"] == "a"  # where the cache is
    assert reported["default/report"].node == "a-1"  # beside the cache
    assert "1 Insufficient memory" in (reported["default/job"].message or "")
    fixed = load(example.read().replace("quirks: v1.11\n---", "quirks: fixed\n---"))
    assert fixed.settings == replace(FIXED, scheduler="v1.11", names_v1_11=True)
    rightly = {cycle.pod: cycle for cycle in Simulation(fixed)}
    assert nodes[rightly["default/web"].node or ""].meta.labels["zone"] == "b"
    assert rightly["default/report"].node not in ("a-1", rightly["default/web"].node)
    assert rightly["default/job"].node == "old-1"
    assert not any(cycle.quirks for cycle in rightly.values())
