"""Operations as phrases: those that stand for an operator's verb are named by it."""

from __future__ import annotations

from playground.panels.outside import described
from scheduler_core.authoring import examples


def test_a_patch_that_stands_for_a_verb_is_named_by_it() -> None:
    """The drain of a node is one patch among others; what stands for no verb is an update."""
    example = examples.find("living-shop")
    assert example is not None
    assert described(example.load().operations) == [
        "update deployment default/frontend",
        "update deployment default/frontend",
        "drain node a1",
    ]
