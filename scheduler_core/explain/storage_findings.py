"""What keeps a pod's claims and volumes from a node, and the objects that would resolve it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from scheduler_core.explain.edits import Edit, Mutation
from scheduler_core.explain.labels import set_labels
from scheduler_core.explain.misspellings import correct_claim
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import (
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler_core.kubernetes.provisioner import SELECTED_NODE, provisions
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.kubernetes.selectors import term_matches
from scheduler_core.schedulers.columns.storage import WAIT_FOR_FIRST_CONSUMER, ClaimError

DEFAULT_SIZE = 2**30  # bytes, of a claim that is proposed
CLASSES_TRIED = 2
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


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
    """Correct the claim's name, have a class provision a volume for the claim, or create the volume."""
    storage = place.standing.cluster.storage
    correct: list[Edit] = []
    provisioned: list[list[tuple[Edit, ...]]] = []
    made: list[Edit] = []
    for name, claim in _claims(place):
        key = f"{place.standing.pod.info.namespace}/{name}"
        lost = claim is not None and claim.volume_name and claim.volume_name not in storage.volumes
        if claim is not None and not lost and (claim.volume_name or _waits(place, claim)):
            continue
        spelled = correct_claim(place, name) if claim is None else None
        correct += [] if spelled is None else [spelled]
        provisioned.append(list(_by_classes(place, key, claim)))
        if claim is None:
            made += [_new_claim(key, volume=f"pv-{name}"), _new_volume(f"pv-{name}", key, None)]
        elif lost:
            made += [_new_volume(claim.volume_name, key, claim), _found_again(key, claim.volume_name)]
        else:
            made += [_new_volume(f"pv-{name}", key, claim), _bind(key, f"pv-{name}")]
    fresh = [e for e in made if e.create is None or (e.kind, e.key) not in place.standing.world.objects]
    options: list[tuple[Edit, ...]] = [(edit,) for edit in correct]
    options += _together(provisioned)
    if fresh and len(fresh) == len(made):
        options.append(tuple(fresh))
    return Finding((text, *_class_details(place)), tuple(options))


def _found_again(key: str, volume: str) -> Edit:
    """Return what the volume controller does once a lost claim's volume exists again."""
    words = f"claim {key} is then bound to {volume} again"
    return Edit("PersistentVolumeClaim", key, words, "volume", "storage", lambda one: one.pop("status", None))


def _class_details(place: PodOnNode) -> Iterator[str]:
    """Yield of each unbound claim the class that it waits for, and how that binds."""
    storage = place.standing.cluster.storage
    for _, claim in _claims(place):
        if claim is None or claim.volume_name or _waits(place, claim):
            continue
        of = storage.class_of(claim)
        if of is not None:
            yield f"claim {claim.meta.key} is of class {of.meta.name}, which binds at once (Immediate)"
        elif claim.storage_class:
            yield f"claim {claim.meta.key} is of class {claim.storage_class}, which does not exist"
        else:
            yield f"claim {claim.meta.key} names no class, and none is the default: it needs a volume"


def _by_classes(
    place: PodOnNode, key: str, claim: PersistentVolumeClaim | None
) -> Iterator[tuple[Edit, ...]]:
    """Yield how a class that waits for the pod would provision the claim's volume, a class each."""
    storage = place.standing.cluster.storage
    unbound = None if claim is None or claim.volume_name else claim.storage_class
    others = (one for one in storage.classes.values() if one.meta.name != unbound)
    waiting = [one for one in others if provisions(one) and _delays(one)]
    for one in sorted(waiting, key=lambda one: one.meta.name)[:CLASSES_TRIED]:
        yield (_new_claim(key, storage_class=one) if claim is None else _of_class(key, claim, one),)
    own = None if claim is None else storage.class_of(claim)
    if claim is not None and own is not None and provisions(own) and not _delays(own):
        yield (_delayed(own), *([_of_class(key, claim, own)] if claim.volume_name else []))


def _together(ways: Sequence[Sequence[tuple[Edit, ...]]]) -> list[tuple[Edit, ...]]:
    """Return what is done for several claims in the same way, each way."""
    return [tuple(edit for edits in way for edit in edits) for way in zip(*ways)] if ways else []


def _delays(one: StorageClass) -> bool:
    return one.binding_mode == WAIT_FOR_FIRST_CONSUMER


def _of_class(key: str, claim: PersistentVolumeClaim, of: StorageClass) -> Edit:
    """Recreate a claim, so that a class provisions a volume for it where the pod goes."""

    def mutate(document: Manifest) -> None:
        part(document, "spec")["storageClassName"] = of.meta.name
        part(document, "spec").pop("volumeName", None)
        annotations = document["metadata"].get("annotations") or {}
        for name in (BIND_COMPLETED, BOUND_BY_CONTROLLER, BETA_CLASS, SELECTED_NODE):
            annotations.pop(name, None)
        document.pop("status", None)

    behind = f", without what is on {claim.volume_name}" if claim.volume_name else ""
    words = f"recreate claim {key} with class {of.meta.name} (WaitForFirstConsumer){behind}"
    return Edit("PersistentVolumeClaim", key, words, "claim", "storage", mutate)


