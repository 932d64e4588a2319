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
    """Evaluate one expression on labels, as :func:`holds` does."""
    return holds(requirement, labels.get(requirement.key))


def holds(requirement: Requirement, value: str | None) -> bool:
    """Return whether a label's value, ``None`` without such a label, satisfies an expression.

    Gt and Lt compare integers; other values do not match. Raises ValueError for an unknown operator.
    """
    operator, values = requirement.operator, requirement.values
    match operator:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            number = None if value is None else parse_int(value)
            bound = parse_int(values[0]) if len(values) == 1 else None
            if number is None or bound is None:
                return False
            return number > bound if operator == "Gt" else number < bound
    raise ValueError(f"{operator!r} is not a valid label selector operator")


def valid(requirement: Requirement) -> bool:
    """Return whether the values fit the operator and can be a label's (labels.NewRequirement).

    A node selector term with an expression that is not valid matches nothing.
    """
    values = requirement.values
    match requirement.operator:
        case "In" | "NotIn":
            fits = bool(values)
        case "Exists" | "DoesNotExist":
            fits = not values
        case "Gt" | "Lt":
            fits = len(values) == 1 and parse_int(values[0]) is not None
        case _:
            fits = False
    return fits and not any(map(check_value, values))


def term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """Evaluate one node selector term; one without expressions, or with an invalid one, matches nothing."""
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": node.meta.name}
    return all(valid(r) and requirement_matches(r, node.meta.labels) for r in term.match_expressions) and all(
        requirement_matches(r, fields) for r in term.match_fields
    )


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
