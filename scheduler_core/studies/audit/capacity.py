"""Capacity: how many more of each pod fit, what stops the next, which nodes to add, and the free holes.

The scheduler's own attempts place them on a copy of the cluster at rest, one after the other, evicting none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from scheduler_core.kubernetes.fields_pod import group_of
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.support import part_of
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.holes import holes
from scheduler_core.studies.audit.omissions import unplayed, unread
from scheduler_core.studies.audit.operations import written
from scheduler_core.studies.audit.room import MOST, Fill, Vacancies
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.shapes import (
    BETWEEN_PODS,
    added_words,
    fewest_nodes,
    one_more,
    placing_all,
    room_of,
    shapes,
)
from scheduler_core.studies.audit.words import count, listed

SUBJECT = "capacity"
SCALED = 20
"""More replicas of a workload with claims that are played, each with claims of its own."""


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield what to add for pending pods, each kind of pod's capacity, and the largest holes."""
    left: list[Sequence[Key]] = []
    room = room_of(cluster)
    pending = [pod for pod in cluster.rest.pending if pod.meta.key not in _gated(cluster)]
    if pending and allowance.spend():
        yield _for_pending(cluster, pending)
    for name, members in room.groups().items():
        if allowance.spend():
            yield _of_group(room, name, members)
    for keys in allowance.cases(_alike(cluster, room), left):
        yield _of_workload(cluster, keys)
    if left:
        names = [f"{kind} {key}" for keys in left for kind, key in keys]
        yield unplayed(SUBJECT, names, "workloads whose capacity was not counted")
    yield from holes(cluster, room, SUBJECT)


def _gated(cluster: AuditedCluster) -> set[str]:
    return {pod.meta.key for pod in cluster.rest.pending if pod.scheduling_gates}


def _alike(cluster: AuditedCluster, room: Vacancies) -> list[tuple[Key, ...]]:
    """Return the workloads, those together whose pods no rule tells apart."""
    found: dict[str, list[Key]] = {}
    for key, pods in cluster.workloads.items():
        manifest = room.pod(pods[0].meta.key)
        if key[0] != "DaemonSet" and manifest is not None and not group_of(manifest):
            found.setdefault(_placing(manifest), []).append(key)
    return [tuple(keys) for keys in found.values()]


def _placing(manifest: Document) -> str:
    """Return all that placing a pod reads of it: its labels too, where it says something about other pods."""
    spec = manifest["spec"]
    read = {
        name: value
        for name, value in spec.items()
        if name not in ("volumes", "hostname", "serviceAccountName", "serviceAccount", "containers")
    }
    read["containers"] = [_asking(one) for one in spec.get("containers") or ()]
    meta = manifest["metadata"]
    if any(spec.get(name) for name in BETWEEN_PODS) or _claims(manifest):
        read["meta"] = [meta.get("namespace"), meta.get("labels"), meta["name"] if _claims(manifest) else ""]
    return json.dumps(read, sort_keys=True, default=str)


def _asking(container: Mapping[str, object]) -> list[object]:
    return [container.get("resources"), container.get("ports") if _host_ports(container) else None]


def _host_ports(container: Mapping[str, object]) -> bool:
    ports = container.get("ports")
    return isinstance(ports, (list, tuple)) and any(one.get("hostPort") for one in ports)


def _claims(manifest: Document) -> list[str]:
    volumes = part_of(manifest, "spec", "volumes") or ()
    named = [str(one["name"]) for one in volumes if {"persistentVolumeClaim", "ephemeral"} & one.keys()]
    return [*named, *(str(one.get("name")) for one in part_of(manifest, "spec", "resourceClaims") or ())]


def _for_pending(cluster: AuditedCluster, pending: Sequence[Pod]) -> AuditRow:
    """Return how many nodes of each shape place all pending pods."""
    ordered = sorted(pending, key=lambda pod: -pod.priority)
    tried = [(shape, *placing_all(cluster, shape, ordered)) for shape in shapes(cluster, room_of(cluster))]
    enough = [added for _, added, left in tried if not left]
    text = (
        f"{count(min(enough), 'more node')} would place"
        if enough
        else "No more nodes of the shapes here would place"
    )
    return AuditRow(
        subject=SUBJECT,
        verdict="note",
        sentence=f"{text} the {count(len(pending), 'pod that has', 'pods that have')} no node.",
        evidence=tuple(added_words(*one) for one in tried),
        about=tuple(f"Pod {pod.meta.key}" for pod in ordered[:8]),
    )


