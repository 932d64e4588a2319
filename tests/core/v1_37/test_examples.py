"""The shipped scenarios of kube-scheduler v1.37: what the start page says of them is what comes of them."""

from __future__ import annotations

import re

import pytest

from scheduler_core.authoring.examples import Example, examples
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.settings.release import V1_37
from tests.core.timed.test_examples import CURRENT

SHOWN = [example for example in examples() if example.slug in CURRENT]


@pytest.mark.parametrize("example", SHOWN, ids=lambda example: example.slug)
def test_the_outcome_is_what_the_page_says(example: Example) -> None:
    """Pods on nodes and pending ones, and each group's members; the text's numbers are among them."""
    scenario, outcome = example.load(), example.outcome
    assert scenario.release == V1_37
    assert scenario.warnings == ()
    assert outcome is not None
    simulation = V1_37Simulation(scenario, trace=False)
    steps = [cycle.step for cycle in simulation]
    assert example.step in steps
    nodes = simulation.placement()
    assert sum(map(bool, nodes.values())) == outcome.running
    assert sum(not node for node in nodes.values()) == outcome.pending
    for group, count in outcome.members.items():
        members = simulation.run.cluster.members(group)
        assert sum(bool(member.node) for member in members) == len(members) == count
    for number, what in re.findall(r"([0-9]+) (run|stay pending)", example.text):
        assert int(number) == (outcome.running if what == "run" else outcome.pending)


def test_the_native_gang_goes_in_one_cycle_or_not_at_all() -> None:
    """With nodes for two none is placed, and the notebook goes first; the third node lets all go together."""
    (example,) = SHOWN
    simulation = V1_37Simulation(example.load())
    placed = [[pod.rpartition("-")[0] for pod, _ in c.decision.placements] for c in simulation]
    assert placed == [[], [""], [], ["default/train"] * 3]
    assert len(set(simulation.placement().values())) == 3
