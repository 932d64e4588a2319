from __future__ import annotations

from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.queue import SchedulingQueue
from tests.core.v1_37.parts import Bench, event


def test_the_head_has_the_highest_priority_then_the_earliest_time() -> None:
    """Equal priorities are served in order of arrival."""
    bench = Bench()
    for name, priority in (("a", 0), ("b", 10), ("c", 0), ("d", 10)):
        bench.enter(name, priority=priority)
    assert bench.names() == ["b", "d", "a", "c"]


def test_a_move_does_not_change_the_place_in_the_order() -> None:
    """The time is that of the last failure, not of the move."""
    bench = Bench()
    bench.rules.hints["Fit", "NodeAdd"] = "Queue"
    for name in "abc":
        bench.enter(name)
    bench.fail("Fit")
    bench.pass_seconds(1)
    bench.fail("Fit")
    bench.pass_seconds(30)
    bench.queue.broadcast(event("Node", "Add"))
    bench.enter("d")
    assert bench.names() == ["c", "a", "b", "d"]


def test_the_backoff_queue_is_popped_without_waiting_when_nothing_is_active() -> None:
    """By the second of expiry first; a second failure waits twice as long."""
    bench = Bench()
    bench.rules.hints["Fit", "NodeAdd"] = "Queue"
    bench.enter("a", priority=5)
    bench.enter("b")
    bench.fail("Fit")  # a
    bench.queue.broadcast(event("Node", "Add"))
    assert bench.where() == {"a": "backoff", "b": "active"}
    bench.fail("Fit")  # b, which is active
    bench.fail("Fit")  # a again, from the backoff queue
    bench.queue.broadcast(event("Node", "Add"))
    assert bench.where() == {"a": "backoff", "b": "backoff"}
    assert bench.names() == ["b", "a"]


def test_an_error_without_a_plugin_returns_only_by_time() -> None:
    """Such a pod waits in a queue of its own that is not popped."""
    bench = Bench()
    bench.enter("a")
    assert bench.fail() == "backoff"
    assert bench.where() == {"a": "errorBackoff"}
    assert bench.queue.pop() is None
    bench.pass_seconds(1)
    assert bench.where() == {"a": "errorBackoff"}
    bench.pass_seconds(1)
    assert bench.where() == {"a": "active"}


def test_errors_in_a_row_count_on_their_own() -> None:
    """An unschedulable attempt ends the row of errors."""
    bench = Bench()
    waiting = bench.enter("a")
    for plugins, expires in (((), 1), ((), 2), (("Fit",), 1), ((), 1)):
        waiting.failed(0, frozenset(plugins), frozenset())
        assert waiting.backoff_expires == expires * 1000
    assert (waiting.failures, waiting.errors) == (1, 1)


def test_only_plugins_that_rejected_the_pod_are_asked() -> None:
    """A pod whose plugins did not register the event stays, and is not recorded."""
    bench = Bench()
    bench.rules.hints.update({("Fit", "NodeAdd"): "Queue", ("Taints", "NodeAdd"): "QueueSkip"})
    for name, plugin in (("a", "Fit"), ("b", "Taints"), ("c", "Ports")):
        bench.enter(name)
        bench.fail(plugin)
    bench.pass_seconds(5)
    bench.queue.broadcast(event("Node", "Add"))
    assert bench.moves.drain() == [
        {"event": "NodeAdd", "pod": "default/a", "hints": {"Fit": "Queue"}, "to": "active"},
        {"event": "NodeAdd", "pod": "default/b", "hints": {"Taints": "QueueSkip"}, "to": None},
    ]
    assert bench.where() == {"a": "active", "b": "unschedulable", "c": "unschedulable"}


def test_an_error_of_a_hint_queues_the_pod() -> None:
    """A pod must not be stuck because a plugin cannot answer."""
    bench = Bench()
    bench.rules.hints["Fit", "NodeAdd"] = "Error"
    bench.enter("a")
    bench.fail("Fit")
    bench.queue.broadcast(event("Node", "Add"))
    assert bench.where() == {"a": "backoff"}


