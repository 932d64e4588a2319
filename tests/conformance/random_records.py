"""Random records in the conformance format: small clusters in which many rules meet.

:func:`record` depends on nothing but its seed, so a failing seed is a test case. What v1.11
itself leaves undetermined is avoided (two pods of one node with the same host port triple).
"""

from __future__ import annotations

import random
from typing import Any

Manifest = dict[str, Any]

ZONES = ("z-a", "z-b", "z-c")
APPS = ("web", "db", "cache")
NAMESPACES = ("default", "prod")
KEYS = ("kubernetes.io/hostname", "failure-domain.beta.kubernetes.io/zone", "rack", "missing")
PREDICATES = [
    "GeneralPredicates",
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
    "PodFitsPorts",
]
PRIORITIES = [
    "SelectorSpreadPriority",
    "InterPodAffinityPriority",
    "LeastRequestedPriority",
    "BalancedResourceAllocation",
    "NodePreferAvoidPodsPriority",
    "NodeAffinityPriority",
    "TaintTolerationPriority",
    "MostRequestedPriority",
    "RequestedToCapacityRatioPriority",
    "ImageLocalityPriority",
    "EqualPriority",
    "ServiceSpreadingPriority",
    "ResourceLimitsPriority",
]


class Dice(random.Random):
    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def some(self, values: Any, least: int = 0, most: int = 2) -> list[Any]:
        values = list(values)
        return self.sample(values, min(len(values), self.randint(least, most)))


def record(seed: int) -> Manifest:
    """Make the record of one seed: objects and policy, without ``expect``."""
    dice = Dice(seed)
    nodes = [node(dice, i) for i in range(dice.choice((1, 2, 3, 3, 4, 6, 9)))]
    objects = nodes + storage(dice) + services(dice) + budgets(dice)
    names = [n["metadata"]["name"] for n in nodes]
    ports: dict[str, set[Any]] = {n: set() for n in names}
    pods = [pod(dice, i, names) for i in range(dice.randint(2, 22))]
    for p in pods:
        where = p["spec"].get("nodeName")
        if where:
            for container in p["spec"]["containers"]:
                fresh = [x for x in container.get("ports", []) if repr(sorted(x.items())) not in ports[where]]
                container["ports"] = fresh
                ports[where] |= {repr(sorted(x.items())) for x in fresh}
    return {"id": f"random-{seed}", "features": [], "policy": policy(dice), "objects": objects + pods}


def node(dice: Dice, i: int) -> Manifest:
    labels = {"kubernetes.io/hostname": f"n{i}"}
    if dice.chance(0.8):
        labels["failure-domain.beta.kubernetes.io/zone"] = dice.choice(ZONES)
    if dice.chance(0.6):
        labels["failure-domain.beta.kubernetes.io/region"] = "r-1"
    if dice.chance(0.6):
        labels["rack"] = dice.choice(("r1", "r2"))
    if dice.chance(0.5):
        labels["gen"] = dice.choice(("7", "10", "010", "old"))
    allocatable = {
        "cpu": dice.choice(("2", "4000m", "1.5", "500m")),
        "memory": dice.choice(("2Gi", "4096Mi", "3e9", "1.5G")),
        "pods": dice.choice(("2", "4", "10", "110")),
    }
    if dice.chance(0.4):
        allocatable["ephemeral-storage"] = dice.choice(("10Gi", "1Gi"))
    if dice.chance(0.4):
        allocatable["example.com/gpu"] = dice.choice(("0", "1", "2"))
    if dice.chance(0.1):
        del allocatable[dice.choice(("cpu", "memory", "pods"))]
    status: Manifest = {"allocatable": allocatable, "conditions": []}
    for kind, good in (("Ready", "True"), ("OutOfDisk", "False"), ("NetworkUnavailable", "False")):
        if dice.chance(0.6):
            status["conditions"].append(
                {
                    "type": kind,
                    "status": good if dice.chance(0.93) else dice.choice(("True", "False", "Unknown")),
                }
            )
    for kind in ("MemoryPressure", "PIDPressure", "DiskPressure"):
        if dice.chance(0.5):
            status["conditions"].append(
                {"type": kind, "status": "False" if dice.chance(0.85) else dice.choice(("True", "Unknown"))}
            )
    if dice.chance(0.4):
        status["images"] = [
            {
                "names": [f"app-{a}:1", f"registry/app-{a}"],
                "sizeBytes": dice.choice((10, 60, 400, 1200)) << 20,
            }
            for a in dice.some(APPS, 1, 2)
        ]
    metadata: Manifest = {"name": f"n{i}", "uid": f"node-{i}", "labels": labels}
    if dice.chance(0.2):
        signature = {"podController": {"kind": "ReplicaSet", "uid": f"rs-{dice.choice(APPS)}"}}
        metadata["annotations"] = {
            "scheduler.alpha.kubernetes.io/preferAvoidPods": dice.choice(
                (f'{{"preferAvoidPods": [{{"podSignature": {signature!r}}}]}}'.replace("'", '"'), "{broken")
            )
        }
    spec: Manifest = {}
    if dice.chance(0.35):
        spec["taints"] = [taint(dice) for _ in range(dice.randint(1, 2))]
    if dice.chance(0.05):
        spec["unschedulable"] = True
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def taint(dice: Dice) -> Manifest:
    found = {
        "key": dice.choice(("gpu", "spot")),
        "effect": dice.choice(("NoSchedule", "PreferNoSchedule", "NoExecute")),
    }
    return found | ({"value": dice.choice(("yes", "no"))} if dice.chance(0.6) else {})


