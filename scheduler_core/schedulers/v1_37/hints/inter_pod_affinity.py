"""Hints of InterPodAffinity (plugins/interpodaffinity/plugin.go).

A term's namespaceSelector is applied to no labels here: only PreFilter merges it into the namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.hints.common import always, answer, labels, listed
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.pods import AffinityTerm, Pod


def _selects(term: AffinityTerm, pod: Pod) -> bool:
    return term.selects(pod.namespace, pod.labels, {})


def _all(terms: tuple[AffinityTerm, ...], pod: Pod) -> bool:
    return bool(terms) and all(_selects(term, pod) for term in terms)


def _any(terms: Iterable[AffinityTerm], pod: Pod) -> bool:
    return any(_selects(term, pod) for term in terms)


def _after_pod_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    required, anti = pod.affinity.required, pod.affinity.required_anti
    if event.old is None or event.new is None:
        other = Pod(event.old or event.new or {})
        if event.old is None:
            return answer(_all(required, other))
        return answer(_any(anti, other) or _any(other.affinity.required_anti, pod))
    before, now = Pod(event.old), Pod(event.new)
    begins = not _all(required, before) and _all(required, now)
    return answer(begins or (_any(anti, before) and not _any(anti, now)))


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    required, anti = pod.affinity.required, pod.affinity.required_anti
    if event.old is None:
        return answer(bool(anti) or any(term.topology_key in labels(event.new) for term in required))
    return answer(
        any(_appears_or_changes(term.topology_key, event.old, event.new) for term in required)
        or any(_appears_or_changes(term.topology_key, event.new, event.old) for term in anti)
    )


def _appears_or_changes(key: str, before: Manifest | None, now: Manifest | None) -> bool:
    value = labels(now).get(key)
    return value is not None and value != labels(before).get(key)


def _until(pod: Pod) -> str:
    affinity = pod.affinity
    keys = dict.fromkeys(term.topology_key for term in (*affinity.required, *affinity.required_anti))
    where = f" with the label {listed(list(keys))}" if keys else ""
    return f"a pod that a term selects is bound, deleted or relabeled, or a node{where} is added or relabeled"


HINTS = Hints(
    "InterPodAffinity",
    (
        Registration("AssignedPod", frozenset({"Add", "Delete", "UpdatePodLabel"}), _after_pod_change),
        Registration("TargetPod", frozenset({"UpdatePodLabel"}), always),
        Registration("Node", frozenset({"Add", "UpdateNodeLabel"}), _after_node_change),
    ),
    _until,
)
