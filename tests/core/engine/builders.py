"""Objects for engine tests in as few words as a table row has room for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Operation, Scenario

Manifest = dict[str, Any]

ROOMY = {"cpu": "4", "memory": "8Gi", "pods": "110"}


def node(
    name: str, *, labels: Mapping[str, str] | None = None, taints: Iterable[str] = (), **fields: Any
) -> Manifest:
    """Make a node; a taint is written ``key=value:Effect``, ``allocatable`` is roomy unless given."""
    status: Manifest = {"allocatable": fields.pop("allocatable", ROOMY)}
    for key in ("conditions", "images"):
        if key in fields:
            status[key] = fields.pop(key)
    metadata: Manifest = {"name": name, "labels": dict(labels or {})}
    if "annotations" in fields:
        metadata["annotations"] = fields.pop("annotations")
    spec = {"taints": [_taint(text) for text in taints], **fields}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def _taint(text: str) -> Manifest:
    pair, _, effect = text.partition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def pod(name: str, requests: Mapping[str, str] | None = None, **fields: Any) -> Manifest:
    """Make a pod with one container; the fields named below go elsewhere, every other one to ``spec``."""
    metadata: Manifest = {"name": name, "namespace": fields.pop("namespace", "default")}
    for key in ("labels", "ownerReferences", "deletionTimestamp"):
        if key in fields:
            metadata[key] = fields.pop(key)
    container: Manifest = {
        "name": "c",
        "image": fields.pop("image", "app:1"),
        "resources": {"requests": requests or {}},
    }
    if "limits" in fields:
        container["resources"]["limits"] = fields.pop("limits")
    if "ports" in fields:
        container["ports"] = [{"containerPort": 80, **port} for port in fields.pop("ports")]
    status = {key: fields.pop(key) for key in ("phase", "nominatedNodeName") if key in fields}
    if "on" in fields:
        fields["nodeName"] = fields.pop("on")
    spec = {"containers": fields.pop("containers", [container]), **fields}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def obj(kind: str, name: str, version: str = "v1", **fields: Any) -> Manifest:
    """Make any other object; namespaced kinds go to ``default``."""
    metadata: Manifest = {"name": name, **fields.pop("metadata", {})}
    if kind not in ("PersistentVolume", "StorageClass", "PriorityClass"):
        metadata.setdefault("namespace", "default")
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def affinity(kind: str, *, key: str = "zone", weight: int | None = None, **labels: str) -> Manifest:
    """Make a ``podAffinity`` or ``podAntiAffinity`` of one term, preferred if it has a weight."""
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": key}
    if weight is None:
        return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    weighted = {"weight": weight, "podAffinityTerm": term}
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}


def node_affinity(*expressions: Manifest, weight: int | None = None) -> Manifest:
    """Make required node affinity of one term, or preferred if it has a weight."""
    term = {"matchExpressions": list(expressions)}
    if weight is None:
        return {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        }
    preferred = [{"weight": weight, "preference": term}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def scenario(*manifests: Manifest, policy: Manifest | None = None) -> Scenario:
    """Read manifests as v1.11 sees them: nothing defaulted, nothing expanded."""
    read = load_documents(manifests, expand=False, admission=False, presumed="v1.11")
    return Scenario(read.title, read.documents, read.objects, policy=policy, presumed="v1.11")


def simulate(*manifests: Manifest, policy: Manifest | None = None, **options: Any) -> Simulation:
    """Make a simulation of manifests."""
    return Simulation(scenario(*manifests, policy=policy), **options)


def read_one(manifest: Manifest) -> KubernetesObject:
    """Read one manifest, with the node that a bound pod needs."""
    bound_to = manifest["spec"].get("nodeName")
    documents = [node(bound_to), manifest] if bound_to else [manifest]
    return load_documents(documents, expand=False, admission=False, presumed="v1.11").objects[-1]


def operation(number: int, action: Any, manifest: dict[str, Any], *, time: float = 0.0) -> Operation:
    """Make an operation at a step of its own."""
    made = read_one(manifest)
    key = manifest["metadata"]["name"]
    if manifest["metadata"].get("namespace"):
        key = f"{manifest['metadata']['namespace']}/{key}"
    return Operation(
        f"op-{number}", number, time, action, manifest["kind"], key, None if action == "delete" else made
    )


ONE = {"cpu": "1", "memory": "1Gi", "pods": "10"}


def one(name: str, **fields: Any) -> dict[str, Any]:
    """Make a node of one core."""
    return node(name, allocatable=ONE, **fields)


def budget(name: str, allowed: int, **labels: str) -> dict[str, Any]:
    """Make a PodDisruptionBudget."""
    return obj(
        "PodDisruptionBudget", name, "policy/v1beta1",
        spec={"selector": {"matchLabels": labels}}, status={"disruptionsAllowed": allowed},
    )  # fmt: skip