def toleration(dice: Dice) -> Manifest:
    found: Manifest = {}
    if dice.chance(0.85):
        found["key"] = dice.choice(("gpu", "spot"))
    if "key" not in found or dice.chance(0.5):
        found["operator"] = "Exists"
    elif dice.chance(0.7):
        found["value"] = dice.choice(("yes", "no"))
    if dice.chance(0.6):
        found["effect"] = dice.choice(("NoSchedule", "PreferNoSchedule", "NoExecute"))
    return found


def storage(dice: Dice) -> list[Manifest]:
    late = {"metadata": {"name": "late", "uid": "sc-late"}, "volumeBindingMode": "WaitForFirstConsumer"}
    found = [{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "x", **late}]
    for i in range(dice.randint(0, 5)):
        source = dice.choice(
            (
                {"awsElasticBlockStore": {"volumeID": f"vol-{i}"}},
                {"gcePersistentDisk": {"pdName": f"pd-{i}"}},
                {"azureDisk": {"diskName": f"disk-{i}", "diskURI": "x"}},
                {"local": {"path": "/x"}},
            )
        )
        labels = {}
        if dice.chance(0.4):
            labels["failure-domain.beta.kubernetes.io/zone"] = dice.choice(
                (*ZONES, "z-a__z-b", "z-a__", " z-c__z-b")
            )
        spec: Manifest = {"capacity": {"storage": "1Gi"}, **source}
        if dice.chance(0.3):
            expression = {"key": KEYS[1], "operator": "In", "values": dice.some(ZONES, 1, 2)}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
        metadata = {"name": f"pv-{i}", "uid": f"pv-{i}", "labels": labels}
        found.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec})
        for space in NAMESPACES:
            claim: Manifest = {"accessModes": ["ReadWriteOnce"]}
            if dice.chance(0.85):
                claim["volumeName"] = f"pv-{i}" if dice.chance(0.95) else "pv-gone"
            elif dice.chance(0.6):
                claim["storageClassName"] = "late"
            metadata = {"name": f"claim-{i}", "namespace": space, "uid": f"claim-{space}-{i}"}
            if dice.chance(0.03):
                metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            found.append(
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim}
            )
    return found


def services(dice: Dice) -> list[Manifest]:
    found: list[Manifest] = []
    for app in dice.some(APPS, 0, 3):
        for space in dice.some(NAMESPACES, 1, 2):
            meta = {"name": app, "namespace": space, "uid": f"svc-{space}-{app}"}
            found.append(
                {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"selector": {"app": app}}}
            )
    if dice.chance(0.1):
        meta = {"name": "none", "namespace": "default", "uid": "svc-none"}
        found.append({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {}})
    for app in dice.some(APPS, 0, 3):
        meta = {"name": app, "namespace": dice.choice(NAMESPACES), "uid": f"rs-{app}"}
        selector = {"matchLabels": {"app": app}} if dice.chance(0.85) else {}
        kind, version = dice.choice((("ReplicaSet", "apps/v1"), ("StatefulSet", "apps/v1")))
        found.append({"apiVersion": version, "kind": kind, "metadata": meta, "spec": {"selector": selector}})
    return found


