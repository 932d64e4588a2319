"""For each reason why a node does not fit: the facts behind it, and what would end it.

:data:`RULES` has a row for each of v1.11's reasons. A rule only proposes; whether a proposal helps is found
out by running it. What deleting pods of the node itself would mend, preemption's dry run proposes instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.cluster.columns import BASIC_RESOURCES
from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.storage import disks_conflict, ports_conflict
from scheduler_core.explain import storage_findings as storage
from scheduler_core.explain.edits import Edit, Mutation, part
from scheduler_core.explain.finding import Finding, Place
from scheduler_core.explain.labels import selector_finding, set_labels
from scheduler_core.explain.world import Failure, Manifest
from scheduler_core.objects.model import Container, Taint
from scheduler_core.objects.quantity import format_resource
from scheduler_core.objects.selectors import tolerates
from scheduler_core.predicates import CheckNodeLabelPresence, CheckServiceAffinity
from scheduler_core.predicates.general import MatchNodeSelector, PodFitsHostPorts
from scheduler_core.predicates.interpod import (
    AFFINITY_REASON,
    ANTI_AFFINITY_REASON,
    EXISTING_REASON,
    GENERAL_REASON,
)
from scheduler_core.predicates.node import CONDITION_REASONS, PRESSURE_REASONS, UNSCHEDULABLE
from scheduler_core.predicates.storage import NO_VOLUME_TO_BIND, NO_ZONE, VOLUME_CONFLICT
from scheduler_core.predicates.taints import PodToleratesNodeTaints
from scheduler_core.predicates.volumes import MaxVolumeCount, NoDiskConflict

HOSTNAME = "kubernetes.io/hostname"
CORDON_TAINT = "node.kubernetes.io/unschedulable"
EFFECTS = ("NoSchedule", "NoExecute")
INSUFFICIENT = "Insufficient "
PODS_NAMED = 10


def findings(place: Place, failure: Failure) -> list[Finding]:
    """Return a finding for each reason of a failure that has something to say."""
    if failure.error is not None:
        return [storage.error(place, failure.error)]
    found = [_rule(place, reason) for reason in failure.reasons if reason != GENERAL_REASON]
    return found or [Finding()]


def _rule(place: Place, reason: str) -> Finding:
    if reason.startswith(INSUFFICIENT):
        return insufficient(place, reason.removeprefix(INSUFFICIENT))
    rule = RULES.get(reason)
    return rule(place) if rule is not None else Finding()


# Resources


@dataclass(frozen=True, slots=True)
class Amounts:
    """One resource of one pod on one node, in the units of objects.model."""

    name: str
    requested: int
    allocatable: int
    used: int

    @property
    def free(self) -> int:
        """What is left; negative where more is requested already than there is."""
        return self.allocatable - self.used

    @property
    def short(self) -> int:
        """How much is missing."""
        return self.requested - self.free

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as Kubernetes prints them."""
        numbers = {
            "requested": self.requested,
            "free": self.free,
            "shortBy": self.short,
            "allocatable": self.allocatable,
            "used": self.used,
        }
        return {
            "resource": self.name,
            **{key: format_resource(self.name, amount) for key, amount in numbers.items()},
        }


def amounts(place: Place, name: str) -> Amounts:
    """Work out one resource, with pods nominated to the node as far as the scheduler counts them."""
    cluster, pod, row = place.standing.cluster, place.standing.pod, place.row
    nominated = [
        other.info
        for other in place.standing.queue.nominated_to(place.node.meta.name)
        if other.priority >= pod.priority
    ]
    if name in BASIC_RESOURCES:
        number = BASIC_RESOURCES.index(name)
        used = int(cluster.used[number, row]) + sum(int(info.usage[number]) for info in nominated)
        return Amounts(
            name, int(pod.info.request[number]), int(cluster.columns.allocatable[number, row]), used
        )
    used = int(cluster.scalar_used(name)[row]) + sum(dict(i.scalar_usage).get(name, 0) for i in nominated)
    requested = dict(pod.info.scalar_request).get(name, 0)
    return Amounts(name, requested, int(cluster.columns.scalar(name)[row]), used)


