"""Small random clusters made of what quirks are about: terms, nominations, ports, budgets, resources."""

from __future__ import annotations

from random import Random
from typing import Any

from scheduler_core.scenario.scenario import Scenario
from tests.core.engine.builders import Manifest, node, obj, pod, scenario
from tests.core.engine.quirk_cases import Case

HOST = "kubernetes.io/hostname"
APPS = ("a", "b", "c")

PACKED = 0.2

POLICIES: tuple[Manifest | None, ...] = (
    None,
    None,
    {"priorities": [{"name": "ServiceSpreadingPriority", "weight": 1}]},
    {
        "predicates": [
            {"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["zone"]}}},
            {"name": "Rack", "argument": {"labelsPresence": {"labels": ["zone"], "presence": True}}},
            {"name": "GeneralPredicates"},
            {"name": "MatchInterPodAffinity"},
        ]
    },
    {
        "predicates": [{"name": "MaxGCEPDVolumeCount"}, {"name": "PodFitsPorts"}],
        "priorities": [{"name": "InterPodAffinityPriority", "weight": 1}],
        "alwaysCheckAllPredicates": True,
    },
)


def quirky(seed: int) -> Scenario:
    """Make a cluster of a few nodes and pods; equal seeds make equal clusters."""
    dice = Random(seed)
    names = [f"n{number}" for number in range(dice.randint(1, 4))]
    if dice.random() < PACKED:
        return scenario(*_packed(names, dice))
    manifests = [_node(name, dice) for name in names]
    manifests += [
        _pod(f"e{number}", dice, on=dice.choice(names), priority=dice.choice((0, 0, 1, 2, 9)))
        for number in range(dice.randint(1, 7))
    ]
    for number in range(dice.randint(1, 4)):
        manifests.append(_pod(f"p{number}", dice, priority=dice.choice((0, 3, 5))))
    if dice.random() < 0.4:
        waiting = _pod("waiting", dice, priority=5, nominatedNodeName=dice.choice(names))
        waiting["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "9"}}  # it stays nominated
        manifests.append(waiting)
    if dice.random() < 0.6:
        manifests.append(obj("Service", "s", spec={"selector": {"app": dice.choice(APPS)}}))
        labels = {"matchLabels": {"app": dice.choice(APPS)}}
        manifests.append(obj("ReplicaSet", "r", "apps/v1", spec={"replicas": 1, "selector": labels}))
    return scenario(*manifests, *_budgets(dice), policy=dice.choice(POLICIES))


def _budgets(dice: Random) -> list[Manifest]:
    return [
        obj("PodDisruptionBudget", app, "policy/v1beta1",
            spec={"selector": {"matchLabels": {"app": app}}},
            status={"disruptionsAllowed": dice.randint(0, 1)})
        for app in dice.sample(APPS, dice.randint(0, 2))
    ]  # fmt: skip


def _packed(names: list[str], dice: Random) -> list[Manifest]:
    """Make nodes that are full of pods of several priorities, and one pod that wants a whole node."""
    size = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    residents = [
        pod(
            f"{name}-{number}",
            {"cpu": "500m"},
            on=name,
            labels={"app": dice.choice(APPS)},
            priority=dice.randint(0, 4),
        )
        for name in names
        for number in range(2)
    ]
    nodes = [node(name, allocatable=size) for name in names]
    return [*nodes, *residents, *_budgets(dice), pod("p", {"cpu": dice.choice(("500m", "1"))}, priority=5)]


def beside(case: Case, seed: int) -> Scenario:
    """Put a few random nodes and pods beside a case where its quirk matters; it may matter no longer."""
    dice = Random(seed)
    more = [_node(f"x{number}", dice) for number in range(dice.randint(0, 2))]
    names = [m["metadata"]["name"] for m in (*case.matters, *more) if m["kind"] == "Node"]
    pods = [
        _pod(f"y{number}", dice, on=dice.choice(names), priority=dice.randint(0, 9))
        for number in range(dice.randint(0, 2))
    ]
    return scenario(*more, *pods, *case.matters, policy=case.policy)


def _node(name: str, dice: Random) -> Manifest:
    labels = {HOST: name}
    if dice.random() < 0.75:
        labels["zone"] = dice.choice(("x", "y"))
    size = {"cpu": dice.choice(("1", "2")), "memory": dice.choice(("1Gi", "2Gi")), "pods": "10"}
    return node(name, labels=labels, allocatable=size)


def _pod(name: str, dice: Random, **fields: Any) -> Manifest:
    requests = {
        key: dice.choice(values)
        for key, values in (("cpu", ("250m", "500m", "1")), ("memory", ("256Mi", "1Gi")))
        if dice.random() < 0.5
    }
    if dice.random() < 0.35:
        fields["ports"] = [{"hostPort": 80}]
    if dice.random() < 0.1:
        count = dice.choice((1, 2, 17))
        fields["volumes"] = [
            {"name": f"v{k}", "gcePersistentDisk": {"pdName": f"pd-{k}", "readOnly": True}}
            for k in range(count)
        ]
    if dice.random() < 0.8:
        fields["labels"] = {"app": dice.choice(APPS)}
    affinity = {
        kind: terms
        for kind, chance in (("podAffinity", 0.25), ("podAntiAffinity", 0.4))
        if dice.random() < chance and (terms := _terms(dice))
    }
    if affinity:
        fields["affinity"] = affinity
    return pod(name, requests, **fields)


def _terms(dice: Random) -> Manifest:
    listed = [_term(dice) for _ in range(dice.choice((1, 1, 2)))]
    if dice.random() < 0.7:
        return {"requiredDuringSchedulingIgnoredDuringExecution": listed}
    weighted = [{"weight": dice.choice((1, 9, 50)), "podAffinityTerm": term} for term in listed]
    return {"preferredDuringSchedulingIgnoredDuringExecution": weighted}


def _term(dice: Random) -> Manifest:
    selector = {"matchLabels": {"app": dice.choice(APPS)}}
    return {"topologyKey": dice.choice((HOST, "zone")), "labelSelector": selector}
