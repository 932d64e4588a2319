"""Objects to manifests: for objects without a source manifest, such as those that controllers create."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.model import (
    Affinity,
    Container,
    KubernetesObject,
    LabelSelector,
    Node,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    Requirement,
    Toleration,
    Volume,
    Workload,
)
from scheduler_core.kubernetes.quantity import format_resource


def _version(kind: str) -> str:
    row = KINDS.get(kind)
    return "apps/v1" if row is None else row.api_version


def _drop_empty(value: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in value.items() if part not in (None, "", [], {}, ())}


def _meta(meta: ObjectMeta) -> dict[str, Any]:
    owners = [
        {
            "apiVersion": _version(o.kind),
            "kind": o.kind,
            "name": o.name,
            "uid": o.uid,
            **({"controller": True} if o.controller else {}),
        }
        for o in meta.owner_references
    ]
    return _drop_empty(
        {
            "name": meta.name,
            "namespace": meta.namespace,
            "uid": meta.uid,
            "labels": dict(meta.labels),
            "annotations": dict(meta.annotations),
            "ownerReferences": owners,
            "creationTimestamp": meta.creation_timestamp,
            "deletionTimestamp": meta.deletion_timestamp,
        }
    )


def _amounts(resources: Mapping[str, int]) -> dict[str, str]:
    return {name: format_resource(name, amount) for name, amount in resources.items()}


def _container(container: Container) -> dict[str, Any]:
    out = _drop_empty({"name": container.name, "image": container.image})
    resources = _drop_empty({"requests": _amounts(container.requests), "limits": _amounts(container.limits)})
    if resources:
        out["resources"] = resources
    if container.host_ports:
        out["ports"] = [
            {"containerPort": p.port, "hostPort": p.port, "protocol": p.protocol, "hostIP": p.ip}
            for p in container.host_ports
        ]
    return out


def _volume(volume: Volume) -> dict[str, Any]:
    read_only = {"readOnly": True} if volume.read_only else {}
    named = {
        "gcePersistentDisk": ("pdName", volume.gce_pd),
        "awsElasticBlockStore": ("volumeID", volume.aws_ebs),
        "azureDisk": ("diskName", volume.azure_disk),
        "iscsi": ("iqn", volume.iscsi_iqn),
        "persistentVolumeClaim": ("claimName", volume.claim),
    }
    out: dict[str, Any] = {"name": volume.name}
    for source, (field, value) in named.items():
        if value is not None:
            out[source] = {field: value, **read_only}
    if volume.rbd is not None:
        monitors, pool, image = volume.rbd
        out["rbd"] = {"monitors": list(monitors), "pool": pool, "image": image, **read_only}
    if volume.local:
        out["emptyDir"] = {}
    return out


def _requirement(requirement: Requirement) -> dict[str, Any]:
    out: dict[str, Any] = {"key": requirement.key, "operator": requirement.operator}
    if requirement.values:
        out["values"] = list(requirement.values)
    return out


def _selector(selector: LabelSelector) -> dict[str, Any]:
    expressions = [_requirement(r) for r in selector.match_expressions]
    return _drop_empty({"matchLabels": dict(selector.match_labels), "matchExpressions": expressions})


def _node_term(term: NodeSelectorTerm) -> dict[str, Any]:
    return _drop_empty(
        {
            "matchExpressions": [_requirement(r) for r in term.match_expressions],
            "matchFields": [_requirement(r) for r in term.match_fields],
        }
    )


def _pod_term(term: PodAffinityTerm) -> dict[str, Any]:
    out: dict[str, Any] = {"topologyKey": term.topology_key}
    if term.selector is not None:
        out["labelSelector"] = _selector(term.selector)
    if term.namespaces:
        out["namespaces"] = list(term.namespaces)
    return out


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _affinity(affinity: Affinity) -> dict[str, Any]:
    out: dict[str, Any] = {}
    node: dict[str, Any] = {}
    if affinity.node_required is not None:
        node[_REQUIRED] = {"nodeSelectorTerms": [_node_term(t) for t in affinity.node_required]}
    if affinity.node_preferred:
        node[_PREFERRED] = [
            {"weight": t.weight, "preference": _node_term(t.term)} for t in affinity.node_preferred
        ]
    if node:
        out["nodeAffinity"] = node
    for name, present, required, preferred in (
        ("podAffinity", affinity.has_pod_affinity, affinity.pod_required, affinity.pod_preferred),
        ("podAntiAffinity", affinity.has_pod_anti_affinity, affinity.anti_required, affinity.anti_preferred),
    ):
        if present:
            weighted = [{"weight": t.weight, "podAffinityTerm": _pod_term(t.term)} for t in preferred]
            out[name] = _drop_empty({_REQUIRED: [_pod_term(t) for t in required], _PREFERRED: weighted})
    return out


def _toleration(toleration: Toleration) -> dict[str, Any]:
    out = _drop_empty(
        {
            "key": toleration.key,
            "operator": toleration.operator,
            "value": toleration.value,
            "effect": toleration.effect,
        }
    )
    if toleration.toleration_seconds is not None:
        out["tolerationSeconds"] = toleration.toleration_seconds
    return out


def _pod_spec(pod: Pod) -> dict[str, Any]:
    spec = _drop_empty(
        {
            "nodeName": pod.node_name,
            "nodeSelector": dict(pod.node_selector),
            "priorityClassName": pod.priority_class_name,
            "initContainers": [_container(c) for c in pod.init_containers],
            "containers": [_container(c) for c in pod.containers],
            "tolerations": [_toleration(t) for t in pod.tolerations],
            "volumes": [_volume(v) for v in pod.volumes],
            "overhead": _amounts(pod.overhead),
            "restartPolicy": pod.restart_policy,
            "preemptionPolicy": pod.preemption_policy,
            "hostNetwork": pod.host_network or None,
        }
    )
    spec["schedulerName"] = pod.scheduler_name
    if pod.priority or pod.priority_class_name:
        spec["priority"] = pod.priority
    if pod.affinity is not None:
        spec["affinity"] = _affinity(pod.affinity)
    return spec


def _pod(pod: Pod) -> dict[str, Any]:
    status = _drop_empty(
        {"phase": pod.phase, "nominatedNodeName": pod.nominated_node_name, "startTime": pod.start_time}
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _meta(pod.meta),
        "spec": _pod_spec(pod),
        "status": status,
    }


def _workload(workload: Workload) -> dict[str, Any]:
    spec: dict[str, Any] = {"replicas": workload.replicas}
    if workload.selector is not None:
        spec["selector"] = _selector(workload.selector)
    if workload.template is not None:
        template = workload.template
        spec["template"] = {"metadata": _meta(template.meta), "spec": _pod_spec(template)}
    version = _version(workload.kind)
    return {"apiVersion": version, "kind": workload.kind, "metadata": _meta(workload.meta), "spec": spec}


def _node(node: Node) -> dict[str, Any]:
    spec = {
        "unschedulable": node.unschedulable,
        "taints": [_drop_empty({"key": t.key, "value": t.value, "effect": t.effect}) for t in node.taints],
    }
    status = {
        "capacity": _amounts(node.capacity),
        "allocatable": _amounts(node.allocatable),
        "conditions": [{"type": c.type, "status": c.status} for c in node.conditions],
        "images": [{"names": list(image.names), "sizeBytes": image.size_bytes} for image in node.images],
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _meta(node.meta),
        "spec": _drop_empty(spec),
        "status": _drop_empty(status),
    }


def _claim(claim: PersistentVolumeClaim) -> dict[str, Any]:
    spec = _drop_empty({"volumeName": claim.volume_name, "accessModes": list(claim.access_modes)})
    if claim.storage_class is not None:
        spec["storageClassName"] = claim.storage_class
    if claim.selector is not None:
        spec["selector"] = _selector(claim.selector)
    spec["resources"] = {"requests": {"storage": format_resource("storage", claim.request)}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": _meta(claim.meta), "spec": spec}


def _persistent_volume(volume: PersistentVolume) -> dict[str, Any]:
    namespace, _, name = volume.claim_ref.rpartition("/")
    source = {key: value for key, value in _volume(volume.source).items() if key != "name"}
    spec = _drop_empty(
        {
            "capacity": {"storage": format_resource("storage", volume.capacity)},
            "accessModes": list(volume.access_modes),
            "storageClassName": volume.storage_class,
            "claimRef": {"namespace": namespace, "name": name} if name else None,
        }
    )
    if volume.node_affinity is not None:
        terms = [_node_term(term) for term in volume.node_affinity]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": _meta(volume.meta),
        "spec": {**spec, **source},
        "status": _drop_empty({"phase": volume.phase}),
    }


def to_manifest(obj: KubernetesObject) -> dict[str, Any]:
    """Return the manifest of an object of a kind that components other than users create or change.

    It holds the fields that scheduling reads. Raises TypeError for other kinds, which keep their document.
    """
    if isinstance(obj, Pod):
        return _pod(obj)
    if isinstance(obj, Workload):
        return _workload(obj)
    if isinstance(obj, Node):
        return _node(obj)
    if isinstance(obj, PersistentVolumeClaim):
        return _claim(obj)
    if isinstance(obj, PersistentVolume):
        return _persistent_volume(obj)
    raise TypeError(f"{type(obj).__name__} objects are not created by controllers")


def whole_manifest(obj: KubernetesObject) -> dict[str, Any]:
    """Return the manifest of an object with all fields of its pod template, whichever release reads them."""
    made = to_manifest(obj)
    written = obj.template.meta.written if isinstance(obj, Workload) and obj.template is not None else None
    if written is not None:
        template = {**written.document, "metadata": made["spec"]["template"]["metadata"]}
        made["spec"] = {**made["spec"], "template": template}
    return made
