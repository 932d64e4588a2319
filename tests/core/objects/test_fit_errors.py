"""Messages of unschedulable pods: taken apart, compared across releases, and merged."""

from __future__ import annotations

import pytest

from scheduler_core.kubernetes.fit_errors import merged_message, parse_fit_error

HELPLESS = " preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."


@pytest.mark.parametrize(
    ("message", "nodes", "reasons"),
    [
        (
            "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) didn't match node selector.",
            5,
            {"Insufficient cpu": 2, "node(s) didn't match node selector": 3},
        ),
        (
            (
                "0/6 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the "
                "pod didn't tolerate, 2 Insufficient pods, 3 node(s) had taint {a: b}, that the pod didn't "
                "tolerate."
            ),
            6,
            {
                "node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate": 1,
                "Insufficient pods": 2,
                "node(s) had taint {a: b}, that the pod didn't tolerate": 3,
            },
        ),
        (
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
            3,
            {"pod has unbound immediate PersistentVolumeClaims": 3},
        ),
        (f"0/5 nodes are available: 5 Insufficient cpu.{HELPLESS}", 5, {"Insufficient cpu": 5}),
        ("no nodes available to schedule pods", 0, {}),
        ('running "VolumeBinding" filter plugin: x', None, {'running "VolumeBinding" filter plugin: x': 0}),
        ("", None, {}),
    ],
)
def test_a_message_has_nodes_and_reasons(message: str, nodes: int | None, reasons: dict[str, int]) -> None:
    """Commas inside a reason do not end it; what follows about preemption is apart."""
    error = parse_fit_error(message)
    assert (error.nodes, error.reasons) == (nodes, reasons)
    assert (error.preemption is not None) == (HELPLESS in message)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "0/4 nodes are available: 4 node(s) had taints that the pod didn't tolerate.",
            (
                "0/4 nodes are available: 4 node(s) had untolerated taint(s). preemption: 0/4 nodes are "
                "available: 4 Preemption is not helpful for scheduling."
            ),
        ),
        (
            (
                "0/4 nodes are available: 1 node(s) had taint {a: }, that the pod didn't tolerate, 3 node(s) "
                "had taint {b: c}, that the pod didn't tolerate."
            ),
            "0/4 nodes are available: 4 node(s) had untolerated taint(s).",
        ),
        (
            "0/4 nodes are available: 1 Insufficient pods, 3 node(s) didn't match node selector.",
            "0/4 nodes are available: 1 Too many pods, 3 node(s) didn't match Pod's node affinity/selector.",
        ),
        (
            (
                "0/2 nodes are available: 2 node(s) didn't match pod affinity/anti-affinity, 2 "
                "node(s) didn't "
                "match pod anti-affinity rules."
            ),
            "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.",
        ),
        (
            "0/3 nodes are available: 3 pod has unbound immediate PersistentVolumeClaims.",
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
        ),
    ],
)
def test_releases_word_the_same_reasons_differently(old: str, new: str) -> None:
    """They compare equal, each count included."""
    before, after = parse_fit_error(old), parse_fit_error(new)
    assert (before.nodes, before.comparable()) == (after.nodes, after.comparable())


def test_messages_that_differ_in_numbers_are_merged() -> None:
    """Ranges stand where numbers differ, whatever the order of the reasons was."""
    some = [
        "0/5 nodes are available: 2 Insufficient cpu, 3 Insufficient memory.",
        "0/6 nodes are available: 2 Insufficient memory, 4 Insufficient cpu.",
    ]
    assert parse_fit_error(some[0]).shape() == parse_fit_error(some[1]).shape()
    assert merged_message(some) == (
        "0/5–6 nodes are available: 2–4 Insufficient cpu, 2–3 Insufficient memory."
    )
    assert merged_message([some[0]] * 2) == some[0]
    below = [text + HELPLESS.replace("5", n) for text, n in zip(some, "56", strict=True)]
    assert merged_message(below).endswith("5–6 Preemption is not helpful for scheduling.")
    assert parse_fit_error(some[0]).shape() != parse_fit_error(below[0]).shape()
