"""The field table of a Pod: the fields that scheduling reads, and those that are known but not read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import force_setattr

from scheduler_core.kubernetes import support_pod as support
from scheduler_core.kubernetes.fields_common import (
    LABEL_SELECTOR,
    META,
    NODE_SELECTOR,
    PREFERENCE,
    key,
    name,
    timestamp,
)
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import (
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
    WrittenManifest,
)
from scheduler_core.kubernetes.names import check_namespace, check_value, did_you_mean
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Reader,
    admitted,
    boolean,
    checked,
    enum,
    integer,
    labels,
    list_of,
    once,
    outlined,
    record,
    resources,
    show,
    text,
)
from scheduler_core.kubernetes.support import ApiType, part_of

# --- affinity

_WEIGHT = Field("weight", admitted(integer(0, 100), 1, 100), required=True)
_PREFERRED_NODE = record(
    PreferredNodeTerm,
    {
        "weight": _WEIGHT,
        "preference": Field("term", PREFERENCE, required=True),
    },
    part=support.PREFERRED_TERM,
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

NODE_AFFINITY = record(
    dict,
    {
        _REQUIRED: Field("node_required", NODE_SELECTOR),
        _PREFERRED: Field("node_preferred", list_of(_PREFERRED_NODE)),
    },
    part=support.NODE_AFFINITY,
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
    part=support.POD_AFFINITY_TERM,
)
_WEIGHTED_TERM = record(
    WeightedPodAffinityTerm,
    {
        "weight": _WEIGHT,
        "podAffinityTerm": Field("term", POD_AFFINITY_TERM, required=True),
    },
    part=support.WEIGHTED_TERM,
)
_POD_AFFINITY = record(
    dict,
    {
        _REQUIRED: Field("required", list_of(POD_AFFINITY_TERM)),
        _PREFERRED: Field("preferred", list_of(_WEIGHTED_TERM)),
    },
    part=support.POD_AFFINITY,
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
        "nodeAffinity": Field("node", NODE_AFFINITY),
        "podAffinity": Field("pod", _POD_AFFINITY),
        "podAntiAffinity": Field("anti", _POD_AFFINITY),
    },
    part=support.AFFINITY,
)

# --- tolerations


_COMPARING = ("Gt", "Lt")  # of Kubernetes 1.35: v1.11 accepts them, but they match no taint
NOT_COMPARED = "no taint is tolerated by "
"""How the warning of them begins; v1.37 compares if its feature gate is on."""


def _operator(value: Any, at: At) -> str | None:
    if value not in _COMPARING:
        read: str | None = _TOLERATING(value, at)
        return read
    at.warn(
        f"{NOT_COMPARED}{value}: this result may differ on a cluster that honors the operator "
        f"{value} of tolerations"
    )
    return str(value)


_TOLERATING = enum("Equal", "Exists", "")
outlined(_operator, _TOLERATING)


def _check_toleration(out: dict[str, Any], at: At) -> None:
    if out.get("operator") == "Exists" and out.get("value"):
        at.child("value").refuse("must be empty when the operator is Exists")
    if not out.get("key") and out.get("operator") != "Exists":
        at.child("operator").refuse("must be Exists when the key is empty, which tolerates every taint")
    if out.get("operator") != "Exists" and (broken := check_value(out.get("value", ""))):
        at.child("value").refuse(f"{show(out['value'])} {broken}")
    if out.get("toleration_seconds") is not None and out.get("effect") != "NoExecute":
        at.child("tolerationSeconds").refuse("goes with the effect NoExecute alone")


def _optional_key(value: Any, at: At) -> Any:
    return "" if value == "" else key(value, at)


outlined(_optional_key, key)


TOLERATION = record(
    Toleration,
    {
        "key": Field("key", _optional_key),
        "operator": Field("operator", _operator),
        "value": Field("value", text),
        "effect": Field("effect", enum("NoSchedule", "PreferNoSchedule", "NoExecute", "")),
        "tolerationSeconds": Field("toleration_seconds", integer(-(2**63), 2**63 - 1)),
    },
    part=support.TOLERATION,
    check=_check_toleration,
)

# --- containers


ReadPort = tuple[HostPort, bool]  # with whether it occupies the node's port even without hostNetwork


def _port(host_port: int = 0, protocol: str = "TCP", ip: str = "", container_port: int = 0) -> ReadPort:
    taken = HostPort(ip or "0.0.0.0", protocol or "TCP", host_port or container_port)  # noqa: S104 - what an empty hostIP means
    return taken, host_port > 0


_PORT = record(
    _port,
    {
        "hostPort": Field("host_port", integer(0, 65535)),
        "protocol": Field("protocol", enum("TCP", "UDP", "SCTP", "")),
        "hostIP": Field("ip", text),
        "containerPort": Field("container_port", integer(1, 65535)),
    },
    part=support.PORT,
)


def port(value: Any, at: At) -> ReadPort | None:
    """Read a container's port; with hostNetwork, hostPort defaults to the containerPort."""
    if type(value) is dict and value.get("containerPort") is None:
        at.child("containerPort").refuse("containerPort is missing")
    read: ReadPort | None = _PORT(value, at)
    return read


