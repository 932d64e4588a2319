"""Preemption: who has to go, where, and what happens to nominations."""

from __future__ import annotations

import pytest

from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.v1_11.preemption.criteria import pick_node
from scheduler_core.schedulers.v1_11.preemption.dry_run import NodeVictims
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from tests.core.engine.builders import budget, one, pod, simulate

V1_11 = compile_profile(None)


def dry_runs(cycle: Cycle) -> dict[str, tuple[list[str], int]]:
    """Return the victims and the violations of every candidate node."""
    assert cycle.preemption is not None
    return {cycle.nodes[run.node]: (run.victims, run.violations) for run in cycle.preemption.candidates}


def test_lower_priority_pods_make_room_and_no_more_than_needed() -> None:
    """Only pods that must go are victims; the pod is nominated, tried again, and bound."""
    simulation = simulate(
        one("n"),
        pod("small", {"cpu": "200m"}, on="n", priority=0),
        pod("large", {"cpu": "700m"}, on="n", priority=0),
        pod("p", {"cpu": "500m"}, priority=10),
    )
    first, second = list(simulation)
    assert first.preemption is not None
    assert dry_runs(first) == {"n": (["default/large"], 0)}
    assert (first.decision.nominated, first.decision.victims) == ("n", ("default/large",))
    assert [event.reason for event in first.events] == ["FailedScheduling", "Preempted"]
    assert (second.result, second.node) == ("scheduled", "n")
    assert simulation.deleted == ["default/large"]


def test_equal_priority_is_not_preempted() -> None:
    """Pods of the same priority stay, so there is no candidate."""
    (cycle,) = simulate(
        one("n"), pod("a", {"cpu": "1"}, on="n", priority=5), pod("p", {"cpu": "1"}, priority=5)
    )
    assert cycle.preemption is not None
    assert cycle.preemption.potential.tolist() == [0]
    assert cycle.preemption.candidates == []
    assert cycle.decision.nominated is None


def test_a_node_that_no_deletion_can_help_is_no_potential_node() -> None:
    """A taint that is not tolerated excludes a node; short resources do not."""
    cycle = simulate(
        one("tainted", taints=["k=v:NoSchedule"]),
        one("full"),
        pod("a", {"cpu": "1"}, on="full"),
        pod("p", {"cpu": "1"}, priority=1),
    ).step()
    assert cycle is not None
    assert cycle.preemption is not None
    assert [cycle.nodes[node] for node in cycle.preemption.potential] == ["full"]


def test_a_budget_steers_to_another_node() -> None:
    """The node where no PodDisruptionBudget is violated wins, though its victim has the higher priority."""
    cycle = simulate(
        one("a"),
        one("b"),
        pod("kept", {"cpu": "1"}, on="a", priority=0, labels={"app": "db"}),
        pod("free", {"cpu": "1"}, on="b", priority=5, labels={"app": "web"}),
        budget("db", 0, app="db"),
        pod("p", {"cpu": "1"}, priority=10),
    ).step()
    assert cycle is not None
    assert cycle.decision.nominated == "b"
    assert dry_runs(cycle)["a"] == (["default/kept"], 1)


def test_an_allowance_is_not_counted_down() -> None:
    """A budget that allows one disruption is violated by none of two victims, as in v1.11."""
    cycle = simulate(
        one("n"),
        *(pod(f"v{i}", {"cpu": "500m"}, on="n", labels={"app": "db"}) for i in range(2)),
        budget("db", 1, app="db"),
        pod("p", {"cpu": "1"}, priority=10),
    ).step()
    assert cycle is not None
    assert dry_runs(cycle)["n"] == (["default/v0", "default/v1"], 0)


def test_a_lower_nomination_to_the_chosen_node_is_cleared() -> None:
    """The nominated pod of lower priority keeps waiting but counts on the node no more."""
    simulation = simulate(
        one("n"),
        pod("v", {"cpu": "1"}, on="n", priority=0),
        pod("low", {"cpu": "1"}, priority=1, nominatedNodeName="n"),
        pod("high", {"cpu": "1"}, priority=2),
    )
    cycle = simulation.step()
    assert cycle is not None
    assert cycle.decision.cleared == ("default/low",)
    assert [pod.key for pod in simulation.queue.nominated_to("n")] == ["default/high"]


def test_a_pod_waits_for_victims_that_are_still_leaving() -> None:
    """While a pod of lower priority terminates on its nominated node, nothing else is preempted for it."""
    cycle = simulate(
        one("n"),
        pod("leaving", {"cpu": "1"}, on="n", priority=0, deletionTimestamp="2018-06-01T00:00:00Z"),
        pod("p", {"cpu": "1"}, priority=2, nominatedNodeName="n"),
    ).step()
    assert cycle is not None
    assert cycle.preemption is not None
    assert not cycle.preemption.eligible
    assert cycle.decision.victims == ()


def test_a_nominated_pod_keeps_its_place() -> None:
    """A pod of equal priority cannot take what a nominated pod waits for."""
    simulation = simulate(
        one("n"),
        pod("first", {"cpu": "1"}, priority=5, nominatedNodeName="n"),
        pod("second", {"cpu": "1"}, priority=5),
    )
    assert [(c.pod, c.result) for c in simulation] == [
        ("default/first", "scheduled"),
        ("default/second", "unschedulable"),
    ]


CRITERIA: dict[str, tuple[dict[str, tuple[list[int], int]], str, list[str]]] = {
    "fewest violations come first": ({"a": ([1], 1), "b": ([9, 9], 0)}, "b", ["b"]),
    "then the lowest priority of the first victim": ({"a": ([5], 0), "b": ([4, 4, 4], 0)}, "b", ["b"]),
    "then the lowest sum": ({"a": ([5, 1], 0), "b": ([5, 0], 0)}, "b", ["b"]),
    "the sum counts each victim for more than any priority": ({"a": ([5, -9], 0), "b": ([5], 0)}, "b", ["b"]),
    "equal nodes are all named and the first by name is taken": (
        {"b": ([5], 0), "a": ([5], 0)},
        "a",
        ["a", "b"],
    ),
    "a node without victims wins at once": ({"a": ([5], 0), "b": ([], 0)}, "b", ["b"]),
}


@pytest.mark.parametrize("case", CRITERIA)
def test_candidates_are_compared_criterion_by_criterion(case: str) -> None:
    """Victims' priorities and violations a node decide which node is chosen."""
    table, node_name, ties = CRITERIA[case]
    candidates = []
    for name, (priorities, violations) in table.items():
        pods = simulate(
            one(name), *(pod(f"v{i}", on=name, priority=p) for i, p in enumerate(priorities))
        ).cluster.pods
        candidates.append(NodeVictims(name, list(pods.values()), violations))
    pick = pick_node(candidates, V1_11)
    assert (pick.chosen.node, pick.ties) == (node_name, ties)
