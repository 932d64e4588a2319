"""Reserve and PreBind: what a placed pod's claims get, assumed first and written when it is bound.

Bind is the scheduler's own write, unless an extender binds in its place.

The volume controllers are replaced by a stand-in that completes each binding at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from scheduler_core.cluster.controllers.resource_claims import FINALIZER, MOST_CONSUMERS
from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.csi_migration import TranslationError
from scheduler_core.schedulers.v1_37.extended_resources import (
    SPECIAL_STATUS,
    claim_status,
    is_special_claim,
)
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.plugins.dynamic_resources import (
    DeviceState,
    allocation_of,
    consumers,
    pod_uid,
)
from scheduler_core.schedulers.v1_37.plugins.volume_binding import VolumeState
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.state import ClusterState, uid_of
from scheduler_core.schedulers.v1_37.volumes import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    PodVolumes,
    admits,
    annotations_of,
    class_name,
    is_bound_to,
)

NO_VOLUMES = PodVolumes()


class DeviceStore(Protocol):
    """Where claims are read and written."""

    def get(self, kind: str, namespace: str | None, name: str) -> Mapping[str, Any] | None:
        """Return a stored object."""
        ...

    def replace(self, manifest: Manifest) -> ObjectWrite:
        """Store a new state of an object."""
        ...

    def create(self, manifest: Manifest) -> ObjectWrite:
        """Store a new object."""
        ...


BINDING_SECONDS = 1.1
"""What binding a volume takes on the virtual clock."""


def _key(manifest: Manifest) -> str:
    meta = manifest["metadata"]
    return f"{meta.get('namespace') or 'default'}/{meta['name']}"


def _annotated(manifest: Manifest, **changed: Any) -> dict[str, Any]:
    """Return the object with more annotations; ``changed`` are other fields of the object."""
    marks = changed.pop("annotations")
    metadata = {**manifest["metadata"], "annotations": {**annotations_of(manifest), **marks}}
    return {**manifest, **changed, "metadata": metadata}


def pod_volumes(cluster: ClusterState, attempt: PodAttempt) -> PodVolumes:
    """Return what binding a placed pod does for its claims."""
    if attempt.reused:
        return NO_VOLUMES
    state: VolumeState | None = attempt.context.states.get("VolumeBinding")
    if state is None or not attempt.profile.has("VolumeBinding", "reserve"):
        return NO_VOLUMES
    return state.by_row.get(cluster.nodes.rows[str(attempt.node)]) or NO_VOLUMES


def selected_claim(claim: Manifest, node: str) -> dict[str, Any]:
    """Return the claim with the node for which it is to be provisioned."""
    return _annotated(claim, annotations={SELECTED_NODE: node})


def devices_of(cluster: ClusterState, attempt: PodAttempt) -> list[tuple[Manifest, Any]]:
    """Return the claims to allocate with what they get."""
    if attempt.reused:
        return []
    state: DeviceState | None = attempt.context.states.get("DynamicResources")
    if state is None or not attempt.profile.has("DynamicResources", "reserve"):
        return []
    return state.allocations.get(cluster.nodes.rows[str(attempt.node)]) or []


def reserve(cluster: ClusterState, attempt: PodAttempt) -> None:
    """Assume the pod, its volumes and its devices."""
    node = str(attempt.node)
    cluster.assume(attempt.pod, node)
    if attempt.reused:
        return
    volumes = pod_volumes(cluster, attempt)
    for claim, volume in volumes.static:
        cluster.assumed_volumes[volume["metadata"]["name"]] = claimed_volume(volume, claim)
    for claim, _ in volumes.provisioned:
        cluster.assumed_claims[_key(claim)] = selected_claim(claim, node)
    for claim, allocation in devices_of(cluster, attempt):
        cluster.assumed_devices[_key(claim)] = allocation


def _end_assumptions(cluster: ClusterState, attempt: PodAttempt) -> None:
    volumes = pod_volumes(cluster, attempt)
    for _, volume in volumes.static:
        cluster.assumed_volumes.pop(volume["metadata"]["name"], None)
    for claim, _ in volumes.provisioned:
        cluster.assumed_claims.pop(_key(claim), None)
    for claim, _ in devices_of(cluster, attempt):
        cluster.assumed_devices.pop(_key(claim), None)


def unreserve(cluster: ClusterState, attempt: PodAttempt) -> None:
    """Take the assumptions back."""
    _end_assumptions(cluster, attempt)
    cluster.forget(attempt.pod)


def bind(cluster: ClusterState, attempt: PodAttempt) -> list[ObjectWrite]:
    """Write volumes, claims and the pod's node; return the writes in order.

    If a bound volume turns out to be out of the node's reach, the API server refuses to reserve a claim for
    one more pod, or an extender to bind, ``error`` is set and the pod is forgotten, which other pods take for
    its deletion (handleBindingCycleError); volumes stay bound and devices allocated, but not reserved.
    """
    if attempt.reused:  # of a pod without volumes and claims, and without extenders
        return [cluster.bind(attempt.pod, str(attempt.node))]
    volumes = pod_volumes(cluster, attempt)
    devices = devices_of(cluster, attempt)
    _end_assumptions(cluster, attempt)
    changes = list(_bind_volumes(cluster, volumes, str(attempt.node)))
    after = BINDING_SECONDS if changes else 0.0
    refused = _out_of_reach(cluster, attempt, volumes)
    if not refused and attempt.profile.has("DynamicResources", "preBind"):
        refused = unreservable(cluster, attempt.pod)
        changes += bind_devices(cluster, attempt.pod, devices)
    if not refused and attempt.calls is not None:
        refused = attempt.calls.bind(str(attempt.node))
    if refused:
        attempt.error = refused
        changes += _undone(cluster, attempt)
    else:
        status = special_status(attempt.pod, devices)
        changes.append(cluster.bind(attempt.pod, str(attempt.node), status))
    if after:
        at = next(i for i, c in enumerate(changes) if c.kind in ("ResourceClaim", "Pod"))
        late = changes[at]
        changes[at] = ObjectWrite(late.kind, late.key, late.old, late.new, after)
    return changes


def _out_of_reach(cluster: ClusterState, attempt: PodAttempt, volumes: PodVolumes) -> str:
    """Return why a volume that was bound cannot be used on the node (checkBindings); "" if all can.

    Filter matches free volumes as they are. Once bound, one of an in-tree plugin counts as its driver's.
    """
    if not volumes.static:
        return ""
    node, claims = str(attempt.node), attempt.context.states["VolumeBinding"].claims
    csi_node = cluster.get("CSINode", None, node)
    labels = cluster.nodes.nodes[cluster.nodes.rows[node]].labels
    failed = 'running PreBind plugin "VolumeBinding": binding volumes: '
    for _, volume in volumes.static:
        name = volume["metadata"]["name"]
        try:
            if not admits(claims.terms_of(volume, csi_node), labels):
                conflict = f'node affinity doesn\'t match node "{node}": no matching NodeSelectorTerms'
                return f'{failed}pv "{name}" {conflict}'
        except TranslationError as error:
            return f"{failed}failed to translate pv to csi: could not translate pv: {error}"
    return ""


def _undone(cluster: ClusterState, attempt: PodAttempt) -> list[ObjectWrite]:
    """Take back the pod's reservations of claims and its place on the node; return both as writes.

    The claim for its extended resources is deleted (unreserveExtendedResourceClaim).
    """
    pod = attempt.pod
    changes = list(release_claims(cluster, pod) if attempt.profile.has("DynamicResources", "reserve") else ())
    special = next((one for one in cluster.list("ResourceClaim") if is_special_claim(one, pod)), None)
    if special is not None:
        changes.append(cluster.delete("ResourceClaim", pod.namespace, special["metadata"]["name"]))
    assumed = {**pod.manifest, "spec": {**pod.spec, "nodeName": attempt.node}}
    cluster.forget(pod)
    return [*changes, ObjectWrite("Pod", pod.key, assumed, None)]


def claimed_volume(volume: Manifest, claim: Manifest) -> dict[str, Any]:
    """Return the volume reserved for the claim (GetBindVolumeToClaim)."""
    meta = claim["metadata"]
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": meta.get("namespace") or "default",
        "name": meta["name"],
        "uid": uid_of(claim),
    }
    spec = {**volume["spec"], "claimRef": reference}
    marks = {} if is_bound_to(volume, claim) else {BOUND_BY_CONTROLLER: "yes"}
    return _annotated(volume, spec=spec, annotations=marks)


def _bind_volumes(cluster: ClusterState, volumes: PodVolumes, node: str) -> Iterator[ObjectWrite]:
    names: dict[str, tuple[Manifest, Manifest]] = {}
    for claim, volume in volumes.static:
        reserved = claimed_volume(volume, claim)
        yield cluster.replace(reserved)
        names[_key(claim)] = claim, reserved
    for claim, _ in volumes.provisioned:
        selected = selected_claim(claim, node)
        yield cluster.replace(selected)
        names[_key(claim)] = selected, {}
    for _, (claim, found) in sorted(names.items()):
        volume = found
        if not volume:
            volume = _provisioned(cluster, claim)
            yield cluster.create(volume)
        yield cluster.replace({**volume, "status": {"phase": "Bound"}})
        spec = {**claim["spec"], "volumeName": volume["metadata"]["name"]}
        status = {**(claim.get("status") or {}), "phase": "Bound"}
        marks = {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
        yield cluster.replace(_annotated(claim, spec=spec, status=status, annotations=marks))


def _provisioned(cluster: ClusterState, claim: Manifest) -> dict[str, Any]:
    """Return the volume that the stand-in provisions for a claim."""
    spec, name = claim["spec"], f"pvc-{uid_of(claim)}"
    storage_class = cluster.get("StorageClass", None, class_name(claim)) or {}
    bare: Manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": dict((spec.get("resources") or {}).get("requests") or {}),
            "accessModes": list(spec.get("accessModes") or ()),
            "storageClassName": class_name(claim),
            "volumeMode": spec.get("volumeMode") or "Filesystem",
            "csi": {"driver": storage_class.get("provisioner") or "", "volumeHandle": name},
        },
        "status": {"phase": "Pending"},
    }
    return claimed_volume(bare, claim)


def _is_full(claim: Manifest, pod: CompiledPod) -> bool:
    reserved = consumers(claim)
    return len(reserved) >= MOST_CONSUMERS and all(one.get("uid") != pod_uid(pod) for one in reserved)


def unreservable(cluster: DeviceStore, pod: CompiledPod) -> str:
    """Return the error of PreBind if a claim of the pod has no room for another consumer."""
    for name in pod.resource_claims:
        claim = cluster.get("ResourceClaim", pod.namespace, name)
        if claim is not None and _is_full(claim, pod):
            return (
                f'running PreBind plugin "DynamicResources": add reservation to claim {_key(claim)}: '
                f'ResourceClaim.resource.k8s.io "{name}" is invalid: status.reservedFor: '
                f"Too many: {len(consumers(claim)) + 1}: must have at most {MOST_CONSUMERS} items"
            )
    return ""


def release_claims(cluster: DeviceStore, pod: CompiledPod) -> Iterator[ObjectWrite]:
    """Take back the pod's reservations of claims; they stay allocated."""
    for name in pod.resource_claims:
        claim = cluster.get("ResourceClaim", pod.namespace, name)
        kept = [] if claim is None else [one for one in consumers(claim) if one.get("uid") != pod_uid(pod)]
        if claim is not None and len(kept) < len(consumers(claim)):
            yield cluster.replace({**claim, "status": {**claim["status"], "reservedFor": kept}})


