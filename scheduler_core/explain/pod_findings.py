"""What other pods keep from a pod: host ports, disks, attachments, and the company that it wants or shuns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.storage import disks_conflict, ports_conflict
from scheduler_core.explain.edits import Edit, part
from scheduler_core.explain.finding import Finding, Place
from scheduler_core.explain.labels import IDENTITY, REQUIRED, set_labels
from scheduler_core.explain.world import Manifest
from scheduler_core.predicates.volumes import MaxVolumeCount

PODS_NAMED = 10


def _named(pods: Iterable[PodState]) -> str:
    keys = [pod.key for pod in pods]
    more = f" and {len(keys) - PODS_NAMED:,} more" if len(keys) > PODS_NAMED else ""
    return ", ".join(keys[:PODS_NAMED]) + more


def _here(place: Place) -> list[PodState]:
    """Return the pods on the node, and those nominated to it."""
    nominated = place.standing.queue.nominated_to(place.node.meta.name)
    return [*place.standing.cluster.residents[place.row].values(), *nominated]


def host_ports(place: Place) -> Finding:
    """Do without the host ports that are taken."""
    wanted = place.standing.pod.info.ports
    details, taken = [], set()
    for port in wanted:
        holders = [pod for pod in _here(place) if ports_conflict((port,), set(pod.info.ports))]
        if holders:
            taken.add(port[1:])
            details.append(f"host port {port[2]}/{port[1]} is held by {_named(holders)}")

    def mutate(document: Manifest) -> None:
        for container in part(document, "spec").get("containers") or ():
            for entry in container.get("ports") or ():
                if (entry.get("protocol") or "TCP", entry.get("hostPort")) in taken:
                    del entry["hostPort"]

    listed = ", ".join(f"{number}/{protocol}" for protocol, number in sorted(taken))
    edit = place.edit_pod(f"let the pod do without host port {listed}", "port", mutate)
    return Finding(tuple(details), ((edit,),) if taken else ())


def disks(place: Place) -> Finding:
    """Name who holds the disks; deleting the holders is preemption's to propose."""
    cluster = place.standing.cluster
    wanted = cluster.use_of(place.standing.pod.info).disks
    details = []
    for disk in wanted:
        holders = [pod for pod in _here(place) if _holds(cluster.use_of(pod.info).disks, disk)]
        if holders:
            details.append(f"disk {' '.join(disk[0])} is held by {_named(holders)}")
    return Finding(tuple(details))


def _holds(held: Any, disk: Any) -> bool:
    users: dict[Any, list[int]] = {key: [1, 0 if shares else 1] for key, shares in held}
    return disks_conflict((disk,), users)


def volume_count(place: Place) -> Finding:
    """Tell how many volumes are attached, and how many may be."""
    cluster, details = place.standing.cluster, []
    wanted = cluster.use_of(place.standing.pod.info).attached
    for predicate in place.standing.world.profile.predicates:
        if isinstance(predicate, MaxVolumeCount) and wanted[predicate.kind]:
            there = cluster.uses.get(place.row)
            attached = set(there.attached[predicate.kind]) if there is not None else set()
            total = len(attached | wanted[predicate.kind])
            if total > predicate.limit:
                details.append(f"{total} volumes would be attached, the limit is {predicate.limit}")
    return Finding(tuple(details))


def _domain(place: Place, keys: Iterable[str]) -> list[PodState]:
    """Return the pods on nodes that share all of these topology keys with the node."""
    labels, standing = place.node.meta.labels, place.standing
    wanted = {key: labels.get(key) for key in keys}
    if None in wanted.values():
        return []
    rows = [
        row
        for row, node in enumerate(standing.cluster.columns.nodes)
        if all(node.meta.labels.get(key) == value for key, value in wanted.items())
    ]
    return [pod for row in rows for pod in standing.cluster.residents[row].values()]


def _deleting(pods: list[PodState]) -> tuple[Edit, ...]:
    return tuple(deletion(pod, "delete") for pod in pods)


def deletion(pod: PodState, cost: str) -> Edit:
    """Delete a pod; ``cost`` is ``victim`` where preemption would do it."""
    words = f"delete pod {pod.key} (priority {pod.priority}) from node {pod.node_name}"
    if cost == "victim":
        words += ", as preemption would"
    return Edit("Pod", pod.key, words, cost, "pods")


def refused_by_existing(place: Place) -> Finding:
    """Delete the pods whose anti-affinity keeps this one away."""
    info, found = place.standing.pod.info, []
    by_key: dict[str, list[PodState]] = {}
    for other in place.standing.cluster.pods.values():
        terms = other.info.terms.anti_required
        if other.node >= 0 and any(term.selects(info.namespace, info.labels) for term in terms):
            by_key.setdefault(terms[-1].topology_key, []).append(other)
    for key, pods in by_key.items():
        domain = {pod.key for pod in _domain(place, [key])}
        found += [pod for pod in pods if pod.key in domain]
    detail = f"the anti-affinity of {_named(found)} keeps it away"
    return Finding((detail,) if found else (), (_deleting(found),) if found else ())


def affinity_unmet(place: Place) -> Finding:
    """Drop the required affinity, or put the node into the topology of a pod that is sought."""
    terms = place.standing.pod.info.terms.required
    keys = list(dict.fromkeys(term.topology_key for term in terms))
    companions = _matching(place, terms)
    where = ", ".join(f"{key}={place.node.meta.labels.get(key, '(none)')}" for key in keys)
    detail = f"no pod that the affinity asks for runs in {where}"
    if companions:
        detail += f"; {_named(companions)} would do"
    options: list[tuple[Edit, ...]] = [(_drop_affinity(place, "podAffinity", "pod affinity"),)]
    if companions and IDENTITY not in keys:
        model = place.standing.node(companions[0].node).meta.labels
        wanted: dict[str, str | None] = {
            key: model[key] for key in keys if key in model and place.node.meta.labels.get(key) != model[key]
        }
        if wanted:
            options.append((set_labels(place, wanted),))
    return Finding((detail,), tuple(options))


def anti_affinity_hit(place: Place) -> Finding:
    """Drop the required anti-affinity, or delete the rivals in the node's topology."""
    terms = place.standing.pod.info.terms.anti_required
    keys = list(dict.fromkeys(term.topology_key for term in terms))
    domain = {pod.key for pod in _domain(place, keys)}
    rivals = [pod for pod in _matching(place, terms) if pod.key in domain]
    where = ", ".join(f"{key}={place.node.meta.labels.get(key, '(none)')}" for key in keys)
    drop = (_drop_affinity(place, "podAntiAffinity", "pod anti-affinity"),)
    return Finding(
        (f"its anti-affinity does not go with {_named(rivals)} in {where}",),
        (drop, _deleting(rivals)) if rivals else (drop,),
    )


def _matching(place: Place, terms: Any) -> list[PodState]:
    return [
        pod
        for pod in place.standing.cluster.pods.values()
        if pod.node >= 0 and all(term.selects(pod.info.namespace, pod.info.labels) for term in terms)
    ]


def _drop_affinity(place: Place, kind: str, words: str) -> Edit:
    def mutate(document: Manifest) -> None:
        part(document, "spec", "affinity", kind).pop(REQUIRED, None)

    return place.edit_pod(f"drop the pod's required {words}", "affinity", mutate)
