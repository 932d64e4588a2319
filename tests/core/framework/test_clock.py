from __future__ import annotations

import gc
from weakref import ref

from scheduler_core.schedulers.v1_22.clock import VirtualClock, go_duration
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod, WaitingPods


def test_time_moves_from_timer_to_timer() -> None:
    """Nothing happens in between: a day with two timers takes two steps."""
    clock = VirtualClock()
    seen: list[float] = []
    clock.schedule(86_400, lambda: seen.append(clock.now))
    clock.schedule(5, lambda: seen.append(clock.now))
    steps = 0
    while clock.fire():
        steps += 1
    assert (seen, steps, clock.now) == ([5, 86_400], 2, 86_400)


def test_timers_of_one_moment_go_off_in_the_order_they_were_set() -> None:
    """Equal times do not compare what is to be done."""
    clock = VirtualClock()
    seen: list[str] = []
    for name in "bac":
        clock.after(1, lambda name=name: seen.append(name), name)  # type: ignore[misc]
    assert [timer.name for timer in clock.timers()] == ["b", "a", "c"]
    while clock.fire():
        pass
    assert seen == ["b", "a", "c"]


def test_a_cancelled_timer_does_not_go_off_and_is_not_waited_for() -> None:
    """The next time is that of the next timer that is alive."""
    clock = VirtualClock()
    clock.schedule(1, lambda: None).cancel()
    clock.schedule(2, lambda: None)
    assert clock.next_time() == 2
    clock.timers()[0].cancel()
    assert clock.next_time() is None
    assert clock.fire() is None


def test_work_that_takes_time_makes_timers_late_not_earlier() -> None:
    """A timer that came due during work goes off afterwards, at the later time; one in the past at once."""
    clock = VirtualClock()
    clock.schedule(1, lambda: None)
    clock.spend(3)
    clock.fire()
    assert clock.now == 3
    assert clock.schedule(1, lambda: None).at == 3


def test_go_prints_durations() -> None:
    """Durations in messages look as Go prints them."""
    assert [go_duration(s) for s in (0, 10, 60, 90, 900, 3601)] == [
        "0s",
        "10s",
        "1m0s",
        "1m30s",
        "15m0s",
        "1h0m1s",
    ]


def settled_pods() -> tuple[VirtualClock, WaitingPods, list[tuple[str, str, float]]]:
    """Return waiting pods and the list that their verdicts are reported to."""
    clock = VirtualClock()
    reported: list[tuple[str, str, float]] = []

    def settled(pod: WaitingPod) -> None:
        reported.append((pod.key, pod.verdict, clock.now))

    return clock, WaitingPods(clock, settled), reported


def message(plugin: str, seconds: float) -> str:
    """Word a time-out."""
    return f"{plugin} {seconds}"


def test_a_pod_waits_for_every_plugin() -> None:
    """It goes on with the last plugin that allows it, and is reported once."""
    _, pods, reported = settled_pods()
    pods.add("p", "n", {"A": 5, "B": 9}, message)
    assert pods.get("p").deadline == 5
    pods.allow("p", "A")
    assert reported == []
    pods.allow("p", "B")
    pods.reject("p", "A", "too late")
    assert reported == [("p", "allowed", 0)]


def test_the_shortest_timer_rejects() -> None:
    """When the first plugin's time is up the pod is rejected by it, and the other timer is gone."""
    clock, pods, reported = settled_pods()
    pods.add("p", "n", {"A": 5, "B": 9}, message)
    clock.fire()
    assert reported == [("p", "rejected", 5)]
    assert (pods.get("p").plugin, pods.get("p").message) == ("A", "A 5")
    assert clock.next_time() is None


def test_a_settled_pod_is_listed_until_its_binding_cycle_took_it_up() -> None:
    """Plugins that look at waiting pods still see it, but can no longer change its verdict."""
    _, pods, reported = settled_pods()
    pods.add("p", "n", {"A": 5}, message)
    pods.reject("p", "A", "no")
    assert [pod.key for pod in pods] == ["p"]
    pods.allow("p", "A")
    pods.remove("p")
    pods.remove("p")
    assert (len(pods), reported) == (0, [("p", "rejected", 0)])


def test_a_time_that_is_up_after_the_verdict_is_no_time_out() -> None:
    """Who rejected the pod first did; only a wait that nobody ended has timed out."""
    _, pods, reported = settled_pods()
    pods.add("p", "n", {"A": 5}, message)
    pods.add("q", "n", {"A": 5}, message)
    pods.reject("p", "B", "no")
    for key in ("p", "q"):
        pods.expire(key, "A", "late")
    assert [(pod.plugin, pod.message, pod.timed_out) for pod in pods] == [
        ("B", "no", False),
        ("A", "late", True),
    ]
    assert [verdict for _, verdict, _ in reported] == ["rejected", "rejected"]


def test_a_removed_pod_keeps_nothing_alive() -> None:
    """What reports its verdict may keep it; the clock and the other pods are not kept with it."""
    clock, pods, reported = settled_pods()
    pods.add("p", "n", {"A": 5, "B": 9}, message)
    removed, kept = pods.get("p"), ref(pods)
    pods.expire("p", "A", "late")
    pods.remove("p")
    while clock.fire():
        pass
    assert len(reported) == 1
    gc.disable()
    try:
        del pods
        assert kept() is None and removed.timed_out
    finally:
        gc.enable()
