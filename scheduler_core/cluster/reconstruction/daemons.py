"""DaemonSets, and revisions of DaemonSets, that a dump lacks, from their pods."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scheduler_core.cluster.reconstruction.dump import (
    Dump,
    Reference,
    active,
    add_revision,
    named,
    note_history,
    oldest,
    shared_labels,
    youngest,
)
from scheduler_core.cluster.reconstruction.template import own_labels, template_of
from scheduler_core.cluster.v1_37.daemon_nodes import REQUIRED, TOLERATED, should_run
from scheduler_core.cluster.v1_37.daemonset import GENERATION_LABEL
from scheduler_core.cluster.v1_37.defaults import GENERATION
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    clone,
    is_ready,
    labels_of,
    name_of,
    namespace_of,
    node_of,
    spec_of,
)
from scheduler_core.cluster.v1_37.revisions import LABEL, data_of


def put_back(dump: Dump) -> None:
    """Put back DaemonSets, then the revisions that their pods have."""
    for owner, pods in dump.missing("Pod", "DaemonSet"):
        _add_set(dump, owner, pods)
    for one in dump.of_kind("DaemonSet"):
        _add_revisions(dump, one, dump.owned("Pod", one["metadata"]["uid"]))


def _hash(pod: Manifest) -> str:
    return labels_of(pod).get(LABEL, "")


def _add_set(dump: Dump, owner: Reference, pods: list[Manifest]) -> None:
    pod = youngest(pods)
    hashes = set(map(_hash, pods))
    labels = own_labels(shared_labels(pods))
    strategy: dict[str, Any] = {"type": "OnDelete"}
    if len(hashes) == 1:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    made: Manifest = {
        "apiVersion": owner.get("apiVersion") or "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": owner["name"],
            "namespace": namespace_of(pod),
            "uid": owner["uid"],
            "labels": labels,
            "annotations": {GENERATION: labels_of(pod).get(GENERATION_LABEL) or "1"},
            "creationTimestamp": oldest(pods),
        },
        "spec": {
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": labels},
            "template": template_of(pod, **_of_all_nodes(pod)),
            "updateStrategy": strategy,
        },
    }
    on = {node_of(one) for one in pods}
    without = [
        name_of(node)
        for node in dump.of_kind("Node")
        if should_run(made, node)[0] and name_of(node) not in on
    ]
    if without:
        _exclude(made, without)
    made["status"] = _status(dump, made, pods, _hash(pod))
    label = named("DaemonSet", namespace_of(pod), owner["name"])
    parts = [f"{label} is not in the dump: assumed from its pods ({len(pods)})"]
    if without:
        parts.append(f"not meant for {', '.join(without[:5])}, without a pod of it")
    if len(hashes) > 1:
        parts.append("with the strategy OnDelete, as its pods have several templates")
    dump.add(made, "; ".join(parts))


def _of_all_nodes(pod: Manifest) -> dict[str, Any]:
    """Return the fields of a pod's spec that name its node, or are for its node, as the template has them."""
    own = [one for one in spec_of(pod).get("tolerations") or () if not _is_added(one)]
    affinity = clone(spec_of(pod).get("affinity") or {})
    node = affinity.get("nodeAffinity") or {}
    terms = (node.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()
    kept = []
    for term in terms:
        fields = [one for one in term.get("matchFields") or () if one["key"] != "metadata.name"]
        left = {**term, "matchFields": fields}
        left = {key: value for key, value in left.items() if value}
        if left:
            kept.append(left)
    if terms:
        node[REQUIRED] = {"nodeSelectorTerms": kept}
        if not kept:
            del node[REQUIRED]
    if "nodeAffinity" in affinity and not node:
        del affinity["nodeAffinity"]
    return {"tolerations": own, "affinity": affinity or None}


def _is_added(toleration: dict[str, Any]) -> bool:
    """Return whether a toleration is one that the controller has added."""
    plain = set(toleration) <= {"key", "operator", "effect"} and toleration.get("operator") == "Exists"
    return plain and (toleration.get("key"), toleration.get("effect")) in TOLERATED


def _exclude(owner: Manifest, nodes: list[str]) -> None:
    """Keep a set from nodes that have no pod of it."""
    fields = [{"key": "metadata.name", "operator": "NotIn", "values": nodes}]
    spec = spec_of(spec_of(owner)["template"])
    node = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = (node.get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    node[REQUIRED] = {
        "nodeSelectorTerms": [
            {**term, "matchFields": [*(term.get("matchFields") or ()), *fields]} for term in terms
        ]
    }


def _status(dump: Dump, owner: Manifest, pods: list[Manifest], hash_: str) -> dict[str, int]:
    wanted = {name_of(node) for node in dump.of_kind("Node") if should_run(owner, node)[0]}
    placed = [pod for pod in active(pods) if node_of(pod) in wanted]
    ready = [pod for pod in placed if is_ready(pod)]
    return {
        "observedGeneration": 1,
        "desiredNumberScheduled": len(wanted),
        "currentNumberScheduled": len({node_of(pod) for pod in placed}),
        "numberMisscheduled": len({node_of(pod) for pod in pods} - wanted),
        "numberReady": len(ready),
        "numberAvailable": len(ready),
        "numberUnavailable": len(wanted) - len(ready),
        "updatedNumberScheduled": sum(_hash(pod) == hash_ for pod in placed),
    }


def _add_revisions(dump: Dump, owner: Manifest, pods: list[Manifest]) -> None:
    """Put back the revision of the present template, under the hash of up-to-date pods, and older ones."""
    known = dump.owned("ControllerRevision", owner["metadata"]["uid"])
    data = data_of(spec_of(owner)["template"])
    hashes = {labels_of(one).get(LABEL) for one in known}
    numbers = [int(one["revision"]) for one in known]
    there = len(numbers)
    current = _current(owner, pods)
    if current and current not in hashes and all(one.get("data") != data for one in known):
        numbers.append(max(numbers, default=1) + 1)
        hashes.add(current)
        add_revision(dump, owner, f"{name_of(owner)}-{current}", {LABEL: current}, data, numbers[-1])
    for hash_ in sorted(set(map(_hash, pods)) - {"", *filter(None, hashes)}):
        pod = youngest([pod for pod in pods if _hash(pod) == hash_])
        numbers.append(min(numbers, default=2) - 1)
        old = data_of(template_of(pod, **_of_all_nodes(pod)))
        add_revision(dump, owner, f"{name_of(owner)}-{hash_}", {LABEL: hash_}, old, numbers[-1])
    if len(numbers) > there:
        note_history(dump, owner)


def _current(owner: Manifest, pods: list[Manifest]) -> str:
    """Return the hash of the pods that are up to date: by their generation, else the only or the youngest."""
    generation = annotations_of(owner).get(GENERATION)
    same = [pod for pod in pods if generation and labels_of(pod).get(GENERATION_LABEL) == generation]
    if same:
        return Counter(map(_hash, same)).most_common(1)[0][0]
    is_assumed_now = len(set(map(_hash, pods))) == 1 or not any(
        GENERATION_LABEL in labels_of(pod) for pod in pods
    )
    return _hash(youngest(pods)) if pods and is_assumed_now else ""
