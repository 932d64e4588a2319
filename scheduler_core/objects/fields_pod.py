"""The table of a Pod's fields: what scheduling reads, and what it knows but does not read."""

from __future__ import annotations

from typing import Any

from scheduler_core.objects.fields_common import (
    LABEL_SELECTOR,
    META,
    NODE_SELECTOR,
    NODE_SELECTOR_TERM,
    key,
    name,
)
from scheduler_core.objects.model import (
    Affinity,
    Container,
    HostPort,
    ObjectMeta,
    Pod,
    PodAffinityTerm,
    PreferredNodeTerm,
    Toleration,
    Volume,
    WeightedPodAffinityTerm,
)
from scheduler_core.objects.names import check_namespace
from scheduler_core.objects.quantity import format_resource
from scheduler_core.objects.reading import (
    At,
    Field,
    boolean,
    checked,
    enum,
    integer,
    labels,
    list_of,
    record,
    resources,
    text,
)

# --- affinity

_PREFERRED_NODE = record(
    PreferredNodeTerm,
    {
        "weight": Field("weight", integer(0, 100), required=True),
        "preference": Field("term", NODE_SELECTOR_TERM, required=True),
    },
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_NODE_AFFINITY = record(
    dict,
    {
        _REQUIRED: Field("node_required", NODE_SELECTOR),
        _PREFERRED: Field("node_preferred", list_of(_PREFERRED_NODE)),
    },
)


def _term(topology_key: str, selector: Any = None, namespaces: tuple[str, ...] = ()) -> PodAffinityTerm:
    return PodAffinityTerm(selector, topology_key, namespaces)


POD_AFFINITY_TERM = record(
    _term,
    {
        "labelSelector": Field("selector", LABEL_SELECTOR),
        "topologyKey": Field("topology_key", key, required=True),
        "namespaces": Field("namespaces", list_of(checked(check_namespace))),
    },
    newer="namespaceSelector matchLabelKeys mismatchLabelKeys",
)
_WEIGHTED_TERM = record(
    WeightedPodAffinityTerm,
    {
        "weight": Field("weight", integer(0, 100), required=True),
        "podAffinityTerm": Field("term", POD_AFFINITY_TERM, required=True),
    },
)
_POD_AFFINITY = record(
    dict,
    {
        _REQUIRED: Field("required", list_of(POD_AFFINITY_TERM)),
        _PREFERRED: Field("preferred", list_of(_WEIGHTED_TERM)),
    },
)


def _affinity(
    node: dict[str, Any] | None = None, pod: dict[str, Any] | None = None, anti: dict[str, Any] | None = None
) -> Affinity:
    return Affinity(
        **(node or {}),
        has_pod_affinity=pod is not None,
        pod_required=(pod or {}).get("required", ()),
        pod_preferred=(pod or {}).get("preferred", ()),
        has_pod_anti_affinity=anti is not None,
        anti_required=(anti or {}).get("required", ()),
        anti_preferred=(anti or {}).get("preferred", ()),
    )


AFFINITY = record(
    _affinity,
    {
        "nodeAffinity": Field("node", _NODE_AFFINITY),
        "podAffinity": Field("pod", _POD_AFFINITY),
        "podAntiAffinity": Field("anti", _POD_AFFINITY),
    },
)

# --- taints' counterpart


def _check_toleration(out: dict[str, Any], at: At) -> None:
    if out.get("operator") == "Exists" and out.get("value"):
        at.child("value").refuse("must be empty when the operator is Exists")
    if not out.get("key") and out.get("operator") != "Exists":
        at.child("operator").refuse("must be Exists when the key is empty, which tolerates every taint")


def _optional_key(value: Any, at: At) -> Any:
    return "" if value == "" else key(value, at)


TOLERATION = record(
    Toleration,
    {
        "key": Field("key", _optional_key),
        "operator": Field("operator", enum("Equal", "Exists", "")),
        "value": Field("value", text),
        "effect": Field("effect", enum("NoSchedule", "PreferNoSchedule", "NoExecute", "")),
        "tolerationSeconds": Field("toleration_seconds", integer(-(2**63), 2**63 - 1)),
    },
    check=_check_toleration,
)

# --- containers


def _port(host_port: int = 0, protocol: str = "TCP", ip: str = "") -> HostPort:
    return HostPort(ip or "0.0.0.0", protocol or "TCP", host_port)  # noqa: S104 - what an empty hostIP means


_CONTAINER_PORT = integer(1, 65535)


def _container_port(value: Any, at: At) -> None:
    _CONTAINER_PORT(value, at)  # checked, for it is easily mistaken, but not kept


_PORT_FIELDS = {
    "hostPort": Field("host_port", integer(0, 65535)),
    "protocol": Field("protocol", enum("TCP", "UDP", "SCTP", "")),
    "hostIP": Field("ip", text),
    "containerPort": Field("", _container_port),
}
_HOST_PORT = record(_port, _PORT_FIELDS, unread="name")
_OTHER_PORT = record(dict, _PORT_FIELDS, unread="name")


def port(value: Any, at: At) -> HostPort | None:
    """Read a container's port; one without hostPort gives None, for it occupies nothing of the node."""
    if type(value) is dict and not value.get("hostPort"):
        _OTHER_PORT(value, at)
        return None
    read: HostPort | None = _HOST_PORT(value, at)
    return read


RESOURCES = record(
    dict, {"requests": Field("requests", resources), "limits": Field("limits", resources)}, newer="claims"
)


def _check_container(out: dict[str, Any], at: At) -> None:
    amounts = out.get("resources") or {}
    limits = amounts.get("limits", {})
    for resource, request in amounts.get("requests", {}).items():
        if request > limits.get(resource, request):
            limit = format_resource(resource, limits[resource])
            at.child("resources").child("requests").child(resource).refuse(
                f"must be at most the limit, {limit}"
            )


def _container(
    name: str = "",
    image: str = "",
    resources: dict[str, Any] | None = None,
    host_ports: tuple[HostPort, ...] = (),
) -> Container:
    amounts = resources or {}
    return Container(name, image, amounts.get("requests", {}), amounts.get("limits", {}), host_ports)


CONTAINER = record(
    _container,
    {
        "name": Field("name", name, required=True),
        "image": Field("image", text),
        "resources": Field("resources", RESOURCES),
        "ports": Field("host_ports", list_of(port)),
    },
    unread=(
        "command args workingDir env envFrom volumeMounts volumeDevices livenessProbe readinessProbe "
        "startupProbe "
        "lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext stdin "
        "stdinOnce "
        "tty resizePolicy restartPolicy restartPolicyRules"
    ),
    check=_check_container,
)

# --- volumes

_READ_ONLY = {"readOnly": Field("read_only", boolean)}


def _source(attr: str, required: str, unread: str) -> Field:
    table = {required: Field(attr, text, required=True), **_READ_ONLY}
    return Field("source", record(dict, table, unread=unread))


def _rbd(monitors: tuple[str, ...], image: str, pool: str = "", read_only: bool = False) -> dict[str, Any]:
    return {"rbd": (monitors, pool or "rbd", image), "read_only": read_only}


_RBD = record(
    _rbd,
    {
        "monitors": Field("monitors", list_of(text), required=True),
        "image": Field("image", text, required=True),
        "pool": Field("pool", text),
        **_READ_ONLY,
    },
    unread="fsType user keyring secretRef",
)


def _local(value: Any, at: At) -> dict[str, Any]:
    del value, at
    return {"local": True}


# Every source that scheduling tells apart; a volume has one of them at most.
DISK_SOURCES = {
    "gcePersistentDisk": _source("gce_pd", "pdName", "fsType partition"),
    "awsElasticBlockStore": _source("aws_ebs", "volumeID", "fsType partition"),
    "azureDisk": _source("azure_disk", "diskName", "diskURI cachingMode fsType kind"),
    "iscsi": _source(
        "iscsi_iqn",
        "iqn",
        "targetPortal lun fsType portals chapAuthDiscovery chapAuthSession secretRef initiatorName "
        "iscsiInterface",
    ),
    "rbd": Field("source", _RBD),
}
OTHER_SOURCES = (
    "nfs glusterfs cephfs cinder fc flexVolume flocker vsphereVolume quobyte azureFile photonPersistentDisk "
    "portworxVolume scaleIO storageos csi"
)


def volume(name: str = "", source: dict[str, Any] | None = None) -> Volume:
    """Build a Volume from its name and the fields of its one source."""
    return Volume(name=name, **(source or {}))


VOLUME = record(
    volume,
    {
        "name": Field("name", text, required=True),
        **DISK_SOURCES,
        "persistentVolumeClaim": _source("claim", "claimName", ""),
        "emptyDir": Field("source", _local),
        "hostPath": Field("source", _local),
    },
    unread=OTHER_SOURCES + " secret configMap projected downwardAPI gitRepo ephemeral image",
)

# --- the pod

_SPEC_FIELDS = {
    "nodeName": Field("node_name", text),
    "nodeSelector": Field("node_selector", labels),
    "affinity": Field("affinity", AFFINITY),
    "tolerations": Field("tolerations", list_of(TOLERATION)),
    "containers": Field("containers", list_of(CONTAINER), required=True),
    "initContainers": Field("init_containers", list_of(CONTAINER)),
    "overhead": Field("overhead", resources),
    "volumes": Field("volumes", list_of(VOLUME)),
    "priority": Field("priority", integer()),
    "priorityClassName": Field("priority_class_name", text),
    "schedulerName": Field("scheduler_name", text),
    "schedulingGroup": Field(
        "pod_group",
        record(lambda group="": group, {"podGroupName": Field("group", text)}, unread="workloadRef"),
    ),
}
_SPEC_UNREAD = (
    "restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy serviceAccountName "
    "serviceAccount "
    "automountServiceAccountToken hostNetwork hostPID hostIPC shareProcessNamespace securityContext "
    "imagePullSecrets "
    "hostname subdomain hostAliases dnsConfig readinessGates runtimeClassName enableServiceLinks "
    "ephemeralContainers "
    "setHostnameAsFQDN os hostUsers resources hostnameOverride preemptionPolicy"
)
_SPEC_NEWER = "topologySpreadConstraints schedulingGates resourceClaims workloadRef"

POD_SPEC = record(dict, _SPEC_FIELDS, unread=_SPEC_UNREAD, newer=_SPEC_NEWER)

_PHASE = enum("Pending", "Running", "Succeeded", "Failed", "Unknown", "")
_STATUS = record(
    dict,
    {"phase": Field("phase", _PHASE), "nominatedNodeName": Field("nominated_node_name", text)},
    unread=(
        "conditions message reason hostIP hostIPs podIP podIPs startTime initContainerStatuses "
        "containerStatuses "
        "qosClass ephemeralContainerStatuses resize resourceClaimStatuses observedGeneration "
        "allocatedResources "
        "extendedResourceClaimStatus resources nodeAllocatableResourceClaimStatuses"
    ),
)

# Where pods of each dialect name their PodGroup.
GROUP_LABELS = ("pod-group.scheduling.sigs.k8s.io", "scheduling.x-k8s.io/pod-group")
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"


def _group_of(meta: ObjectMeta) -> str:
    for label in GROUP_LABELS:
        if meta.labels.get(label):
            return meta.labels[label]
    return meta.annotations.get(GROUP_ANNOTATION, "")


def build_pod(
    meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> Pod:
    """Build a Pod from its three parts."""
    out = {"meta": meta, **(spec or {}), **(status or {})}
    if not out.get("phase", "x"):
        del out["phase"]
    if not out.get("scheduler_name", "x"):
        del out["scheduler_name"]
    out.setdefault("pod_group", _group_of(meta))
    return Pod(**out)


POD = record(
    build_pod,
    {
        "metadata": Field("meta", META, required=True),
        "spec": Field("spec", POD_SPEC, required=True),
        "status": Field("status", _STATUS),
    },
    unread="apiVersion kind",
)


def _template(meta: ObjectMeta | None = None, spec: dict[str, Any] | None = None) -> Pod:
    return build_pod(meta or ObjectMeta(name=""), spec)


POD_TEMPLATE = record(
    _template, {"metadata": Field("meta", META), "spec": Field("spec", POD_SPEC, required=True)}
)
