"""For each reason why a node does not fit: the facts behind it, and the changes that would resolve it.

A rule declares its reasons, and how each is explained. It only proposes; whether a proposal helps is
verified by running it. Where deleting pods of the node itself would help, preemption's dry run proposes it
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.explain import pod_findings as pods
from scheduler_core.explain import storage_findings as storage
from scheduler_core.explain.by_declaration import by_declaration
from scheduler_core.explain.edits import Edit, Mutation
from scheduler_core.explain.labels import selector_finding, set_labels
from scheduler_core.explain.misspellings import correct_toleration
from scheduler_core.explain.resources import insufficient
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.explain.v1_37.findings import V1_37_FINDINGS
from scheduler_core.explain.world import PredicateFailure
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import Taint
from scheduler_core.kubernetes.selectors import tolerates
from scheduler_core.schedulers.v1_11.predicates import RULES, CheckNodeLabelPresence, CheckServiceAffinity
from scheduler_core.schedulers.v1_11.predicates.interpod import GENERAL_REASON
from scheduler_core.schedulers.v1_11.predicates.rule import NO_CHANGE, Reason, ReasonFacts, SuggestedChange

CLAIM_ERRORS = (
    "pod has unbound immediate PersistentVolumeClaims",
    'persistentvolumeclaim "',
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
)
"""How the reasons begin by which v1.37's plugins refuse a pod for a claim, before they look at nodes."""
EFFECTS = ("NoSchedule", "NoExecute")


def findings(place: PodOnNode, failure: PredicateFailure) -> list[Finding]:
    """Return a finding for each reason of a failure, without the summary reason of GeneralPredicates."""
    if failure.error is not None:
        return [storage.error(place, failure.error)]
    found = [_rule(place, failure, reason) for reason in failure.reasons if reason != GENERAL_REASON]
    return found or [Finding()]


def _rule(place: PodOnNode, failure: PredicateFailure, text: str) -> Finding:
    prefix = next((r.text for r in REASONS.values() if r.prefix and text.startswith(r.text)), "")
    reason = REASONS.get(prefix or text)
    if reason is None and text.startswith(CLAIM_ERRORS):
        found = storage.error(place, text)
        return Finding(found.details[1:], found.options)  # the reason says the first itself
    if reason is None:
        finding = V1_37_FINDINGS.get(text)
        return by_declaration(place, failure) if finding is None else finding(place)
    if prefix:
        return RESOURCE_FINDINGS[reason.finding](place, text.removeprefix(prefix))
    if reason.explain is not None:
        return _of_facts(place, reason.explain(place.standing.pod.pod, place.node))
    return FINDINGS[reason.finding](place) if reason.finding else by_declaration(place, failure)


def _of_facts(place: PodOnNode, facts: ReasonFacts) -> Finding:
    """Return the finding of a rule that needs the pod and the node only."""
    return Finding(
        facts.details, tuple(tuple(_edit(place, change) for change in option) for option in facts.options)
    )


def _edit(place: PodOnNode, change: SuggestedChange) -> Edit:
    if change.kind == "Pod":
        return place.edit_pod(change.words, change.cost, change.mutate)
    return Edit("Node", place.node.meta.name, change.words, change.cost, "node", change.mutate)


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
                problem = "is missing" if predicate.presence else "must not be there"
                details.append(f"label {label} {problem}")
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


FINDINGS: Mapping[str, Callable[[PodOnNode], Finding]] = {
    "taints": taints,
    "selector": selector_finding,
    "labels_present": labels_present,
    "service_affinity": service_affinity,
    "host_ports": pods.host_ports,
    "disks": pods.disks,
    "volume_count": pods.volume_count,
    "refused_by_existing": pods.refused_by_existing,
    "affinity_unmet": pods.affinity_unmet,
    "anti_affinity_hit": pods.anti_affinity_hit,
    "unreachable_volume": storage.unreachable_volume,
    "nothing_to_bind": storage.nothing_to_bind,
    "other_zone": storage.other_zone,
    NO_CHANGE: lambda place: Finding(),  # noqa: ARG005
}
"""The findings that look at more than the pod and the node, by the names that rules declare."""

RESOURCE_FINDINGS: Mapping[str, Callable[[PodOnNode, str], Finding]] = {"insufficient": insufficient}
"""The findings of a reason that ends with the name of a resource."""

REASONS: Mapping[str, Reason] = {reason.text: reason for rule in RULES for reason in rule.reasons}
"""The declared reasons, by text or prefix."""