outlined(port, _PORT)


def _container_resources(value: Any, at: At) -> dict[str, int] | None:
    read = resources(value, at)
    for resource in _NOT_OF_CONTAINERS.intersection(read or ()):
        at.child(resource).refuse(f"{resource} is nothing that a container can ask for")
    return read


outlined(_container_resources, resources)
_NOT_OF_CONTAINERS = frozenset(["pods", "storage"])
RESOURCES = record(
    dict,
    {"requests": Field("requests", _container_resources), "limits": Field("limits", _container_resources)},
    part=support.RESOURCES,
)


def _check_container(out: dict[str, Any], at: At) -> None:
    amounts = out.get("resources") or {}
    limits = amounts.get("limits", {})
    for resource, request in amounts.get("requests", {}).items():
        limit = limits.get(resource, request)
        exact = "/" in resource and "kubernetes.io/" not in resource  # no overcommitment (validation.go)
        if request > limit or (exact and request < limit):
            at.child("resources").child("requests").child(resource).refuse(
                f"must be {'' if exact else 'at most '}the limit, {format_resource(resource, limit)}"
            )


def _container(
    name: str = "",
    image: str = "",
    resources: dict[str, Any] | None = None,
    ports: tuple[ReadPort, ...] = (),
) -> Container:
    amounts = resources or {}
    return Container(
        name,
        image,
        amounts.get("requests", {}),
        amounts.get("limits", {}),
        tuple(port for port, own in ports if own),
        tuple(port for port, own in ports if port.port and not own),
    )


_CONTAINER_FIELDS = {
    "name": Field("name", name, required=True),
    "image": Field("image", text),
    "resources": Field("resources", RESOURCES),
    "ports": Field("ports", list_of(port)),
}
CONTAINER = record(_container, _CONTAINER_FIELDS, part=support.CONTAINER, check=_check_container)
INIT_CONTAINER = record(_container, _CONTAINER_FIELDS, part=support.INIT_CONTAINER, check=_check_container)

# --- volumes

_READ_ONLY = {"readOnly": Field("read_only", boolean)}


def _given(value: Any, at: At) -> str | None:
    word = text(value, at)
    if word == "":
        at.refuse("must not be empty")
    return word


def _source(attr: str, required: str, part: ApiType) -> Field:
    table = {required: Field(attr, _given, required=True), **_READ_ONLY}
    return Field("source", record(dict, table, part=part))


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
    part=support.RBD,
)


def _local(value: Any, at: At) -> dict[str, Any]:
    del value, at
    return {"local": True}


# Every volume source that scheduling distinguishes; a volume has at most one of them.
DISK_SOURCES = {
    "gcePersistentDisk": _source("gce_pd", "pdName", support.GCE_DISK),
    "awsElasticBlockStore": _source("aws_ebs", "volumeID", support.AWS_DISK),
    "azureDisk": _source("azure_disk", "diskName", support.AZURE_DISK),
    "iscsi": _source("iscsi_iqn", "iqn", support.ISCSI),
    "rbd": Field("source", _RBD),
}
OTHER_SOURCES = f"{support.NETWORK_VOLUMES} cinder csi"


