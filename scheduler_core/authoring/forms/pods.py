"""The fields of a pod that every form of a workload has, and the pod template that they define."""

from __future__ import annotations

from scheduler_core.authoring.forms.fields import FormField, Values
from scheduler_core.cluster.controllers.annotations import RUN
from scheduler_core.kubernetes.manifests import Manifest

HOSTNAME = "kubernetes.io/hostname"
ZONE = "failure-domain.beta.kubernetes.io/zone"
ZONES = ("topology.kubernetes.io/zone", ZONE)
"""The labels of a node's zone, the one since 1.17 first."""
ANY_WEIGHT = 100

_TOPOLOGIES = (("hostname", HOSTNAME, "node"), ("zone", ZONE, "zone"))
_APART = (
    ("", "no rule"),
    *(
        (f"{how}-{name}", f"{how}: one a {noun}" if how == "required" else f"preferred: few a {noun}")
        for how in ("required", "preferred")
        for name, _, noun in _TOPOLOGIES
    ),
)
_TOGETHER = (
    ("", "no rule"),
    *(
        (f"{how}-{name}", f"{how}: on the same {noun}")
        for how in ("required", "preferred")
        for name, _, noun in _TOPOLOGIES
    ),
)
_PODS = "Its pods"
_ADVANCED = "Where they may run"
_MORE = "More"

RUNS = FormField(
    "runSeconds",
    "Runs for, in seconds",
    "integer",
    placeholder="no end",
    hint="podstep/run-seconds of its pods",
    section=_PODS,
    place=r"run-seconds",
)

POD_FIELDS: tuple[FormField, ...] = (
    FormField("cpu", "cpu of a pod", "cpu", "100m", "none", section=_PODS, place=r"requests\.cpu"),
    FormField(
        "memory", "memory of a pod", "quantity", "128Mi", "none", section=_PODS, place=r"requests\.memory"
    ),
    FormField(
        "resources",
        "Other resources",
        "resources",
        placeholder="nvidia.com/gpu=1",
        hint="limits, which also set the requests",
        section=_PODS,
        suggest="resources",
        place=r"limits",
    ),
    FormField(
        "priorityClassName",
        "Priority class",
        "name",
        section=_PODS,
        suggest="priorityClasses",
        place=r"priorityClassName",
    ),
    FormField(
        "nodeSelector",
        "Node selector",
        "labels",
        placeholder="disk=ssd",
        hint="labels that a node must have",
        section=_ADVANCED,
        suggest="labels",
        place=r"nodeSelector",
    ),
    FormField(
        "tolerations",
        "Tolerations",
        "tolerations",
        placeholder="gpu=yes:NoSchedule",
        hint="key=value:effect, key:effect, key, or *",
        section=_ADVANCED,
        suggest="taints",
        place=r"tolerations",
    ),
    FormField(
        "required",
        "Node affinity, required",
        "selector",
        placeholder="disk in (ssd, nvme), !spot",
        section=_ADVANCED,
        suggest="selectors",
        place=r"nodeAffinity\.required",
    ),
    FormField(
        "preferred",
        "Node affinity, preferred",
        "selector",
        placeholder="pool=fast",
        section=_ADVANCED,
        suggest="selectors",
        place=r"nodeAffinity\.preferred",
    ),
    FormField("weight", "Its weight", "integer", "100", "100", "1 to 100", _ADVANCED, low=1, high=100),
    FormField(
        "apart",
        "Anti-affinity: keep apart",
        "choice",
        choices=_APART,
        hint="the spread of v1.11: preferred apart, over nodes or zones",
        section=_ADVANCED,
        place=r"podAntiAffinity",
    ),
    FormField(
        "apartFrom",
        "Apart from pods with",
        "labels",
        placeholder="its own labels",
        section=_ADVANCED,
        suggest="podLabels",
    ),
    FormField(
        "together",
        "Affinity: keep together",
        "choice",
        choices=_TOGETHER,
        section=_ADVANCED,
        place=r"podAffinity",
    ),
    FormField(
        "togetherWith",
        "Together with pods with",
        "labels",
        placeholder="its own labels",
        section=_ADVANCED,
        suggest="podLabels",
    ),
    FormField(
        "ports",
        "Ports",
        "ports",
        placeholder="8080, 9100:9100",
        hint="8080, or 8080:80 where :80 is the host port",
        section=_MORE,
        place=r"ports",
    ),
    FormField(
        "claims",
        "Claims that it mounts",
        "names",
        placeholder="data",
        section=_MORE,
        suggest="claims",
        place=r"volumes|volumeMounts",
    ),
    FormField(
        "schedulerName",
        "Scheduler's name",
        "name",
        placeholder="default-scheduler",
        section=_MORE,
        place=r"schedulerName",
    ),
)


def labels_of(values: Values) -> dict[str, str]:
    """Return the pods' labels: those that were given, else ``app`` with the name."""
    return dict(values["labels"]) or {"app": values["name"]}


def template(values: Values, restart: str = "") -> tuple[Manifest, Manifest]:
    """Return a pod's metadata, without a name, and its spec."""
    labels = labels_of(values)
    meta: Manifest = {"labels": labels}
    if values.get("runSeconds") is not None:
        meta["annotations"] = {RUN: str(values["runSeconds"])}
    spec: Manifest = {"restartPolicy": restart} if restart else {}
    for name in ("schedulerName", "priorityClassName"):
        if values[name]:
            spec[name] = values[name]
    if values["nodeSelector"]:
        spec["nodeSelector"] = dict(values["nodeSelector"])
    affinity = _affinity(values, labels)
    if affinity:
        spec["affinity"] = affinity
    if values["tolerations"]:
        spec["tolerations"] = list(values["tolerations"])
    spec["containers"] = [_container(values)]
    if values["claims"]:
        spec["volumes"] = [
            {"name": f"claim-{number}", "persistentVolumeClaim": {"claimName": claim}}
            for number, claim in enumerate(values["claims"], 1)
        ]
    return meta, spec


def _container(values: Values) -> Manifest:
    container: Manifest = {"name": "main", "image": values["name"]}
    requests = {name: values[name] for name in ("cpu", "memory") if values[name]}
    resources: Manifest = {"requests": requests} if requests else {}
    if values["resources"]:
        resources["limits"] = dict(values["resources"])
    if resources:
        container["resources"] = resources
    if values["ports"]:
        container["ports"] = list(values["ports"])
    return container


def _affinity(values: Values, labels: dict[str, str]) -> Manifest:
    affinity: Manifest = {}
    node: Manifest = {}
    if values["required"]:
        node["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [{"matchExpressions": values["required"]}]
        }
    if values["preferred"]:
        preference = {"matchExpressions": values["preferred"]}
        weight = values["weight"] or ANY_WEIGHT
        node["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": preference}
        ]
    if node:
        affinity["nodeAffinity"] = node
    for rule, other, name in (
        ("apart", "apartFrom", "podAntiAffinity"),
        ("together", "togetherWith", "podAffinity"),
    ):
        if values[rule]:
            affinity[name] = pod_rule(values[rule], dict(values[other]) or labels)
    return affinity


def pod_rule(rule: str, labels: dict[str, str]) -> Manifest:
    """Return a pod (anti-)affinity to pods with labels: ``required-hostname``, ``preferred-zone``, …."""
    how, _, where = rule.partition("-")
    topology = next(key for name, key, _ in _TOPOLOGIES if name == where)
    term = {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": topology}
    if how == "required":
        return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    weighted = [{"weight": ANY_WEIGHT, "podAffinityTerm": term}]
    return {"preferredDuringSchedulingIgnoredDuringExecution": weighted}
