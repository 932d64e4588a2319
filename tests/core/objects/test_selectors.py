"""Selectors and taints, one pod and one node at a time."""

from __future__ import annotations

import pytest

from scheduler_core.kubernetes.model import (
    LabelSelector,
    Node,
    NodeSelectorTerm,
    ObjectMeta,
    Requirement,
    Taint,
    Toleration,
)
from scheduler_core.kubernetes.selectors import matches, requirement_matches, term_matches, tolerates

LABELS = {"app": "web", "size": "010"}


@pytest.mark.parametrize(
    ("operator", "key", "values", "expected"),
    [
        ("In", "app", ("web", "db"), True),
        ("In", "absent", ("web",), False),
        ("NotIn", "app", ("web",), False),
        ("NotIn", "absent", ("web",), True),
        ("Exists", "app", (), True),
        ("DoesNotExist", "app", (), False),
        ("Gt", "size", ("9",), True),  # leading zeros are read as decimal
        ("Lt", "size", ("9",), False),
        ("Gt", "app", ("9",), False),
        ("Gt", "size", ("many",), False),
    ],
)
def test_each_operator_does_what_it_says(
    operator: str, key: str, values: tuple[str, ...], expected: bool
) -> None:
    """An absent label satisfies NotIn and DoesNotExist only; what is no integer compares with nothing."""
    assert requirement_matches(Requirement(key, operator, values), LABELS) is expected


def test_a_null_selector_matches_nothing_and_an_empty_one_everything() -> None:
    """Absent and empty differ, as in Kubernetes."""
    assert not matches(None, LABELS)
    assert matches(LabelSelector(), LABELS)


def test_a_term_without_expressions_matches_no_node() -> None:
    """An empty node selector term selects nothing, and an invalid value spoils its term."""
    node = Node(ObjectMeta("n", labels=LABELS))
    assert not term_matches(NodeSelectorTerm(), node)
    assert not term_matches(NodeSelectorTerm((Requirement("size", "Gt", ("-10",)),)), node)
    assert term_matches(NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("n",)),)), node)


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration("k", "Equal", "v", "NoSchedule"), True),
        (Toleration("k", "", "v"), True),
        (Toleration("k", "Exists"), True),
        (Toleration("", "Exists"), True),
        (Toleration("k", "Equal", "other"), False),
        (Toleration("k", "Exists", "", "NoExecute"), False),
    ],
)
def test_a_toleration_tolerates_by_key_value_and_effect(toleration: Toleration, expected: bool) -> None:
    """An empty key or effect stands for every one, an absent operator for Equal."""
    assert tolerates([toleration], Taint("k", "v", "NoSchedule")) is expected
