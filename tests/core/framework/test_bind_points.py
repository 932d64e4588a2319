"""Reserve, PreBind and Bind: who is called when, and what is undone when one of them fails."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.model import (
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Requirement,
    StorageClass,
    Volume,
)
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.v1_22.interface import POINTS, Plugin
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.record import Attempt, BindingCycle
from scheduler_core.schedulers.v1_22.releases import V1_22, V1_35, FrameworkRelease
from scheduler_core.schedulers.v1_22.scheduler import Framework
from scheduler_core.schedulers.v1_22.status import SUCCESS, Status
from tests.core.coscheduling.parts import node, pod


class Spy(Plugin):
    """Writes down every call, fails at the given points, and lets pods wait at Permit if asked."""

    def __init__(self, name: str, calls: list[str], fails: tuple[str, ...] = (), waits: float = 0.0) -> None:
        self.name = name
        self.calls = calls
        self.fails = fails
        self.waits = waits

    def _answer(self, point: str) -> Status:
        self.calls.append(f"{self.name}.{point}")
        return Status("Error", f"no {point}") if point in self.fails else SUCCESS

    def pre_filter(self, pod: QueuedPod) -> Status:
        del pod
        return self._answer("preFilter")

    def reserve(self, pod: QueuedPod, node: str) -> Status:
        del pod, node
        return self._answer("reserve")

    def unreserve(self, pod: QueuedPod) -> None:
        del pod
        self.calls.append(f"{self.name}.unreserve")

    def permit(self, pod: QueuedPod, node: str) -> Status:
        del pod, node
        answer = self._answer("permit")
        return Status("Wait", seconds=self.waits) if self.waits else answer

    def pre_bind(self, pod: QueuedPod, node: str) -> Status:
        del pod, node
        return self._answer("preBind")

    def bind(self, pod: QueuedPod, node: str) -> Status | None:
        del pod, node
        answer = self._answer("bind")
        return None if answer.success else answer

    def post_bind(self, pod: QueuedPod) -> None:
        del pod
        self.calls.append(f"{self.name}.postBind")


def spied(*fails: str, release: FrameworkRelease = V1_22) -> tuple[Framework, list[str]]:
    """Make a scheduler with two spies, the second of which fails at some points, a node and a pod."""
    calls: list[str] = []
    plugins = (Spy("one", calls), Spy("two", calls, fails))
    made = Framework([node("n", 1000), pod("p", "", cpu=600)], plugins, release=release)
    return made, calls


def reported(made: Framework, what: str) -> list[TimelineEvent]:
    """Return what happened of one kind."""
    return [one for one in made.record if isinstance(one, TimelineEvent) and one.what == what]


def first_attempt(made: Framework) -> Attempt:
    """Return the first scheduling cycle."""
    return next(one for one in made.record if isinstance(one, Attempt))


def test_plugins_are_called_in_the_order_of_the_framework() -> None:
    """Reserve before Permit, PreBind and Bind in the binding cycle; Bind may be left to the next plugin."""
    made, calls = spied()
    made.run(0.5)
    points = ["preFilter", "reserve", "permit", "preBind", "bind", "postBind"]
    assert calls == [f"{name}.{point}" for point in points for name in ("one", "two")]
    assert made.bound() == {"ns/p": "n"}
    (event,) = reported(made, "Scheduled")
    assert isinstance(event.detail, BindingCycle)
    said = [(point, plugin) for point, plugin, _ in event.detail.statuses]
    assert said == [
        ("PreBind", "VolumeBinding"),
        ("PreBind", "one"),
        ("PreBind", "two"),
        ("Bind", "DefaultBinder"),
        ("PostBind", "one"),
        ("PostBind", "two"),
    ]
    assert first_attempt(made).statuses[-len(said) :] == list(event.detail.statuses)


@pytest.mark.parametrize(
    ("point", "result", "message"),
    [
        ("reserve", "error", 'running Reserve plugin "two": no reserve'),
        ("permit", "error", 'running Permit plugin "two": no permit'),
        ("preBind", "scheduled", 'running PreBind plugin "two": no preBind'),
        ("bind", "scheduled", 'binding rejected: running Bind plugin "two": no bind'),
    ],
)
def test_a_failure_unreserves_all_in_reverse_order_and_queues_the_pod_again(
    point: str, result: str, message: str
) -> None:
    """Whatever fails after the pod was assumed: its node is free, it is shown, and the pod is tried again."""
    made, calls = spied(point)
    made.run(0.5)
    assert [call for call in calls if "unreserve" in call] == ["two.unreserve", "one.unreserve"]
    assert calls.index(f"two.{point}") < calls.index("two.unreserve")
    assert (made.bound(), made.binding, int(made.cluster.used[0, 0])) == ({}, {}, 0)
    assert [one.text for one in reported(made, "FailedScheduling")] == [message]
    assert first_attempt(made).result == result
    assert [one.key for one in made.queue.placed("unschedulable")] == ["ns/p"]
    assert not any(call.endswith("postBind") for call in calls)


def test_a_pod_that_failed_by_an_error_waits_for_no_event_in_1_35() -> None:
    """It backs off and is tried again, and again; in 1.22 it stays where it is until the flush."""
    for release, tries in ((V1_22, 1), (V1_35, 4)):
        made, calls = spied("preBind", release=release)
        made.run(10)
        assert calls.count("two.preBind") == tries


def test_what_a_failed_binding_held_wakes_others_in_1_35() -> None:
    """Another pod found no room beside the one whose Bind failed: its end is like a deletion."""
    for release, moved in ((V1_22, 0), (V1_35, 1)):
        calls: list[str] = []
        plugins = (Spy("spy", calls, ("bind",), waits=5.0),)
        made = Framework(
            [node("n", 1000), pod("p", "", cpu=600), pod("q", "", cpu=600)], plugins, release=release
        )
        made.run(1)
        made.waiting.allow("ns/p", "spy")
        made.run(2)
        assert len([one for one in reported(made, "Moved") if "AssignedPodDelete" in one.text]) == moved


def test_a_pod_deleted_before_its_binding_cycle_is_not_bound() -> None:
    """The API refuses the Binding, what was reserved is given up, and the pod is queued nowhere."""
    made, calls = spied()
    made.take_turns()
    made.attempt()
    made.delete_pod("ns/p")
    made.run(1)
    assert (made.pods, made.cluster.pods, made.binding, made.queue.pods) == ({}, {}, {}, {})
    assert calls[-2:] == ["two.unreserve", "one.unreserve"]
    (event,) = reported(made, "FailedScheduling")
    assert event.text == 'binding rejected: running Bind plugin "DefaultBinder": pods "p" not found'
    assert not reported(made, "Scheduled")


def test_a_profile_without_a_bind_plugin_binds_nobody() -> None:
    """Bind is a plugin's work like any other; only what a point names runs there."""
    points = {point: ["VolumeBinding"] for point in POINTS}
    made = Framework([node("n", 1000), pod("p", "", cpu=600)], (), points=points)
    made.run(1)
    assert made.bound() == {}
    assert reported(made, "FailedScheduling")[0].text.startswith("binding rejected: bind status: Skip")


