"""Random bundles with a history: the objects of a random record, and a Scenario that changes them.

:func:`bundle` depends on nothing but its seed. ``PODSTEP_PROPERTY_SEED`` moves the seeds and
``PODSTEP_PROPERTY_RUNS`` says how many a property is tried with, for longer runs than the suite's.
"""

from __future__ import annotations

import copy
import os
from typing import Any

from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.settings import (
    CACHE_MODES,
    EQUIVALENCE_CLASSES,
    PREDICATE_ORDERS,
    QUIRK_MODES,
    SETTINGS_KIND,
    STALE_WRITES,
)
from tests.conformance.random_records import (
    APPS,
    KEYS,
    NAMESPACES,
    ZONES,
    Dice,
    Manifest,
    node,
    pod,
    record,
    taint,
)
from tests.core.trials import trials

FIRST = int(os.environ.get("PODSTEP_PROPERTY_SEED", "1000"))
RUNS = trials(12)
CHUNK = 6
STARTS = range(FIRST, FIRST + RUNS, CHUNK)
SCENARIO = {"apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1", "kind": "Scenario"}


def seeds(start: int) -> range:
    """Return the seeds of one test."""
    return range(start, min(start + CHUNK, FIRST + RUNS))


def bundle(seed: int) -> list[Manifest]:
    """Return the documents of a seed: objects, mostly a policy, and a history of ten changes or so."""
    made, dice = record(seed), Dice(seed + 1_000_000)
    policies = [made["policy"]] if made["policy"] is not None else []
    return [*made["objects"], *policies, history(made["objects"], dice, policies)]


def simulated(seed: int) -> list[Manifest]:
    """Return the documents of a seed with settings among them: quirks, static order, equivalence cache."""
    dice = Dice(seed + 2_000_000)
    settings = {
        "apiVersion": VERSIONS[SETTINGS_KIND],
        "kind": SETTINGS_KIND,
        "quirks": dice.choice(QUIRK_MODES),
        "predicateOrder": dice.choice(PREDICATE_ORDERS),
        "cache": dice.choice(CACHE_MODES),
        "equivalenceClass": dice.choice(EQUIVALENCE_CLASSES),
        "staleWrites": dice.choice(STALE_WRITES),
    }
    return [settings, *bundle(seed)]


def read(documents: list[Manifest]) -> Scenario:
    """Read documents as the scheduler sees them: nothing admitted, nothing expanded."""
    return load_documents(copy.deepcopy(documents), expand=False, admission=False)


class _World:
    """Which nodes and pods there are while a history is made up."""

    def __init__(self, objects: list[Manifest]) -> None:
        self.nodes = [o["metadata"]["name"] for o in objects if o["kind"] == "Node"]
        self.pods = {_key(o): o["spec"].get("nodeName", "") for o in objects if o["kind"] == "Pod"}

    def without_node(self, name: str) -> None:
        """Forget a node, and with it the pods that were bound to it from the beginning."""
        self.nodes.remove(name)
        self.pods = {key: on for key, on in self.pods.items() if on != name}


def _key(manifest: Manifest) -> tuple[str, str]:
    return manifest["metadata"]["namespace"], manifest["metadata"]["name"]


def history(objects: list[Manifest], dice: Dice, policies: list[Manifest]) -> Manifest:
    """Make a Scenario: nodes change, go and come, pods come and go, services and volumes appear."""
    world = _World(objects)
    operations = []
    step = 0
    for number in range(dice.randint(6, 14)):
        step += dice.choice((0, 1, 1, 2)) if step else 1
        change = _change(number, world, dice, policies)
        operations.append({"id": f"op-{number}", "step": step, "time": step * 10, **change})
    return {**SCENARIO, "metadata": {"name": "history"}, "spec": {"operations": operations}}


def _change(number: int, world: _World, dice: Dice, policies: list[Manifest]) -> Manifest:
    what = dice.choice(("patch",) * 4 + ("pod",) * 5 + ("gone", "down", "up", "service", "volume", "restart"))
    if what == "patch" and world.nodes:
        return _patched(dice.choice(world.nodes), dice)
    if what == "gone" and world.pods:
        namespace, name = dice.choice(sorted(world.pods))
        del world.pods[namespace, name]
        return _deleted("Pod", name, namespace)
    if what == "down" and len(world.nodes) > 1:
        name = dice.choice(world.nodes)
        world.without_node(name)
        return _deleted("Node", name)
    if what == "up":
        fresh = node(dice, 100 + number)
        world.nodes.append(fresh["metadata"]["name"])
        return _created(fresh)
    if what == "service":
        metadata = {"name": f"late-{number}", "namespace": dice.choice(NAMESPACES)}
        selects: Manifest = {"selector": {"app": dice.choice(APPS)}}
        return _created({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": selects})
    if what == "volume":
        labelled: Manifest = {"name": f"late-{number}", "labels": {KEYS[1]: dice.choice(ZONES)}}
        spec = {"capacity": {"storage": "1Gi"}, "local": {"path": "/x"}}
        return _created({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": labelled, "spec": spec})
    if what == "restart" and policies:
        return _created(policies[0])
    fresh = pod(dice, 100 + number, world.nodes or ["n0"])
    fresh["spec"].pop("nodeName", None)
    fresh["status"] = {}
    world.pods[_key(fresh)] = ""
    return _created(fresh)


def _created(manifest: Manifest) -> Manifest:
    return {"createOperation": {"object": manifest}}


def _deleted(kind: str, name: str, namespace: str = "") -> Manifest:
    meta: Manifest = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"deleteOperation": {"typeMeta": {"kind": kind}, "objectMeta": meta}}


def _patched(name: str, dice: Dice) -> Manifest:
    """Change what the predicates and priorities read of a node."""
    patch: Any = dice.choice(
        (
            {"spec": {"unschedulable": dice.chance(0.5)}},
            {"spec": {"taints": [taint(dice)]}},
            {"spec": {"taints": None}},
            {"metadata": {"labels": {"rack": dice.choice(("r1", "r2", "r3"))}}},
            {"metadata": {"labels": {KEYS[1]: dice.choice((*ZONES, None))}}},
            {"status": {"allocatable": {"cpu": dice.choice(("1", "8")), "pods": dice.choice(("1", "20"))}}},
            {"status": {"conditions": [{"type": "Ready", "status": dice.choice(("True", "False"))}]}},
        )
    )
    target: Manifest = {"typeMeta": {"kind": "Node"}, "objectMeta": {"name": name}}
    return {"patchOperation": {**target, "patchType": "application/merge-patch+json", "patch": patch}}
