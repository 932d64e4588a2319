from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_11 import predicates
from scheduler_core.schedulers.v1_22.clock import VirtualClock
from scheduler_core.schedulers.v1_22.events import PLUGIN_EVENTS, plugin_of
from scheduler_core.schedulers.v1_22.queue import QueuedPod, VirtualQueue
from tests.core.coscheduling.parts import pod


class World:
    """A queue sorted by priority and time, and pods to put into it."""

    def __init__(self, names: Iterable[str] = (), **options: Any) -> None:
        self.clock = VirtualClock()
        self.cluster = Cluster()
        self.queue = VirtualQueue(
            self.clock, lambda one: (-one.state.priority, one.timestamp, one.key), PLUGIN_EVENTS, **options
        )
        for name in names:
            self.queue.add(self.state(name))

    def state(self, name: str, **fields: Any) -> PodState:
        """Make a pod of the cluster."""
        made = self.cluster.put(pod(name, "", **fields))
        assert made is not None
        return made

    def fail(self, *refused_by: str) -> QueuedPod:
        """Try the head in vain."""
        tried = self.queue.pop()
        self.queue.fail(tried, refused_by)
        return tried


def test_backoff_doubles_from_one_to_ten_seconds() -> None:
    """Attempts back off 1, 2, 4, 8, 10, 10 … seconds after they failed."""
    world = World("a")
    reported = []
    for _ in range(6):
        tried = world.fail("NodeResourcesFit")
        reported.append(tried.backoff_until - world.clock.now)
        world.queue.activate(["ns/a"])
    assert reported == [1, 2, 4, 8, 10, 10]


def test_backoff_ends_with_the_next_look_every_second() -> None:
    """A pod whose backoff ends at 1.3 s is active at 2 s."""
    world = World("a")
    world.clock.spend(0.3)
    tried = world.fail("NodeResourcesFit")
    world.queue.move_all("NodeAdd")
    assert tried.place == "backoff"
    assert world.clock.next_time() == 2.0
    world.clock.fire()
    assert (tried.place, tried.moved_by) == ("active", "backoff ended")


@pytest.mark.parametrize(("stay", "at"), [(60.0, 90.0), (300.0, 330.0)])
def test_the_flush_moves_what_has_been_unschedulable_for_long(stay: float, at: float) -> None:
    """Looks come every 30 s; one at exactly the limit still leaves the pod."""
    world = World("a", unschedulable_stay=stay)
    tried = world.fail("NodeResourcesFit")
    assert world.clock.next_time() == at
    world.clock.fire()
    assert (tried.place, tried.moved_by) == ("active", "UnschedulableTimeout")


def test_a_pod_that_came_late_waits_for_the_look_after() -> None:
    """A flush for one pod leaves another that has not been there long enough, and looks again for it."""
    world = World("ab")
    world.fail("NodeResourcesFit")
    world.clock.spend(45)
    late = world.fail("NodeResourcesFit")
    world.clock.fire()
    assert (world.clock.now, late.place) == (90.0, "unschedulable")
    world.clock.fire()
    assert (world.clock.now, late.place) == (120.0, "active")


def test_an_idle_queue_sets_no_timers() -> None:
    """Nothing looks at queues in which there is nothing to find."""
    world = World("a")
    assert world.clock.next_time() is None
    world.queue.pop()
    assert world.clock.next_time() is None


@pytest.mark.parametrize(
    ("refused_by", "event", "moves"),
    [
        ("NodeResourcesFit", "AssignedPodDelete", True),
        ("NodeResourcesFit", "PodGroupUpdate", False),
        ("NodeAffinity", "AssignedPodDelete", False),
        ("NodeAffinity", "NodeUpdate", True),
        ("InterPodAffinity", "AssignedPodDelete", True),
        ("VolumeBinding", "PvcAdd", True),
        ("Unheard", "NodeAdd", False),
    ],
)
def test_an_event_moves_whom_it_may_help(refused_by: str, event: Any, moves: bool) -> None:
    """A pod is moved by the events that one of the plugins that refused it registered."""
    world = World("a")
    world.fail(refused_by)
    assert world.queue.move_all(event) == (["ns/a"] if moves else [])


def test_every_event_moves_a_pod_that_nobody_refused_by_name() -> None:
    """A pod that was rejected at Permit in its first attempt has no plugin to its name."""
    world = World("a")
    tried = world.queue.pop()
    world.queue.fail(tried, None)
    assert world.queue.move_all("PodGroupUpdate") == ["ns/a"]


def test_who_refused_a_pod_is_kept_where_a_later_failure_names_nobody() -> None:
    """Rejected at Permit after a failed Filter: the Filter plugin stands."""
    world = World("a")
    world.fail("NodeResourcesFit")
    world.queue.activate(["ns/a"])
    world.queue.fail(world.queue.pop(), None)
    assert world.queue.move_all("PodGroupUpdate") == []


