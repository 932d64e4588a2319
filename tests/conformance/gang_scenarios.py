"""Random scenario records: small clusters that gangs compete for, like the recorded ones and richer."""

from __future__ import annotations

from typing import Any

from tests.conformance.gang_oracle.reader import API_GROUP, CLASSIC, LABEL
from tests.conformance.gang_records import stamp
from tests.conformance.random_records import Dice

Manifest = dict[str, Any]


def node(dice: Dice, name: str, rich: bool) -> Manifest:
    amounts = {"cpu": str(dice.randint(3, 18 if dice.chance(0.4) else 10)), "pods": "110"}
    spec: Manifest = {}
    if rich:
        amounts |= {"memory": dice.choice(("4Gi", "16Gi"))} if dice.chance(0.3) else {}
        amounts |= {"pods": dice.choice(("3", "6"))} if dice.chance(0.2) else {}
        spec |= {"unschedulable": True} if dice.chance(0.1) else {}
        spec |= {"taints": [{"key": "t", "effect": "NoSchedule"}]} if dice.chance(0.1) else {}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {}}, "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts},
    }  # fmt: skip


def pod(edition: str, name: str, cpu: int, priority: int, group: str = "") -> Manifest:
    meta: Manifest = {"name": name, "namespace": "ns", "uid": f"ns-{name}"}
    if group:
        meta["labels"] = {LABEL[edition]: group}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": {"phase": "Pending"},
        "spec": {
            "containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": str(cpu)}}}],
            "priority": priority,
        },
    }  # fmt: skip


def scenario(seed: int, *, rich: bool = False, edition: str = CLASSIC) -> Manifest:
    """Make the record of one seed, without ``expect``; ``rich`` ones hold more than the recorded do."""
    dice = Dice(f"scenario {seed} {rich}")
    names = [f"n{i + 1}" for i in range(dice.choice((1, 1, 2, 2, 3)))]
    objects = [node(dice, name, rich) for name in names]
    pods: list[Manifest] = []
    urgent = dice.chance(0.4)
    for i in range(dice.randint(1, 4 if rich or dice.chance(0.5) else 2)):
        name, m = f"g{i}", dice.randint(1, dice.choice((3, 7)))
        spec: Manifest = {"minMember": m}
        if dice.chance(0.6):
            spec["scheduleTimeoutSeconds"] = dice.choice((5, 10, 10, *((0, 30, 2000) if rich else ())))
        size, priority = dice.randint(1, 3), dice.choice((0, 100)) if urgent else 0
        if rich and dice.chance(0.3):
            spec["minResources"] = {"cpu": str(dice.randint(1, 12))}
        made = {"apiVersion": f"{API_GROUP[edition]}/v1alpha1", "kind": "PodGroup", "spec": spec}
        meta = {"name": name, "namespace": "ns", "creationTimestamp": stamp(i + 1)}
        if not (rich and dice.chance(0.07)):  # else a group that is missing
            objects.append({**made, "metadata": meta})
        count = max(1, m + dice.choice((0, 0, 0, 1, 2, -1)))
        pods += [pod(edition, f"{name}-{j}", size, priority, name) for j in range(count)]
    for i in range(dice.randint(0, 2)):
        pods.append(pod(edition, f"s{i}", dice.randint(1, 2), dice.choice((0, 100)) if urgent else 0))
    if rich and dice.chance(0.4):
        there = pod(edition, "old", dice.randint(1, 3), dice.choice((0, 0, 200)), dice.choice(("", "g0")))
        there["spec"]["nodeName"], there["status"] = names[0], {"phase": "Running"}
        objects.append(there)
    if dice.chance(0.5):
        dice.shuffle(pods)
    args: Manifest = {"permitWaitingTimeSeconds": 10}
    args |= (
        {"deniedPGExpirationTimeSeconds": dice.choice((3, 3, 20)) if rich else 3}
        if edition == CLASSIC
        else {}
    )
    return {
        "id": f"scenario-{seed}", "system": "coscheduling", "features": [],
        "config": {"implementation": edition, "args": args},
        "objects": objects + pods, "input": {"kind": "scenario", "horizonSeconds": 45},
    }  # fmt: skip


def crowded(seed: int, *, edition: str = CLASSIC) -> Manifest:
    """Make a record whose nodes are full of pods, started or not, that more important ones push out."""
    dice = Dice(f"crowded {seed}")
    names = [f"n{i + 1}" for i in range(dice.choice((1, 1, 2, 3)))]
    objects: list[Manifest] = []
    for name in names:
        free, count = dice.randint(3, 9), 0
        objects.append(node(dice, name, rich=False))
        objects[-1]["status"]["allocatable"] = {"cpu": str(free), "pods": "110"}
        while free > 0 and dice.chance(0.9):
            size = min(free, dice.choice((1, 1, 2, 3)))
            made = pod(edition, f"s-{name}-{count}", size, dice.choice((0, 0, 0, 5)))
            made["spec"]["nodeName"], made["status"] = name, {"phase": "Running"}
            if dice.chance(0.7):
                made["status"]["startTime"] = stamp(dice.choice((0, 10, 10, 60, 3600)))
            objects.append(made)
            free, count = free - size, count + 1
    pods = [
        pod(edition, f"s{i}", dice.randint(1, 3), dice.choice((10, 100, 100)))
        for i in range(dice.randint(1, 3))
    ]
    if dice.chance(0.4):
        m = dice.randint(1, 3)
        spec: Manifest = {"minMember": m, "scheduleTimeoutSeconds": 10}
        meta = {"name": "g0", "namespace": "ns", "creationTimestamp": stamp(1)}
        api = f"{API_GROUP[edition]}/v1alpha1"
        objects.append({"apiVersion": api, "kind": "PodGroup", "spec": spec, "metadata": meta})
        pods += [pod(edition, f"g0-{j}", dice.randint(1, 2), 50, "g0") for j in range(m)]
    dice.shuffle(pods)
    return {
        "id": f"crowded-{seed}", "system": "coscheduling", "features": [],
        "config": {"implementation": edition, "args": {"permitWaitingTimeSeconds": 10}},
        "objects": objects + pods, "input": {"kind": "scenario", "horizonSeconds": 45},
    }  # fmt: skip
