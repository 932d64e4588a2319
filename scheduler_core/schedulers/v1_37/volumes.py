"""Claims, volumes and classes: what the volume plugins read, and which volumes a pod would use on a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.quantity import parse_quantity
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.csi_migration import is_translated, translated_affinity
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.selectors import NodeTerm, label_selector, node_terms
from scheduler_core.schedulers.v1_37.state import ClusterState, uid_of

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def annotations_of(manifest: Manifest) -> Mapping[str, str]:
    """Return an object's annotations."""
    return manifest["metadata"].get("annotations") or {}


def size(text: Any) -> int:
    """Return a quantity in bytes."""
    return parse_quantity(str(text))


def requested_size(claim: Manifest) -> int:
    """Return the storage that a claim requests, in bytes."""
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return size(requests.get("storage", 0))


def capacity(volume: Manifest) -> int:
    """Return a volume's capacity in bytes."""
    return size((volume["spec"].get("capacity") or {}).get("storage", 0))


def class_name(claim: Manifest) -> str:
    """Return the name of a claim's or a volume's class: that of the old annotation, if it has it."""
    return annotations_of(claim).get(BETA_CLASS, claim["spec"].get("storageClassName") or "")


def is_bound(claim: Manifest) -> bool:
    """Return whether the binding of a claim is complete."""
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations_of(claim)


def delays_binding(cluster: ClusterState, claim: Manifest) -> bool:
    """Return whether a claim is bound only when a pod that uses it is scheduled."""
    found = cluster.get("StorageClass", None, class_name(claim)) if class_name(claim) else None
    return found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def claim_of(cluster: ClusterState, namespace: str, name: str) -> Manifest | None:
    """Return a claim as assumed, else as stored."""
    key = f"{namespace}/{name}"
    return cluster.assumed_claims.get(key) or cluster.objects.get("PersistentVolumeClaim", {}).get(key)


def not_owned(pod: CompiledPod, claim: Manifest) -> str:
    """Return why a claim is not of a pod's ephemeral volume; empty if it is (ephemeral.VolumeIsForPod)."""
    owners = claim["metadata"].get("ownerReferences") or ()
    if any(owner.get("controller") and owner.get("uid") == pod.uid for owner in owners):
        return ""
    name = claim["metadata"]["name"]
    return f"PVC {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"


def volume_of(cluster: ClusterState, name: str) -> Manifest | None:
    """Return a volume as assumed, else as stored."""
    return cluster.assumed_volumes.get(name) or cluster.objects.get("PersistentVolume", {}).get(name)


Terms = tuple[NodeTerm, ...] | None
"""What a volume requires of nodes; None admits all."""


def admits(terms: Terms, labels: Mapping[str, str]) -> bool:
    """Return whether a node with the labels satisfies one of the terms (volume.CheckNodeAffinity)."""
    return terms is None or any(term.matches("", labels) for term in terms)


class PodVolumeClaims(Struct):
    """A pod's claims by how they are bound (PodVolumeClaims)."""

    bound: list[Manifest] = field(default_factory=list)
    delayed: list[Manifest] = field(default_factory=list)
    immediate: list[Manifest] = field(default_factory=list)
    candidates: dict[str, list[Manifest]] = field(default_factory=dict)
    """PersistentVolumes of the classes of the delayed claims, as assumed, in order of creation."""
    terms: dict[tuple[str, bool], Terms] = field(default_factory=dict)
    """What volumes require of nodes, by name and whether they are translated, once it was asked for."""

    def terms_of(self, volume: Manifest, csi_node: Manifest | None = None) -> Terms:
        """Return what a volume requires of a node with this CSINode, or of any without one.

        Raises:
            TranslationError: The kubelet has migrated the volume's plugin, but it cannot be translated.
        """
        driven = csi_node is not None and is_translated(volume, csi_node)
        key = volume["metadata"]["name"], driven
        if key not in self.terms:
            affinity = translated_affinity(volume) if driven else volume["spec"].get("nodeAffinity")
            self.terms[key] = node_terms((affinity or {}).get("required"))
        return self.terms[key]