def budgets(dice: Dice) -> list[Manifest]:
    return [
        {
            "apiVersion": "policy/v1beta1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"pdb-{i}", "namespace": dice.choice(NAMESPACES), "uid": f"pdb-{i}"},
            "spec": {"selector": dice.choice(({"matchLabels": {"app": dice.choice(APPS)}}, {}))},
            "status": {"disruptionsAllowed": dice.choice((0, 0, 1))},
        }
        for i in range(dice.randint(0, 2))
    ]


def pod(dice: Dice, i: int, nodes: list[str]) -> Manifest:
    app = dice.choice(APPS)
    metadata: Manifest = {"name": f"{app}-{i}", "namespace": dice.choice(NAMESPACES), "uid": f"pod-{i}"}
    if dice.chance(0.9):
        metadata["labels"] = {"app": app} | ({"tier": dice.choice(("a", "b"))} if dice.chance(0.3) else {})
    if dice.chance(0.5):
        metadata["ownerReferences"] = [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": app,
                "uid": f"rs-{app}",
                "controller": True,
            }
        ]
    spec: Manifest = {"containers": [container(dice, app) for _ in range(dice.choice((1, 1, 1, 2)))]}
    if dice.chance(0.6):
        spec["priority"] = dice.choice((0, 10, 10, 100, 100, 1000))
    if dice.chance(0.1):
        spec["initContainers"] = [container(dice, app, ports=False)]
    if dice.chance(0.35):
        spec["tolerations"] = [toleration(dice) for _ in range(dice.randint(1, 2))]
    if dice.chance(0.12):
        spec["nodeSelector"] = dice.choice(({"rack": "r1"}, {KEYS[1]: "z-a"}, {"gen": "10"}))
    affinity = affinities(dice)
    if affinity:
        spec["affinity"] = affinity
    if dice.chance(0.3):
        spec["volumes"] = [volume(dice, v) for v in range(dice.randint(1, 3))]
    status: Manifest = {}
    if dice.chance(0.55):
        spec["nodeName"] = dice.choice(nodes)
        status["phase"] = "Running" if dice.chance(0.95) else dice.choice(("Succeeded", "Failed"))
        if dice.chance(0.08):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    elif dice.chance(0.15):
        status["nominatedNodeName"] = dice.choice(nodes)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def container(dice: Dice, app: str, *, ports: bool = True) -> Manifest:
    requests: Manifest = {}
    if dice.chance(0.75):
        requests["cpu"] = dice.choice(("0", "100m", "250m", "0.5", "1", "1500m"))
    if dice.chance(0.65):
        requests["memory"] = dice.choice(("0", "64Mi", "512Mi", "1Gi", "500M"))
    if dice.chance(0.1):
        requests["ephemeral-storage"] = dice.choice(("500Mi", "2Gi"))
    if dice.chance(0.12):
        requests["example.com/gpu"] = dice.choice(("0", "1"))
    resources: Manifest = {"requests": requests}
    if dice.chance(0.2):
        resources["limits"] = {"cpu": dice.choice(("0", "1", "3")), "memory": dice.choice(("1Gi", "8Gi"))}
    found: Manifest = {
        "name": app,
        "image": dice.choice((f"app-{app}:1", f"registry/app-{app}")),
        "resources": resources,
    }
    if ports and dice.chance(0.15):
        port: Manifest = {"containerPort": 80, "hostPort": dice.choice((0, 80, 443))}
        if dice.chance(0.3):
            port["protocol"] = dice.choice(("TCP", "UDP"))
        if dice.chance(0.3):
            port["hostIP"] = dice.choice(("127.0.0.1", "0.0.0.0", "10.0.0.1"))
        found["ports"] = [port]
    return found


def volume(dice: Dice, i: int) -> Manifest:
    read_only = dice.chance(0.5)
    source: Manifest = dice.choice(
        (
            {"persistentVolumeClaim": {"claimName": f"claim-{dice.randint(0, 5)}"}},
            {"persistentVolumeClaim": {"claimName": f"claim-{dice.randint(0, 2)}"}},
            {"awsElasticBlockStore": {"volumeID": f"vol-{dice.randint(0, 3)}"}},
            {"gcePersistentDisk": {"pdName": f"pd-{dice.randint(0, 3)}", "readOnly": read_only}},
            {
                "iscsi": {
                    "iqn": dice.choice(("iqn-1", "iqn-2")),
                    "targetPortal": "x",
                    "lun": 0,
                    "readOnly": read_only,
                }
            },
            {"rbd": {"monitors": dice.some("abc", 1, 2), "image": "i", "pool": "p", "readOnly": read_only}},
            {"emptyDir": {}},
        )
    )
    return {"name": f"v{i}", **source}


