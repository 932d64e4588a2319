"""The tab of PodGroups under a release that schedules those of scheduling.k8s.io itself."""

from __future__ import annotations

from typing import Any

import pytest

from playground.panels.podgroups import podgroups
from playground.playback.playback import Playback
from scheduler_core import load
from scheduler_core.run.moment_record import upto
from tests.parts import REPOSITORY
from tests.playground.test_triage import NODE, played, pod

GANG = REPOSITORY / "scheduler_core/authoring/examples/native-gang.yaml"


@pytest.fixture(scope="module")
def gang() -> Playback:
    """Play the example of a gang of three that two nodes cannot hold."""
    return played(GANG.read_text())


def part_of(playback: Playback, index: int) -> dict[str, Any]:
    """Return the part of a cycle."""
    return podgroups(playback.cycle(index, lambda: False))


def test_members_and_conditions_are_those_after_the_cycle(gang: Playback) -> None:
    """First none of three is placed, with the condition's message; once a third node joins all are."""
    first, last = part_of(gang, 1), part_of(gang, 4)
    [before], [after] = first["native"], last["native"]
    assert (before["key"], before["minCount"], before["memberCount"]) == ("default/train", 3, 3)
    assert before["assigned"] == 0 and {node for _, node in before["members"]} == {None}
    [[condition, text]] = before["conditions"]
    assert condition == "PodGroupInitiallyScheduled" and text.startswith("False Unschedulable: minCount (3)")
    assert after["assigned"] == 3 and {node for _, node in after["members"]} == {"gpu-1", "gpu-2", "gpu-3"}
    assert after["conditions"] == [["PodGroupInitiallyScheduled", "True Scheduled"]]


def test_the_group_in_flight_is_named(gang: Playback) -> None:
    """A pod that is no member is tried by itself; the groups are shown all the same."""
    assert part_of(gang, 1)["flying"] == "default/train"
    assert part_of(gang, 2)["flying"] == "" and part_of(gang, 2)["count"] == 1


def test_a_moment_inside_the_cycle_does_not_tell_its_end(gang: Playback) -> None:
    """Before the last phase there are no groups yet, and a sentence why."""
    cycle = gang.cycle(4, lambda: False)
    assert "native" not in podgroups(upto(cycle, "predicates"))
    assert "recorded at the end" in podgroups(upto(cycle, "predicates"))["why"]


def test_without_groups_the_release_says_what_it_does() -> None:
    """v1.37 is not said to know none, as v1.11 is."""
    why = podgroups(played(NODE + pod("one", "")).cycle(1, lambda: False))["why"]
    assert "kube-scheduler v1.37 schedules those of scheduling.k8s.io itself" in why
    assert load(NODE).release == "v1.37"
