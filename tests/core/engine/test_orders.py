"""The two named static orders: the same predicates, the same placements, other work on the way."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_cycle
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.policy.order import ORDERS, keys_of
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.settings.settings import PREDICATE_ORDERS, Settings
from tests.conformance.random_records import record
from tests.core.engine.builders import node, pod, scenario
from tests.core.engine.test_policy import predicates
from tests.core.trials import trials

PROPOSAL = Settings(predicate_order="proposal")


def under_both(given: Scenario) -> tuple[Simulation, Simulation]:
    """Simulate a scenario in v1.11's order and in the proposal's."""
    return Simulation(given), Simulation(replace(given, settings=PROPOSAL))


def test_settings_offer_the_orders_that_there_are() -> None:
    """What predicateOrder may be and the tables of orders are the same names."""
    assert set(PREDICATE_ORDERS) == set(ORDERS)


def test_the_proposal_takes_general_predicates_apart() -> None:
    """The default provider's members run at the proposal's places, what came later beside its kin."""
    assert compile_profile(None, PROPOSAL).order == (
        "CheckNodeCondition",
        "HostName",
        "PodFitsHostPorts",
        "MatchNodeSelector",
        "PodFitsResources",
        "NoDiskConflict",
        "PodToleratesNodeTaints",
        "MaxEBSVolumeCount",
        "MaxGCEPDVolumeCount",
        "MaxAzureDiskVolumeCount",
        "CheckVolumeBinding",
        "NoVolumeZoneConflict",
        "CheckNodeMemoryPressure",
        "CheckNodePIDPressure",
        "CheckNodeDiskPressure",
        "MatchInterPodAffinity",
    )


def test_a_bundle_that_a_policy_orders_stays_one() -> None:
    """GeneralPredicates with an order of its own runs whole at that place, and beside members named too."""
    whole = compile_profile(predicates(("GeneralPredicates", 1), "HostName"), PROPOSAL)
    assert whole.order == ("GeneralPredicates", "CheckNodeCondition", "HostName")
    apart = compile_profile(predicates("GeneralPredicates", ("PodFitsResources", 4)), PROPOSAL)
    assert apart.order == (
        "PodFitsResources",
        "CheckNodeCondition",
        "HostName",
        "PodFitsHostPorts",
        "MatchNodeSelector",
    )


@pytest.mark.parametrize("name", [row.name for row in ORDERS["proposal"] if row.name != "PodFitsHostPorts"])
def test_every_name_of_the_proposal_is_accepted(name: str) -> None:
    """A policy may write any name of the proposal; a name of several keys, with an order, is no tie."""
    argument = {"serviceAffinity": {"labels": ["rack"]}} if "ervice" in name else None
    argument = {"labelsPresence": {"labels": ["rack"]}} if "LabelPresence" in name else argument
    entry = {"name": name, "order": 3} | ({"argument": argument} if argument else {})
    if name == "PodToleratesNodeNoExecuteTaints":
        assert not set(keys_of(name)) & set(PREDICATES)
        return
    profile = compile_profile({"predicates": [entry]})
    assert set(profile.order) == {*keys_of(name), "CheckNodeCondition"}
    assert profile.warnings == ()


def test_both_orders_find_the_same_nodes_and_leave_others_unasked() -> None:
    """On one cluster the same nodes fit; what is not reached on the others is the order's own."""
    cluster = scenario(
        node("fits", labels={"disk": "ssd"}),
        node("small", labels={"disk": "hdd"}, allocatable={"cpu": "1", "memory": "1Gi", "pods": "9"}),
        node("tainted", labels={"disk": "hdd"}, taints=["k=v:NoSchedule"]),
        pod("p", {"cpu": "2"}, nodeSelector={"disk": "ssd"}),
    )
    ours, proposed = (plain(trace_cycle(_only(simulation))) for simulation in under_both(cluster))
    assert ours["node"] == proposed["node"] == "fits"
    assert ours["feasible"] == proposed["feasible"] == ["fits"]
    assert ours["order"][1] == "GeneralPredicates"
    assert proposed["order"][1:5] == ["HostName", "PodFitsHostPorts", "MatchNodeSelector", "PodFitsResources"]
    assert ours["failed"]["small"] == ["Insufficient cpu", "node(s) didn't match node selector"]
    assert proposed["failed"]["small"] == ["node(s) didn't match node selector"]
    assert list(ours["predicates"]["tainted"]) == ["CheckNodeCondition", "GeneralPredicates"]
    assert list(proposed["predicates"]["tainted"]) == [
        "CheckNodeCondition",
        "HostName",
        "PodFitsHostPorts",
        "MatchNodeSelector",
    ]


def _only(simulation: Simulation) -> Cycle:
    [cycle] = simulation
    return cycle


@pytest.mark.parametrize("start", range(0, trials(30), 30))
def test_placements_do_not_depend_on_the_static_order(start: int) -> None:
    """On random clusters both orders agree on every feasible set, errors apart, and on the end."""
    for seed in range(start, start + 30):
        case = record(seed)
        policy = case["policy"]
        for entry in (policy or {}).get("predicates") or []:
            entry.pop("order", None)
        given = replace(load_documents(case["objects"], expand=False, admission=False), policy=policy)
        ours, proposed = under_both(given)
        for left, right in zip(ours, proposed, strict=True):
            assert left.pod == right.pod, seed
            if "error" not in (left.result, right.result):
                assert left.feasible.tolist() == right.feasible.tolist(), seed
                assert left.node == right.node, seed
        assert ours.placement() == proposed.placement(), seed