def special_status(pod: CompiledPod, devices: list[tuple[Manifest, Any]]) -> Manifest:
    """Return what the pod's status says of the claim for its extended resources, empty if it gets none."""
    special = special_among(devices, pod)
    return {} if special is None else {SPECIAL_STATUS: claim_status(pod, special)}


def bind_devices(
    cluster: DeviceStore, pod: CompiledPod, devices: list[tuple[Manifest, Any]]
) -> Iterator[ObjectWrite]:
    """Write the allocation of each claim and reserve it for the pod (bindClaim).

    The claim for its extended resources is created first.
    """
    allocated = {_key(claim): allocation for claim, allocation in devices}
    special = special_among(devices, pod)
    if special is not None:
        yield cluster.create(special)
    for name in (*pod.resource_claims, *([] if special is None else [special["metadata"]["name"]])):
        claim = cluster.get("ResourceClaim", pod.namespace, name)
        assert claim is not None
        if _is_full(claim, pod):
            return
        yield from _bind_claim(cluster, pod, claim, allocated.get(_key(claim)))


def special_among(devices: list[tuple[Manifest, Any]], pod: CompiledPod) -> Manifest | None:
    """Return the claim for the pod's extended resources, None if it gets none."""
    return next((claim for claim, _ in devices if is_special_claim(claim, pod)), None)


def _bind_claim(cluster: DeviceStore, pod: CompiledPod, claim: Manifest, fresh: Any) -> Iterator[ObjectWrite]:
    consumer = {"resource": "pods", "name": pod.name, "uid": pod_uid(pod)}
    if any(reserved.get("uid") == consumer["uid"] for reserved in consumers(claim)):
        return
    finalizers = list(claim["metadata"].get("finalizers") or ())
    if fresh is not None and FINALIZER not in finalizers:
        claim = {**claim, "metadata": {**claim["metadata"], "finalizers": [*finalizers, FINALIZER]}}
        yield cluster.replace(claim)
    status = {
        **(claim.get("status") or {}),
        "allocation": fresh if fresh is not None else allocation_of(claim),
        "reservedFor": [*consumers(claim), consumer],
    }
    claim = {**claim, "status": status}
    yield cluster.replace(claim)
    yield cluster.replace(dict(claim))