def insufficient(place: Place, name: str) -> Finding:
    """Add the shortage to the node, or lower the request to what is free."""
    have = amounts(place, name)

    def shown(amount: int) -> str:
        return format_resource(name, amount)

    share = have.short / max(1, have.requested)
    total = have.allocatable + have.short
    node = place.node
    add = Edit(
        "Node",
        node.meta.name,
        f"add {shown(have.short)} {name} to node {node.meta.name}, from {shown(have.allocatable)} "
        f"allocatable to {shown(total)}",
        "allocatable",
        "node",
        _allocatable(node.allocatable, name, total),
        size=share,
    )
    options = [(add,)]
    lowest = 0 if name not in BASIC_RESOURCES else 1
    if name != "pods" and lowest <= have.free < have.requested:
        words = f"lower the pod's {name} request from {shown(have.requested)} to {shown(have.free)}"
        lower = place.edit_pod(words, "request", _lower(place, name, have.free), size=share)
        options.append((lower,))
    detail = (
        f"{name}: requested {shown(have.requested)}, free {shown(have.free)}, short by {shown(have.short)}"
    )
    return Finding((detail,), tuple(options), (have.as_dict(),))


def _allocatable(given: Mapping[str, int], name: str, total: int) -> Mutation:
    def mutate(document: Manifest) -> None:
        listed = part(document, "status", "allocatable")
        for other, amount in given.items():  # a node may have left it to its capacity
            listed.setdefault(other, format_resource(other, amount))
        listed[name] = format_resource(name, total)

    return mutate


def _lower(place: Place, name: str, target: int) -> Mutation:
    """Take from the largest requests until their sum is the target; init containers each keep within it."""
    pod = place.standing.pod.pod
    left = _lowered([c.requests.get(name, 0) for c in pod.containers], target)
    init = [min(c.requests.get(name, 0), target) for c in pod.init_containers]

    def mutate(document: Manifest) -> None:
        _write_requests(document, "containers", pod.containers, name, left)
        _write_requests(document, "initContainers", pod.init_containers, name, init)

    return mutate


def _lowered(requests: list[int], target: int) -> list[int]:
    left = list(requests)
    for place in sorted(range(len(left)), key=lambda n: -left[n]):
        excess = sum(left) - target
        if excess <= 0:
            break
        left[place] -= min(left[place], excess)
    return left


def _write_requests(
    document: Manifest, field_name: str, containers: tuple[Container, ...], name: str, wanted: list[int]
) -> None:
    for number, (container, amount) in enumerate(zip(containers, wanted)):
        if amount == container.requests.get(name, 0):
            continue
        resources = part(document, "spec", field_name, number, "resources")
        part(resources, "requests")[name] = format_resource(name, amount)
        if name not in BASIC_RESOURCES and name in (resources.get("limits") or {}):
            resources["limits"][name] = format_resource(name, amount)  # extended resources: both or neither


# The node itself


def taints(place: Place) -> Finding:
    """Tolerate the taints, or remove them from the node."""
    node, pod = place.node, place.standing.pod.pod
    refused = [t for t in node.taints if t.effect in EFFECTS and not tolerates(pod.tolerations, t)]
    tolerate = tuple(
        place.edit_pod(f"tolerate the taint {_taint(t)}", "toleration", _tolerate(t)) for t in refused
    )
    remove = tuple(
        Edit(
            "Node",
            node.meta.name,
            f"remove the taint {_taint(t)} from node {node.meta.name}",
            "taint",
            "node",
            _untaint(lambda entry, t=t: _is_taint(entry, t)),  # type: ignore[misc]
        )
        for t in refused
    )
    return Finding(tuple(f"taint {_taint(t)} is not tolerated" for t in refused), (tolerate, remove))


