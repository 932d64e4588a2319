"""Forms of the objects that scheduling uses: node pools, PriorityClasses, budgets, Services."""

from __future__ import annotations

import re

from scheduler_core.authoring.forms.fields import FormField, Values
from scheduler_core.authoring.forms.meta import NAMESPACE, manifest, meta, name_field
from scheduler_core.authoring.forms.pods import HOSTNAME, ZONES
from scheduler_core.kubernetes.manifests import Manifest

MOST_NODES = 200  # per form; the generator allows more
MOST_ZONES = 26
HIGHEST = 1_000_000_000
POOL_LABEL = "pool"

POOL_FIELDS = (
    name_field("general"),
    FormField("count", "Nodes", "integer", "3", "3", low=1, high=MOST_NODES, required=True),
    FormField(
        "cpu",
        "cpu",
        "cpu",
        "4",
        "4",
        section="Each node",
        required=True,
        missing="write 4 or 3920m, for example",
        place=r"allocatable\.cpu",
    ),
    FormField(
        "memory",
        "memory",
        "quantity",
        "16Gi",
        "16Gi",
        section="Each node",
        required=True,
        missing="write 16Gi, for example",
        place=r"allocatable\.memory",
    ),
    FormField(
        "pods",
        "pods",
        "integer",
        "110",
        "110",
        "the most that it runs",
        "Each node",
        low=0,
        high=10_000,
        required=True,
        place=r"allocatable\.pods",
    ),
    FormField(
        "resources",
        "Other resources",
        "resources",
        placeholder="nvidia.com/gpu=4",
        section="Each node",
        suggest="resources",
        place=r"allocatable",
    ),
    FormField(
        "zones",
        "Zones",
        "integer",
        "1",
        "1",
        "nodes are assigned to them in turn; 0: no zone",
        "Labels and taints",
        high=MOST_ZONES,
    ),
    FormField(
        "labels",
        "Labels",
        "labels",
        placeholder="disk=ssd",
        hint="beside pool, hostname and zone",
        section="Labels and taints",
        suggest="labels",
        place=r"labels",
    ),
    FormField(
        "taints",
        "Taints",
        "taints",
        placeholder="gpu=yes:NoSchedule",
        hint="key=value:effect",
        section="Labels and taints",
        suggest="taints",
        place=r"taints",
    ),
    FormField("cordoned", "Cordoned", "flag", "false", section="Labels and taints"),
)
CLASS_FIELDS = (
    name_field("urgent"),
    FormField(
        "value",
        "Value",
        "integer",
        "1000",
        "1000",
        "higher is scheduled first and may preempt lower",
        low=-(2**31),
        high=HIGHEST,
        required=True,
        place=r"value",
    ),
    FormField(
        "globalDefault",
        "The default for pods without a priority class",
        "flag",
        "false",
        place=r"globalDefault",
    ),
)
PODS_WITH = FormField(
    "selector",
    "Pods with",
    "labels",
    placeholder="app=web",
    missing="write the labels of the pods, such as app=web",
    required=True,
    suggest="podLabels",
    place=r"selector",
)
BUDGET_FIELDS = (
    name_field("web"),
    NAMESPACE,
    PODS_WITH,
    FormField(
        "minAvailable",
        "minAvailable",
        "text",
        "1",
        "2 or 50%",
        "this or maxUnavailable",
        place=r"minAvailable",
    ),
    FormField("maxUnavailable", "maxUnavailable", "text", placeholder="1 or 25%", place=r"maxUnavailable"),
)
SERVICE_FIELDS = (
    name_field("web"),
    NAMESPACE,
    PODS_WITH,
    FormField("port", "Port", "integer", "80", "80", low=1, high=65_535, required=True, place=r"port"),
)


def zone_name(number: int) -> str:
    """Return a zone's name: ``zone-a`` for 0."""
    return f"zone-{chr(ord('a') + number)}"


def node(
    name: str,
    pool: str,
    zone: str,
    allocatable: Manifest,
    labels: Manifest,
    taints: list[dict[str, str]],
    *,
    cordoned: bool = False,
) -> Manifest:
    """Return a node as it registers: labeled with its name, its pool and its zone, and ready.

    The zone has the label of each release: by one v1.37 spreads pods over zones, by the other v1.11.
    """
    known = {HOSTNAME: name, POOL_LABEL: pool, **(dict.fromkeys(ZONES, zone) if zone else {})}
    spec: Manifest = {
        **({"unschedulable": True} if cordoned else {}),
        **({"taints": taints} if taints else {}),
    }
    made = manifest("v1", "Node", {"name": name, "labels": {**known, **labels}})
    if spec:
        made["spec"] = spec
    made["status"] = {
        "allocatable": dict(allocatable),
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return made


def node_pool(values: Values) -> list[Manifest]:
    """Return the nodes of a pool, numbered from 1, over its zones in turn."""
    count, zones = values["count"], values["zones"] or 0
    width = len(str(count))
    amounts = {
        "cpu": values["cpu"],
        "memory": values["memory"],
        "pods": str(values["pods"]),
        **values["resources"],
    }
    return [
        node(
            f"{values['name']}-{number + 1:0{width}d}",
            values["name"],
            zone_name(number % zones) if zones else "",
            amounts,
            values["labels"],
            values["taints"],
            cordoned=values["cordoned"],
        )
        for number in range(count)
    ]


def priority_class(values: Values) -> list[Manifest]:
    """Return a PriorityClass."""
    rest: Manifest = {"value": values["value"]}
    if values["globalDefault"]:
        rest["globalDefault"] = True
    return [manifest("scheduling.k8s.io/v1", "PriorityClass", meta(values), **rest)]


def _share(text: str) -> int | str:
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else text


def budget(values: Values) -> list[Manifest]:
    """Return a PodDisruptionBudget."""
    spec: Manifest = {
        name: _share(values[name]) for name in ("minAvailable", "maxUnavailable") if values[name]
    }
    spec["selector"] = {"matchLabels": values["selector"]}
    return [manifest("policy/v1", "PodDisruptionBudget", meta(values), spec=spec)]


def service(values: Values) -> list[Manifest]:
    """Return a Service of one port."""
    spec = {"selector": values["selector"], "ports": [{"port": values["port"]}]}
    return [manifest("v1", "Service", meta(values), spec=spec)]
