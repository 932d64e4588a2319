"""Remedies that delete pods or add a node: budgets, replacements and agents are part of what is verified."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.explain import Remedy, explain

UNREACHABLE = "node.kubernetes.io/unreachable"
RELEASES = ("v1.11", "v1.37")


def node(name: str = "n1", cpu: str = "2") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": "u", "labels": {"kubernetes.io/hostname": name, "pool": name}},
        "spec": {"providerID": "x", "taints": [{"key": UNREACHABLE, "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "10"}},
    }


def nodes(*names: str) -> list[dict[str, Any]]:
    made = [node(name) for name in names]
    for one in made:
        del one["spec"]
    return made


def pod(name: str, cpu: str, owner: str = "", **spec: Any) -> dict[str, Any]:
    owners = [{"apiVersion": "v1", "kind": owner, "name": "web", "uid": "o", "controller": True}]
    meta = {"name": name, "namespace": "default", "labels": {"app": "web"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**meta, **({"ownerReferences": owners} if owner else {})},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **spec},
    }


def budget(allowed: int) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guard", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": allowed},
    }


def remedies(objects: list[dict[str, Any]], scheduler: str) -> list[Remedy]:
    """Return the changes for the pod default/big."""
    read = load(yaml.safe_dump_all(objects), scheduler=scheduler)
    return list(explain(read, "default/big").changes)


def deleting(found: list[Remedy]) -> list[Remedy]:
    return [change for change in found if any("delete pod" in words for words in change.words)]


def adding(found: list[Remedy]) -> list[Remedy]:
    return [change for change in found if any("add a node" in words for words in change.words)]


BIG = pod("big", "1800m", nodeSelector={"pool": "n1"})
REPLACED = "ReplicaSet default/web creates another pod in place of default/web-1; it "


@pytest.mark.parametrize("scheduler", RELEASES)
@pytest.mark.parametrize(
    ("allowed", "names", "notes"),
    [
        (0, ["n1"], ["which allows 0 disruptions", f"{REPLACED}finds no node and stays pending."]),
        (1, ["n1"], [f"{REPLACED}finds no node and stays pending."]),
        (1, ["n1", "n2"], [f"{REPLACED}is scheduled to n2."]),
    ],
)
def test_a_deleted_replica_and_its_budget_are_part_of_the_verification(
    scheduler: str, allowed: int, names: list[str], notes: list[str]
) -> None:
    """The answer says where the replacement goes, and which budget refuses the eviction."""
    objects = [*nodes(*names), budget(allowed), pod("web-1", "1500m", "ReplicaSet", nodeName="n1"), BIG]
    (change,) = deleting(remedies(objects, scheduler))
    said = [one for one in change.notes if "Preemption" not in one]
    assert len(said) == len(notes), said
    assert all(text in one for one, text in zip(said, notes, strict=True)), said
    assert change.effort == 5 + 3 * sum("allows 0" in one or "pending" in one for one in said)


@pytest.mark.parametrize("scheduler", RELEASES)
@pytest.mark.parametrize(
    ("owner", "priority", "offered"),
    [("", 0, True), ("Node", 0, False), ("ReplicaSet", 9, False), ("DaemonSet", 9, False)],
)
def test_a_deletion_that_is_undone_is_not_proposed(
    scheduler: str, owner: str, priority: int, offered: bool
) -> None:
    """A static pod comes back, and so does one whose replacement is scheduled first."""
    objects = [*nodes("n1"), pod("web-1", "1500m", owner, nodeName="n1", priority=priority), BIG]
    assert bool(deleting(remedies(objects, scheduler))) is offered


@pytest.mark.parametrize("scheduler", RELEASES)
def test_another_node_is_one_of_the_remedies(scheduler: str) -> None:
    """It is like one that exists, without what is that node's own."""
    given = node()
    given["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    found = adding(remedies([given, pod("web-1", "1500m", nodeName="n1"), BIG], scheduler))
    (change,) = found
    assert change.words == ("add a node like n1 (cpu 2, memory 4Gi)",)
    assert (change.node, change.chosen) == ("n1-new", "n1-new")
    (patch,) = change.patches
    made = patch["object"]
    assert made["metadata"] == {
        "name": "n1-new",
        "labels": {"kubernetes.io/hostname": "n1-new", "pool": "n1"},
    }
    assert "spec" not in made


@pytest.mark.parametrize("scheduler", RELEASES)
@pytest.mark.parametrize(("agent", "size"), [("100m", ""), ("500m", ", but with 3 cpu")])
def test_a_new_node_runs_its_agents(scheduler: str, agent: str, size: str) -> None:
    """The DaemonSet's pod of the node that it is like takes room on the new one, which is larger then."""
    objects = [
        *nodes("n1"),
        pod("agent", agent, "DaemonSet", nodeName="n1"),
        pod("web-1", "1500m", nodeName="n1"),
        pod("big", "1800m"),
    ]
    (change,) = adding(remedies(objects, scheduler))
    assert change.words == (f"add a node like n1 (cpu 2, memory 4Gi){size}",)