def volume(name: str = "", source: dict[str, Any] | None = None) -> Volume:
    """Create a Volume from its name and the fields of its single source."""
    return Volume(name=name, **(source or {}))


def one_source(read: Reader, sources: Iterable[str]) -> Reader:
    """Create a reader that rejects more than one volume source."""
    known = frozenset(sources)

    def check(value: Any, at: At) -> Any:
        if type(value) is dict:
            given = [field for field, part in value.items() if field in known and part is not None]
            for field in given[1:]:
                at.child(field).refuse(f"a volume has one source, and {given[0]} is one already")
        return read(value, at)

    return outlined(check, read)


_POD_SOURCES = "secret configMap projected downwardAPI gitRepo ephemeral image"
_VOLUME = record(
    volume,
    {
        "name": Field("name", name, required=True),
        **DISK_SOURCES,
        "persistentVolumeClaim": _source("claim", "claimName", support.CLAIM_SOURCE),
        "emptyDir": Field("source", _local),
        "hostPath": Field("source", _local),
    },
    part=support.VOLUME,
)
VOLUME = one_source(
    _VOLUME,
    (
        *DISK_SOURCES,
        "persistentVolumeClaim",
        "emptyDir",
        "hostPath",
        *OTHER_SOURCES.split(),
        *_POD_SOURCES.split(),
    ),
)

# --- the pod

_GATE = record(lambda name: name, {"name": Field("name", text, required=True)}, part=support.GATE)


def _optional_name(value: Any, at: At) -> Any:
    return "" if value == "" else name(value, at)


outlined(_optional_name, name)


PREEMPTION_POLICY = enum("PreemptLowerPriority", "Never", "")
_SPEC_FIELDS = {
    "nodeName": Field("node_name", _optional_name),
    "nodeSelector": Field("node_selector", labels),
    "affinity": Field("affinity", AFFINITY),
    "tolerations": Field("tolerations", list_of(TOLERATION)),
    "containers": Field("containers", list_of(CONTAINER), required=True),
    "initContainers": Field("init_containers", list_of(INIT_CONTAINER)),
    "overhead": Field("overhead", resources),
    "volumes": Field("volumes", list_of(VOLUME)),
    "priority": Field("priority", integer()),
    "priorityClassName": Field("priority_class_name", _optional_name),
    "preemptionPolicy": Field("preemption_policy", PREEMPTION_POLICY),
    "hostNetwork": Field("host_network", boolean),
    "schedulerName": Field("scheduler_name", text),
    "restartPolicy": Field("restart_policy", enum("Always", "OnFailure", "Never", "")),
    "schedulingGates": Field("scheduling_gates", list_of(_GATE)),
    "schedulingGroup": Field(
        "pod_group",
        record(lambda group="": group, {"podGroupName": Field("group", text)}, part=support.GROUP),
    ),
}


def _check_spec(out: dict[str, Any], at: At) -> None:
    """Reject a pod without containers, and duplicate names and host ports (validation.ValidatePodSpec)."""
    if not out["containers"] and not at.report.errors:
        at.child("containers").refuse("must have at least one container")
    names: dict[str, str] = {}
    for field, attr in (("containers", "containers"), ("initContainers", "init_containers")):
        for place, container in enumerate(out.get(attr, ())):
            _once(names, container.name, f"{field}[{place}]", at.child(field).child(place).child("name"))
    volumes: dict[str, str] = {}
    for place, one in enumerate(out.get("volumes", ())):
        _once(volumes, one.name, f"volumes[{place}]", at.child("volumes").child(place).child("name"))
    ports: dict[HostPort, str] = {}
    for place, container in enumerate(out["containers"]):
        for port in container.ports_taken(host_network=out.get("host_network", False)):
            where = f"containers[{place}]"
            if port in ports:
                message = f"the hostPort {port.port}/{port.protocol} is taken by {ports[port]} already"
                at.child("containers").child(place).child("ports").refuse(message)
            ports.setdefault(port, where)


