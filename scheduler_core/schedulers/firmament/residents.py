"""The pods that Firmament runs, as (anti-)affinity between pods sees them: by machine, namespace and labels.

The topology is always the single node, and of a selector only ``matchExpressions`` count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.kubernetes.model import Affinity, Pod, PodAffinityTerm, Requirement
from scheduler_core.kubernetes.selectors import requirement_matches
from scheduler_core.schedulers.firmament.tasks import has_pod_affinity

REQUIRED_SYMMETRY = 100  # what a required affinity term of a running pod adds for a pod that it selects
_NEGATED = {"NotIn": "In", "DoesNotExist": "Exists"}


def expressions_of(term: PodAffinityTerm) -> Sequence[Requirement]:
    """Return the expressions of a term; its ``matchLabels`` are not read."""
    return () if term.selector is None else term.selector.match_expressions


def namespaces_of(term: PodAffinityTerm, own: str) -> Sequence[str]:
    """Return the namespaces of a term, by default that of the pod with the term."""
    return term.namespaces or (own,)


class Residents:
    """Firmament's running pods on ``machines`` machines, pods with equal namespace and labels together."""

    def __init__(self, machines: int) -> None:
        self._machines = machines
        self._rows: dict[tuple[str, frozenset[tuple[str, str]]], list[int]] = {}
        self._labels: dict[tuple[str, frozenset[tuple[str, str]]], Mapping[str, str]] = {}
        self._with_terms: dict[tuple[str, int], tuple[Affinity, list[int]]] = {}  # by the affinity's id

    def add(self, pod: Pod, row: int) -> None:
        """Add a pod that runs on a machine."""
        kind = pod.meta.namespace, frozenset(pod.meta.labels.items())
        self._rows.setdefault(kind, []).append(row)
        self._labels[kind] = pod.meta.labels
        if pod.affinity is not None and has_pod_affinity(pod.affinity):
            template = pod.meta.namespace, id(pod.affinity)  # one object for the pods of a template
            self._with_terms.setdefault(template, (pod.affinity, []))[1].append(row)

    def _none(self) -> BoolVector:
        return np.zeros(self._machines, bool)

    def _in_namespaces(self, namespaces: Iterable[str]) -> BoolVector:
        """Return ``(N,)``: whether a machine runs a pod in one of the namespaces."""
        found, wanted = self._none(), frozenset(namespaces)
        for (namespace, _), rows in self._rows.items():
            if namespace in wanted:
                found[rows] = True
        return found

    def _holds(self, expression: Requirement) -> BoolVector:
        """Return ``(N,)``: whether the pods of a machine, of any namespace, satisfy one expression."""
        operator = _NEGATED.get(expression.operator)
        positive = (
            expression if operator is None else Requirement(expression.key, operator, expression.values)
        )
        found = self._none()
        for kind, rows in self._rows.items():
            if requirement_matches(positive, self._labels[kind]):
                found[rows] = True
        return found if operator is None else ~found

    def attracts(self, term: PodAffinityTerm, own: str) -> BoolVector:
        """Return ``(N,)``: where an affinity term of a pod of namespace ``own`` is satisfied."""
        found = self._in_namespaces(namespaces_of(term, own))
        for expression in expressions_of(term):
            found &= self._holds(expression)
        return found

    def allows(self, term: PodAffinityTerm, own: str) -> BoolVector:
        """Return ``(N,)``: where an anti-affinity term is satisfied: no pod of its namespaces, whatever its
        labels, and no expression that holds.
        """
        found = ~self._in_namespaces(namespaces_of(term, own))
        for expression in expressions_of(term):
            found &= ~self._holds(expression)
        return found

    def required(self, affinity: Affinity, own: str) -> BoolVector:
        """Return ``(N,)``: where all required terms are satisfied."""
        found = ~self._none()
        for term in affinity.anti_required:
            found &= self.allows(term, own)
        for term in affinity.pod_required:
            found &= self.attracts(term, own)
        return found

    def preferred(self, affinity: Affinity, own: str) -> IntVector:
        """Return ``(N,)``: the weights of the preferred terms that are satisfied."""
        score = np.zeros(self._machines, np.int64)
        for one in affinity.anti_preferred:
            score += one.weight * self.allows(one.term, own)
        for one in affinity.pod_preferred:
            score += one.weight * self.attracts(one.term, own)
        return score

    def concerns(self, pod: Pod) -> bool:
        """Return whether a term of any running pod hits a pod."""
        return any(
            _repels(affinity, namespace, pod) or _weights(affinity, namespace, pod)
            for (namespace, _), (affinity, _) in self._with_terms.items()
        )

    def repels(self, pod: Pod) -> BoolVector:
        """Return ``(N,)``: where a running pod's required anti-affinity hits a pod."""
        found = self._none()
        for (namespace, _), (affinity, rows) in self._with_terms.items():
            if _repels(affinity, namespace, pod):
                found[rows] = True
        return found

    def symmetry(self, pod: Pod) -> IntVector:
        """Return ``(N,)``: the scores that the terms of running pods give to a pod."""
        score = np.zeros(self._machines, np.int64)
        for (namespace, _), (affinity, rows) in self._with_terms.items():
            np.add.at(score, rows, sum(_weights(affinity, namespace, pod)))
        return score


def _repels(affinity: Affinity, namespace: str, pod: Pod) -> bool:
    return any(anti_hits(term, namespace, pod) for term in affinity.anti_required)


def _weights(affinity: Affinity, namespace: str, pod: Pod) -> list[int]:
    """Return the weight of each term of a running pod in ``namespace`` that hits a pod."""
    return [
        *(REQUIRED_SYMMETRY for term in affinity.pod_required if affinity_hits(term, namespace, pod)),
        *(
            one.weight
            for one in affinity.pod_preferred
            if one.weight and affinity_hits(one.term, namespace, pod)
        ),
        *(
            -one.weight
            for one in affinity.anti_preferred
            if one.weight and anti_hits(one.term, namespace, pod)
        ),
    ]


def affinity_hits(term: PodAffinityTerm, namespace: str, pod: Pod) -> bool:
    """Return whether an affinity term of a pod in ``namespace`` selects another pod."""
    return pod.meta.namespace in namespaces_of(term, namespace) and all(
        requirement_matches(one, pod.meta.labels) for one in expressions_of(term)
    )


def anti_hits(term: PodAffinityTerm, namespace: str, pod: Pod) -> bool:
    """Return whether an anti-affinity term hits: any pod of its namespaces, and others by any expression."""
    return pod.meta.namespace in namespaces_of(term, namespace) or any(
        requirement_matches(one, pod.meta.labels) for one in expressions_of(term)
    )


def conflicts(pod: Pod, other: Pod) -> bool:
    """Return whether a required term of a pod conflicts with another pod, or with itself.

    Namespaces are not compared but for an anti-affinity term that covers the pod's own.
    """
    affinity = pod.affinity
    if affinity is None:
        return False
    own = pod.meta.namespace
    return any(own in namespaces_of(term, own) for term in affinity.anti_required) or any(
        expression.operator != "DoesNotExist" and requirement_matches(expression, other.meta.labels)
        for term in (*affinity.pod_required, *affinity.anti_required)
        for expression in expressions_of(term)
    )
