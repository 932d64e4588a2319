"""The tables of Node, Service, volumes, claims, classes and budgets."""

from __future__ import annotations

import re
from typing import Any

from scheduler_core.objects.fields_common import LABEL_SELECTOR, META, NODE_SELECTOR, key, name
from scheduler_core.objects.fields_pod import DISK_SOURCES, OTHER_SOURCES, one_source, volume
from scheduler_core.objects.model import (
    Node,
    NodeCondition,
    NodeImage,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PodGroup,
    PodGroupStatus,
    PriorityClass,
    Requirement,
    Service,
    StorageClass,
    Taint,
)
from scheduler_core.objects.names import check_namespace, check_value
from scheduler_core.objects.reading import (
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
    unread="timeAdded",
)
CONDITION = record(
    NodeCondition,
    {
        "type": Field("type", text, required=True),
        "status": Field("status", enum("True", "False", "Unknown"), required=True),
    },
    unread="lastHeartbeatTime lastTransitionTime lastProbeTime message reason",
)


def _image(names: tuple[str, ...] = (), size_bytes: int = 0) -> NodeImage:
    return NodeImage(names, size_bytes)


_IMAGE = record(
    _image, {"names": Field("names", list_of(text)), "sizeBytes": Field("size_bytes", integer(0, 2**63 - 1))}
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
    unread="podCIDR podCIDRs providerID externalID configSource",
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
    unread=(
        "addresses daemonEndpoints nodeInfo phase volumesAttached volumesInUse config features "
        "runtimeHandlers declaredFeatures"
    ),
)


