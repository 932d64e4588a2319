"""For each reason why a node does not fit: the facts behind it, and the changes that would resolve it.

:data:`RULES` has a row for each of v1.11's reasons. A rule only proposes; whether a proposal helps is
verified by running it. Where deleting pods of the node itself would help, preemption's dry run proposes it
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.explain import pod_findings as pods
from scheduler_core.explain import storage_findings as storage
from scheduler_core.explain.by_declaration import by_declaration
from scheduler_core.explain.edits import Edit, Mutation
from scheduler_core.explain.finding import Finding, PodOnNode
from scheduler_core.explain.labels import selector_finding, set_labels
from scheduler_core.explain.resources import INSUFFICIENT, insufficient
from scheduler_core.explain.spelling import correct_toleration
from scheduler_core.explain.world import Failure
from scheduler_core.objects.manifests import Manifest, part
from scheduler_core.objects.model import Taint
from scheduler_core.objects.selectors import tolerates
from scheduler_core.predicates import CheckNodeLabelPresence, CheckServiceAffinity
from scheduler_core.predicates.configured import AddedNodeAffinity
from scheduler_core.predicates.general import HostName, MatchNodeSelector, PodFitsHostPorts
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

CORDON_TAINT = "node.kubernetes.io/unschedulable"
EFFECTS = ("NoSchedule", "NoExecute")


def findings(place: PodOnNode, failure: Failure) -> list[Finding]:
    """Return a finding for each reason of a failure, without the summary reason of GeneralPredicates."""
    if failure.error is not None:
        return [storage.error(place, failure.error)]
    found = [_rule(place, failure, reason) for reason in failure.reasons if reason != GENERAL_REASON]
    return found or [Finding()]


def _rule(place: PodOnNode, failure: Failure, reason: str) -> Finding:
    if reason.startswith(INSUFFICIENT):
        return insufficient(place, reason.removeprefix(INSUFFICIENT))
    rule = RULES.get(reason)
    if rule is not None:
        return rule(place)
    return Finding() if reason in WITHOUT_CHANGE else by_declaration(place, failure)


# The node itself


def taints(place: PodOnNode) -> Finding:
    """Correct a misspelled toleration, tolerate the taints, or remove them from the node."""
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
    spelled = [correct_toleration(place, t) for t in refused]
    correct = tuple(right or given for right, given in zip(spelled, tolerate))
    options = (correct, tolerate, remove) if any(spelled) else (tolerate, remove)
    return Finding(tuple(f"taint {_taint(t)} is not tolerated" for t in refused), options)


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


def cordon(place: PodOnNode) -> Finding:
    """Uncordon the node; this also removes the taint that the node controller sets with it."""
    name = place.node.meta.name

    def mutate(document: Manifest) -> None:
        part(document, "spec").pop("unschedulable", None)
        _untaint(lambda entry: entry.get("key") == CORDON_TAINT)(document)

    edit = Edit("Node", name, f"uncordon node {name}", "uncordon", "node", mutate)
    return Finding((f"node {name} is cordoned (spec.unschedulable)",), ((edit,),))


def condition(place: PodOnNode, kind: str, fine: str) -> Finding:
    """Set the node's condition to the value that passes."""
    name = place.node.meta.name
    status = next((c.status for c in place.node.conditions if c.type == kind and c.status != fine), "")

    def mutate(document: Manifest) -> None:
        for entry in part(document, "status").get("conditions") or ():
            if entry.get("type") == kind:
                entry["status"] = fine

    words = f"mend node {name} until its condition {kind} is {fine}"
    edit = Edit("Node", name, words, "condition", "node", mutate)
    return Finding((f"condition {kind} is {status}",), ((edit,),))


def labels_present(place: PodOnNode) -> Finding:
    """Set or remove the labels that the policy's labelsPresence checks."""
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


def service_affinity(place: PodOnNode) -> Finding:
    """Copy the labels of a node that passes."""
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


RULES: Mapping[str, Callable[[PodOnNode], Finding]] = {
    PodToleratesNodeTaints.reason: taints,
    MatchNodeSelector.reason: selector_finding,
    PodFitsHostPorts.reason: pods.host_ports,
    NoDiskConflict.reason: pods.disks,
    MaxVolumeCount.reason: pods.volume_count,
    UNSCHEDULABLE: cordon,
    CheckNodeLabelPresence.reason: labels_present,
    CheckServiceAffinity.reason: service_affinity,
    EXISTING_REASON: pods.refused_by_existing,
    AFFINITY_REASON: pods.affinity_unmet,
    ANTI_AFFINITY_REASON: pods.anti_affinity_hit,
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
"""Reason to rule; for reasons in neither table, changes are derived from the predicate's declared fields."""

WITHOUT_CHANGE = frozenset({HostName.reason, AddedNodeAffinity.reason})
"""Reasons that no change resolves: the pod names its node, or the configuration excludes the node."""
