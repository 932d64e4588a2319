"""StatefulSets, and revisions of StatefulSets, that a dump lacks, from their pods."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.reconstruction.dump import (
    Dump,
    Reference,
    active,
    add_revision,
    counted,
    named,
    note_history,
    oldest,
    shared_labels,
    youngest,
)
from scheduler_core.cluster.reconstruction.template import claim_of, own_labels, template_of, without_name
from scheduler_core.cluster.v1_37.claims import ordinal_of
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_ready,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from scheduler_core.cluster.v1_37.revisions import HASH, LABEL, data_of


def put_back(dump: Dump) -> None:
    """Put back StatefulSets, then the revisions that sets and their pods name."""
    for owner, pods in dump.missing("Pod", "StatefulSet"):
        _add_set(dump, owner, sorted(pods, key=ordinal_of))
    for one in dump.of_kind("StatefulSet"):
        _add_revisions(dump, one, sorted(dump.owned("Pod", one["metadata"]["uid"]), key=ordinal_of))


def _revision(pod: Manifest) -> str:
    return labels_of(pod).get(LABEL, "")


def _add_set(dump: Dump, owner: Reference, pods: list[Manifest]) -> None:
    """Put back a StatefulSet: as many pods as its ordinals say, the update revision on the highest."""
    first, last = ordinal_of(pods[0]), ordinal_of(pods[-1])
    start = 0 if first == 0 or last < first else first
    update = _revision(pods[-1])
    newest, old = _split(pods, update)
    strategy = _strategy(newest, old, start)
    if strategy["type"] == "OnDelete":
        update = _revision(youngest(pods))
        newest, old = _split(pods, update)
    pod = youngest(newest)
    labels = own_labels(shared_labels(pods))
    replicas = last + 1 - start
    spec: dict[str, Any] = {
        "replicas": replicas,
        "serviceName": spec_of(pod).get("subdomain") or owner["name"],
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        "updateStrategy": strategy,
        "selector": {"matchLabels": labels},
        "template": template_of(pod, **without_name(pod)),
    }
    if start:
        spec["ordinals"] = {"start": start}
    if claims := [
        _claim_template(dump, pod, one) for one in spec_of(pod).get("volumes") or () if claim_of(pod, one)
    ]:
        spec["volumeClaimTemplates"] = claims
    ready = [one for one in pods if is_ready(one)]
    current = _revision(pods[0]) if old else update
    dump.add(
        {
            "apiVersion": owner.get("apiVersion") or "apps/v1",
            "kind": "StatefulSet",
            "metadata": {
                "name": owner["name"],
                "namespace": namespace_of(pod),
                "uid": owner["uid"],
                "labels": labels,
                "creationTimestamp": oldest(pods),
            },
            "spec": spec,
            "status": {
                "observedGeneration": 1,
                "replicas": len(pods),
                "readyReplicas": len(ready),
                "availableReplicas": len(ready),
                "currentReplicas": replicas
                if not old
                else len([one for one in active(pods) if _revision(one) == current]),
                "updatedReplicas": len(active(newest)),
                "currentRevision": current,
                "updateRevision": update,
                "collisionCount": 0,
            },
        },
        _note(owner, spec, pods),
    )


def _split(pods: list[Manifest], revision: str) -> tuple[list[Manifest], list[Manifest]]:
    newest = [pod for pod in pods if _revision(pod) == revision]
    return newest, [pod for pod in pods if pod not in newest]


def _strategy(newest: list[Manifest], old: list[Manifest], start: int) -> dict[str, Any]:
    """Return an update strategy under which ready pods of older revisions stand still."""
    partition = 0
    if not _revision(newest[0]):
        return {"type": "OnDelete"}  # pods of unknown revisions: none is replaced
    if old and all(map(is_ready, (*newest, *old))):
        if ordinal_of(old[-1]) > ordinal_of(newest[0]):
            return {"type": "OnDelete"}
        partition = ordinal_of(newest[0]) - start
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": partition, "maxUnavailable": 1}}


def _note(owner: Reference, spec: dict[str, Any], pods: list[Manifest]) -> str:
    name, replicas = owner["name"], spec["replicas"]
    start = (spec.get("ordinals") or {}).get("start", 0)
    gaps = sorted(set(range(start, start + replicas)) - set(map(ordinal_of, pods)))
    label = named("StatefulSet", namespace_of(pods[0]), name)
    parts = [f"{label} is not in the dump: assumed with {counted(replicas, 'replica')}, from its pods"]
    if gaps:
        missing = ", ".join(f"{name}-{place}" for place in gaps[:5])
        parts.append(f"missing, and to be created: {missing}")
    strategy = spec["updateStrategy"]
    if strategy["type"] == "OnDelete":
        parts.append("strategy OnDelete, as pods of several templates stand still")
    elif partition := strategy["rollingUpdate"]["partition"]:
        parts.append(f"partition {partition}, as lower ordinals stand still with an older template")
    return "; ".join(parts)


def _claim_template(dump: Dump, pod: Manifest, volume: dict[str, Any]) -> Manifest:
    """Return the claim template of a volume, as the pod's claim is if the dump has it."""
    claim = dump.get("PersistentVolumeClaim", f"{namespace_of(pod)}/{claim_of(pod, volume)}")
    spec = {key: value for key, value in spec_of(claim or {}).items() if key != "volumeName"}
    spec = spec or {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": volume["name"]}, "spec": spec}


def _add_revisions(dump: Dump, owner: Manifest, pods: list[Manifest]) -> None:
    """Put back the update revision, with the set's template, and older ones as the pods show them."""
    known = {name_of(one): one for one in dump.owned("ControllerRevision", owner["metadata"]["uid"])}
    status = status_of(owner)
    data = data_of(spec_of(owner)["template"])
    update = status.get("updateRevision") or (_revision(pods[-1]) if pods else "")
    numbers = [int(one["revision"]) for one in known.values()]
    there = len(numbers)
    if update and update not in known and all(one.get("data") != data for one in known.values()):
        numbers.append(max(numbers, default=1) + 1)
        known[update] = add_revision(
            dump, owner, update, {HASH: update.rpartition("-")[2]}, data, numbers[-1]
        )
    for name in {status.get("currentRevision") or update, *map(_revision, pods)} - {"", *known}:
        mine = [pod for pod in pods if _revision(pod) == name]
        if mine:
            pod = youngest(mine)
            numbers.append(min(numbers, default=2) - 1)
            old = data_of(template_of(pod, **without_name(pod)))
            add_revision(dump, owner, name, {HASH: name.rpartition("-")[2]}, old, numbers[-1])
    if len(numbers) > there:
        note_history(dump, owner)
