"""What Permit does beside its verdict: whom it wakes, and which pod a verdict is about."""

from __future__ import annotations

from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.releases import V1_35
from scheduler_core.schedulers.v1_22.scheduler import Framework, Pace
from scheduler_core.schedulers.v1_22.status import SUCCESS, Status
from tests.core.coscheduling.parts import node, pod
from tests.core.framework.test_bind_points import Spy, reported


class Waker(Plugin):
    """Asks for a sleeping pod whenever one comes to Permit, and lets some pods fail there."""

    name = "Waker"

    def __init__(self, fails: str) -> None:
        self.fails = fails

    def permit(self, pod: QueuedPod, node: str) -> Status:
        """Ask for the pod once, in the cycle of ``a``."""
        del node
        if pod.key == "ns/a":
            self.framework.activate(["ns/big"])
        return Status("Unschedulable", "no") if pod.key == self.fails else SUCCESS


def test_a_failed_cycle_activates_nobody_later_either() -> None:
    """What a plugin asked for in a cycle that fails is forgotten, not done by the next that succeeds."""
    for fails, activated in (("", ["ns/big"]), ("ns/a", [])):
        pods = [
            pod("big", "", cpu=9000, priority=9),
            pod("a", "", cpu=100, priority=5),
            pod("b", "", cpu=100),
        ]
        made = Framework([node("n", 1000), *pods], (Waker(fails),))
        made.run(0.5)
        assert "ns/b" in made.bound()
        assert [key for one in reported(made, "Activated") for key in one.detail] == activated  # type: ignore[attr-defined]


def test_the_end_of_a_pods_own_wait_does_not_wake_it() -> None:
    """Its room is free for others, who are moved (1.35); the pod itself waits for another event."""
    spy = Spy("spy", [], waits=5.0)
    spy.events = frozenset({"AssignedPodDelete"})
    pods = [pod("p", "", cpu=600, priority=1), pod("q", "", cpu=600)]
    made = Framework([node("n", 1000), *pods], (spy,), release=V1_35)
    made.run(5.5)
    assert made.waiting.get("ns/q") is not None
    assert [one.key for one in made.queue.placed("unschedulable")] == ["ns/p"]
    assert [one.detail for one in reported(made, "Moved")] == [["ns/q"]]


def test_a_verdict_is_about_the_pod_that_waited_not_about_its_name() -> None:
    """A pod that took a deleted one's name and waits as well is not rejected with its predecessor."""
    spy = Spy("spy", [], waits=5.0)
    made = Framework([node("n", 1000), pod("p", "", cpu=600)], (spy,), pace=Pace(turns="when-idle"))
    made.run(1)
    made.delete_pod("ns/p")
    made.create_pod(pod("p", "", cpu=500))
    made.attempt()
    made.take_turns()
    waiting = made.waiting.get("ns/p")
    assert waiting is not None
    assert (waiting.verdict, waiting.since) == ("", made.clock.now)
    assert list(made.binding) == ["ns/p"]
    assert int(made.cluster.used[0, 0]) == 500
    assert not reported(made, "FailedScheduling")