def _of_group(room: Vacancies, name: str, members: Sequence[Document]) -> AuditRow:
    """Return how many more PodGroups fit as a whole, each with the pods that this one has at rest."""
    fill = room.fill(*members, most=max(1, MOST // len(members)))
    pods = count(len(members), "pod")
    return AuditRow(
        subject=SUBJECT,
        verdict="ok" if fill.placed else "note",
        sentence=_sentence(fill, f"PodGroups like {name}, of {pods} each,"),
        evidence=("all of its pods find a node, or none takes one", *_stop(fill)),
        about=(f"PodGroup {name}",),
    )


# --- a workload


def _of_workload(cluster: AuditedCluster, keys: Sequence[Key]) -> AuditRow:
    key, pods = keys[0], cluster.workloads[keys[0]]
    name = f"{key[0]} {key[1]}"
    room = room_of(cluster)
    manifest = room.pod(pods[0].meta.key)
    assert manifest is not None
    also = (f"the same of {listed(f'{kind} {one}' for kind, one in keys[1:])}",) if len(keys) > 1 else ()
    if _claims(manifest):
        try:
            return _with_claims(cluster, key, manifest, also)
        except BundleError as error:
            return unread(SUBJECT, key, error)
    fill = room.fill(manifest)
    opens = _scaled(cluster, key, len(pods) + fill.placed + 1) if fill.stop else None
    return AuditRow(
        subject=SUBJECT,
        verdict="ok" if fill.placed else "note",
        sentence=_sentence(fill, f"pods like those of {name}"),
        evidence=(
            *_stop(fill),
            *one_more(cluster, room, manifest, fill),
            *_unread(cluster, manifest),
            *also,
        ),
        about=tuple(f"{kind} {one}" for kind, one in keys[:8]),
        opens=opens,
    )


def _sentence(fill: Fill, what: str) -> str:
    if not fill.stop:
        return f"At least {fill.placed:,} more {what} fit."
    if fill.placed == 1:
        return f"One more of {what} fits."
    return f"{fill.placed:,} more {what} fit." if fill.placed else f"No more {what} fit."


def _stop(fill: Fill) -> Iterator[str]:
    if fill.placed:
        most = max(fill.nodes, key=lambda name: fill.nodes[name])
        yield f"on {count(len(fill.nodes), 'node')}, most on {most} ({fill.nodes[most]:,})"
    if fill.stop:
        yield f"the next: {fill.stop}"
        yield f"refused by {listed(fill.plugins)}"


def _unread(cluster: AuditedCluster, manifest: Document) -> Iterator[str]:
    """Yield what may stop a pod earlier and is not simulated."""
    namespace = manifest["metadata"].get("namespace") or "default"
    for one in cluster.scenario.documents:
        meta = one.get("metadata") or {}
        if one.get("kind") == "ResourceQuota" and (meta.get("namespace") or "default") == namespace:
            yield f"ResourceQuota {namespace}/{meta.get('name')} is not simulated: it may allow fewer"


def _with_claims(cluster: AuditedCluster, key: Key, manifest: Document, also: Sequence[str]) -> AuditRow:
    """Scale a workload whose pods have claims, since each new pod gets some of its own."""
    pods = cluster.workloads[key]
    name, claims = f"{key[0]} {key[1]}", listed(_claims(manifest))
    if key[0] not in ("StatefulSet", "Deployment", "ReplicaSet"):
        return AuditRow(
            subject=SUBJECT,
            verdict="unknown",
            sentence=f"Nothing is said of more pods like those of {name}.",
            evidence=(f"they have claims: {claims}", *also),
        )
    wanted = len(pods) + SCALED
    case = cluster.case("scale", [written(key)], str(wanted))
    waiting = [pod for pod in cluster.homeless(case) if cluster.top(pod) == key]
    bound = max(0, SCALED - len(waiting))
    failure = next((case.failures[p.meta.key] for p in waiting if p.meta.key in case.failures), None)
    return AuditRow(
        subject=SUBJECT,
        verdict="ok" if bound else "note",
        sentence=_sentence(Fill(bound, {}, "waits" if waiting else ""), f"pods like those of {name}"),
        evidence=(
            f"played with {SCALED} more replicas, whose claims are: {claims}",
            *((f"the next: {failure.message}",) if failure else ()),
            *_unread(cluster, manifest),
            *also,
        ),
        about=(name,),
        opens=_scaled(cluster, key, wanted, failure.step if failure else "end"),
    )


def _scaled(cluster: AuditedCluster, key: Key, replicas: int, step: str = "end") -> Opening | None:
    if key[0] not in ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"):
        return None
    return cluster.opening("scale", (written(key),), step, value=str(replicas))


# --- a pod that is given


def of_pod(cluster: AuditedCluster, manifest: Document, replicas: int = 0) -> AuditRow:
    """Return how many of a pod that is given fit, and with ``replicas`` the nodes to add for as many."""
    room = room_of(cluster)
    fill = room.fill(manifest)
    name = f"{manifest['metadata'].get('namespace') or 'default'}/{manifest['metadata']['name']}"
    enough = not replicas or fill.placed >= replicas or not fill.stop
    needed = tuple(fewest_nodes(cluster, manifest, replicas)) if not enough else ()
    claims = _claims(manifest)
    unbound = (f"its claims are not counted: {listed(claims)}",) if claims else ()
    return AuditRow(
        subject=SUBJECT,
        verdict="ok" if fill.placed and enough else "risk",
        sentence=_sentence(fill, f"pods like {name}"),
        evidence=(
            *_stop(fill),
            *(needed or one_more(cluster, room, manifest, fill)),
            *_unread(cluster, manifest),
            *unbound,
        ),
        about=(f"Pod {name}",),
    )
