from __future__ import annotations

from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.schedulers.coscheduling import CLASSIC, CURRENT
from scheduler_core.schedulers.coscheduling.queue_sort import less, sort_key
from tests.core.coscheduling.parts import World, group, pod

SECOND = 1609459200.0  # 2021-01-01T00:00:00Z


def test_groups_of_one_second_interleave_by_pod_name() -> None:
    """Two groups created in the same second are not kept together: the pods' own names decide."""
    world = World(group(2, "a"), group(2, "b"))
    pods = [pod("1", "b"), pod("2", "a"), pod("3", "b"), pod("4", "a")]
    keys = [sort_key(CLASSIC, world.gangs, world.state, one, 0) for one in pods]
    assert [key.key for key in sorted(keys, key=lambda key: key.order)] == ["ns/1", "ns/2", "ns/3", "ns/4"]


def test_a_pod_of_a_missing_group_keeps_its_own_time() -> None:
    """A group that does not exist lends its pods no time."""
    key = sort_key(CLASSIC, World().gangs, World().state, pod("p", "gone"), 7.5)
    assert (key.time, key.time_from) == (7.5, "pod")


def test_a_groups_creation_counts_in_whole_seconds() -> None:
    """The API keeps whole seconds, whatever a manifest says."""
    world = World(group(2, created="2021-01-01T00:00:00.9Z"))
    key = sort_key(CLASSIC, world.gangs, world.state, pod("p"), 0)
    assert (key.time, key.time_from) == (SECOND, "group")


def test_an_unreadable_creation_time_is_as_good_as_none() -> None:
    """A timestamp that is none does not stop the queue."""
    assert seconds_of("yesterday") is None
    assert seconds_of(None) is None
    assert seconds_of("2021-01-01T00:00:00") == SECOND


def test_a_failed_group_goes_behind_younger_ones_in_the_current_edition_only() -> None:
    """After a failure the group is as old as the failure; classic leaves it in front."""
    for edition, first in ((CURRENT, False), (CLASSIC, True)):
        world = World(group(2, "old"), group(2, "young", created="2021-01-01T00:00:05Z"), edition=edition)
        world.state.epoch = SECOND
        world.state.failed_at["ns/old"] = 9.0
        old, young = (
            sort_key(edition, world.gangs, world.state, pod(name, name), 0) for name in ("old", "young")
        )
        assert less(old, young) is first


def test_priority_goes_before_every_time() -> None:
    """A member of higher priority is tried apart from its group."""
    world = World(group(2), group(2, "later", created="2022-01-01T00:00:00Z"))
    low = sort_key(CLASSIC, world.gangs, world.state, pod("a"), 0)
    high = sort_key(CLASSIC, world.gangs, world.state, pod("b", "later", priority=1), 99)
    assert less(high, low)