def _node(meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> Node:
    return Node(meta, **(spec or {}), **(status or {}))


def top(build: Any, spec: Reader | None = None, status: Reader | None = None, unread: str = "") -> Reader:
    """Make the reader of a whole object: apiVersion, kind, metadata, and its spec and status."""
    fields = {"metadata": Field("meta", META, required=True)}
    if spec is not None:
        fields["spec"] = Field("spec", spec)
    if status is not None:
        fields["status"] = Field("status", status)
    skipped = "apiVersion kind " + " ".join(part for part in ("spec", "status") if part not in fields)
    return record(build, fields, unread=f"{skipped} {unread}")


NODE = top(_node, _NODE_SPEC, _NODE_STATUS)

# --- Service

_SERVICE_SPEC = record(
    dict,
    {"selector": Field("selector", labels)},
    unread=(
        "ports clusterIP clusterIPs type sessionAffinity sessionAffinityConfig externalIPs externalName "
        "externalTrafficPolicy internalTrafficPolicy healthCheckNodePort ipFamilies ipFamilyPolicy "
        "loadBalancerIP "
        "loadBalancerSourceRanges loadBalancerClass allocateLoadBalancerNodePorts "
        "publishNotReadyAddresses ipFamily "
        "topologyKeys trafficDistribution"
    ),
)
SERVICE = top(lambda meta, spec=None: Service(meta, **(spec or {})), _SERVICE_SPEC)

# --- volumes and claims

_CLAIM_REF = record(
    lambda name="", namespace="default": f"{namespace or 'default'}/{name}",
    {"name": Field("name", name), "namespace": Field("namespace", checked(check_namespace))},
    unread="apiVersion kind uid resourceVersion fieldPath",
)
_ACCESS_MODES = list_of(enum("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"))
_VOLUME_SPEC = record(
    dict,
    {
        **DISK_SOURCES,
        "capacity": Field("capacity", resources),
        "nodeAffinity": Field(
            "node_affinity", record(lambda terms=None: terms, {"required": Field("terms", NODE_SELECTOR)})
        ),
        "storageClassName": Field("storage_class", text),
        "accessModes": Field("access_modes", _ACCESS_MODES),
        "claimRef": Field("claim_ref", _CLAIM_REF),
    },
    unread=OTHER_SOURCES + " hostPath local persistentVolumeReclaimPolicy mountOptions volumeMode "
    "volumeAttributesClassName",
)
_PHASE = record(
    dict,
    {"phase": Field("phase", text)},
    unread="message reason lastPhaseTransitionTime accessModes capacity conditions allocatedResources "
    "allocatedResourceStatuses currentVolumeAttributesClassName modifyVolumeStatus resizeStatus",
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
PERSISTENT_VOLUME = top(_persistent_volume, _ONE_SOURCE, _PHASE)

_CLAIM_RESOURCES = record(
    dict, {"requests": Field("requests", resources), "limits": Field("limits", resources)}, newer="claims"
)
_CLAIM_SPEC = record(
    dict,
    {
        "volumeName": Field("volume_name", text),
        "storageClassName": Field("storage_class", text),
        "resources": Field("resources", _CLAIM_RESOURCES),
        "accessModes": Field("access_modes", _ACCESS_MODES),
    },
    unread="selector volumeMode dataSource dataSourceRef volumeAttributesClassName",
)


def _claim(
    meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> PersistentVolumeClaim:
    del status  # checked, but the scheduler decides by spec.volumeName
    out = dict(spec or {})
    out["request"] = out.pop("resources", {}).get("requests", {}).get("storage", 0)
    if BETA_CLASS in meta.annotations:
        out["storage_class"] = meta.annotations[BETA_CLASS]
    return PersistentVolumeClaim(meta, **out)


PERSISTENT_VOLUME_CLAIM = top(_claim, _CLAIM_SPEC, _PHASE)


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
)
_TOPOLOGY = record(
    lambda labels=(): labels,
    {"matchLabelExpressions": Field("labels", list_of(_TOPOLOGY_LABEL))},
)

STORAGE_CLASS = record(
    StorageClass,
    {
        "metadata": Field("meta", META, required=True),
        "provisioner": Field("provisioner", text),
        "volumeBindingMode": Field("binding_mode", enum("Immediate", "WaitForFirstConsumer")),
        "allowedTopologies": Field("allowed_topologies", list_of(_TOPOLOGY)),
    },
    unread="apiVersion kind parameters reclaimPolicy mountOptions allowVolumeExpansion",
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
    },
    unread="apiVersion kind description preemptionPolicy",
    check=_check_class,
)

_PERCENT = re.compile(r"\d{1,5}%", re.ASCII)


def int_or_percent(value: Any, at: At) -> int | str | None:
    """Read a count, or a percentage such as 50%."""
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
    },
    unread="unhealthyPodEvictionPolicy",
    check=_check_budget,
)
_BUDGET_STATUS = record(
    dict,
    {"disruptionsAllowed": Field("disruptions_allowed", integer())},
    unread="currentHealthy desiredHealthy expectedPods observedGeneration disruptedPods conditions",
)
POD_DISRUPTION_BUDGET = top(
    lambda meta, spec=None, status=None: PodDisruptionBudget(meta, **(spec or {}), **(status or {})),
    _BUDGET_SPEC,
    _BUDGET_STATUS,
)

_GANG = record(dict, {"minCount": Field("min_member", _INT64)})
_GROUP_SPEC = record(
    dict,
    {
        "minMember": Field("min_member", integer(0)),
        "scheduleTimeoutSeconds": Field("timeout", integer(0)),
        "minResources": Field("min_resources", resources),
        "schedulingPolicy": Field("policy", record(dict, {"gang": Field("gang", _GANG)}, unread="basic")),
    },
    unread="queue priorityClassName maxScheduleTime minTaskMember priority disruptionMode "
    "podGroupTemplateRef schedulingConstraints resourceClaims networkTopology",
)


_COUNT = integer(0)
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
    },
    unread="conditions resourceClaimStatuses observedGeneration",
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
    )


POD_GROUP = top(_pod_group, _GROUP_SPEC, _GROUP_STATUS)
