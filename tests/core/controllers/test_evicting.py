"""One eviction by the eviction API: what goes, and what a budget refuses once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.core.controllers.driver import World, bare, node
from tests.core.controllers.test_budgets import budget


@pytest.mark.parametrize(("least", "left"), [(0, []), (1, ["alone"])])
def test_a_budget_answers_once(least: int, left: list[str]) -> None:
    """What is refused is an event with the budget's numbers, and the annotation goes with it."""
    pod = bare("alone", nodeName="n1")
    labels = {"metadata": {**pod["metadata"], "labels": {"app": "web"}}}
    world = World(node("n1"), {**pod, **labels}, budget(minAvailable=least))
    world.run(10)
    (asked,) = world.pods()
    world.change(asked, meta=replace(asked.meta, annotations={"podstep/evict": "10"}))
    assert [one.meta.name for one in world.pods()] == left
    assert len(world.told("EvictionRefused")) == len(left)
    assert all("podstep/evict" not in one.meta.annotations for one in world.pods())
    world.run(100)
    assert [one.meta.name for one in world.pods()] == left, "nobody tries again"