def _once(seen: dict[str, str], name: str, path: str, at: At) -> None:
    if name in seen:
        at.refuse(f"duplicate name {show(name)}; first defined at {seen[name]}")
    seen.setdefault(name, path)


POD_SPEC = record(dict, _SPEC_FIELDS, part=support.POD_SPEC, check=_check_spec)

_PHASE = enum("Pending", "Running", "Succeeded", "Failed", "Unknown", "")
_STATUS = record(
    dict,
    {
        "phase": Field("phase", _PHASE),
        "nominatedNodeName": Field("nominated_node_name", text),
        "startTime": Field("start_time", timestamp),
    },
    part=support.STATUS,
)

# The labels and the annotation by which pods of each dialect name their PodGroup.
GROUP_LABELS = ("pod-group.scheduling.sigs.k8s.io", "scheduling.x-k8s.io/pod-group")
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"


def group_of(pod: Document) -> str:
    """Return the PodGroup that a pod names, in its field, by a label or an annotation; "" if none."""
    named = part_of(pod, "spec", "schedulingGroup", "podGroupName")
    labels = part_of(pod, "metadata", "labels") or {}
    labelled = next((labels[key] for key in GROUP_LABELS if labels.get(key)), "")
    return str(named or labelled or part_of(pod, "metadata", "annotations", GROUP_ANNOTATION) or "")


def _group_of(meta: ObjectMeta) -> str:
    for label in GROUP_LABELS:
        if meta.labels.get(label):
            return meta.labels[label]
    return meta.annotations.get(GROUP_ANNOTATION, "")


_NONE: dict[str, Any] = {}  # one object, so that pods of one specification share all of it


def build_pod(
    meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
) -> Pod:
    """Create a Pod from metadata, spec and status."""
    out = {"meta": meta, "node_selector": _NONE, "overhead": _NONE, **(spec or {}), **(status or {})}
    if not out.get("phase", "x"):
        del out["phase"]
    if not out.get("scheduler_name", "x"):
        del out["scheduler_name"]
    out.setdefault("pod_group", _group_of(meta))
    out["priority_given"] = "priority" in out
    return Pod(**out)


def _mounted(value: Any, at: At) -> Any:
    """Read a pod's spec, and check that its containers mount volumes that it defines.

    A StatefulSet's template does not list all volumes, so only the spec of a pod itself is checked.
    """
    spec = POD_SPEC(value, at)
    if spec is None:
        return None
    volumes = [one.name for one in spec.get("volumes", ())]
    for field in ("initContainers", "containers"):
        for place, container in enumerate(_items(value.get(field))):
            mounts = container.get("volumeMounts") if type(container) is dict else None
            for number, mount in enumerate(_items(mounts)):
                named = mount.get("name") if type(mount) is dict else None
                if type(named) is str and named not in volumes:
                    hint = did_you_mean(named, volumes) or ": list it under spec.volumes"
                    where = at.child(field).child(place).child("volumeMounts").child(number).child("name")
                    where.refuse(f"there is no volume {show(named)}{hint}")
    return spec


outlined(_mounted, POD_SPEC)


def _items(value: Any) -> list[Any]:
    return value if type(value) is list else []


POD = record(
    build_pod,
    {
        "metadata": Field("meta", META, required=True),
        "spec": Field("spec", once(_mounted), required=True),
        "status": Field("status", _STATUS),
    },
    part=support.POD,
)


def _template(meta: ObjectMeta | None = None, spec: dict[str, Any] | None = None) -> Pod:
    return build_pod(meta or ObjectMeta(name=""), spec)


_TEMPLATE = record(
    _template,
    {"metadata": Field("meta", META), "spec": Field("spec", POD_SPEC, required=True)},
    part=support.TEMPLATE,
)


def _written_template(value: Any, at: At) -> Pod | None:
    """Read a pod template, which keeps its manifest for the pods that are made from it."""
    read: Pod | None = _TEMPLATE(value, at)
    if read is not None:
        force_setattr(read.meta, "written", WrittenManifest(value, is_template=True))
    return read


POD_TEMPLATE = outlined(_written_template, _TEMPLATE)