def test_a_pod_that_takes_a_deleted_one_s_name_is_another_pod() -> None:
    """Its predecessor's deletion, heard of late, does not take it out of the queue or off its node."""
    bound = pod("p", "", cpu=600, node_name="n", phase="Running")
    for former in (bound, pod("p", "", cpu=600)):
        made = Framework([node("n", 1000), former], ())
        made.take_turns()
        made.delete_pod("ns/p")
        made.create_pod(pod("p", "", cpu=500))
        made.run(1)
        assert made.bound() == {"ns/p": "n"}
        assert int(made.cluster.used[0, 0]) == 500


def test_deleting_a_finished_pod_wakes_nobody() -> None:
    """The scheduler heard of its end; that the object goes too is no event."""
    made = Framework([node("n", 1000), pod("p", "", cpu=600), pod("q", "", cpu=600)], ())
    made.run(0.5)
    made.finish_pod("ns/p", "Succeeded")
    made.take_turns()
    assert len(reported(made, "Moved")) == 1
    assert "ns/p" in made.cluster.finished
    made.run(3)
    made.create_pod(pod("big", "", cpu=5000))
    made.run(4)
    made.delete_pod("ns/p")
    made.run(5)
    assert len(reported(made, "Moved")) == 1
    assert made.cluster.finished == {}


# Claims


def local(name: str, host: str, size: int = 1) -> PersistentVolume:
    """Make a volume of the class ``local`` that one node has."""
    term = NodeSelectorTerm((Requirement("host", "In", (host,)),))
    return PersistentVolume(ObjectMeta(name), Volume(), (term,), "local", size)


def claim(name: str = "c") -> PersistentVolumeClaim:
    """Make a claim that waits for its first consumer."""
    return PersistentVolumeClaim(ObjectMeta(name, "ns"), storage_class="local", request=1)


def claimed(*objects: Any, waits: float = 0.0, user: str = "p", **options: Any) -> Framework:
    """Make a scheduler for a pod with a claim, a volume on each of two nodes, and other objects."""
    hosts = [replace(node(host, 1000), meta=ObjectMeta(host, labels={"host": host})) for host in ("a", "b")]
    pods = [replace(pod(user, "", cpu=600), volumes=(Volume("data", claim="c"),))]
    everything = [
        StorageClass(ObjectMeta("local"), binding_mode="WaitForFirstConsumer"),
        local("on-a", "a"),
        local("on-b", "b"),
        claim(),
        *hosts,
        *pods,
        *objects,
    ]
    return Framework(everything, (Spy("spy", [], waits=waits),), **options)


