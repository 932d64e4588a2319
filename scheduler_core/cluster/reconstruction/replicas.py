"""ReplicaSets and Deployments that a dump lacks, from their pods and from each other."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from scheduler_core.cluster.reconstruction.abridgement import assumed_uid
from scheduler_core.cluster.reconstruction.dump import (
    Dump,
    Reference,
    active,
    counted,
    named,
    oldest,
    reference,
    shared_labels,
    youngest,
)
from scheduler_core.cluster.reconstruction.notes import ASSUMED, Note
from scheduler_core.cluster.reconstruction.template import own_labels, template_of
from scheduler_core.cluster.v1_37.deployment_sizes import (
    DESIRED,
    HASH,
    MOST,
    REVISION,
    fenceposts,
    replicas_of,
    revision_of,
    same_template,
    total,
)
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    is_finished,
    is_ready,
    is_terminating,
    key_in,
    labels_of,
    name_of,
    namespace_of,
    scaled,
    spec_of,
    status_of,
    with_meta,
)
from scheduler_core.cluster.v1_37.template_hash import template_hash

Missing = tuple[Reference, list[Manifest]]
"""An owner that is missing, by its reference, with its pods."""


def put_back(dump: Dump) -> None:
    """Put back ReplicaSets from pods, and Deployments from ReplicaSets."""
    made = defaultdict(list)
    for owner, pods in dump.missing("Pod", "ReplicaSet", "ReplicationController"):
        name, _, hash_ = owner["name"].rpartition("-")
        is_of_deployment = owner["kind"] == "ReplicaSet" and hash_ == labels_of(pods[0]).get(HASH)
        made[namespace_of(pods[0]), name if is_of_deployment else ""].append((owner, pods))
    for (namespace, name), sets in made.items():
        if not name:
            for owner, pods in sets:
                _add_set(dump, owner, pods, None)
            continue
        deployment = dump.get("Deployment", key_in("Deployment", namespace, name))
        _add_sets(dump, deployment, namespace, name, sets)
    for owner, revisions in dump.missing("ReplicaSet", "Deployment"):
        _add_deployment(dump, owner, revisions)


def _add_sets(
    dump: Dump, deployment: Manifest | None, namespace: str, name: str, sets: list[Missing]
) -> None:
    """Put back ReplicaSets of a Deployment; that of its template, or of the youngest pods, is the new one."""
    above = reference(deployment) if deployment is not None else _named(dump, namespace, name)
    listed = dump.owned("ReplicaSet", above["uid"])
    ordered = sorted(sets, key=lambda one: _age(one[1]))
    new = None if deployment is None or _has_new(deployment, listed) else _new_of(deployment, ordered)
    number, last = max([0, *map(revision_of, listed)]), _latest(listed)
    if new is not None:
        ordered = [*(one for one in ordered if one is not new), new]
    for one in ordered:
        owner, pods = one
        is_new = one is new
        later = is_new or (deployment is None and _age(pods)[0] > last)
        number += later
        made = _add_set(dump, owner, pods, spec_of(deployment)["template"] if is_new and deployment else None)
        _join(dump, made, above, number if later else 0, deployment)


def _has_new(deployment: Manifest, listed: list[Manifest]) -> bool:
    """Return whether one of the sets that are there has a Deployment's template."""
    template = spec_of(deployment)["template"]
    return any(same_template(spec_of(one)["template"], template) for one in listed)


def _latest(listed: list[Manifest]) -> str:
    return max((one["metadata"].get("creationTimestamp") or "" for one in listed), default="")


def _named(dump: Dump, namespace: str, name: str) -> Reference:
    """Return the reference to a Deployment that the dump lacks, as a ReplicaSet has it if one is there."""
    for one in dump.of_kind("ReplicaSet"):
        owner = controller_of(one)
        named = owner is not None and (owner["kind"], owner["name"]) == ("Deployment", name)
        if owner is not None and named and namespace_of(one) == namespace:
            return owner
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": name,
        "uid": assumed_uid("Deployment", f"{namespace}/{name}"),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _age(pods: list[Manifest]) -> tuple[str, int]:
    return youngest(pods)["metadata"].get("creationTimestamp") or "", len(active(pods))


