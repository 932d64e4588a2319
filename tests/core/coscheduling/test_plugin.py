"""What the plugin keeps in memory while pods and PodGroups come, change and go."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from scheduler_core.kubernetes.model import PodGroupStatus
from scheduler_core.schedulers.coscheduling import CLASSIC, CURRENT, Edition, read_arguments
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling
from scheduler_core.schedulers.v1_22.releases import RELEASES
from scheduler_core.schedulers.v1_22.scheduler import Framework
from tests.core.coscheduling.parts import group, node, pod


def running(edition: Edition, *objects: Any) -> tuple[Framework, Coscheduling]:
    """Run a scheduler with the plugin alone, so that nobody else writes a status, for half a second."""
    plugin = Coscheduling(edition, read_arguments(edition, {}), 1609459260.0)
    made = Framework(objects, (plugin,), queue_sort=plugin, release=RELEASES[edition.kubernetes])
    made.run(0.5)
    return made, plugin


def test_a_bound_member_that_is_deleted_or_over_is_no_longer_assigned() -> None:
    """Another has to take its place before the group is complete again (current)."""
    made, plugin = running(CURRENT, group(3), node("n", 4000), *(pod(f"p{n}", cpu=1000) for n in range(3)))
    assert plugin.state.assigned == {"ns/g": {"p0", "p1", "p2"}}
    made.delete_pod("ns/p0")
    made.run(1)
    assert plugin.state.assigned == {"ns/g": {"p1", "p2"}}
    made.finish_pod("ns/p1", "Succeeded")
    made.create_pod(pod("p3", cpu=1000))
    made.create_pod(pod("p4", cpu=99_000))
    made.run(1.5)
    assert [waiting.key for waiting in made.waiting] == []
    assert sorted(made.bound()) == ["ns/p1", "ns/p2"]


def test_a_status_that_others_wrote_is_what_the_plugin_counts_on_from() -> None:
    """Its own count of bound members gives way to the API's with every change of the PodGroup (classic)."""
    made, _ = running(CLASSIC, group(1), node("n", 9000), pod("p0", cpu=1000))
    assert (made.groups["ns/g"].status.phase, made.groups["ns/g"].status.scheduled) == ("Scheduled", 1)
    reset = PodGroupStatus(phase="Scheduling", scheduled=4)
    made.put_group(replace(made.groups["ns/g"], status=reset))
    made.create_pod(pod("p1", cpu=1000))
    made.run(1)
    assert (made.groups["ns/g"].status.phase, made.groups["ns/g"].status.scheduled) == ("Scheduled", 5)