def _taint(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def _tolerate(taint: Taint) -> Mutation:
    entry = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    if not taint.value:
        entry = {"key": taint.key, "operator": "Exists", "effect": taint.effect}

    def mutate(document: Manifest) -> None:
        spec = part(document, "spec")
        spec["tolerations"] = [*(spec.get("tolerations") or ()), entry]

    return mutate


def _is_taint(entry: Manifest, taint: Taint) -> bool:
    given = (entry.get("key"), entry.get("value") or "", entry.get("effect"))
    return given == (taint.key, taint.value, taint.effect)


def _untaint(is_meant: Callable[[Manifest], bool]) -> Mutation:
    def mutate(document: Manifest) -> None:
        spec = part(document, "spec")
        if spec.get("taints"):
            spec["taints"] = [entry for entry in spec["taints"] if not is_meant(entry)]

    return mutate


def cordon(place: Place) -> Finding:
    """Uncordon; the taint that the node controller sets with it goes too."""
    name = place.node.meta.name

    def mutate(document: Manifest) -> None:
        part(document, "spec").pop("unschedulable", None)
        _untaint(lambda entry: entry.get("key") == CORDON_TAINT)(document)

    edit = Edit("Node", name, f"uncordon node {name}", "uncordon", "node", mutate)
    return Finding((f"node {name} is cordoned (spec.unschedulable)",), ((edit,),))


def condition(place: Place, kind: str, fine: str) -> Finding:
    """Have the node report that it is well again."""
    name = place.node.meta.name
    status = next((c.status for c in place.node.conditions if c.type == kind and c.status != fine), "")

    def mutate(document: Manifest) -> None:
        for entry in part(document, "status").get("conditions") or ():
            if entry.get("type") == kind:
                entry["status"] = fine

    words = f"mend node {name} until its condition {kind} is {fine}"
    edit = Edit("Node", name, words, "condition", "node", mutate)
    return Finding((f"condition {kind} is {status}",), ((edit,),))


def labels_present(place: Place) -> Finding:
    """Set or remove the labels that the policy's labelsPresence asks about."""
    labels = place.node.meta.labels
    options: list[Edit] = []
    details: list[str] = []
    for predicate in place.standing.world.profile.predicates:
        if not isinstance(predicate, CheckNodeLabelPresence):
            continue
        for label in predicate.labels:
            if (label in labels) != predicate.presence:
                told = "is missing" if predicate.presence else "must not be there"
                details.append(f"label {label} {told}")
                options.append(set_labels(place, {label: "" if predicate.presence else None}))
    return Finding(tuple(details), (tuple(options),))


def service_affinity(place: Place) -> Finding:
    """Take over the labels of a node that passes."""
    standing = place.standing
    keys: tuple[str, ...] = ()
    passing: list[int] = []
    codes = standing.filtered.unabridged
    for number, predicate in enumerate(standing.world.profile.predicates):
        if isinstance(predicate, CheckServiceAffinity) and codes is not None:
            keys += predicate.labels
            passing += [row for row, code in enumerate(codes[number].tolist()) if not code]
    detail = f"{', '.join(keys)} must be as on the node of the service's first pod"
    if not passing:
        return Finding((detail,))
    model = standing.node(passing[0]).meta.labels
    wanted: dict[str, str | None] = {
        key: model.get(key) for key in keys if place.node.meta.labels.get(key) != model.get(key)
    }
    return Finding((detail,), ((set_labels(place, wanted),),) if wanted else ())


# Other pods


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
    if companions and HOSTNAME not in keys:
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
        part(document, "spec", "affinity", kind).pop("requiredDuringSchedulingIgnoredDuringExecution", None)

    return place.edit_pod(f"drop the pod's required {words}", "affinity", mutate)


RULES: Mapping[str, Callable[[Place], Finding]] = {
    PodToleratesNodeTaints.reason: taints,
    MatchNodeSelector.reason: selector_finding,
    PodFitsHostPorts.reason: host_ports,
    NoDiskConflict.reason: disks,
    MaxVolumeCount.reason: volume_count,
    UNSCHEDULABLE: cordon,
    CheckNodeLabelPresence.reason: labels_present,
    CheckServiceAffinity.reason: service_affinity,
    EXISTING_REASON: refused_by_existing,
    AFFINITY_REASON: affinity_unmet,
    ANTI_AFFINITY_REASON: anti_affinity_hit,
    VOLUME_CONFLICT: storage.unreachable_volume,
    NO_VOLUME_TO_BIND: storage.nothing_to_bind,
    NO_ZONE: storage.other_zone,
    **{
        reason: lambda place, kind=kind, fine=fine: condition(place, kind, fine)  # type: ignore[misc]
        for kind, fine, reason in CONDITION_REASONS
    },
    **{
        reason: lambda place, kind=kind: condition(place, kind, "False")  # type: ignore[misc]
        for kind, reason in PRESSURE_REASONS.items()
    },
}
"""Reason to rule; what has no row, such as the requested hostname, has no change to propose."""
