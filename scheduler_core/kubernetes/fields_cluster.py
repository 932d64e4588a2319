"""The field tables of Node, Service, volumes, claims, classes, budgets and groups."""

from __future__ import annotations

import re
from typing import Any

from scheduler_core.kubernetes import support_cluster as support
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR, META, NODE_SELECTOR, key, name
from scheduler_core.kubernetes.fields_pod import (
    DISK_SOURCES,
    OTHER_SOURCES,
    PREEMPTION_POLICY,
    one_source,
    volume,
)
from scheduler_core.kubernetes.model import (
    Node,
    NodeCondition,
    NodeImage,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PodGroup,
    PodGroupCondition,
    PodGroupStatus,
    PriorityClass,
    Queue,
    Requirement,
    Service,
    StorageClass,
    Taint,
)
from scheduler_core.kubernetes.names import check_namespace, check_value
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Outline,
    Reader,
    boolean,
    checked,
    enum,
    integer,
    labels,
    list_of,
    outlined,
    record,
    resources,
    show,
    text,
)
from scheduler_core.kubernetes.support import ApiType

_INT64 = integer(-(2**63), 2**63 - 1)
_COUNT = integer(0)

# --- Node


def _taint(key: str, effect: str, value: str = "") -> Taint:
    return Taint(key, value, effect)


TAINT = record(
    _taint,
    {
        "key": Field("key", key, required=True),
        "value": Field("value", checked(check_value)),
        "effect": Field("effect", enum("NoSchedule", "PreferNoSchedule", "NoExecute"), required=True),
    },
    part=support.TAINT,
)
CONDITION = record(
    NodeCondition,
    {
        "type": Field("type", text, required=True),
        "status": Field("status", enum("True", "False", "Unknown"), required=True),
    },
    part=support.CONDITION,
)


def _image(names: tuple[str, ...] = (), size_bytes: int = 0) -> NodeImage:
    return NodeImage(names, size_bytes)


_IMAGE = record(
    _image,
    {"names": Field("names", list_of(text)), "sizeBytes": Field("size_bytes", integer(0, 2**63 - 1))},
    part=support.IMAGE,
)


def _check_taints(out: dict[str, Any], at: At) -> None:
    seen: dict[tuple[str, str], int] = {}
    for place, taint in enumerate(out.get("taints", ())):
        first = seen.setdefault((taint.key, taint.effect), place)
        if first != place:
            at.child("taints").child(place).refuse(
                f"duplicate taint {taint.key} with effect {taint.effect}; first defined at taints[{first}]"
            )


_NODE_SPEC = record(
    dict,
    {"taints": Field("taints", list_of(TAINT)), "unschedulable": Field("unschedulable", boolean)},
    part=support.NODE_SPEC,
    check=_check_taints,
)
_NODE_STATUS = record(
    dict,
    {
        "allocatable": Field("allocatable", resources),
        "capacity": Field("capacity", resources),
        "conditions": Field("conditions", list_of(CONDITION)),
        "images": Field("images", list_of(_IMAGE)),
    },
    part=support.NODE_STATUS,
)


