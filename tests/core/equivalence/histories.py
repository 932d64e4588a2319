"""Random histories in which every kind of event happens while pods of few templates are scheduled.

:func:`bundle` depends on nothing but its seed. ``PODSTEP_PROPERTY_SEED`` moves the seeds and
``PODSTEP_PROPERTY_RUNS`` says how many histories there are, for longer runs than the suite's.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from tests.conformance.random_records import (
    APPS,
    KEYS,
    NAMESPACES,
    PREDICATES,
    ZONES,
    Dice,
    Manifest,
    node,
    pod,
    policy,
    taint,
)
from tests.core.trials import trials

FIRST = int(os.environ.get("PODSTEP_PROPERTY_SEED", "1000"))
RUNS = trials(12)
CHUNK = 5
STARTS = range(FIRST, FIRST + RUNS, CHUNK)
SCENARIO = {"apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1", "kind": "Scenario"}
LATE = "late"  # the storage class whose claims wait for their first pod
Key = tuple[str, str, str]  # kind, namespace, name
THEMES = ("any", "any", "storage", "storage", "services", "affinity")  # what much of a history is about


def seeds(start: int) -> range:
    """Return the seeds of one test."""
    return range(start, min(start + CHUNK, FIRST + RUNS))


def read(documents: list[Manifest]) -> Scenario:
    """Read documents as the scheduler sees them: nothing admitted, nothing expanded."""
    return load_documents(copy.deepcopy(documents), expand=False, admission=False)


def bundle(seed: int) -> list[Manifest]:
    """Return the documents of a seed: a small cluster, often a policy, and a history of many changes."""
    world = World(Dice(seed))
    initial = list(world.objects.values())
    policies = [world.policy] if world.policy is not None else []
    return [*initial, *policies, world.history()]


class World:
    """The objects as far as they are known beforehand, and the operations that change them."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.theme = dice.choice(THEMES)
        self.objects: dict[Key, Manifest] = {}
        self.count = 0
        self.policy = self.a_policy() if dice.chance(0.7) else None
        for number in range(dice.randint(3, 6)):
            self.put(self.a_node(number))
        self.put(self.a_class())
        for number in range(4):
            self.put(self.a_volume(number))
            for space in NAMESPACES:
                self.put(self.a_claim(number, space))
        self.put(self.a_service())
        self.templates = [self.a_template(number) for number in range(dice.randint(2, 5))]
        for _ in range(dice.randint(6, 18)):
            self.put(self.a_pod(bound=dice.chance(0.25)))

    # objects

    def put(self, manifest: Manifest) -> Manifest:
        """Enter an object."""
        self.objects[_key(manifest)] = manifest
        return manifest

    def of(self, kind: str) -> list[Manifest]:
        """Return the objects of a kind."""
        return [found for (known, _, _), found in self.objects.items() if known == kind]

    def names(self) -> list[str]:
        """Return the names of the nodes."""
        return [found["metadata"]["name"] for found in self.of("Node")]

    def a_policy(self) -> Manifest:
        """Draw a policy that has all predicates in most cases, and in half of them the members."""
        found = policy(self.dice) or {"kind": "Policy", "apiVersion": "v1"}
        for entry in found.get("predicates") or ():
            entry.pop("order", None)
        if self.dice.chance(0.7):
            presence = {"labels": ["gen"], "presence": self.dice.chance(0.3)}
            left_out = "GeneralPredicates" if self.dice.chance(0.5) else "PodFitsResources"
            found["predicates"] = [
                *({"name": name} for name in PREDICATES if name != left_out and self.dice.chance(0.9)),
                {"name": "CheckNodeLabelPresence", "argument": {"labelsPresence": presence}},
                {"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["rack"]}}},
            ]
            if self.dice.chance(0.6):
                found["predicates"].pop(-2)
            if self.theme != "services" and self.dice.chance(0.6):
                found["predicates"].pop(-1)
        return found

    def a_node(self, number: int) -> Manifest:
        """Draw a node that takes some pods in most cases."""
        found = node(self.dice, number)
        if self.dice.chance(0.8):
            found["status"]["conditions"] = []
            found["spec"] = {}
            found["status"]["allocatable"] |= {"cpu": "3", "memory": "6Gi", "pods": "7"}
            found["status"]["allocatable"] |= {"ephemeral-storage": "8Gi", "example.com/gpu": "4"}
        if self.theme != "any":
            found["metadata"]["labels"] |= {
                KEYS[1]: self.dice.choice(ZONES),
                "rack": self.dice.choice(("r1", "r2")),
            }
        return found

    def a_class(self) -> Manifest:
        """Draw the storage class."""
        mode = "WaitForFirstConsumer" if self.dice.chance(0.75) else "Immediate"
        metadata = {"name": LATE, "uid": "sc-late"}
        return {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "provisioner": "x",
            "metadata": metadata,
            "volumeBindingMode": mode,
        }

    def a_volume(self, number: int) -> Manifest:
        """Draw a PersistentVolume, of a counted type or not, that waiting claims may match."""
        dice = self.dice
        source: Manifest = dice.choice(
            (
                {"awsElasticBlockStore": {"volumeID": f"vol-{number}"}},
                {"gcePersistentDisk": {"pdName": f"pd-{number}"}},
                {"azureDisk": {"diskName": f"disk-{number}", "diskURI": "x"}},
                {"local": {"path": "/x"}},
            )
            if dice.chance(0.5)
            else ({"azureDisk": {"diskName": f"disk-{number}", "diskURI": "x"}},)
        )
        spec: Manifest = {
            "capacity": {"storage": dice.choice(("1Gi", "5Gi"))},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": LATE,
            **source,
        }
        if dice.chance(0.3):
            expression = {"key": KEYS[1], "operator": "In", "values": dice.some(ZONES, 1, 2)}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
        labels = {KEYS[1]: dice.choice((*ZONES, "z-a__z-b"))} if dice.chance(0.3) else {}
        metadata = {"name": f"pv-{number}", "uid": f"pv-{number}", "labels": labels}
        return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}

    def a_claim(self, number: int, space: str) -> Manifest:
        """Draw a claim: bound, to a volume that may be missing, or waiting."""
        dice = self.dice
        spec: Manifest = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": LATE,
            "resources": {"requests": {"storage": dice.choice(("1Gi", "5Gi"))}},
        }
        if dice.chance(0.5):
            spec["volumeName"] = f"pv-{number}" if dice.chance(0.85) else "pv-9"
        metadata = {"name": f"claim-{number}", "namespace": space, "uid": f"claim-{space}-{number}"}
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}

    def a_service(self) -> Manifest:
        """Draw a service under one of two names."""
        space, name = self.dice.choice(NAMESPACES), self.dice.choice(("front", "back"))
        metadata = {"name": name, "namespace": space, "uid": f"svc-{space}-{name}"}
        selects = {"selector": {"app": self.dice.choice(APPS)}}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": selects}

    def a_template(self, number: int) -> Manifest:
        """Draw what the pods of one controller have in common; a few have none."""
        found = pod(self.dice, number, self.names())
        found["spec"].pop("nodeName", None)
        found["status"] = {}
        found["spec"]["priority"] = self.dice.choice((0, 0, 10, 100))
        for narrow in ("nodeSelector", "affinity"):
            if self.dice.chance(0.4):
                found["spec"].pop(narrow, None)
        metadata = found["metadata"]
        metadata.pop("deletionTimestamp", None)
        if self.theme == "storage":
            found["spec"]["volumes"] = self.some_volumes(number)
            found["spec"].pop("nodeSelector", None)
        if self.theme == "affinity":
            found["spec"]["affinity"] = self.some_affinity()
        for volume in found["spec"].get("volumes", ()):
            if "persistentVolumeClaim" in volume:
                volume["persistentVolumeClaim"]["claimName"] = f"claim-{self.dice.randint(0, 3)}"
        for container in found["spec"]["containers"]:
            container.pop("ports", None)
            if self.dice.chance(0.12):
                container["ports"] = [{"containerPort": 80, "hostPort": self.dice.choice((80, 443))}]
        if self.dice.chance(0.9):
            name = f"rs-{self.dice.randint(0, max(0, number - 1)) if self.dice.chance(0.25) else number}"
            owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name}
            metadata["ownerReferences"] = [{**owner, "controller": True}]
        return found

    def some_volumes(self, number: int) -> list[Manifest]:
        """Draw a claim or two, and perhaps so many disks that few more fit on a node.

        Azure's are counted and never in conflict.
        """
        dice = self.dice
        claims: list[Manifest] = [{"persistentVolumeClaim": {"claimName": "drawn"}}] * dice.randint(1, 2)
        disks: list[Manifest] = [
            {"azureDisk": {"diskName": f"many-{number}-{place}", "diskURI": "x"}}
            for place in range(dice.choice((0, 0, 14, 15)))
        ]
        return [{"name": f"v{place}", **copy.deepcopy(v)} for place, v in enumerate((*claims, *disks))]

    def some_affinity(self) -> Manifest:
        """Draw required affinity or anti-affinity to one of the apps."""
        term = {
            "labelSelector": {"matchLabels": {"app": self.dice.choice(APPS)}},
            "topologyKey": self.dice.choice(KEYS[:3]),
        }
        side = self.dice.choice(("podAffinity", "podAntiAffinity", "podAntiAffinity"))
        return {side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

    def a_pod(self, *, bound: bool) -> Manifest:
        """Make a pod of some template, pending or on a node."""
        self.count += 1
        found: Manifest = copy.deepcopy(self.dice.choice(self.templates))
        found["metadata"] |= {"name": f"p-{self.count}", "uid": f"p-{self.count}"}
        if not bound and self.dice.chance(0.3):  # the priority makes no other class
            found["spec"]["priority"] = self.dice.choice((50, 1000))
        if bound and self.names():
            found["spec"]["nodeName"] = self.dice.choice(self.names())
        elif self.dice.chance(0.05):
            found["status"]["nominatedNodeName"] = self.dice.choice([*self.names(), "n9"])
        return found

    # operations

    def history(self) -> Manifest:
        """Make a Scenario of fifteen to thirty changes at all kinds of moments."""
        dice = self.dice
        operations: list[Manifest] = []
        step: int | Manifest = 1
        major, during = 0, dice.choice((0.0, 0.25))
        for number in range(dice.randint(15, 30)):
            if not operations or dice.chance(0.75):
                major += dice.choice((1, 1, 1, 2)) if operations else 1
                step = {"major": major, "minor": dice.randint(0, 4)} if dice.chance(0.7) else major
            change = self.change()
            if change is None:
                continue
            inside = {"during": "evaluation"} if dice.chance(during) and not _restarts(change) else {}
            operations.append({"id": f"op-{number}", "step": step, "time": major, **inside, **change})
        return {**SCENARIO, "metadata": {"name": "history"}, "spec": {"operations": operations}}

    def change(self) -> Manifest | None:
        """Draw one change, ``None`` where there is nothing to change."""
        changes: tuple[tuple[int, Callable[[], Manifest | None]], ...] = (
            (6, lambda: _created(self.put(self.a_pod(bound=False)))),
            (3, lambda: _created(self.put(self.a_pod(bound=True)))),
            (3, self.change_pod),
            (3, lambda: self.delete("Pod")),
            (4, self.change_node),
            (1, self.replace_node),
            (1, self.node_down),
            (2, lambda: self.replace("PersistentVolume", lambda: self.a_volume(self.dice.randint(0, 4)))),
            (2, lambda: self.replace("PersistentVolumeClaim", self.any_claim)),
            (1, lambda: self.replace("StorageClass", self.a_class)),
            (1, lambda: self.replace("Service", self.a_service)),
            (1, self.restart),
        )
        themed = {"storage": (0, 0, 0, 0, 0, 0, 0, 6, 6, 4, 0, 0), "services": (0,) * 10 + (8, 0)}
        more = themed.get(self.theme, (0,) * len(changes))
        weights = [weight + extra for (weight, _), extra in zip(changes, more)]
        return self.dice.choices([change for _, change in changes], weights)[0]()

    def any_claim(self) -> Manifest:
        """Draw a claim under one of the names there are."""
        return self.a_claim(self.dice.randint(0, 3), self.dice.choice(NAMESPACES))

    def restart(self) -> Manifest | None:
        """Put a policy in force, which restarts the scheduler."""
        self.policy = self.policy if self.policy is not None and self.dice.chance(0.5) else self.a_policy()
        return _created(self.policy)

    def replace(self, kind: str, draw: Callable[[], Manifest]) -> Manifest | None:
        """Create, change or delete an object of a kind."""
        if self.dice.chance(0.25):
            return self.delete(kind)
        fresh = draw()
        known = self.objects.get(_key(fresh))
        self.put(fresh)
        if known is None:
            return _created(fresh)
        # a merge patch leaves what it does not name, so whatever is to go is named
        patch: dict[str, Any] = {part: fresh[part] for part in ("spec", "volumeBindingMode") if part in fresh}
        if "spec" in patch:
            patch["spec"] = {**dict.fromkeys(known["spec"]), **fresh["spec"]}
        if kind == "PersistentVolume":
            labels = {**dict.fromkeys(known["metadata"]["labels"]), **fresh["metadata"]["labels"]}
            patch["metadata"] = {"labels": labels}
        if kind == "Service" and "selector" in known["spec"]:
            selector = {**dict.fromkeys(known["spec"]["selector"]), **fresh["spec"]["selector"]}
            patch["spec"]["selector"] = selector
        return _patched(fresh, patch)

    def delete(self, kind: str) -> Manifest | None:
        """Delete an object of a kind."""
        if not self.of(kind):
            return None
        return self.gone(self.dice.choice(self.of(kind)))

    def gone(self, found: Manifest) -> Manifest:
        """Delete this object."""
        del self.objects[_key(found)]
        meta = {key: found["metadata"][key] for key in ("name", "namespace") if key in found["metadata"]}
        return {"deleteOperation": {"typeMeta": {"kind": found["kind"]}, "objectMeta": meta}}

    def change_pod(self) -> Manifest | None:
        """Change what others can see of a pod, bind it to a node, or end it."""
        if not self.of("Pod"):
            return None
        dice, found = self.dice, dict(self.dice.choice(self.of("Pod")))
        other = dice.choice(self.templates)
        patch: Manifest = dice.choice(
            (
                {"metadata": {"labels": {"app": dice.choice(APPS)}}},
                {"metadata": {"labels": {"tier": dice.choice(("a", "b", None))}}},
                {"spec": {"containers": other["spec"]["containers"]}},
                {"spec": {"volumes": other["spec"].get("volumes")}},
                {"spec": {"affinity": other["spec"].get("affinity")}},
                {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
                {"status": {"phase": "Succeeded"}},
                *([{"spec": {"nodeName": dice.choice(self.names())}}] * 3 if self.names() else ()),
            )
        )
        if "nodeName" in patch.get("spec", {}):
            if found["spec"].get("nodeName"):
                return None
            found["spec"] = {**found["spec"], **patch["spec"]}
            self.put(found)
        return _patched(found, patch)

    def change_node(self) -> Manifest | None:
        """Change what the predicates read of a node."""
        if not self.of("Node"):
            return None
        dice = self.dice
        allocatable = {"cpu": dice.choice(("500m", "4")), "pods": dice.choice(("2", "20"))}
        conditions = [
            {"type": kind, "status": dice.choice(("True", "False"))}
            for kind in dice.some(
                ("Ready", "OutOfDisk", "MemoryPressure", "DiskPressure", "PIDPressure"), 1, 2
            )
        ]
        patch: Manifest = dice.choice(
            (
                {"spec": {"unschedulable": dice.chance(0.4)}},
                {"spec": {"taints": [taint(dice)]}},
                {"spec": {"taints": None}},
                {"metadata": {"labels": {"rack": dice.choice(("r1", "r2", None))}}},
                {"metadata": {"labels": {KEYS[1]: dice.choice((*ZONES, None))}}},
                {"metadata": {"labels": {KEYS[0]: dice.choice(("h1", "h2"))}}},
                {"metadata": {"labels": {"note": dice.choice(("x", "y"))}}},
                {"status": {"allocatable": allocatable}},
                {"status": {"conditions": conditions}},
                {"status": {"conditions": None}},
            )
        )
        return _patched(dice.choice(self.of("Node")), patch)

    def replace_node(self) -> Manifest:
        """Bring a node up, under a name that there was before if one is missing."""
        missing = [number for number in range(6) if f"n{number}" not in self.names()]
        return _created(self.put(self.a_node(self.dice.choice(missing) if missing else self.numbered())))

    def numbered(self) -> int:
        """Return a number that no node has had."""
        self.count += 1
        return 100 + self.count

    def node_down(self) -> Manifest | None:
        """Delete a node, and with it the pods that are known to be bound to it."""
        if len(self.names()) < 2:
            return None
        found = self.dice.choice(self.of("Node"))
        name = found["metadata"]["name"]
        for key in [_key(p) for p in self.of("Pod") if p["spec"].get("nodeName") == name]:
            del self.objects[key]
        return self.gone(found)


def _key(manifest: Manifest) -> Key:
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def _restarts(change: Manifest) -> bool:
    return change.get("createOperation", {}).get("object", {}).get("kind") == "Policy"


def _created(manifest: Manifest) -> Manifest:
    return {"createOperation": {"object": copy.deepcopy(manifest)}}


def _patched(manifest: Manifest, patch: Manifest) -> Manifest:
    meta = {key: manifest["metadata"][key] for key in ("name", "namespace") if key in manifest["metadata"]}
    target: Manifest = {"typeMeta": {"kind": manifest["kind"]}, "objectMeta": meta}
    body = {**target, "patchType": "application/merge-patch+json", "patch": copy.deepcopy(patch)}
    return {"patchOperation": body}