def expression(dice: Dice) -> Manifest:
    key, operator = (
        dice.choice(("rack", "gen", KEYS[1])),
        dice.choice(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")),
    )
    values = {
        "In": ["r1", "z-a", "10"],
        "NotIn": ["r2", "z-b"],
        "Gt": [dice.choice(("8", "-10", "x"))],
        "Lt": [dice.choice(("9", "011"))],
    }.get(operator)
    return {"key": "gen" if operator in ("Gt", "Lt") else key, "operator": operator} | (
        {"values": values} if values else {}
    )


def pod_term(dice: Dice) -> Manifest:
    selector: Manifest | None = dice.choice(
        (
            {"matchLabels": {"app": dice.choice(APPS)}},
            {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
            {},
            None,
        )
        if dice.chance(0.3)
        else ({"matchLabels": {"app": dice.choice(APPS)}},)
    )
    found: Manifest = {"topologyKey": dice.choice(KEYS[:3] if dice.chance(0.9) else KEYS)}
    if selector is not None:
        found["labelSelector"] = selector
    if dice.chance(0.2):
        found["namespaces"] = dice.some(NAMESPACES, 1, 2)
    return found


def affinities(dice: Dice) -> Manifest:
    required, preferred = (f"{k}DuringSchedulingIgnoredDuringExecution" for k in ("required", "preferred"))
    found: Manifest = {}
    if dice.chance(0.18):
        part: Manifest = {}
        if dice.chance(0.5):
            part[required] = {
                "nodeSelectorTerms": [
                    {"matchExpressions": [expression(dice) for _ in range(dice.randint(0, 2))]}
                    for _ in range(dice.randint(1, 2))
                ]
            }
        if dice.chance(0.7):
            part[preferred] = [
                {"weight": dice.choice((1, 10, 50)), "preference": {"matchExpressions": [expression(dice)]}}
                for _ in range(dice.randint(1, 2))
            ]
        found["nodeAffinity"] = part
    for side in ("podAffinity", "podAntiAffinity"):
        if dice.chance(0.14):
            part = {}
            if dice.chance(0.65):
                part[required] = [pod_term(dice) for _ in range(dice.choice((1, 1, 2)))]
            if dice.chance(0.5):
                part[preferred] = [
                    {"weight": dice.choice((1, 10, 100)), "podAffinityTerm": pod_term(dice)}
                    for _ in range(dice.randint(1, 2))
                ]
            found[side] = part
    return found


def policy(dice: Dice) -> Manifest | None:
    if dice.chance(0.45):
        return None
    found: Manifest = {"kind": "Policy", "apiVersion": "v1"}
    if dice.chance(0.7):
        listed: list[Manifest] = [{"name": n} for n in dice.some(PREDICATES, 0, 12)]
        if dice.chance(0.3):
            presence = {"labels": dice.some(("rack", "gen"), 1, 2), "presence": dice.chance(0.5)}
            listed.append({"name": "CheckNodeLabelPresence", "argument": {"labelsPresence": presence}})
        if dice.chance(0.3):
            argument = {"serviceAffinity": {"labels": dice.some((KEYS[1], "rack"), 1, 2)}}
            listed.append({"name": "CheckServiceAffinity", "argument": argument})
        if dice.chance(0.4):
            for entry in listed:
                if dice.chance(0.5):
                    entry["order"] = dice.randint(1, 6)
        found["predicates"] = listed
    if dice.chance(0.7):
        found["priorities"] = [
            {"name": n, "weight": dice.randint(1, 5)} for n in dice.some(PRIORITIES, 0, 8)
        ] + dice.some(
            (
                {
                    "name": "Pref",
                    "weight": 2,
                    "argument": {"labelPreference": {"label": "rack", "presence": True}},
                },
                {"name": "Anti", "weight": 3, "argument": {"serviceAntiAffinity": {"label": KEYS[1]}}},
                {
                    "name": "Ratio",
                    "weight": 1,
                    "argument": {
                        "requestedToCapacityRatioArguments": {
                            "shape": [
                                {"utilization": 0, "score": 3},
                                {"utilization": 40, "score": 10},
                                {"utilization": 90, "score": 1},
                            ]
                        }
                    },
                },
            ),
            0,
            2,
        )
    if dice.chance(0.3):
        found["alwaysCheckAllPredicates"] = True
    if dice.chance(0.3):
        found["hardPodAffinitySymmetricWeight"] = dice.choice((0, 5, 50))
    return found