def _new_of(deployment: Manifest, sets: list[Missing]) -> Missing:
    """Return the set of a Deployment's template: by its hash, by its pods, else the youngest."""
    template = spec_of(deployment)["template"]
    hash_ = template_hash(template, int(status_of(deployment).get("collisionCount") or 0))
    for one in sets:
        if labels_of(one[1][0]).get(HASH) == hash_:
            return one
    alike = [one for one in sets if same_template(template_of(youngest(one[1])), template)]
    return (alike or sets)[-1]


def _add_set(dump: Dump, owner: Reference, pods: list[Manifest], template: Manifest | None) -> Manifest:
    """Put back a ReplicaSet with the pods that it has."""
    hash_ = labels_of(pods[0]).get(HASH)
    labels = own_labels(shared_labels(pods))
    mark = {HASH: hash_} if hash_ else {}
    pods = [*pods, *dump.adoptable(pods, {**labels, **mark})]
    base = template if template is not None else template_of(youngest(pods))
    meta = base.get("metadata") or {}
    labelled = {**meta, "labels": {**(meta.get("labels") or {}), **mark}}
    own = active(pods)
    ready = [pod for pod in own if is_ready(pod)]
    is_alone = owner["kind"] != "ReplicaSet" or not owner["name"].endswith(f"-{hash_}")
    note = (
        f"{named(owner['kind'], namespace_of(pods[0]), owner['name'])} is not in the dump: assumed with "
        f"{counted(len(own), 'replica')}, from its pods"
    )
    made = {
        "apiVersion": owner.get("apiVersion") or "apps/v1",
        "kind": owner["kind"],
        "metadata": {
            "name": owner["name"],
            "namespace": namespace_of(pods[0]),
            "uid": owner["uid"],
            "labels": labelled["labels"],
            "creationTimestamp": oldest(pods),
        },
        "spec": {
            "replicas": len(own),
            "selector": {"matchLabels": {**labels, **mark}},
            "template": {**base, "metadata": labelled},
        },
        "status": {
            "replicas": len(own),
            "fullyLabeledReplicas": len(own),
            "readyReplicas": len(ready),
            "availableReplicas": len(ready),
            "terminatingReplicas": sum(map(is_terminating, pods)),
            "observedGeneration": 1,
        },
    }
    return dump.add(made, note if is_alone else "")


def _join(dump: Dump, one: Manifest, above: Reference, number: int, deployment: Manifest | None) -> None:
    """Make a ReplicaSet that was put back a revision of a Deployment."""
    marks = {**annotations_of(one), REVISION: str(number)}
    if deployment is not None:
        wanted = replicas_of(deployment)
        marks |= {DESIRED: str(wanted), MOST: str(wanted + fenceposts(deployment)[0])}
    joined = with_meta(one, ownerReferences=[above], annotations=marks)
    dump.put(joined)
    if deployment is not None:
        text = (
            f"ReplicaSet {name_of(one)} of Deployment {above['name']} is not in the dump: assumed with "
            f"{counted(replicas_of(one), 'replica')}, from its pods; rolling back to it is refused"
        )
        dump.notes.append(Note(text, "ReplicaSet", ASSUMED))


