"""The final cluster of a run as manifests: each as given and patched, bound pods with their node."""

from __future__ import annotations

from typing import Any

from scheduler_core.formats.manifest import to_manifest
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, PersistentVolume, PersistentVolumeClaim, Pod
from scheduler_core.run import Stepper

# Kinds that controllers create and delete.
MADE = ("Pod", "ReplicaSet", "PersistentVolumeClaim", "PersistentVolume")


def ending_documents(simulation: Stepper) -> list[Document]:
    """Return the manifests of all objects that exist at the end of a run, in order of creation.

    An object read from a manifest keeps it, including unread fields, with the patches of operations; an
    object that a controller created gets one. What has no typed object comes first: Namespaces as given, and
    under v1.37 all kinds that it reads, claims with their devices.
    """
    return simulation.unread_manifests() + [_manifest(obj, simulation) for obj in objects_of(simulation)]


def objects_of(simulation: Stepper) -> list[KubernetesObject]:
    """Return the typed objects that exist now, pods last; a pod on a node has it in its cluster's state."""
    there: dict[Key, KubernetesObject] = {key_of(obj): obj for obj in simulation.scenario.objects}
    for operation in simulation.scenario.operations:
        key = (operation.kind, operation.key)
        if operation.object is None:
            there.pop(key, None)
        elif operation.action == "create" or key in there:
            there[key] = operation.object
    known = simulation.controlled_objects()
    if known is not None:  # controllers have changed objects since
        there = {key: known.get(key, obj) for key, obj in there.items() if key in known or key[0] not in MADE}
        there |= {key: obj for key, obj in known.items() if key[0] in MADE}
    cluster = simulation.cluster
    alive = {key: cluster.pods[key].pod for key in simulation.placement()}
    kept = [obj for key, obj in there.items() if key[0] != "Pod"]
    return [*kept, *alive.values(), *(pod for key, pod in cluster.finished.items() if key not in alive)]


def _manifest(obj: KubernetesObject, simulation: Stepper) -> Document:
    document = _given(obj)
    if isinstance(obj, (PersistentVolumeClaim, PersistentVolume)):
        return _claimed(document, obj)
    if not isinstance(obj, Pod) or obj.terminal:
        return document
    document = simulation.completed(document, obj)
    state = simulation.cluster.pods[obj.meta.key]
    return bound(document, state.node_name) if state.node_name else document


def bound(document: Document, node: str) -> Document:
    """Return a pod's manifest with the pod bound to and running on a node."""
    spec = {**(document.get("spec") or {}), "nodeName": node}
    status = {**(document.get("status") or {}), "phase": "Running"}
    status.pop("nominatedNodeName", None)
    return {**document, "spec": spec, "status": status}


def _claimed(document: Document, obj: PersistentVolumeClaim | PersistentVolume) -> Document:
    """Return the manifest of a claim or a volume with its binding."""
    spec = document.get("spec") or {}
    if isinstance(obj, PersistentVolumeClaim):
        bond: dict[str, Any] = {"volumeName": obj.volume_name} if obj.volume_name else {}
    else:
        namespace, _, name = obj.claim_ref.rpartition("/")
        bond = {"claimRef": {"namespace": namespace, "name": name}} if name else {}
    return {**document, "spec": {**bond, **spec}} if bond.keys() - spec.keys() else document


def _given(obj: KubernetesObject) -> Document:
    """Return an object's manifest as it is written, with its generated name, or one of its typed fields."""
    written = obj.meta.written
    if written is None or written.is_template:
        return to_manifest(obj)
    document = written.document
    return {**document, "metadata": {**document["metadata"], "name": obj.meta.name}}
