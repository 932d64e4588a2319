"""Random records in the format of ``coscheduling.jsonl.gz``: small clusters, every kind of question.

:func:`record` depends on its kind and seed alone, so a failing pair is a test case.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conformance.gang_oracle.reader import API_GROUP, CLASSIC, EDITIONS, LABEL
from tests.conformance.random_records import Dice

Manifest = dict[str, Any]

NAMESPACES = ("ns", "ns2", "default")
GROUPS = ("g", "h", "k")
SPELLINGS = {
    "cpu": ("1", "2", "500m", "0.5", "1500m", "3e0", "2.5", "0", "100u", "+2", "1e-1", ".5"),
    "memory": ("1Gi", "1G", "512Mi", "1e9", "1073741824", "0.5Gi", "300", "1.5M", "100m", "0", "1Ti", "12E2"),
    "ephemeral-storage": ("1Gi", "10M", "0", "1e6"),
    "nvidia.com/gpu": ("1", "2", "0", "4"),
    "hugepages-2Mi": ("2Mi", "4Mi", "0"),
    "example.com/foo": ("1", "3k", "500m"),
    "pods": ("1", "3", "40"),
    "gpu": ("1", "0"),
}  # fmt: skip
PHASES = ("", "Pending", "PreScheduling", "Scheduling", "Scheduled", "Running", "Unknown", "Finished",
          "Failed")  # fmt: skip
ARGUMENTS = ("permitWaitingTimeSeconds", "deniedPGExpirationTimeSeconds", "podGroupBackoffSeconds",
             "podGroupRejectPercentage", "PermitWaitingTimeSeconds", "kubeConfigPath")  # fmt: skip
EPOCH = datetime(2021, 1, 1, tzinfo=UTC)


def stamp(seconds: float) -> str:
    return (EPOCH + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def resources(dice: Dice, names: Any, most: int = 3) -> Manifest:
    return {name: dice.choice(SPELLINGS[name]) for name in dice.some(names, 0, most)}


def config(dice: Dice) -> Manifest:
    edition = dice.choice(EDITIONS)
    args: Manifest = {}
    if dice.chance(0.7):
        args["permitWaitingTimeSeconds"] = dice.choice((0, 1, 10, 60, 3600))
    if edition == CLASSIC:
        if dice.chance(0.6):
            args["deniedPGExpirationTimeSeconds"] = dice.choice((0, 3, 20))
    else:
        if dice.chance(0.5):
            args["podGroupBackoffSeconds"] = dice.choice((0, 5, 60))
        if dice.chance(0.7):
            args["podGroupRejectPercentage"] = dice.choice((0, 10, 25, 33, 50, 90, 100))
    return {"implementation": edition, "args": args}


def group(dice: Dice, edition: str, name: str, namespace: str) -> Manifest:
    spec: Manifest = {}
    if dice.chance(0.95):
        spec["minMember"] = dice.choice((0, 1, 1, 2, 2, 3, 4, 5, 6, 9, 10, 11, 20, 1000, 2147483647))
    if dice.chance(0.6):
        spec["minResources"] = dice.choice((None, {})) if dice.chance(0.1) else resources(dice, SPELLINGS)
    if dice.chance(0.5):
        spec["scheduleTimeoutSeconds"] = dice.choice((0, 1, 10, 900, 2147483647, None))
    meta: Manifest = {"name": name, "namespace": namespace}
    if dice.chance(0.85):
        meta["creationTimestamp"] = stamp(dice.randint(-2, 3))
    api = API_GROUP[edition]
    return {"apiVersion": f"{api}/v1alpha1", "kind": "PodGroup", "metadata": meta, "spec": spec}


def pod(
    dice: Dice, edition: str, name: str, namespace: str = "", label: str = "", node: str = ""
) -> Manifest:
    meta: Manifest = {"name": name, "namespace": namespace or dice.choice(NAMESPACES)}
    meta["uid"] = f"{meta['namespace']}-{name}"
    if dice.chance(0.85):
        key = LABEL[edition]
        meta["labels"] = {key: label or dice.choice((*GROUPS, *GROUPS, "missing", ""))}
    if dice.chance(0.1):
        meta["deletionTimestamp"] = stamp(5)
    if dice.chance(0.3):
        owners = dice.some(("b-set", "a-set", "c-job"), 1, 2)
        kind = {"apiVersion": "apps/v1", "kind": "ReplicaSet"}
        meta["ownerReferences"] = [{**kind, "name": o, "uid": o} for o in owners]
    spec: Manifest = {"containers": [container(dice) for _ in range(dice.choice((1, 1, 2)))]}
    if dice.chance(0.15):
        spec["initContainers"] = [container(dice) for _ in range(dice.choice((1, 2)))]
    if dice.chance(0.08):
        spec["overhead"] = resources(dice, ("cpu", "memory"))
    if dice.chance(0.5):
        spec["priority"] = dice.choice((-5, 0, 0, 5, 100))
    if node:
        spec["nodeName"] = node
    elif dice.chance(0.15):
        spec["schedulingGates"] = [{"name": "wait"}] if dice.chance(0.8) else []
    made: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    if dice.chance(0.5):
        made["status"] = {"phase": dice.choice(("Pending", "Running", "Succeeded", "Failed", "Unknown"))}
    return made


def container(dice: Dice) -> Manifest:
    made: Manifest = {"name": "c", "image": "pause"}
    if dice.chance(0.7):
        names = ("cpu", "cpu", "memory", "nvidia.com/gpu", "example.com/foo", "hugepages-2Mi")
        made["resources"] = {"requests": resources(dice, names)}
    return made


def node(dice: Dice, name: str) -> Manifest:
    spec: Manifest = {}
    if dice.chance(0.1):
        spec["unschedulable"] = True
    if dice.chance(0.1):
        spec["taints"] = [{"key": "t", "effect": dice.choice(("NoSchedule", "NoExecute"))}]
    amounts = resources(dice, ("memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi", "gpu"))
    amounts |= {"cpu": dice.choice(("1", "4", "8500m", "16"))} if dice.chance(0.9) else {}
    amounts |= {"pods": dice.choice(("2", "3", "10", "110"))} if dice.chance(0.9) else {}
    amounts |= {"memory": "64Gi"} if dice.chance(0.5) else {}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {}}, "spec": spec,
        "status": {"capacity": {"cpu": "99", "pods": "110"}, "allocatable": amounts},
    }  # fmt: skip


def cluster(dice: Dice, edition: str) -> list[Manifest]:
    """Make nodes, groups in several namespaces, and pods of them, in any order."""
    names = [f"n{i}" for i in range(dice.choice((0, 1, 1, 2, 3, 4)))]
    objects = [node(dice, name) for name in names]
    for namespace in NAMESPACES:
        objects += [group(dice, edition, name, namespace) for name in dice.some(GROUPS, 0, 3)]
    for i in range(dice.choice((0, 2, 6, 12, 25))):
        where = dice.choice(names) if names and dice.chance(0.5) else ""
        objects.append(pod(dice, edition, f"w{i}", node=where))
    dice.shuffle(objects)
    return objects


def candidate(dice: Dice, edition: str, objects: list[Manifest]) -> Manifest:
    """Choose a pod to ask about: one of those there without a node, or one that is not there."""
    waiting = [o for o in objects if o["kind"] == "Pod" and not o["spec"].get("nodeName")]
    groups = [o["metadata"] for o in objects if o["kind"] == "PodGroup"]
    if waiting and dice.chance(0.5):
        return dice.choice(waiting)
    if groups and dice.chance(0.8):
        chosen = dice.choice(groups)
        return pod(dice, edition, "p", chosen["namespace"], chosen["name"])
    return pod(dice, edition, "p")


def crowd(dice: Dice, edition: str) -> tuple[list[Manifest], Manifest]:
    """Make one group whose assigned members come near its minimum, for the thresholds."""
    m = dice.choice((1, 2, 3, 5, 9, 10, 11, 15, 20, 30, 33, 40))
    objects = [node(dice, "n0"), node(dice, "n1")]
    made = group(dice, edition, "g", "ns")
    made["spec"]["minMember"] = m
    objects.append(made)
    near = max(0, m - dice.choice((0, 1, 1, 2, 3, 4, 5, m)) + dice.choice((0, 0, 1)))
    objects += [pod(dice, edition, f"a{i}", "ns", "g", dice.choice(("n0", "n1"))) for i in range(near)]
    dice.shuffle(objects)
    return objects, pod(dice, edition, "p", "ns", "g")


def point(dice: Dice, edition: str) -> tuple[Manifest, list[Manifest]]:
    if dice.chance(0.4):
        objects, asked = crowd(dice, edition)
    else:
        objects = cluster(dice, edition)
        asked = candidate(dice, edition, objects)
    return {"pod": asked}, objects


def pre_filter(dice: Dice, edition: str) -> tuple[Manifest, list[Manifest]]:
    asked, objects = point(dice, edition)
    if dice.chance(0.4):  # A group small enough for the resource check to be reached.
        for o in objects:
            if o["kind"] == "PodGroup":
                o["spec"]["minMember"] = dice.choice((0, 1, 2))
    keys = [f"{n}/{g}" for n in NAMESPACES for g in GROUPS]
    return {**asked, "denied": dice.some(keys, 0, 2), "backedOff": dice.some(keys, 0, 2)}, objects


def less(dice: Dice, edition: str) -> tuple[Manifest, list[Manifest]]:
    objects = [group(dice, edition, g, n) for n in NAMESPACES for g in dice.some(GROUPS, 0, 3)]
    one = {"pod": pod(dice, edition, dice.choice(("w1", "w2", "w10"))), "queuedAt": dice.randint(-2, 4)}
    two = {"pod": pod(dice, edition, dice.choice(("w3", "w2", "w1"))), "queuedAt": dice.choice((0, 1.5, 2))}
    asked: Manifest = {"p1": one, "p2": two}
    if dice.chance(0.5):
        there = [f"{o['metadata']['namespace']}/{o['metadata']['name']}" for o in objects]
        asked["failedAt"] = {name: dice.choice((-1, 1, 2.5, 3)) for name in dice.some(there, 0, 2)}
    return asked, objects


def cluster_resource(dice: Dice, edition: str) -> tuple[Manifest, list[Manifest]]:
    key = dice.choice(("", "ns/g", "ns2/h", "default/k", "ns/none"))
    return {"group": key, "request": resources(dice, SPELLINGS, 4)}, cluster(dice, edition)


def post_bind(dice: Dice, edition: str) -> tuple[Manifest, list[Manifest]]:
    objects, asked = crowd(dice, edition)
    asked["metadata"]["labels"] = {LABEL[edition]: "g"}
    for o in objects:
        if o["kind"] == "PodGroup":
            o["apiVersion"] = f"{API_GROUP[edition]}/v1alpha1"
            o["spec"]["minMember"] = dice.randint(0, 4)
            if dice.chance(0.8):
                o["status"] = {"phase": dice.choice(PHASES), "scheduled": dice.randint(0, 4)}
    return {"pod": asked}, objects


def controller(dice: Dice, edition: str) -> tuple[Manifest, list[Manifest]]:
    made = group(dice, edition, "g", "ns")
    made["apiVersion"] = f"{API_GROUP[edition]}/v1alpha1"
    made["spec"]["minMember"] = m = dice.choice((1, 1, 2, 3, 4, 5))
    made["metadata"].setdefault("creationTimestamp", stamp(0))
    if dice.chance(0.9):
        status: Manifest = {"phase": dice.choice(PHASES)} if dice.chance(0.95) else {}
        for counter in dice.some(("running", "succeeded", "failed"), 0, 3):
            status[counter] = dice.randint(0, 3)
        if edition == CLASSIC and dice.chance(0.7):
            status["scheduled"] = dice.choice((m, m, 0, 1, 5))
        if dice.chance(0.7):
            status["scheduleStartTime"] = stamp(dice.choice((0, 3600, 48 * 3600, 48 * 3600 + 5, 90 * 3600)))
        if dice.chance(0.5):
            status["occupiedBy"] = dice.choice(("ns/old", "", "test"))
        made["status"] = status
    objects = [made]
    for i in range(dice.choice((0, 1, 2, 3, 5, 8))):
        there = pod(dice, edition, f"w{i}", dice.choice(("ns", "ns", "ns", "ns2")), dice.choice("gggh"))
        there["status"] = {"phase": dice.choice(("Pending", "Running", "Succeeded", "Failed"))}
        objects.append(there)
    return {"podGroup": "ns/g", "steps": dice.choice((1, 1, 1, 2, 3, 0, "until-stable"))}, objects


def arguments(dice: Dice, edition: str) -> tuple[Manifest, list[Manifest]]:
    wrong: tuple[Any, ...] = (True, "10", 1.5, [], {}, "x")
    args: Manifest = {}
    for name in dice.some(ARGUMENTS[:4] if dice.chance(0.8) else ARGUMENTS, 0, 3):
        args[name] = dice.choice((-1, -10, 0, 1, 10, 99, 100, 101, 2**31 - 1, None))
        if dice.chance(0.1):
            args[name] = dice.choice(wrong)
    if dice.chance(0.1):
        args |= {"apiVersion": "kubescheduler.config.k8s.io/v1beta2", "kind": "CoschedulingArgs"}
    return {"args": args}, []


MAKERS: dict[str, Callable[[Dice, str], tuple[Manifest, list[Manifest]]]] = {
    "less": less,
    "preFilter": pre_filter,
    "permit": point,
    "postFilter": point,
    "postBind": post_bind,
    "clusterResource": cluster_resource,
    "controller": controller,
    "args": arguments,
}


def record(kind: str, seed: int) -> Manifest:
    """Make the record of one kind and seed, without ``expect``."""
    dice = Dice(f"{kind} {seed}")
    set_up = config(dice)
    if kind == "postBind":
        set_up = {"implementation": CLASSIC, "args": {}}
    asked, objects = MAKERS[kind](dice, set_up["implementation"])
    if kind == "args":
        set_up = {"implementation": set_up["implementation"], "args": asked["args"]}
    return {
        "id": f"{kind}-{seed}", "system": "coscheduling", "features": [], "config": set_up,
        "objects": objects, "input": {"kind": kind, **asked},
    }  # fmt: skip


WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, "", "x", "é", [], {}, [1], {"a": 1}, "1" * 400, 10**30, -(10**30), 1e308
)  # fmt: skip


def spoil(made: Manifest, seed: int) -> Manifest:
    """Take something out of a record, anywhere in it, or put there what does not belong."""
    dice = Dice(f"spoil {seed}")
    spoilt: Manifest = json.loads(json.dumps(made))
    for _ in range(dice.choice((1, 1, 2))):
        holder, place = dice.choice(list(places(spoilt)))
        if dice.chance(0.3):
            del holder[place]
        else:
            holder[place] = dice.choice(WRONG)
    return spoilt


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list and object inside a value with each of its indexes or keys."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, held in inside:
        yield value, place
        yield from places(held)
