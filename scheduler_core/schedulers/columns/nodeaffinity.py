"""Node selectors and node affinity terms over the label columns.

Used by the predicate MatchNodeSelector, the priority NodeAffinityPriority and by volumes'
node affinity; a requirement is evaluated once per distinct label value.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.kubernetes.model import NodeSelectorTerm, Pod, Requirement
from scheduler_core.kubernetes.selectors import holds, valid
from scheduler_core.schedulers.columns.columns import NodeColumns
from scheduler_core.schedulers.columns.reads import PodFields


def required_mask(pod: Pod | PodFields, columns: NodeColumns) -> BoolVector:
    """Return where selector and required affinity match, ``(N,) bool`` (predicates.podMatchesNodeLabels)."""
    mask = np.ones(columns.size, np.bool_)
    for key, value in pod.node_selector.items():
        mask &= columns.label_mask(key, lambda found, value=value: found == value)  # type: ignore[misc]
    if pod.affinity is not None and pod.affinity.node_required is not None:
        mask &= any_term_mask(pod.affinity.node_required, columns)
    return mask


def any_term_mask(terms: Iterable[NodeSelectorTerm], columns: NodeColumns) -> BoolVector:
    """Return where at least one term matches (v1helper.MatchNodeSelectorTerms); without terms, nowhere."""
    mask = np.zeros(columns.size, np.bool_)
    for term in terms:
        mask |= term_mask(term, columns)
    return mask


def term_mask(term: NodeSelectorTerm, columns: NodeColumns) -> BoolVector:
    """Return where one term matches; one without expressions, or with an invalid one, matches nowhere."""
    if not term.match_expressions and not term.match_fields:
        return np.zeros(columns.size, np.bool_)
    mask = np.ones(columns.size, np.bool_)
    for requirement in term.match_expressions:
        if not valid(requirement):
            return np.zeros(columns.size, np.bool_)
        mask &= columns.label_mask(requirement.key, lambda found, r=requirement: holds(r, found))  # type: ignore[misc]
    for requirement in term.match_fields:
        mask &= _field_mask(requirement, columns)
    return mask


def _field_mask(requirement: Requirement, columns: NodeColumns) -> BoolVector:
    """Match ``metadata.name``, the only field that selects nodes, against its single value."""
    if requirement.key != "metadata.name" or len(requirement.values) != 1:
        return np.zeros(columns.size, np.bool_)
    mask = np.zeros(columns.size, np.bool_)
    row = columns.index.get(requirement.values[0])
    if row is not None:
        mask[row] = True
    return mask if requirement.operator == "In" else ~mask