def _delayed(of: StorageClass) -> Edit:
    def mutate(document: Manifest) -> None:
        document["volumeBindingMode"] = WAIT_FOR_FIRST_CONSUMER

    words = f"set volumeBindingMode: {WAIT_FOR_FIRST_CONSUMER} in StorageClass {of.meta.name}"
    return Edit("StorageClass", of.meta.name, words, "class", "storage", mutate)


def _waits(place: PodOnNode, claim: PersistentVolumeClaim) -> bool:
    try:
        return place.standing.cluster.storage.delays_binding(claim)
    except ClaimError:  # its class does not define a binding mode
        return False


def _new_claim(key: str, *, volume: str = "", storage_class: StorageClass | None = None) -> Edit:
    namespace, _, name = key.partition("/")
    manifest: Manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": format_resource("storage", DEFAULT_SIZE)}},
            "storageClassName": "" if storage_class is None else storage_class.meta.name,
            **({"volumeName": volume} if volume else {}),
        },
    }
    whose = f"bound to {volume}" if storage_class is None else f"of class {storage_class.meta.name}"
    words = f"create the PersistentVolumeClaim {key}, {whose}"
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
        part(document, "metadata", "annotations")[BIND_COMPLETED] = "yes"

    return Edit("PersistentVolumeClaim", key, f"bind claim {key} to {volume}", "volume", "storage", mutate)


def nothing_to_bind(place: PodOnNode) -> Finding:
    """Create a volume for each claim with delayed binding, or recreate it with a class that provisions."""
    storage = place.standing.cluster.storage
    waiting = storage.waiting_claims(place.standing.pod.info)
    edits = [_new_volume(f"pv-{claim.meta.name}", claim.meta.key, claim, bound=False) for claim in waiting]
    known = [edit for edit in edits if edit.key in storage.volumes]
    details = [
        f"claim {c.meta.key} wants {format_resource('storage', c.request)} of class {c.storage_class}"
        for c in waiting
    ]
    others = _together([list(_by_classes(place, claim.meta.key, claim)) for claim in waiting])
    return Finding(tuple(details), (*others, *(() if known else (tuple(edits),))))


def unreachable_volume(place: PodOnNode) -> Finding:
    """Recreate the claims of volumes that the node does not reach, or drop these volumes' node affinity."""
    details: list[str] = []
    dropped: list[Edit] = []
    unreachable: set[str] = set()
    for volume in _bound(place):
        terms = volume.node_affinity
        if terms is not None and not any(term_matches(term, place.node) for term in terms):
            name = volume.meta.name
            unreachable.add(name)
            where = " or ".join(f"({_term(term)})" for term in terms)
            details.append(
                f"volume {name} is not reachable from node {place.node.meta.name}: it is in {where}"
            )
            words = f"drop the node affinity of PersistentVolume {name}"
            mutate = _drop("spec", "nodeAffinity")
            dropped.append(Edit("PersistentVolume", name, words, "moved", "storage", mutate))
    options = (*_recreations(place, unreachable), *([tuple(dropped)] if dropped else []))
    return Finding(tuple(details), options)


def _term(term: NodeSelectorTerm) -> str:
    requirements = (*term.match_expressions, *term.match_fields)
    return " and ".join(f"{one.key} {one.operator} {', '.join(one.values)}".strip() for one in requirements)


def _recreations(place: PodOnNode, volumes: Collection[str]) -> list[tuple[Edit, ...]]:
    """Return how the claims of volumes could be recreated where the pod goes, each way by one class."""
    claims = [claim for _, claim in _claims(place) if claim is not None and claim.volume_name in volumes]
    return _together([list(_by_classes(place, claim.meta.key, claim)) for claim in claims])


def other_zone(place: PodOnNode) -> Finding:
    """Recreate the claims, drop the zone labels of bound volumes, or give the node their values."""
    labels, details = place.node.meta.labels, []
    edits: list[Edit] = []
    elsewhere: set[str] = set()
    wanted: dict[str, str | None] = {}
    for volume in _bound(place):
        for key, compared in place.standing.zone_labels.items():
            value = volume.meta.labels.get(key)
            own = next((labels[label] for label in compared if label in labels), None)
            if value is None or own in [part_.strip() for part_ in value.split("__")]:
                continue
            name = volume.meta.name
            elsewhere.add(name)
            details.append(f"volume {name} is in {key}={value}, the node in {own or '(none)'}")
            wanted[key] = value.split("__")[0].strip()
            words = f"drop the label {key} of PersistentVolume {name}"
            mutate = _drop("metadata", "labels", key)
            edits.append(Edit("PersistentVolume", name, words, "moved", "storage", mutate))
    options = ((set_labels(place, wanted),), tuple(edits)) if edits else ()
    return Finding(tuple(details), (*_recreations(place, elsewhere), *options))


def _drop(*path: str) -> Mutation:
    def mutate(document: Manifest) -> None:
        part(document, *path[:-1]).pop(path[-1], None)

    return mutate
