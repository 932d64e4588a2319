"""Each priority as a table: a cluster, a pod, and the raw value and score of nodes a and b."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from scheduler_core.schedulers.v1_11.priorities import FunctionShape
from tests.core.engine.builders import affinity, node, node_affinity, obj, pod, simulate

ZONE = "failure-domain.beta.kubernetes.io/zone"
WEB = {"labels": {"app": "web"}}
SERVICE = obj("Service", "web", spec={"selector": {"app": "web"}})
MIB = 1024 * 1024
BIG = {"names": ["big:latest"], "sizeBytes": 2000 * MIB}
MIDDLE = {"names": ["middle:v1"], "sizeBytes": 120 * MIB}
ONE_CORE = {"cpu": "1", "memory": "1000Mi", "pods": "10"}


def roomy(name: str, **fields: Any) -> dict[str, Any]:
    """Make a node of one core and 1000 Mi."""
    return node(name, allocatable=ONE_CORE, **fields)


def avoiding(uid: str) -> dict[str, str]:
    """Make the annotation of a node that avoids a ReplicaSet's pods."""
    entry = {"podSignature": {"podController": {"kind": "ReplicaSet", "uid": uid}}}
    return {"scheduler.alpha.kubernetes.io/preferAvoidPods": json.dumps({"preferAvoidPods": [entry]})}