def test_a_move_during_an_attempt_lets_its_pod_only_back_off() -> None:
    """What moved others may have helped the pod that was just tried, even if nothing was moved."""
    world = World("ab")
    tried = world.queue.pop()
    world.queue.move_all("NodeAdd")
    assert world.queue.fail(tried, ["NodeResourcesFit"]) == "backoff"
    other = world.queue.pop()
    assert world.queue.fail(other, ["NodeResourcesFit"]) == "unschedulable"


def test_binding_a_pod_counts_as_a_move_without_moving() -> None:
    """AssignedPodAdd moves pods by their affinity alone, but is remembered as a move."""
    world = World("ab")
    tried = world.queue.pop()
    bound = world.state("bound", node_name="n")
    assert world.queue.move_matching(bound, "AssignedPodAdd") == []
    assert world.queue.fail(tried, ["NodeResourcesFit"]) == "backoff"


def test_activation_does_not_wait_for_the_backoff() -> None:
    """Siblings are activated from backoff and from the unschedulable pods; active ones stay as they are."""
    world = World("abc")
    world.fail("X")
    world.queue.pop()
    assert world.queue.activate(["ns/a", "ns/b", "ns/c", "ns/unknown"]) == ["ns/a"]
    assert [one.key for one in world.queue.placed("active")] == ["ns/a", "ns/c"]


def test_a_gated_pod_is_held_until_its_gates_are_gone() -> None:
    """It is in no queue that is tried, and no event moves it."""
    world = World()
    state = world.state("a", scheduling_gates=("hold",))
    world.queue.add(state, gated=True)
    world.queue.move_all("NodeAdd")
    assert (world.queue.has_active, len(world.queue.placed("gated"))) == (False, 1)
    world.queue.open_gates(state)
    assert world.queue.pop().state is state


def test_removed_pods_are_not_popped() -> None:
    """A pod deleted while it was active leaves no trace, nor does its nomination."""
    world = World("ab")
    world.cluster.pods["ns/a"].nominated = "n"
    world.queue.nominate(world.cluster.pods["ns/a"])
    assert [one.key for one in world.queue.nominator.nominated_to("n")] == ["ns/a"]
    world.queue.remove("ns/a")
    assert world.queue.nominator.nominated_to("n") == []
    assert world.queue.pop().key == "ns/b"
    with pytest.raises(IndexError):
        world.queue.pop()


def test_a_changed_sort_key_counts_after_a_resort() -> None:
    """The order is that of the keys as they are when the queue is sorted."""
    world = World("ab")
    world.cluster.pods["ns/b"].priority = 5
    world.queue.resort()
    assert world.queue.pop().key == "ns/b"


def test_every_reason_that_pods_can_wait_for_has_its_plugin() -> None:
    """What the default predicates say of a node is said by a plugin of 1.22 whose events are known."""
    folder = Path(predicates.__file__).parent
    written = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    texts = {"Insufficient cpu", *re.findall(r'"(node\(s\) [^"]+)"', written)}
    silent = {text for text in texts if plugin_of(text) not in PLUGIN_EVENTS}
    assert len(texts) > 20
    assert silent == {
        "node(s) didn't have the requested labels",  # CheckNodeLabelPresence and CheckServiceAffinity are
        "node(s) didn't match service affinity",  # not among the default plugins
    }


def test_an_update_of_an_active_pod_sorts_it_anew() -> None:
    """A priority that rises while the pod waits its turn brings it to the front."""
    world = World("ab")
    world.queue.update(world.state("b", priority=5))
    head = world.queue.head()
    assert head is not None
    assert head.key == "ns/b"
    assert [one.key for one in world.queue.placed("active")] == ["ns/b", "ns/a"]
    assert [world.queue.pop().key, world.queue.pop().key] == ["ns/b", "ns/a"]


def test_a_flush_during_an_attempt_counts_as_a_move() -> None:
    """The pod that was tried meanwhile only backs off, if the flush moved anybody."""
    for flushed, place in ((True, "backoff"), (False, "unschedulable")):
        world = World("ab")
        first = world.fail("NodeResourcesFit")
        tried = world.queue.pop()
        if not flushed:
            world.queue.remove(first.key)
        world.clock.fire()
        assert world.clock.now == 90.0
        assert world.queue.fail(tried, ["NodeResourcesFit"]) == place


def test_pods_whose_backoff_ended_before_one_look_come_in_the_order_of_their_ends() -> None:
    """Not in the order in which they began to back off; it counts where they sort alike."""
    world = World()
    queue = VirtualQueue(world.clock, lambda _: 0, PLUGIN_EVENTS)
    queue.add(world.state("long"))
    queue.fail(queue.pop(), ["X"])
    queue.activate(["ns/long"])
    world.clock.spend(0.1)
    queue.fail(queue.pop(), ["X"], backs_off=True)  # until 2.1 s
    world.clock.spend(0.95)
    queue.add(world.state("short"))
    queue.fail(queue.pop(), ["X"], backs_off=True)  # until 2.05 s
    while world.clock.now < 3:
        world.clock.fire()
    assert [queue.pop().key, queue.pop().key] == ["ns/short", "ns/long"]