def volume_of(made: Framework) -> tuple[str, list[str]]:
    """Return the claim's volume, and the volumes that belong to a claim."""
    storage = made.cluster.storage
    kept = [name for name, volume in storage.volumes.items() if volume.claim_ref]
    return storage.claims["ns/c"].volume_name, kept


def test_a_waiting_pod_s_claim_is_assumed_and_given_back() -> None:
    """While it waits nobody else gets the volume; rejected, it leaves claim and volume as they were."""
    made = claimed(waits=5.0)
    made.run(1)
    held = made.cluster.pods["ns/p"].node_name
    assert volume_of(made) == (f"on-{held}", [f"on-{held}"])
    made.run(5.5)
    assert len(made.waiting) == 0
    assert volume_of(made) == ("", [])
    assert made.cluster.storage.volumes["on-a"] == local("on-a", "a")


def test_a_rejected_pod_s_claim_does_not_pin_it() -> None:
    """Its node is full when it is tried again: the volume of the other node will do."""
    made = claimed(waits=5.0)
    made.run(1)
    held = made.cluster.pods["ns/p"].node_name
    made.run(5.5)
    made.create_pod(pod("big", "", cpu=900, node_name=held, phase="Running"))
    made.run(200)
    other = "b" if held == "a" else "a"
    assert made.cluster.pods["ns/p"].node_name in ("", other)
    tried = [one for one in made.record if isinstance(one, Attempt) and one.pod == "ns/p"]
    assert [attempt.node for attempt in tried[:2]] == [held, other]


def test_a_deleted_waiting_pod_gives_its_claim_back() -> None:
    """Deleted while it waits, it is as if it had never been there."""
    made = claimed(waits=50.0)
    made.run(1)
    made.delete_pod("ns/p")
    made.run(2)
    assert volume_of(made) == ("", [])
    assert int(made.cluster.used[0].sum()) == 0


def test_a_claim_that_two_assumed_pods_use_stays_for_the_second() -> None:
    """The first one's end does not take the volume from under the other."""
    second = replace(pod("q", "", cpu=100), volumes=(Volume("data", claim="c"),))
    made = claimed(second, waits=50.0)
    made.run(1)
    assert len(made.waiting) == 2
    before = volume_of(made)
    made.delete_pod("ns/p")
    made.run(2)
    assert volume_of(made) == before
    made.delete_pod("ns/q")
    made.run(3)
    assert volume_of(made) == ("", [])


def test_a_bound_pod_s_claim_stays_bound_when_the_pod_goes() -> None:
    """PreBind wrote it to the API, where it stays."""
    made = claimed()
    made.run(1)
    bound = volume_of(made)
    assert bound[0] == f"on-{made.bound()['ns/p']}"
    made.delete_pod("ns/p")
    made.run(2)
    assert volume_of(made) == bound


def test_a_claim_that_went_while_its_pod_waited_fails_pre_bind() -> None:
    """Nothing is bound, the volume is free again, and the pod is queued."""
    made = claimed(waits=50.0)
    made.run(1)
    made.delete_object("PersistentVolumeClaim", "ns/c")
    made.waiting.allow("ns/p", "spy")
    made.run(1.5)
    text = 'running PreBind plugin "VolumeBinding": persistentvolumeclaims "c" not found'
    assert [one.text for one in reported(made, "FailedScheduling")][:1] == [text]
    assert made.bound() == {}
    assert [name for name, volume in made.cluster.storage.volumes.items() if volume.claim_ref] == []


def test_an_immediate_claim_without_a_volume_is_unresolvable() -> None:
    """Its pod waits for the volume controller, not for a node; it is no error."""
    made = claimed()
    made.put_object(StorageClass(ObjectMeta("local"), binding_mode="Immediate"))
    made.run(0.5)
    attempt = first_attempt(made)
    assert (attempt.result, attempt.refused_by) == ("unschedulable", ("VolumeBinding",))
    assert "pod has unbound immediate PersistentVolumeClaims" in attempt.message


def without(*left_out: str) -> Framework:
    """Make the scheduler of a claim without VolumeBinding at some points."""
    points = {
        point: ["DefaultBinder", *(() if point in left_out else ("VolumeBinding",))] for point in POINTS
    }
    return claimed(points=points)


def test_without_volume_binding_claims_stay_unbound() -> None:
    """A profile that does not call it binds the pod alone; without Reserve PreBind sees to the claim."""
    none = without("reserve", "preBind")
    none.run(1)
    assert (list(none.bound()), volume_of(none)) == (["ns/p"], ("", []))
    late = without("reserve")
    late.run(1)
    assert volume_of(late)[0] == f"on-{late.bound()['ns/p']}"
