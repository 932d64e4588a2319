"""Whether facts are of a contract's subject, and a cluster has what their arguments name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.authoring.verb_targets import DOMAINS
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.v1_37.objects import labels_of, namespace_of
from scheduler_core.kubernetes.fields_pod import group_of
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.studies.contracts.conditions import CLUSTER, FACTS, PODS, QUEUES, FactName
from scheduler_core.studies.contracts.events import Terrain
from scheduler_core.studies.contracts.queue_facts import pairs_named
from scheduler_core.studies.contracts.subjects import Subject

_SUBJECTS = {
    QUEUES: "for: {kind: ClusterQueue, name: …} or for: {every: ClusterQueue}",
    PODS: "a workload, a namespace or a selector in for",
}


def foreign(fact: FactName, subjects: Sequence[Subject]) -> str:
    """Return that a fact is not of the subjects, "" if it is."""
    of = FACTS[fact.name].of
    whose = QUEUES if any(one.queue for one in subjects) else PODS
    if whose in of or CLUSTER in of:
        return ""
    own = ", ".join(name for name, row in FACTS.items() if whose in row.of)
    return f"{fact.name} is of {of[0]}, which takes {_SUBJECTS[of[0]]}: of {whose} there are {own}"


def podless(subject: Subject, terrain: Terrain, pods: Sequence[Manifest]) -> str:
    """Return that none of some pods, nor of a subject's own kind, is of a subject, "" if one is."""
    if subject.workloads or subject.queue or not (subject.namespace or subject.group or subject.selector):
        return ""
    own = ("PodGroup", f"{subject.namespace}/{subject.group}") if subject.group else ("", "")
    own = own if subject.group or subject.selector else ("Namespace", subject.namespace)
    if own in terrain.found or any(subject.has(pod, ("", "")) for pod in pods):
        return ""
    if subject.selector:
        return f"the selector matches no pod and no pod template{_labelled(subject.selector, pods)}"
    return f"no pod and no pod template is of {subject.name}{_others(subject, pods)}"


def _labelled(selector: Mapping[str, Any], pods: Sequence[Manifest]) -> str:
    """Return the labels that pods have, those with a key of the selector if there are any."""
    pairs = dict.fromkeys(pair for pod in pods for pair in labels_of(pod).items())
    known = [pair for pair in pairs if pair[0] in (selector.get("matchLabels") or {})] or list(pairs)
    return f": pods have {', '.join(map('='.join, known[:5])) or 'no labels'}"


def _others(subject: Subject, pods: Sequence[Manifest]) -> str:
    """Return the groups, or namespaces, that pods are of."""
    name = subject.group or subject.namespace
    known = [*dict.fromkeys(filter(None, map(group_of if subject.group else namespace_of, pods)))]
    return did_you_mean(name, known) or f": there are {', '.join(known[:5]) or 'none'}"


def unknown_quota(fact: FactName, subjects: Sequence[Subject], control: Control) -> str:
    """Return that a queue has no quota that a fact names, "" if each has."""
    nodes = [node for one in subjects if (node := control.cache.tree.queues.get(one.queue)) is not None]
    without = next((node for node in nodes if not pairs_named(node, fact.argument)), None)
    if without is None:
        return ""
    known = [*dict.fromkeys(name for _, name in without.quotas), *map("/".join, without.quotas)]
    hint = did_you_mean(fact.argument, known) or f": it has {', '.join(known[:5]) or 'none'}"
    return f"ClusterQueue {without.name} has no quota of {fact.argument!r}{hint}"


def unknown_argument(fact: FactName, terrain: Terrain) -> str:
    """Return what is wrong with the argument of a fact, "" if nothing is."""
    if fact.name == "skew":
        label = DOMAINS.get(fact.argument, fact.argument)
        return "" if label in terrain.label_keys else terrain.without_label(label)
    known = _resources(terrain)
    if fact.name != "free" or fact.argument in known:
        return ""
    hint = did_you_mean(fact.argument, known) or f": nodes have {', '.join(known[:5]) or 'none'}"
    return f"no node offers {fact.argument!r}{hint}"


def _resources(terrain: Terrain) -> list[str]:
    found: dict[str, None] = {}
    for node in terrain.nodes.values():
        status = node.get("status") or {}
        found |= dict.fromkeys({**(status.get("capacity") or {}), **(status.get("allocatable") or {})})
    return list(found)