def test_a_gated_pod_hears_only_of_what_interests_the_gating_plugin() -> None:
    """Where PreEnqueue still refuses it stays gated, and the move says so by going nowhere."""
    bench = Bench()
    bench.rules.gates["default/a"] = "Gates"
    bench.rules.hints.update({("Gates", "TargetPodUpdate"): "Queue", ("Fit", "NodeAdd"): "Queue"})
    bench.enter("a")
    assert bench.where() == {"a": "gated"}
    bench.queue.broadcast(event("Node", "Add"))
    assert bench.moves.drain() == []
    bench.queue.notify("default/a", event("TargetPod", "Update"))
    move = {"event": "TargetPodUpdate", "pod": "default/a", "hints": {"Gates": "Queue"}, "to": None}
    assert bench.moves.drain() == [move]
    bench.rules.gates.clear()
    assert bench.queue.notify("default/a", event("TargetPod", "Update"))
    assert bench.where() == {"a": "active"}


def test_a_plugin_that_gates_a_moved_pod_joins_those_that_rejected_it() -> None:
    """Later events are asked of both."""
    bench = Bench()
    bench.rules.hints.update(
        {("Fit", "AssignedPodDelete"): "Queue", ("Preempt", "AssignedPodDelete"): "QueueSkip"}
    )
    waiting = bench.enter("a")
    bench.fail("Fit")
    bench.rules.gates["default/a"] = "Preempt"
    bench.queue.broadcast(event("AssignedPod", "Delete"))
    assert (bench.where(), waiting.rejected_by) == ({"a": "gated"}, frozenset({"Fit", "Preempt"}))
    bench.rules.gates.clear()
    bench.queue.broadcast(event("AssignedPod", "Delete"))
    first, second = bench.moves.drain()
    assert (first["hints"], first["to"]) == ({"Fit": "Queue"}, None)
    assert (second["hints"], second["to"]) == ({"Fit": "Queue", "Preempt": "QueueSkip"}, "backoff")


def test_a_lost_nomination_concerns_pods_of_at_most_its_priority() -> None:
    """Higher ones had not respected it."""
    bench = Bench()
    bench.rules.hints["Fit", "AssignedPodDelete"] = "Queue"
    for name, priority in (("high", 10), ("equal", 5), ("low", 0)):
        bench.enter(name, priority=priority)
    for _ in range(3):
        bench.fail("Fit")
    bench.queue.broadcast(event("AssignedPod", "Delete"), at_most=5)
    assert bench.where() == {"high": "unschedulable", "equal": "backoff", "low": "backoff"}


def test_an_event_during_the_attempt_moves_the_pod_when_it_fails() -> None:
    """It is asked then; the record leaves out where it went."""
    bench = Bench()
    bench.rules.hints["Claims", "ClaimUpdate"] = "Queue"
    bench.enter("a")
    waiting = bench.queue.pop()
    assert isinstance(waiting, QueuedPodInfo)
    bench.queue.broadcast(event("Claim", "Update"))
    waiting.failed(bench.clock.now, frozenset({"Claims"}), frozenset())
    assert bench.queue.requeue(waiting) == "backoff"
    assert bench.moves.drain() == [
        {"event": "ClaimUpdate", "pod": "default/a", "hints": {"Claims": "Queue"}, "to": None}
    ]


def test_pods_that_failed_long_ago_are_moved_by_time() -> None:
    """After five minutes, looked at twice a minute, without asking anybody."""
    bench = Bench()
    bench.enter("a")
    bench.fail("Fit")
    bench.queue.pass_to(329_999)
    assert (bench.where(), bench.moves.drain()) == ({"a": "unschedulable"}, [])
    bench.queue.pass_to(330_000)
    move = {"event": "UnschedulableTimeout", "pod": "default/a", "hints": {}, "to": "active"}
    assert (bench.where(), bench.moves.drain()) == ({"a": "active"}, [move])


def test_a_long_time_passes_in_few_looks() -> None:
    """A year of nothing due is one step, and a gated pod makes nothing due."""
    bench = Bench()
    bench.rules.gates["default/a"] = "Gates"
    bench.enter("a")
    looks = 0
    flush = SchedulingQueue._flush_backoff

    def counted(queue: SchedulingQueue) -> None:
        nonlocal looks
        looks += 1
        flush(queue)

    bench.queue._flush_backoff = counted.__get__(bench.queue)  # type: ignore[method-assign]
    bench.pass_seconds(365 * 86_400)
    assert looks == 0
    assert bench.where() == {"a": "gated"}
