"""Matching of selectors, node selector terms and taints for one pod and one node.

The scalar form of the rules, for use outside of scheduling cycles (controllers,
budgets, checks). The predicates apply the same rules to columns of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.kubernetes.integers import parse_int
from scheduler_core.kubernetes.model import (
    LabelSelector,
    Node,
    NodeSelectorTerm,
    Pod,
    Requirement,
    Taint,
    Toleration,
)
from scheduler_core.kubernetes.names import check_value


def matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Return whether the labels match. A null selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    pairs = labels.items()
    return all(pair in pairs for pair in selector.match_labels.items()) and all(
        requirement_matches(r, labels) for r in selector.match_expressions
    )


def requirement_matches(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Evaluate one expression. Gt and Lt compare integers; other values do not match."""
    value = labels.get(requirement.key)
    operator = requirement.operator
    if operator == "In":
        return value is not None and value in requirement.values
    if operator == "NotIn":
        return value is None or value not in requirement.values
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    number = None if value is None else parse_int(value)
    bound = parse_int(requirement.values[0])
    if number is None or bound is None:
        return False
    return number > bound if operator == "Gt" else number < bound


def _valid(requirement: Requirement) -> bool:
    return all(check_value(v) is None for v in requirement.values) and (
        requirement.operator not in ("Gt", "Lt") or len(requirement.values) == 1
    )


def term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """Evaluate one node selector term; one without expressions, or with an invalid one, matches nothing."""
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": node.meta.name}
    return all(
        _valid(r) and requirement_matches(r, node.meta.labels) for r in term.match_expressions
    ) and all(requirement_matches(r, fields) for r in term.match_fields)


def node_selected(pod: Pod, node: Node) -> bool:
    """Evaluate ``spec.nodeSelector`` and required node affinity (MatchNodeSelector)."""
    labels = node.meta.labels.items()
    if not all(pair in labels for pair in pod.node_selector.items()):
        return False
    required = pod.affinity.node_required if pod.affinity else None
    return required is None or any(term_matches(term, node) for term in required)


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Return whether any toleration tolerates the taint (v1.ToleratesTaint)."""
    return any(
        t.effect in ("", taint.effect)
        and t.key in ("", taint.key)
        and (t.operator == "Exists" or (t.operator in ("", "Equal") and t.value == taint.value))
        for t in tolerations
    )
