"""Bundles of clusters that live, hurt as :mod:`tests.load.hostile` does: ``living(seed)`` is one.

Workloads of every kind, CronJobs, claims, budgets, drains, nodes that fail and recover, a descheduler,
several schedulers with views of their own; under each release, and with time that passes or stands still.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from scheduler_core.settings.release import RELEASES
from scheduler_core.settings.several import DESIGNS, SIDE_BY_SIDE
from tests.conformance.random_records import Dice, Manifest
from tests.load import mutants
from tests.load.hostile import CHANGES, REFUSED_KEPT, is_read, lives, replicas

SECONDS = ("0", "0.001", "1", "7", "60", "600", "100000")
TIMES = (0, 1, 5.5, 30, 60, 100, 400, 3_600, 10_000_000)
ZONES = ("a", "b", "c")
NAMES = ("default-scheduler", "legacy", "gang", "kube-batch", "firmament")
KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")
API_VERSIONS = {"Job": "batch/v1", "CronJob": "batch/v1"}
STRATEGIES: tuple[tuple[str, str, Manifest], ...] = (
    ("deschedule", "PodLifeTime", {"maxPodLifeTimeSeconds": 50}),
    ("deschedule", "RemovePodsViolatingNodeTaints", {}),
    ("deschedule", "RemoveFailedPods", {}),
    ("deschedule", "RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 1}),
    ("balance", "RemoveDuplicates", {}),
    ("balance", "RemovePodsViolatingTopologySpreadConstraint", {}),
    ("balance", "LowNodeUtilization", {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}),
    ("balance", "HighNodeUtilization", {"thresholds": {"cpu": 40}}),
)
PATCHES: tuple[tuple[str, str, Manifest], ...] = (
    ("Node", "n0", {"spec": {"unschedulable": True}, "metadata": {"annotations": {"podstep/drain": "true"}}}),
    ("Node", "n1", {"metadata": {"annotations": {"podstep/drain": "force"}}}),
    ("Node", "n1", {"metadata": {"annotations": {"podstep/fails-at": "70", "podstep/recovers-at": "500"}}}),
    ("Node", "n0", {"metadata": {"annotations": {"podstep/deschedule": "x"}}}),
    ("Node", "n2", {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}),
    ("Node", "n2", {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}),
    ("Deployment", "deployment", {"spec": {"replicas": 7}}),
    ("Deployment", "deployment", {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}),
    ("StatefulSet", "statefulset", {"spec": {"replicas": 1}}),
    ("Job", "job", {"spec": {"suspend": True}}),
    ("CronJob", "cronjob", {"spec": {"suspend": True}}),
    ("SimulationSettings", "", {"until": 200}),
)


def living(seed: int) -> list[Any]:
    """Return the documents of a cluster that lives, hurt in up to four ways."""
    dice = Dice(seed)
    documents = cluster(dice)
    for _ in range(dice.choice((0, 1, 1, 2, 3, 4))):
        changed = copy.deepcopy(documents)
        _hurt(changed, dice)
        if changed and (dice.chance(REFUSED_KEPT) or is_read(changed)):
            documents = changed
    return documents


def _hurt(documents: list[Any], dice: Dice) -> None:
    change: Callable[[list[Any], Dice], None] = dice.choice((*CHANGES, *mutants.CHANGES, replicas, lives))
    try:
        change(documents, dice)
    except (TypeError, AttributeError, KeyError, IndexError, RecursionError):
        return  # it met what an earlier change has left there


def cluster(dice: Dice) -> list[Any]:
    """Return the documents of a cluster that every reader accepts: at most 6 nodes and some 40 pods."""
    names = dice.sample(NAMES, dice.choice((1, 1, 1, 2, 3)))
    made: list[Any] = [_settings(dice, names), *(_node(dice, number) for number in range(dice.randint(1, 6)))]
    made += [_workload(dice, kind, names) for kind in KINDS if dice.chance(0.4)]
    made += [_pod(dice, f"p{number}", names) for number in range(dice.choice((0, 1, 4)))]
    made += [_budget(dice)] * dice.chance(0.3) + [_volume(number) for number in range(dice.choice((0, 0, 2)))]
    made += [
        _group(dice, api)
        for api in ("scheduling.x-k8s.io/v1alpha1", "scheduling.k8s.io/v1beta1")
        if dice.chance(0.2)
    ]
    if "descheduler" in made[0] or dice.chance(0.1):
        made.append(_policy(dice))
    if dice.chance(0.7):
        made.append(_history(dice, names, made))
    return made


def _settings(dice: Dice, names: list[str]) -> Manifest:
    made: Manifest = {"apiVersion": "podstep/v1", "kind": "SimulationSettings"}
    if len(names) > 1:
        made |= {
            "scheduler": "v1.22",
            "time": "virtual",
            "schedulers": [_scheduler(dice, one) for one in names],
        }
        made["design"] = dice.choice((*DESIGNS, *(SIDE_BY_SIDE,) * 4))
    else:
        made |= {"scheduler": dice.choice((*RELEASES, "v1.37"))}
        made |= {"time": "virtual"} if dice.chance(0.6) else {}
    made |= {"until": dice.choice(TIMES[1:])} if dice.chance(0.6) else {}
    if dice.chance(0.3):
        made["descheduler"] = {
            "interval": dice.choice(("1s", "60s", "5m")),
            "passes": dice.choice((1, 3, 20)),
        }
        made["descheduler"] |= {"dryRun": True} if dice.chance(0.2) else {}
    return made


def _scheduler(dice: Dice, name: str) -> Manifest:
    runs = {"runs": dice.choice(RELEASES)} if name not in ("kube-batch", "firmament") else {}
    return {
        "name": name,
        **runs,
        **{key: dice.choice((0, 0.005, 0.1, 3)) for key in ("watchDelay", "bindDelay")},
    }


def _node(dice: Dice, number: int) -> Manifest:
    name = f"n{number}"
    labels = {"topology.kubernetes.io/zone": dice.choice(ZONES), "kubernetes.io/hostname": name}
    annotations = {"podstep/fails-at": dice.choice(SECONDS)} if dice.chance(0.2) else {}
    annotations |= {"podstep/recovers-at": dice.choice(SECONDS)} if dice.chance(0.15) else {}
    allocatable = {"cpu": dice.choice(("1", "4", "16")), "memory": "8Gi", "pods": dice.choice(("2", "110"))}
    made: Manifest = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    made["metadata"]["annotations"] = annotations
    made["status"] = {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
    if dice.chance(0.15):
        made["spec"] = {"taints": [{"key": "k", "effect": dice.choice(("NoSchedule", "NoExecute"))}]}
    return made


def _template(dice: Dice, names: list[str]) -> Manifest:
    life = {
        "podstep/run-seconds": (0.6, SECONDS),
        "podstep/start-seconds": (0.3, SECONDS),
        "podstep/outcome": (0.2, ("Succeeded", "Failed")),
    }
    annotations = {key: dice.choice(values) for key, (odds, values) in life.items() if dice.chance(odds)}
    labels = {"app": "w"} | ({"scheduling.x-k8s.io/pod-group": "g"} if dice.chance(0.2) else {})
    requests = {"cpu": dice.choice(("0", "100m", "1", "3", "9"))}
    spec: Manifest = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    spec |= {"schedulerName": dice.choice(names)} if dice.chance(0.7) else {}
    spec |= {"terminationGracePeriodSeconds": dice.choice((0, 30, 1_000))} if dice.chance(0.3) else {}
    spec |= {"priority": dice.choice((-5, 100))} if dice.chance(0.2) else {}
    selector = {"matchLabels": {"app": "w"}}
    if dice.chance(0.3):
        constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "labelSelector": selector}
        unsatisfiable = dice.choice(("DoNotSchedule", "ScheduleAnyway"))
        spec["topologySpreadConstraints"] = [{**constraint, "whenUnsatisfiable": unsatisfiable}]
    if dice.chance(0.2):
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if dice.chance(0.15):
        spec["tolerations"] = [
            {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": dice.choice((0, 20, 300))}
        ]
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}


def _pod(dice: Dice, name: str, names: list[str]) -> Manifest:
    made = {"apiVersion": "v1", "kind": "Pod", **_template(dice, names)}
    made["metadata"]["name"] = name
    made["spec"] |= (
        {"restartPolicy": dice.choice(("Always", "OnFailure", "Never"))} if dice.chance(0.5) else {}
    )
    made["spec"] |= (
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c0"}}]} if dice.chance(0.1) else {}
    )
    return made


def _workload(dice: Dice, kind: str, names: list[str]) -> Manifest:
    template = _template(dice, names)
    spec: Manifest = {"template": template, "selector": {"matchLabels": {"app": "w"}}}
    count = dice.choice((0, 1, 3, 8))
    if kind in ("Job", "CronJob"):
        template["spec"]["restartPolicy"] = dice.choice(("OnFailure", "Never"))
        job = {"parallelism": count, "completions": count, "backoffLimit": dice.choice((0, 6))}
        spec = {"template": template, **job}
    elif kind != "DaemonSet":
        spec["replicas"] = count
    if kind == "CronJob":
        schedule = dice.choice(("* * * * *", "*/5 * * * *", "0 0 31 2 *", "0 3 * * 1"))
        policy = dice.choice(("Allow", "Forbid", "Replace"))
        spec = {"schedule": schedule, "concurrencyPolicy": policy, "jobTemplate": {"spec": spec}}
    if kind == "StatefulSet":
        spec |= {"serviceName": "s", "podManagementPolicy": dice.choice(("OrderedReady", "Parallel"))}
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        spec |= (
            {"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": claim}]} if dice.chance(0.5) else {}
        )
    if kind == "Deployment" and dice.chance(0.5):
        surge, unavailable = dice.choice(((0, 1), (1, 0), ("25%", "25%"), ("100%", "100%")))
        rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    version = API_VERSIONS.get(kind, "apps/v1")
    return {"apiVersion": version, "kind": kind, "metadata": {"name": kind.lower()}, "spec": spec}


def _budget(dice: Dice) -> Manifest:
    spec: Manifest = {dice.choice(("minAvailable", "maxUnavailable")): dice.choice((0, 1, "50%", "100%"))}
    spec |= {"selector": {"matchLabels": {"app": "w"}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}


def _volume(number: int) -> Manifest:
    spec: Manifest = {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"]}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"v{number}"}, "spec": spec}


def _group(dice: Dice, api: str) -> Manifest:
    gang = {"schedulingPolicy": {"gang": {"minCount": dice.choice((1, 3, 9))}}}
    spec = {"minMember": dice.choice((0, 2, 5))} if "x-k8s" in api else gang
    return {"apiVersion": api, "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec}


def _policy(dice: Dice) -> Manifest:
    chosen = dice.sample(STRATEGIES, dice.randint(1, 3))
    plugins: Manifest = {}
    for point, name, _ in chosen:
        plugins.setdefault(point, {"enabled": []})["enabled"].append(name)
    arguments = [
        {"name": "DefaultEvictor", "args": {}},
        *({"name": name, "args": args} for _, name, args in chosen),
    ]
    profile = {"name": "p", "pluginConfig": arguments, "plugins": plugins}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def _history(dice: Dice, names: list[str], there: list[Manifest]) -> Manifest:
    known = {(one["kind"], one.get("metadata", {}).get("name", "")) for one in there}
    patches = [row for row in PATCHES if row[:2] in known]
    operations = []
    for number in range(dice.choice((1, 2, 5, 9))):
        when = {"time": dice.choice(TIMES[1:])} if dice.chance(0.8) else {"step": {"major": number + 1}}
        operations.append({"id": f"op-{number}", **when, **_operation(dice, number, names, patches)})
    return {"apiVersion": "podstep/v1", "kind": "Scenario", "spec": {"operations": operations}}


def _operation(
    dice: Dice, number: int, names: list[str], patches: list[tuple[str, str, Manifest]]
) -> Manifest:
    kind, name, patch = dice.choice(patches)
    version = "v1" if kind == "Node" else API_VERSIONS.get(kind, "apps/v1")
    target = {"typeMeta": {"kind": kind, "apiVersion": version}, "objectMeta": {"name": name}}
    how = dice.choice((*("create", "patch") * 5, "delete"))
    if how == "create":
        made = dice.choice((_pod(dice, f"late-{number}", names), _node(dice, 10 + number)))
        return {"createOperation": {"object": made}}
    if how == "delete":
        return {"deleteOperation": target}
    return {"patchOperation": {**target, "patch": json.dumps(patch), "patchType": "merge"}}