def _node(meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> Node:
    return Node(meta, **(spec or {}), **(status or {}))


def top(part: ApiType, build: Any, spec: Reader | None = None, status: Reader | None = None) -> Reader:
    """Create the reader of a whole object: apiVersion, kind, metadata, spec and status."""
    fields = {"metadata": Field("meta", META, required=True)}
    if spec is not None:
        fields["spec"] = Field("spec", spec)
    if status is not None:
        fields["status"] = Field("status", status)
    return record(build, fields, part=part)


NODE = top(support.NODE, _node, _NODE_SPEC, _NODE_STATUS)

# --- Service

_SERVICE_SPEC = record(
    dict,
    {"selector": Field("selector", labels)},
    part=support.SERVICE_SPEC,
)
SERVICE = top(support.SERVICE, lambda meta, spec=None: Service(meta, **(spec or {})), _SERVICE_SPEC)

# --- volumes and claims

_CLAIM_REF = record(
    lambda name="", namespace="default": f"{namespace or 'default'}/{name}",
    {"name": Field("name", name), "namespace": Field("namespace", checked(check_namespace))},
    part=support.CLAIM_REF,
)
_ACCESS_MODES = list_of(enum("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"))
_VOLUME_SPEC = record(
    dict,
    {
        **DISK_SOURCES,
        "capacity": Field("capacity", resources),
        "nodeAffinity": Field(
            "node_affinity",
            record(
                lambda terms=None: terms,
                {"required": Field("terms", NODE_SELECTOR)},
                part=support.VOLUME_AFFINITY,
            ),
        ),
        "storageClassName": Field("storage_class", text),
        "accessModes": Field("access_modes", _ACCESS_MODES),
        "claimRef": Field("claim_ref", _CLAIM_REF),
    },
    part=support.VOLUME_SPEC,
)
_PHASE = record(
    dict,
    {"phase": Field("phase", text)},
    part=support.STORAGE_STATUS,
)
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def _persistent_volume(
    meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> PersistentVolume:
    out = dict(spec or {})
    source = volume(source=out.pop("source", None))
    out["capacity"] = out.get("capacity", {}).get("storage", 0)
    if BETA_CLASS in meta.annotations:
        out["storage_class"] = meta.annotations[BETA_CLASS]
    return PersistentVolume(meta, source, **out, **(status or {}))


_ONE_SOURCE = one_source(_VOLUME_SPEC, (*DISK_SOURCES, *OTHER_SOURCES.split(), "hostPath", "local"))
PERSISTENT_VOLUME = top(support.VOLUME, _persistent_volume, _ONE_SOURCE, _PHASE)

_CLAIM_RESOURCES = record(
    dict,
    {"requests": Field("requests", resources), "limits": Field("limits", resources)},
    part=support.CLAIM_RESOURCES,
)
_CLAIM_SPEC = record(
    dict,
    {
        "volumeName": Field("volume_name", text),
        "storageClassName": Field("storage_class", text),
        "resources": Field("resources", _CLAIM_RESOURCES),
        "accessModes": Field("access_modes", _ACCESS_MODES),
        "selector": Field("selector", LABEL_SELECTOR),
    },
    part=support.CLAIM_SPEC,
)


def _claim(
    meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> PersistentVolumeClaim:
    del status  # validated, but the scheduler reads spec.volumeName only
    out = dict(spec or {})
    out["request"] = out.pop("resources", {}).get("requests", {}).get("storage", 0)
    if BETA_CLASS in meta.annotations:
        out["storage_class"] = meta.annotations[BETA_CLASS]
    return PersistentVolumeClaim(meta, **out)


PERSISTENT_VOLUME_CLAIM = top(support.CLAIM, _claim, _CLAIM_SPEC, _PHASE)


def _check_topology(out: dict[str, Any], at: At) -> None:
    if not out["values"] and not at.report.errors:
        at.child("values").refuse("needs at least one value")


_TOPOLOGY_LABEL = record(
    lambda key, values: Requirement(key, "In", values),
    {
        "key": Field("key", key, required=True),
        "values": Field("values", list_of(text), required=True),
    },
    check=_check_topology,
    part=support.TOPOLOGY_LABEL,
)
_TOPOLOGY = record(
    lambda labels=(): labels,
    {"matchLabelExpressions": Field("labels", list_of(_TOPOLOGY_LABEL))},
    part=support.TOPOLOGY,
)

STORAGE_CLASS = record(
    StorageClass,
    {
        "metadata": Field("meta", META, required=True),
        "provisioner": Field("provisioner", text),
        "volumeBindingMode": Field("binding_mode", enum("Immediate", "WaitForFirstConsumer")),
        "allowedTopologies": Field("allowed_topologies", list_of(_TOPOLOGY)),
    },
    part=support.STORAGE_CLASS,
)

# --- classes, budgets, groups

HIGHEST_USER_PRIORITY = 1_000_000_000


def _check_class(out: dict[str, Any], at: At) -> None:
    if out.get("value", 0) > HIGHEST_USER_PRIORITY and not out["meta"].name.startswith("system-"):
        at.child("value").refuse(
            f"must be at most {HIGHEST_USER_PRIORITY}, the most that a class of your own can have"
        )


PRIORITY_CLASS = record(
    PriorityClass,
    {
        "metadata": Field("meta", META, required=True),
        "value": Field("value", integer()),
        "globalDefault": Field("global_default", boolean),
        "preemptionPolicy": Field("preemption_policy", PREEMPTION_POLICY),
    },
    part=support.PRIORITY_CLASS,
    check=_check_class,
)

_PERCENT = re.compile(r"\d{1,5}%", re.ASCII)


def int_or_percent(value: Any, at: At) -> int | str | None:
    """Parse a count, or a percentage such as 50%."""
    if isinstance(value, str):
        if _PERCENT.fullmatch(value):
            if int(value[:-1]) > 100:
                at.refuse(f"must be at most 100%, not {value}")
            return value
        at.error(f"must be a number or a percentage such as 50%, not {show(value)}")
        return None
    read: int | None = _COUNT(value, at)
    return read


outlined(int_or_percent, Outline("IntOrString"))


def _check_budget(out: dict[str, Any], at: At) -> None:
    if "min_available" in out and "max_unavailable" in out:
        at.child("maxUnavailable").refuse("a budget has minAvailable or maxUnavailable, not both")


_BUDGET_SPEC = record(
    dict,
    {
        "selector": Field("selector", LABEL_SELECTOR),
        "minAvailable": Field("min_available", int_or_percent),
        "maxUnavailable": Field("max_unavailable", int_or_percent),
        "unhealthyPodEvictionPolicy": Field(
            "unhealthy_pod_eviction_policy", enum("IfHealthyBudget", "AlwaysAllow")
        ),
    },
    part=support.BUDGET_SPEC,
    check=_check_budget,
)
_BUDGET_STATUS = record(
    dict,
    {"disruptionsAllowed": Field("disruptions_allowed", integer())},
    part=support.BUDGET_STATUS,
)
POD_DISRUPTION_BUDGET = top(
    support.BUDGET,
    lambda meta, spec=None, status=None: PodDisruptionBudget(meta, **(spec or {}), **(status or {})),
    _BUDGET_SPEC,
    _BUDGET_STATUS,
)

_GANG = record(dict, {"minCount": Field("min_member", _INT64)}, part=support.GANG)
_GROUP_SPEC = record(
    dict,
    {
        "minMember": Field("min_member", integer(0)),
        "scheduleTimeoutSeconds": Field("timeout", integer(0)),
        "minResources": Field("min_resources", resources),
        "queue": Field("queue", text),
        "priorityClassName": Field("priority_class_name", text),
        "schedulingPolicy": Field(
            "policy", record(dict, {"gang": Field("gang", _GANG)}, part=support.GROUP_POLICY)
        ),
    },
    part=support.POD_GROUP_SPEC,
)


_COUNT = integer(0)
_GROUP_CONDITION = record(
    PodGroupCondition,
    {
        "type": Field("type", text, required=True),
        "status": Field("status", text),
        "reason": Field("reason", text),
        "message": Field("message", text),
    },
    part=support.GROUP_CONDITION,
)
_GROUP_STATUS = record(
    PodGroupStatus,
    {
        "phase": Field("phase", text),
        "occupiedBy": Field("occupied_by", text),
        "scheduled": Field("scheduled", _COUNT),
        "running": Field("running", _COUNT),
        "succeeded": Field("succeeded", _COUNT),
        "failed": Field("failed", _COUNT),
        "scheduleStartTime": Field("schedule_start_time", text),
        "conditions": Field("conditions", list_of(_GROUP_CONDITION)),
    },
    part=support.GROUP_STATUS,
)


def _pod_group(
    meta: ObjectMeta, spec: dict[str, Any] | None = None, status: PodGroupStatus | None = None
) -> PodGroup:
    out = spec or {}
    gang = out.get("policy", {}).get("gang", {})
    return PodGroup(
        meta,
        gang.get("min_member", out.get("min_member", 0)),
        out.get("timeout"),
        out.get("min_resources"),
        status or PodGroupStatus(),
        out.get("queue", ""),
        out.get("priority_class_name", ""),
    )


POD_GROUP = top(support.POD_GROUP, _pod_group, _GROUP_SPEC, _GROUP_STATUS)

_QUEUE_SPEC = record(dict, {"weight": Field("weight", integer())}, part=support.QUEUE_SPEC)
QUEUE = top(support.QUEUE, lambda meta, spec=None: Queue(meta, **(spec or {})), _QUEUE_SPEC)
