"""Dangling references, reported as warnings because a partial dump is still useful."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import At
from scheduler_core.scenario.assembly import Notices


def check_references(objects: Iterable[KubernetesObject], places: Mapping[Key, At], notices: Notices) -> None:
    """Warn of missing objects that pending pods refer to, and of nodes without a number of pods."""
    listed = list(objects)
    nodes = {o.meta.name: o for o in listed if isinstance(o, Node)}
    claims = {o.meta.key: o for o in listed if isinstance(o, PersistentVolumeClaim)}
    volumes = {o.meta.name for o in listed if isinstance(o, PersistentVolume)}
    classes = {o.meta.name for o in listed if isinstance(o, StorageClass)}
    labels = {label for node in nodes.values() for label in node.meta.labels}
    for node in nodes.values():
        if not node.allocatable.get("pods") and key_of(node) in places:
            notices.add(
                places[key_of(node)].child("status").child("allocatable"),
                'has no number of pods, which counts as 0: no pod fits there; write pods: "110"',
            )
    for obj in listed:
        if isinstance(obj, Pod) and not obj.node_name and _refers(obj) and not obj.terminal:
            at = places.get(key_of(obj)) or _owner_place(obj, places)
            _check_pod(obj, at, nodes, labels, notices)
            _check_claims(obj, at, claims, volumes, classes, notices)


def _refers(pod: Pod) -> bool:
    """Return whether a pod has a field that may name another object."""
    return bool(pod.volumes or pod.affinity is not None or pod.nominated_node_name)


def _owner_place(pod: Pod, places: Mapping[Key, At]) -> At | None:
    """Return the location of the nearest controller in the bundle that owns a pod, ``None`` if none does."""
    owner = pod.meta.controller
    if owner is None:
        return None
    at = places.get((owner.kind, f"{pod.meta.namespace}/{owner.name}"))
    if at is None and owner.kind == "ReplicaSet":
        at = places.get(("Deployment", f"{pod.meta.namespace}/{owner.name.rpartition('-')[0]}"))
    return at


def _check_pod(
    pod: Pod, at: At | None, nodes: Mapping[str, Node], labels: set[str], notices: Notices
) -> None:
    if at is None:
        return
    if pod.nominated_node_name and pod.nominated_node_name not in nodes:
        place = at.child("status").child("nominatedNodeName")
        hint = did_you_mean(pod.nominated_node_name, nodes)
        notices.add(place, f"there is no node {pod.nominated_node_name!r}{hint}")
    if pod.affinity is None or not nodes:
        return
    affinity = pod.affinity
    terms = [*affinity.pod_required, *affinity.anti_required]
    terms += [weighted.term for weighted in (*affinity.pod_preferred, *affinity.anti_preferred)]
    for key in dict.fromkeys(term.topology_key for term in terms):
        if key not in labels:
            hint = did_you_mean(key, labels)
            notices.add(
                at.child("spec").child("affinity"),
                f"no node has the label {key!r} of this topologyKey{hint}",
            )


def _check_claims(
    pod: Pod,
    at: At | None,
    claims: Mapping[str, PersistentVolumeClaim],
    volumes: set[str],
    classes: set[str],
    notices: Notices,
) -> None:
    if at is None:
        return
    place = at.child("spec").child("volumes")
    for volume in pod.volumes:
        if volume.claim is None:
            continue
        key = f"{pod.meta.namespace}/{volume.claim}"
        claim = claims.get(key)
        if claim is None:
            hint = did_you_mean(key, claims)
            notices.add(
                place,
                f"there is no PersistentVolumeClaim {key!r}{hint or ': pods that name it stay pending'}",
            )
        elif claim.volume_name and claim.volume_name not in volumes:
            notices.add(
                place,
                f"the claim {key!r} is bound to the PersistentVolume {claim.volume_name!r}, which is missing",
            )
        elif not claim.volume_name and claim.storage_class and claim.storage_class not in classes:
            hint = did_you_mean(claim.storage_class, classes)
            notices.add(
                place,
                f"the claim {key!r} names the StorageClass {claim.storage_class!r}, which is not here{hint}",
            )
