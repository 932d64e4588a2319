"""Selectors that miss the pod that has them: the rule then does not hold among the pods of a workload."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_core.explain.section import Section
from scheduler_core.explain.world import NodeVerdicts
from scheduler_core.kubernetes.support import part_of
from scheduler_core.schedulers.v1_37.selectors import label_selector

TITLE = "Hints"
TERMS = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


class Labelled(NamedTuple):
    """A pod as selectors see it."""

    namespace: str
    labels: Mapping[str, str]


def hints_of(standing: NodeVerdicts, spec: Mapping[str, Any]) -> Section | None:
    """Return the hints on a pod's specification at one moment."""
    asked, pods = standing.pod, standing.cluster.pods.values()
    others = [Labelled(one.info.namespace, one.info.labels) for one in pods if one.node >= 0]
    owner = asked.pod.meta.controller
    named = f"{owner.kind} {owner.name}" if owner is not None else ""
    return hints_section(spec, Labelled(asked.info.namespace, asked.info.labels), others, owner=named)


def hints_section(
    spec: Mapping[str, Any], pod: Labelled, others: Collection[Labelled], *, owner: str
) -> Section | None:
    """Return hints on selectors that miss the pod's own labels; ``owner`` is its controller, or ""."""
    found = (*_of_spread(spec, pod), *_of_affinity(spec, pod, others, owner))
    return Section(TITLE, found) if found else None


def _of_spread(spec: Mapping[str, Any], pod: Labelled) -> Iterator[str]:
    for entry in _listed(spec.get("topologySpreadConstraints")):
        selector, key = entry.get("labelSelector"), entry.get("topologyKey")
        if label_selector(selector).matches(pod.labels):
            continue
        yield (
            f"the spread constraint on {key} does not count the pod itself: {_words(selector)}, and the pod "
            f"has {_labels(pod.labels, selector)}; so its own workload is not spread"
        )


def _of_affinity(
    spec: Mapping[str, Any], pod: Labelled, others: Collection[Labelled], owner: str
) -> Iterator[str]:
    for kind, effect in (("podAntiAffinity", _apart), ("podAffinity", _together)):
        for required, term in _terms(part_of(spec, "affinity", kind)):
            namespaces = _namespaces(term, pod)
            selector = label_selector(term.get("labelSelector"))
            if namespaces is None or (pod.namespace in namespaces and selector.matches(pod.labels)):
                continue
            there = sum(other.namespace in namespaces and selector.matches(other.labels) for other in others)
            what = effect(there, owner, required=required)
            if what:
                name = "anti-affinity" if kind == "podAntiAffinity" else "affinity"
                labels = _labels(pod.labels, term.get("labelSelector"))
                yield (
                    f"the pod {name} on {term.get('topologyKey')} does not select the pod itself: "
                    f"{_words(term.get('labelSelector'))}, and the pod has {labels}; {what}"
                )


def _apart(there: int, owner: str, *, required: bool) -> str:
    del required
    if not there:
        return "no pod of the cluster matches, so it keeps nothing apart"
    return f"so it does not keep the pods of {owner} apart" if owner else ""


def _together(there: int, owner: str, *, required: bool) -> str:
    del owner
    alone = "and as the pod does not match either, no node will do before one does"
    return f"no pod of the cluster matches, {alone}" if required and not there else ""


def _terms(given: Any) -> Iterator[tuple[bool, Mapping[str, Any]]]:
    """Yield the terms of a kind of affinity, each with whether it is required."""
    for term in _listed(part_of(given, TERMS[0])):
        yield True, term
    for weighted in _listed(part_of(given, TERMS[1])):
        preferred = weighted.get("podAffinityTerm")
        if isinstance(preferred, Mapping):
            yield False, preferred


def _namespaces(term: Mapping[str, Any], pod: Labelled) -> Collection[str] | None:
    """Return the namespaces of a term; ``None`` if labels of namespaces select them."""
    if term.get("namespaceSelector") is not None:
        return None
    return term.get("namespaces") or (pod.namespace,)


def _listed(value: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _words(selector: Any) -> str:
    """Return what a selector wants, as kubectl prints it."""
    if not isinstance(selector, Mapping):
        return "it has no labelSelector"
    pairs = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for one in _listed(selector.get("matchExpressions")):
        values = f" ({', '.join(one.get('values') or ())})" if one.get("values") else ""
        pairs.append(f"{one.get('key')} {one.get('operator')}{values}")
    return f"it selects {', '.join(pairs) or 'every pod'}"


def _labels(labels: Mapping[str, str], selector: Any) -> str:
    """Return the pod's labels by the keys that a selector names, or all if it has none of them."""
    given = selector if isinstance(selector, Mapping) else {}
    keys = {
        *(given.get("matchLabels") or {}),
        *(one.get("key") for one in _listed(given.get("matchExpressions"))),
    }
    shown = {key: value for key, value in labels.items() if key in keys} or labels
    return ", ".join(f"{key}={value}" for key, value in list(shown.items())[:4]) or "no labels"