class PodVolumes(Struct):
    """What binding would do on a node: volumes for claims, and claims to provision."""

    static: list[tuple[Manifest, Manifest]] = field(default_factory=list)
    """Claim and volume."""
    provisioned: list[tuple[Manifest, Manifest | None]] = field(default_factory=list)
    """Claim and CSIStorageCapacity."""


def pod_claims(cluster: ClusterState, pod: CompiledPod) -> PodVolumeClaims:
    """Sort the claims of a pod; they all exist (GetPodVolumeClaims)."""
    out = PodVolumeClaims()
    for name, _ in pod.claims:
        claim = claim_of(cluster, pod.namespace, name)
        if claim is None:
            continue
        if is_bound(claim):
            out.bound.append(claim)
        elif delays_binding(cluster, claim) and not claim["spec"].get("volumeName"):
            out.delayed.append(claim)
        else:
            out.immediate.append(claim)
    out.candidates = {name: list(_of_class(cluster, name)) for name in map(class_name, out.delayed)}
    return out


def _of_class(cluster: ClusterState, name: str) -> Iterator[Manifest]:
    """Iterate over the volumes of a class (PVAssumeCache.ListPVs)."""
    for volume in cluster.list("PersistentVolume"):
        if class_name(volume) == name:
            yield cluster.assumed_volumes.get(volume["metadata"]["name"], volume)


def find_volumes(
    cluster: ClusterState, claims: PodVolumeClaims, node: str, labels: Mapping[str, str]
) -> tuple[PodVolumes, tuple[str, ...]]:
    """Find volumes for a pod's claims on a node; return them and why it failed (FindPodVolumes).

    Raises:
        TranslationError: The volume of a bound claim cannot be translated to that of its CSI driver.
    """
    out = PodVolumes()
    reasons = [False, False, False, False]
    csi_node = cluster.get("CSINode", None, node)
    for claim in claims.bound:
        volume = volume_of(cluster, claim["spec"]["volumeName"])
        if volume is None:
            reasons[3] = True
            break
        if not admits(claims.terms_of(volume, csi_node), labels):
            reasons[0] = True
            break
    if claims.delayed:
        _find_delayed(cluster, claims, node, labels, out, reasons)
    texts = (NODE_CONFLICT, BIND_CONFLICT, NO_SPACE, NO_VOLUME)
    return out, tuple(text for text, failed in zip(texts, reasons, strict=True) if failed)


def _find_delayed(
    cluster: ClusterState,
    claims: PodVolumeClaims,
    node: str,
    labels: Mapping[str, str],
    out: PodVolumes,
    reasons: list[bool],
) -> None:
    to_provision, to_match = [], []
    for claim in claims.delayed:
        chosen = annotations_of(claim).get(SELECTED_NODE)
        if chosen is None:
            to_match.append(claim)
        elif chosen == node:
            to_provision.append(claim)
        else:
            reasons[1] = True
            return
    taken: set[str] = set()
    for claim in sorted(to_match, key=requested_size):
        volume = _smallest(claims, claim, labels, taken)
        if volume is None:
            to_provision.append(claim)
        else:
            taken.add(volume["metadata"]["name"])
            out.static.append((claim, volume))
    for claim in to_provision:
        found = cluster.get("StorageClass", None, class_name(claim))
        if found is None or not _provisions(found, labels):
            reasons[1] = True
            return
        enough, space = _room(cluster, found, claim, labels)
        if not enough:
            reasons[2] = True
            return
        out.provisioned.append((claim, space))


