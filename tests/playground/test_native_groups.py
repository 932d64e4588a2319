"""Native PodGroups under kube-scheduler v1.37 in the workbench: one cycle places the members together."""

from __future__ import annotations

from typing import Any

import pytest

from playground.panels.cycle import PARTS, light
from playground.playback.playback import Playback
from scheduler_core import load
from tests.core.v1_37.parts import GANG


def reported(playback: Playback, index: int) -> str:
    """Return the story's text."""
    cycle = playback.cycle(index)
    sentences = light(cycle, playback.place(cycle))["story"]
    return "".join(p if isinstance(p, str) else next(iter(p.values())) for s in sentences for p in s)


def played(text: str = GANG) -> Playback:
    """Return the gang, played to its end."""
    playback = Playback(load(text))
    while playback.advance(1):
        pass
    return playback


def test_the_story_of_a_gang_that_waits_and_then_fits() -> None:
    """It says why none was placed, and which members were placed together."""
    playback = played()
    first, last = reported(playback, 1), reported(playback, len(playback))
    assert (
        "The PodGroup default/train is tried as a whole: default/w-0, default/w-1 and default/w-2." in first
    )
    assert "No member of the PodGroup default/train is placed: members go all or none." in first
    assert "No preemption victims found for incoming preemptor" in first
    assert "only time brings it back" in first
    assert "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining" in first
    placed = "default/w-0 on n1, default/w-1 on n2 and default/w-2 on n1 are placed in this cycle."
    assert f"Of the PodGroup default/train, {placed}" in last
    assert "Its condition PodGroupInitiallyScheduled is True Scheduled." in last


@pytest.mark.parametrize("time", ["", "\ntime: virtual"], ids=["alone", "with controllers"])
def test_every_panel_can_show_a_group_cycle(time: str) -> None:
    """A step that places several pods changes all of them, and is rebuilt by replay."""
    playback = played(GANG.replace("kind: SimulationSettings", f"kind: SimulationSettings{time}"))
    cycle = playback.cycle(len(playback))
    placed = {pod for pod, _ in cycle.decision.placements}
    assert placed == {"default/w-0", "default/w-1", "default/w-2"}
    for index in range(1, len(playback) + 1):
        for name, make in PARTS.items():
            assert make(playback.cycle(index), playback.place(playback.cycle(index))) is not None, name


def test_hints_name_what_a_pod_without_its_group_waits_for() -> None:
    """It is in no queue of the scheduler, and the panel still shows it."""
    playback = played()
    cycle = playback.cycle(1)
    hints: dict[str, Any] = PARTS["hints"](cycle, playback.place(cycle))
    waits = {row["pod"]: row["wakes"] for row in hints["pods"]}
    assert waits["default/lost"] == [
        {
            "plugin": "GangScheduling",
            "events": ["PodGroupAdd"],
            "text": "its PodGroup default/none is created",
        }
    ]