def _add_deployment(dump: Dump, owner: Reference, sets: list[Manifest]) -> None:
    """Put back a Deployment; the set of the highest revision is the new one."""
    sets = sorted(sets, key=lambda one: (revision_of(one), one["metadata"].get("creationTimestamp") or ""))
    new = sets[-1]
    pods = [pod for one in sets for pod in dump.owned("Pod", one["metadata"]["uid"])]
    rolling = len([one for one in sets if replicas_of(one)]) > 1
    stands = rolling and all(is_ready(pod) for pod in pods if not is_finished(pod))
    replicas, surge = _size(sets, stands=stands)
    template, labels = _template_without_hash(new)
    spec: dict[str, Any] = {
        "replicas": replicas,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": "25%"},
        },
        "selector": _selector_without_hash(new, labels),
        "template": template,
        "minReadySeconds": spec_of(new).get("minReadySeconds") or 0,
    }
    if stands:
        spec["paused"] = True
    for one in sets:
        _mark_size(dump, one, replicas, replicas + scaled(surge, replicas, up=True))
    dump.add(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": owner["name"],
                "namespace": namespace_of(new),
                "uid": owner["uid"],
                "labels": labels,
                "annotations": {REVISION: annotations_of(new).get(REVISION, "1")},
                "creationTimestamp": oldest([*sets, *pods]),
            },
            "spec": spec,
            "status": _status(replicas, new, sets, oldest(pods or sets)),
        },
        f"{named('Deployment', namespace_of(new), owner['name'])} (ReplicaSet {name_of(new)}) is not in the "
        f"dump: assumed with {counted(replicas, 'replica')}, from its pods, maxSurge {surge} and "
        f"maxUnavailable 25%{_state(rolling, stands)}",
    )


def _state(rolling: bool, stands: bool) -> str:
    if stands:
        return "; paused, as pods of several templates are ready"
    return "; a rollout is under way, whose surge counts as replicas" if rolling else ""


def _size(sets: list[Manifest], *, stands: bool) -> tuple[int, int | str]:
    """Return replicas and maxSurge, as the newest set that has them notes them, else by the number of pods.

    A paused Deployment of several templates has as many pods as both together, and its new set is not at its
    size yet (scale).
    """
    noted = next((one for one in reversed(sets) if DESIRED in annotations_of(one)), sets[-1])
    desired, most = (annotations_of(noted).get(name, "") for name in (DESIRED, MOST))
    if desired.isdecimal():
        return int(desired), int(most) - int(desired) if most.isdecimal() else "25%"
    pods = total(sets)
    replicas = max(pods * 4 // 5, replicas_of(sets[-1]) + 1) if stands else pods
    return replicas, pods - replicas if stands else "25%"


def _template_without_hash(one: Manifest) -> tuple[Manifest, dict[str, str]]:
    template = spec_of(one)["template"]
    meta = template.get("metadata") or {}
    labels = own_labels(meta.get("labels") or {})
    return {**template, "metadata": {**meta, "labels": labels}}, labels


def _selector_without_hash(one: Manifest, labels: dict[str, str]) -> dict[str, Any]:
    selector = spec_of(one).get("selector") or {}
    return {**selector, "matchLabels": own_labels(selector.get("matchLabels") or labels)}


def _mark_size(dump: Dump, one: Manifest, replicas: int, most: int) -> None:
    """Note a Deployment's size on a set that was put back."""
    if DESIRED not in annotations_of(one):
        marks = {**annotations_of(one), DESIRED: str(replicas), MOST: str(most)}
        dump.put(with_meta(one, annotations=marks))


def _status(replicas: int, new: Manifest, sets: list[Manifest], at: str) -> dict[str, Any]:
    """Return the status of a Deployment as its sets say."""

    def count(field: str, of: list[Manifest]) -> int:
        return sum(int(status_of(one).get(field) or 0) for one in of)

    available, updated = count("availableReplicas", sets), count("replicas", [new])
    done = replicas == updated == count("replicas", sets)
    enough = available >= replicas - scaled("25%", replicas, up=False)
    rows = (
        ("Available", enough, "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"),
        ("Progressing", True, "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"),
    )
    return {
        "observedGeneration": 1,
        "replicas": count("replicas", sets),
        "updatedReplicas": updated,
        "readyReplicas": count("readyReplicas", sets),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total(sets) - available),
        "terminatingReplicas": count("terminatingReplicas", sets),
        "conditions": [
            {
                "type": kind,
                "status": "True" if status else "False",
                "reason": reason,
                "lastUpdateTime": at,
                "lastTransitionTime": at,
            }
            for kind, status, reason in rows
        ],
    }