def _smallest(
    claims: PodVolumeClaims, claim: Manifest, labels: Mapping[str, str], taken: set[str]
) -> Manifest | None:
    """Return the volume bound to the claim beforehand, else the smallest free one that fits claim and node.

    As volume.FindMatchingVolume does. Affinities count untranslated here; a volume that is the claim's own
    but cannot be reached ends the search.
    """
    best: Manifest | None = None
    for volume in claims.candidates[class_name(claim)]:
        own = is_bound_to(volume, claim)
        if volume["metadata"]["name"] in taken or not _could_serve(volume, claim, own=own):
            continue
        reached = admits(claims.terms_of(volume), labels)
        if own:
            return volume if reached else None
        if reached and (best is None or capacity(volume) < capacity(best)):
            best = volume
    return best


def _could_serve(volume: Manifest, claim: Manifest, *, own: bool) -> bool:
    """Return whether a volume fits a claim, wherever it is; ``own``: it is bound to it beforehand."""
    spec, wanted = volume["spec"], claim["spec"]
    if (
        capacity(volume) < requested_size(claim)
        or (spec.get("volumeMode") or "Filesystem") != (wanted.get("volumeMode") or "Filesystem")
        or (spec.get("volumeAttributesClassName") or "") != (wanted.get("volumeAttributesClassName") or "")
        or volume["metadata"].get("deletionTimestamp")
    ):
        return False
    return own or (spec.get("claimRef") is None and _is_free(volume, wanted))


def _is_free(volume: Manifest, wanted: Mapping[str, Any]) -> bool:
    selector = wanted.get("selector")
    return (
        (volume.get("status") or {}).get("phase") == "Available"
        and (selector is None or label_selector(selector).matches(volume["metadata"].get("labels") or {}))
        and set(wanted.get("accessModes") or ()) <= set(volume["spec"].get("accessModes") or ())
    )


def is_bound_to(volume: Manifest, claim: Manifest) -> bool:
    """Return whether a volume's reference names the claim (volume.IsVolumeBoundToClaim)."""
    reference = volume["spec"].get("claimRef")
    return reference is not None and _refers(reference, claim)


def _refers(reference: Mapping[str, Any], claim: Manifest) -> bool:
    meta = claim["metadata"]
    return (
        reference.get("name") == meta["name"]
        and reference.get("namespace") == (meta.get("namespace") or "default")
        and reference.get("uid") in (None, "", uid_of(claim))
    )


def _provisions(storage_class: Manifest, labels: Mapping[str, str]) -> bool:
    if storage_class.get("provisioner") in (None, "", NO_PROVISIONER):
        return False
    terms = storage_class.get("allowedTopologies") or ()
    return not terms or any(_in_topology(term.get("matchLabelExpressions") or (), labels) for term in terms)


def _in_topology(expressions: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> bool:
    """Return whether labels satisfy a topology selector term; an empty one selects no node."""
    return bool(expressions) and all(labels.get(e["key"]) in (e.get("values") or ()) for e in expressions)


def _room(
    cluster: ClusterState, storage_class: Manifest, claim: Manifest, labels: Mapping[str, str]
) -> tuple[bool, Manifest | None]:
    """Return whether storage for the claim is left by what the driver published (hasEnoughCapacity)."""
    driver = cluster.get("CSIDriver", None, storage_class["provisioner"])
    if driver is None or not (driver.get("spec") or {}).get("storageCapacity"):
        return True, None
    if "storage" not in ((claim["spec"].get("resources") or {}).get("requests") or {}):
        return True, None
    wanted = requested_size(claim)
    for space in published(cluster, storage_class["metadata"]["name"]):
        limit = volume_limit(space)
        topology = space.get("nodeTopology")
        reached = topology is not None and label_selector(topology).matches(labels)
        if reached and limit is not None and size(limit) >= wanted:
            return True, space
    return False, None


def volume_limit(space: Manifest) -> Any:
    """Return the quantity that a new volume may have of a CSIStorageCapacity (volumeLimit); None: unknown."""
    most = space.get("maximumVolumeSize")
    return space.get("capacity") if most is None else most


def published(cluster: ClusterState, storage_class: str) -> Iterator[Manifest]:
    """Iterate over the CSIStorageCapacities of a class."""
    return (s for s in cluster.list("CSIStorageCapacity") if s.get("storageClassName") == storage_class)
