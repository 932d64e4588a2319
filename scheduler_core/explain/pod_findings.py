"""What other pods keep from a pod: host ports, disks, attachments, and the pods of its (anti-)affinity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.explain.edits import REQUIRED, Edit
from scheduler_core.explain.labels import IDENTITY, set_labels
from scheduler_core.explain.misspellings import correct_pod_affinity
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.explain.world import NodeVerdicts
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import Node
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.storage import disks_conflict, ports_conflict
from scheduler_core.schedulers.v1_11.predicates.interpod import compared_keys
from scheduler_core.schedulers.v1_11.predicates.volumes import MaxVolumeCount

PODS_NAMED = 10
DELETED = 50  # deleting more than these is no small change


def _named(pods: Iterable[PodState]) -> str:
    keys = [pod.key for pod in pods]
    more = f" and {len(keys) - PODS_NAMED:,} more" if len(keys) > PODS_NAMED else ""
    return ", ".join(keys[:PODS_NAMED]) + more


def _here(place: PodOnNode) -> list[PodState]:
    """Return the pods on the node, and those nominated to it."""
    nominated = place.standing.queue.nominated_to(place.node.meta.name)
    return [*place.standing.cluster.residents[place.row].values(), *nominated]


def host_ports(place: PodOnNode) -> Finding:
    """Drop the host ports that are taken."""
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
    edit = place.edit_pod(f"remove the pod's host port {listed}", "port", mutate)
    return Finding(tuple(details), ((edit,),) if taken else ())


def disks(place: PodOnNode) -> Finding:
    """Name the pods that hold the disks; deleting them is left to preemption's proposal."""
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


def volume_count(place: PodOnNode) -> Finding:
    """Report how many volumes would be attached, and the limit."""
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


PodsByDomain = dict[tuple[str, ...], list[PodState]]


def _values(node: Node, keys: Iterable[str]) -> tuple[str, ...] | None:
    """Return a node's values for topology keys, ``None`` if it lacks one."""
    values = [node.meta.labels.get(key) for key in keys]
    return None if None in values else tuple(value or "" for value in values)


def _by_domain(
    standing: NodeVerdicts, pods: Iterable[tuple[PodState, tuple[str, ...]]]
) -> dict[Any, PodsByDomain]:
    """Group pods, each with topology keys, by the keys and by their node's values for them."""
    found: dict[Any, PodsByDomain] = {}
    for pod, keys in pods:
        values = _values(standing.node(pod.node), keys)
        if values is not None:
            found.setdefault(keys, {}).setdefault(values, []).append(pod)
    return found


def _here_of(place: PodOnNode, domains: Mapping[Any, PodsByDomain]) -> list[PodState]:
    """Return the pods of all domains that the node is in."""
    found: dict[str, PodState] = {}
    for keys, by_values in domains.items():
        values = _values(place.node, keys)
        found |= {pod.key: pod for pod in by_values.get(values, ())} if values is not None else {}
    return list(found.values())


def _deleting(pods: list[PodState]) -> list[tuple[Edit, ...]]:
    """Propose to delete the pods, unless they are more than :data:`DELETED`."""
    return [tuple(deletion(pod, "delete") for pod in pods)] if 0 < len(pods) <= DELETED else []


def deletion(pod: PodState, cost: str) -> Edit:
    """Delete a pod; ``cost`` is ``victim`` if preemption would delete it."""
    words = f"delete pod {pod.key} (priority {pod.priority}) from node {pod.node_name}"
    if cost == "victim":
        words += ", as preemption would"
    return Edit("Pod", pod.key, words, cost, "pods")


def refused_by_existing(place: PodOnNode) -> Finding:
    """Delete the pods whose anti-affinity rejects this one."""
    found = _here_of(place, place.standing.once("repelling", lambda: _repelling(place.standing)))
    detail = f"the anti-affinity of {_named(found)} excludes it"
    return Finding((detail,) if found else (), tuple(_deleting(found)))


def _repelling(standing: NodeVerdicts) -> dict[Any, PodsByDomain]:
    kind, last = standing.pod.kind, "last-anti-affinity-term" in standing.world.profile.quirks
    return _by_domain(
        standing,
        (
            (other, (key,))
            for other in standing.cluster.pods.values()
            if other.node >= 0
            for key in compared_keys(other.info.terms.anti_required, kind, last=last)
        ),
    )


def affinity_unmet(place: PodOnNode) -> Finding:
    """Drop the required affinity, or label the node into the topology of a matching pod."""
    terms = place.standing.pod.info.terms.required
    keys = list(dict.fromkeys(term.topology_key for term in terms))
    companions = place.standing.once("companions", lambda: _matching(place.standing, terms))
    where = ", ".join(f"{key}={place.node.meta.labels.get(key, '(none)')}" for key in keys)
    detail = f"no pod that the affinity asks for runs in {where}"
    if companions:
        detail += f"; {_named(companions)} would do"
    options: list[tuple[Edit, ...]] = [(_drop_affinity(place, "podAffinity", "pod affinity"),)]
    correct = correct_pod_affinity(place)
    if correct:
        options.append(correct)
    if companions and IDENTITY not in keys:
        model = place.standing.node(companions[0].node).meta.labels
        wanted: dict[str, str | None] = {
            key: model[key] for key in keys if key in model and place.node.meta.labels.get(key) != model[key]
        }
        if wanted:
            options.append((set_labels(place, wanted),))
    return Finding((detail,), tuple(options))


def anti_affinity_hit(place: PodOnNode) -> Finding:
    """Drop the required anti-affinity, or delete the conflicting pods in the node's topology."""
    terms = place.standing.pod.info.terms.anti_required
    keys = tuple(dict.fromkeys(term.topology_key for term in terms))
    rivals = _here_of(place, place.standing.once("rivals", lambda: _rivals(place.standing)))
    where = ", ".join(f"{key}={place.node.meta.labels.get(key, '(none)')}" for key in keys)
    drop = (_drop_affinity(place, "podAntiAffinity", "pod anti-affinity"),)
    return Finding((f"its anti-affinity excludes {_named(rivals)} in {where}",), (drop, *_deleting(rivals)))


def _rivals(standing: NodeVerdicts) -> dict[Any, PodsByDomain]:
    terms = standing.pod.info.terms.anti_required
    if "anti-affinity-terms-anded" in standing.world.profile.quirks:
        keys = tuple(dict.fromkeys(term.topology_key for term in terms))
        return _by_domain(standing, ((other, keys) for other in _matching(standing, terms)))
    return _by_domain(
        standing,
        (
            (other, (term.topology_key,))
            for other in standing.cluster.pods.values()
            if other.node >= 0
            for term in terms
            if term.selects(other.info.namespace, other.info.labels)
        ),
    )


def _matching(standing: NodeVerdicts, terms: Any) -> list[PodState]:
    return [
        pod
        for pod in standing.cluster.pods.values()
        if pod.node >= 0 and all(term.selects(pod.info.namespace, pod.info.labels) for term in terms)
    ]


def _drop_affinity(place: PodOnNode, kind: str, words: str) -> Edit:
    def mutate(document: Manifest) -> None:
        part(document, "spec", "affinity", kind).pop(REQUIRED, None)

    return place.edit_pod(f"drop the pod's required {words}", "affinity", mutate)
