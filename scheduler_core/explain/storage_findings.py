"""What keeps a pod's claims and volumes from a node, and the objects that would resolve it."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.explain.edits import Edit, Mutation
from scheduler_core.explain.finding import Finding, PodOnNode
from scheduler_core.explain.labels import set_labels
from scheduler_core.explain.spelling import correct_claim
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import PersistentVolume, PersistentVolumeClaim
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.kubernetes.selectors import term_matches
from scheduler_core.schedulers.columns.storage import ClaimError

DEFAULT_SIZE = 2**30  # bytes, of a claim that is proposed


def _claims(place: PodOnNode) -> Iterator[tuple[str, PersistentVolumeClaim | None]]:
    info, storage = place.standing.pod.info, place.standing.cluster.storage
    for name in info.claims:
        yield name, storage.claim(info.namespace, name)


def _bound(place: PodOnNode) -> Iterator[PersistentVolume]:
    for _, claim in _claims(place):
        volume = place.standing.cluster.storage.volumes.get(claim.volume_name) if claim is not None else None
        if volume is not None:
            yield volume


def error(place: PodOnNode, text: str) -> Finding:
    """Create the volume, or the claim and its volume, that the error is about."""
    storage = place.standing.cluster.storage
    edits: list[Edit] = []
    correct: list[Edit] = []
    for name, claim in _claims(place):
        key = f"{place.standing.pod.info.namespace}/{name}"
        if claim is None:
            spelled = correct_claim(place, name)
            correct += [] if spelled is None else [spelled]
            edits += [_new_claim(key, f"pv-{name}"), _new_volume(f"pv-{name}", key, None)]
        elif claim.volume_name and claim.volume_name not in storage.volumes:
            edits.append(_new_volume(claim.volume_name, key, claim))
        elif not claim.volume_name and not _waits(place, claim):
            edits += [_new_volume(f"pv-{name}", key, claim), _bind(key, f"pv-{name}")]
    fresh = [e for e in edits if e.create is None or (e.kind, e.key) not in place.standing.world.objects]
    options: list[tuple[Edit, ...]] = [(edit,) for edit in correct]
    if fresh and len(fresh) == len(edits):
        options.append(tuple(fresh))
    return Finding((text,), tuple(options))


def _waits(place: PodOnNode, claim: PersistentVolumeClaim) -> bool:
    try:
        return place.standing.cluster.storage.delays_binding(claim)
    except ClaimError:  # its class does not define a binding mode
        return False


def _new_claim(key: str, volume: str) -> Edit:
    namespace, _, name = key.partition("/")
    manifest: Manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": format_resource("storage", DEFAULT_SIZE)}},
            "storageClassName": "",
            "volumeName": volume,
        },
    }
    words = f"create the PersistentVolumeClaim {key}, bound to {volume}"
    return Edit("PersistentVolumeClaim", key, words, "volume", "storage", create=manifest)


def _new_volume(
    name: str, claim_key: str, claim: PersistentVolumeClaim | None, *, bound: bool = True
) -> Edit:
    size = claim.request if claim is not None and claim.request else DEFAULT_SIZE
    modes = list(claim.access_modes) if claim is not None else []
    spec: Manifest = {
        "capacity": {"storage": format_resource("storage", size)},
        "accessModes": modes or ["ReadWriteOnce"],
        "storageClassName": (claim.storage_class if claim is not None else None) or "",
    }
    if bound:
        namespace, _, claim_name = claim_key.partition("/")
        spec["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim_name}
    manifest: Manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"phase": "Bound" if bound else "Available"},
    }
    words = f"create the PersistentVolume {name} of {format_resource('storage', size)} for claim {claim_key}"
    return Edit("PersistentVolume", name, words, "volume", "storage", create=manifest)


def _bind(key: str, volume: str) -> Edit:
    def mutate(document: Manifest) -> None:
        part(document, "spec")["volumeName"] = volume

    return Edit("PersistentVolumeClaim", key, f"bind claim {key} to {volume}", "volume", "storage", mutate)


def nothing_to_bind(place: PodOnNode) -> Finding:
    """Create a volume for each claim with delayed binding (``WaitForFirstConsumer``)."""
    storage = place.standing.cluster.storage
    waiting = storage.waiting_claims(place.standing.pod.info)
    edits = [_new_volume(f"pv-{claim.meta.name}", claim.meta.key, claim, bound=False) for claim in waiting]
    known = [edit for edit in edits if edit.key in storage.volumes]
    details = [
        f"claim {c.meta.key} wants {format_resource('storage', c.request)} of class {c.storage_class}"
        for c in waiting
    ]
    return Finding(tuple(details), () if known else (tuple(edits),))


def unreachable_volume(place: PodOnNode) -> Finding:
    """Drop the node affinity of a bound volume that is not reachable from the node."""
    details, edits = [], []
    for volume in _bound(place):
        terms = volume.node_affinity
        if terms is not None and not any(term_matches(term, place.node) for term in terms):
            name = volume.meta.name
            details.append(f"volume {name} is not reachable from node {place.node.meta.name}")
            words = f"drop the node affinity of PersistentVolume {name}"
            edits.append(
                Edit("PersistentVolume", name, words, "volume", "storage", _drop("spec", "nodeAffinity"))
            )
    return Finding(tuple(details), (tuple(edits),) if edits else ())


def other_zone(place: PodOnNode) -> Finding:
    """Drop the zone labels of bound volumes, or give the node their values."""
    labels, details = place.node.meta.labels, []
    edits: list[Edit] = []
    wanted: dict[str, str | None] = {}
    for volume in _bound(place):
        for key, compared in place.standing.zone_labels.items():
            value = volume.meta.labels.get(key)
            own = next((labels[label] for label in compared if label in labels), None)
            if value is None or own in [part_.strip() for part_ in value.split("__")]:
                continue
            name = volume.meta.name
            details.append(f"volume {name} is in {key}={value}, the node in {own or '(none)'}")
            wanted[key] = value.split("__")[0].strip()
            words = f"drop the label {key} of PersistentVolume {name}"
            mutate = _drop("metadata", "labels", key)
            edits.append(Edit("PersistentVolume", name, words, "volume", "storage", mutate))
    options = ((set_labels(place, wanted),), tuple(edits)) if edits else ()
    return Finding(tuple(details), options)


def _drop(*path: str) -> Mutation:
    def mutate(document: Manifest) -> None:
        part(document, *path[:-1]).pop(path[-1], None)

    return mutate