def owned(uid: str) -> list[dict[str, Any]]:
    """Make the ownerReferences of a ReplicaSet's pod."""
    return [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": uid, "controller": True}]


def named(name: str, **argument: Any) -> dict[str, Any]:
    """Make a policy's entry."""
    return {"name": name, "weight": 1, **({"argument": argument} if argument else {})}


TWO = [roomy("a"), roomy("b")]
ZONED = [node("a", labels={ZONE: "1"}), node("b", labels={ZONE: "2"})]

# what the row says: the policy's entry, the cluster, the incoming pod, raw values (a, b), scores (a, b)
Case = tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any], tuple[int, int] | None, tuple[int, int]]
CASES: dict[str, Case] = {
    "LeastRequested prefers the emptier node": (
        named("LeastRequestedPriority"),
        [*TWO, pod("x", {"cpu": "500m", "memory": "500Mi"}, on="a")],
        pod("p", {"cpu": "0", "memory": "0"}),
        (5, 10),
        (5, 10),
    ),
    "a container without requests counts as 100m and 200Mi": (
        named("LeastRequestedPriority"),
        TWO,
        pod("p"),
        (8, 8),
        (8, 8),
    ),
    "LeastRequested gives 0 for what is overcommitted": (
        named("LeastRequestedPriority"),
        [*TWO, pod("x", {"cpu": "2", "memory": "0"}, on="a")],
        pod("p", {"cpu": "0", "memory": "0"}),
        (5, 10),
        (5, 10),
    ),
    "MostRequested prefers the fuller node": (
        named("MostRequestedPriority"),
        [*TWO, pod("x", {"cpu": "500m", "memory": "500Mi"}, on="a")],
        pod("p", {"cpu": "0", "memory": "0"}),
        (5, 0),
        (5, 0),
    ),
    "RequestedToCapacityRatio follows its shape": (
        named(
            "Ratio",
            requestedToCapacityRatioArguments={
                "shape": [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 10}]
            },
        ),
        [*TWO, pod("x", {"cpu": "250m", "memory": "500Mi"}, on="a")],
        pod("p", {"cpu": "0", "memory": "0"}),
        (7, 0),
        (7, 0),
    ),
    "Balanced prefers equal shares of cpu and memory": (
        named("BalancedResourceAllocation"),
        [
            *TWO,
            pod("x", {"cpu": "500m", "memory": "0"}, on="a"),
            pod("y", {"cpu": "500m", "memory": "500Mi"}, on="b"),
        ],
        pod("p", {"cpu": "0", "memory": "0"}),
        (5, 10),
        (5, 10),
    ),
    "Balanced gives 0 where one is full": (
        named("BalancedResourceAllocation"),
        [*TWO, pod("x", {"cpu": "1", "memory": "1000Mi"}, on="a")],
        pod("p", {"cpu": "0", "memory": "0"}),
        (0, 10),
        (0, 10),
    ),
    "SelectorSpread avoids the service's own pods": (
        named("SelectorSpreadPriority"),
        [*TWO, SERVICE, pod("x", on="a", **WEB), pod("y", on="a", **WEB), pod("z", on="b", **WEB)],
        pod("p", **WEB),
        (2, 1),
        (0, 5),
    ),
    "SelectorSpread counts no pod that is being deleted": (
        named("SelectorSpreadPriority"),
        [*TWO, SERVICE, pod("x", on="a", deletionTimestamp="2018-06-01T00:00:00Z", **WEB)],
        pod("p", **WEB),
        (0, 0),
        (10, 10),
    ),
    "zones weigh two thirds": (
        named("SelectorSpreadPriority"),
        [*ZONED, SERVICE, pod("x", on="a", **WEB), pod("y", on="b", **WEB), pod("z", on="b", **WEB)],
        pod("p", **WEB),
        (1, 2),
        (5, 0),
    ),
    "a StatefulSet selects too": (
        named("SelectorSpreadPriority"),
        [
            *TWO,
            obj("StatefulSet", "s", "apps/v1", spec={"selector": {"matchLabels": {"app": "web"}}}),
            pod("x", on="a", **WEB),
        ],
        pod("p", **WEB),
        (1, 0),
        (0, 10),
    ),
    "without a selector every node is best": (
        named("SelectorSpreadPriority"),
        [*TWO, pod("x", on="a", **WEB)],
        pod("p", **WEB),
        (0, 0),
        (10, 10),
    ),
    "ServiceSpreading does the same": (
        named("ServiceSpreadingPriority"),
        [*TWO, SERVICE, pod("x", on="a", **WEB)],
        pod("p", **WEB),
        (1, 0),
        (0, 10),
    ),
    "preferred affinity draws to the companion's zone": (
        named("InterPodAffinityPriority"),
        [*ZONED, pod("x", on="a", **WEB)],
        pod("p", affinity=affinity("podAffinity", key=ZONE, weight=5, app="web")),
        None,
        (10, 0),
    ),
    "preferred anti-affinity repels": (
        named("InterPodAffinityPriority"),
        [*ZONED, pod("x", on="a", **WEB)],
        pod("p", affinity=affinity("podAntiAffinity", key=ZONE, weight=5, app="web")),
        None,
        (0, 10),
    ),
    "required affinity of an existing pod draws, too": (
        named("InterPodAffinityPriority"),
        [
            *ZONED,
            pod("y", on="b", **WEB),
            pod("x", on="b", affinity=affinity("podAffinity", key=ZONE, app="web")),
        ],
        pod("p", **WEB),
        None,
        (0, 10),
    ),
    "preferred node affinity adds up its weights": (
        named("NodeAffinityPriority"),
        [node("a", labels={"disk": "ssd"}), node("b")],
        pod("p", affinity=node_affinity({"key": "disk", "operator": "In", "values": ["ssd"]}, weight=3)),
        (3, 0),
        (10, 0),
    ),
    "taints that would rather not have the pod are counted": (
        named("TaintTolerationPriority"),
        [
            node("a", taints=["k=v:PreferNoSchedule", "l=w:PreferNoSchedule"]),
            node("b", taints=["k=v:PreferNoSchedule"]),
        ],
        pod("p"),
        (2, 1),
        (0, 5),
    ),
    "unless they are tolerated": (
        named("TaintTolerationPriority"),
        [node("a", taints=["k=v:PreferNoSchedule"]), node("b")],
        pod("p", tolerations=[{"key": "k", "operator": "Exists"}]),
        (0, 0),
        (10, 10),
    ),
    "a node can ask a ReplicaSet's pods to stay away": (
        named("NodePreferAvoidPodsPriority"),
        [node("a", annotations=avoiding("u1")), node("b", annotations=avoiding("u2"))],
        pod("p", ownerReferences=owned("u1")),
        (0, 10),
        (0, 10),
    ),
    "an annotation that does not parse avoids nobody": (
        named("NodePreferAvoidPodsPriority"),
        [node("a", annotations={"scheduler.alpha.kubernetes.io/preferAvoidPods": "{"}), node("b")],
        pod("p", ownerReferences=owned("u1")),
        (10, 10),
        (10, 10),
    ),
    "an image that is there already draws": (
        named("ImageLocalityPriority"),
        [node("a", images=[BIG]), node("b")],
        pod("p", image="big"),
        (10, 0),
        (10, 0),
    ),
    "in proportion to its size": (
        named("ImageLocalityPriority"),
        [node("a", images=[MIDDLE]), node("b")],
        pod("p", image="middle:v1"),
        (1, 0),
        (1, 0),
    ),
    "Equal scores 1": (named("EqualPriority"), TWO, pod("p"), (1, 1), (1, 1)),
    "ResourceLimits scores 1 where a limit fits": (
        named("ResourceLimitsPriority"),
        [roomy("a"), node("b")],
        pod("p", limits={"cpu": "2"}),
        (0, 1),
        (0, 1),
    ),
    "labelPreference prefers a label": (
        named("Pref", labelPreference={"label": "disk", "presence": True}),
        [node("a", labels={"disk": "x"}), node("b")],
        pod("p"),
        (10, 0),
        (10, 0),
    ),
    "or its absence": (
        named("Pref", labelPreference={"label": "disk", "presence": False}),
        [node("a", labels={"disk": "x"}), node("b")],
        pod("p"),
        (0, 10),
        (0, 10),
    ),
    "serviceAntiAffinity spreads over a label's values": (
        named("Anti", serviceAntiAffinity={"label": ZONE}),
        [*ZONED, SERVICE, pod("x", on="a", **WEB), pod("y", on="b", **WEB), pod("z", on="b", **WEB)],
        pod("p", **WEB),
        (1, 2),
        (6, 3),
    ),
    "and gives nodes without the label nothing": (
        named("Anti", serviceAntiAffinity={"label": "rack"}),
        [node("a", labels={"rack": "r"}), node("b"), SERVICE],
        pod("p", **WEB),
        (0, 0),
        (10, 0),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_priority_scores_nodes(case: str) -> None:
    """A policy of this one priority gives nodes a and b these raw values and scores."""
    entry, objects, incoming, raw, score = CASES[case]
    policy = {"predicates": [], "priorities": [entry]}
    cycle = simulate(*objects, incoming, policy=policy).step()
    assert cycle is not None
    (row,) = cycle.priorities
    assert [cycle.nodes[i] for i in cycle.feasible.tolist()] == ["a", "b"]
    assert (row.name, row.weight) == (entry["name"], 1)
    assert (None if row.raw is None else tuple(row.raw.tolist())) == raw
    assert tuple(row.score.tolist()) == score


def test_a_falling_line_truncates_toward_zero() -> None:
    """Between (0, 10) and (3, 0) the exact 6.67 and 3.33 become 7 and 4, as Go's division makes them."""
    assert FunctionShape(((0, 10), (3, 0))).at(np.arange(5)).tolist() == [10, 7, 4, 0, 0]


def test_totals_are_weighted_sums_and_ties_go_round() -> None:
    """Equal totals are ordered by name descending, and the counter takes them in turn."""
    policy = {"predicates": [], "priorities": [{"name": "EqualPriority", "weight": 3}]}
    simulation = simulate(*(node(name) for name in "bca"), *(pod(f"p{i}") for i in range(4)), policy=policy)
    cycles = list(simulation)
    assert [c.node for c in cycles] == ["c", "b", "a", "c"]
    assert [c.last_node_index for c in cycles] == [0, 1, 2, 3]
    assert cycles[0].totals is not None
    assert cycles[0].totals.tolist() == [3, 3, 3]
    assert [cycles[0].nodes[i] for i in cycles[0].ties.tolist()] == ["c", "b", "a"]


def test_the_only_node_that_fits_is_not_scored() -> None:
    """With one feasible node nothing is scored and the counter stays."""
    simulation = simulate(node("a"), node("b", unschedulable=True), pod("p"), pod("q"))
    cycles = list(simulation)
    assert [c.node for c in cycles] == ["a", "a"]
    assert [c.priorities for c in cycles] == [[], []]
    assert [c.totals for c in cycles] == [None, None]
    assert simulation.last_node_index == 0
