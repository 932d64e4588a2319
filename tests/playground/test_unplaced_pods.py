"""The reasons of a run's unschedulable pods, grouped."""

from __future__ import annotations

from playground.runs.unplaced_pods import Unplaced
from scheduler_core.kubernetes.model import ObjectMeta, Pod


def test_messages_that_differ_in_counts_are_one_reason() -> None:
    """Other reasons, and messages that count no nodes, stay apart."""
    pods = [Pod(ObjectMeta(f"p{number}", "default")) for number in range(5)]
    unplaced = Unplaced()
    messages = [
        "0/5 nodes are available: 2 Insufficient cpu, 3 Insufficient memory.",
        "0/5 nodes are available: 1 Insufficient memory, 4 Insufficient cpu.",
        "0/5 nodes are available: 5 Insufficient cpu.",
        "plugin 1 failed",
        "plugin 2 failed",
    ]
    for pod, message in enumerate(messages):
        unplaced.note(pod, pod + 1, message)
    found = unplaced.stored(range(len(pods)), pods)
    assert [(row["message"], row["count"]) for row in found] == [
        ("0/5 nodes are available: 2–4 Insufficient cpu, 1–3 Insufficient memory.", 2),
        ("0/5 nodes are available: 5 Insufficient cpu.", 1),
        ("plugin 1 failed", 1),
        ("plugin 2 failed", 1),
    ]
    assert found[0]["pods"] == [["default/p0", 1], ["default/p1", 2]]
