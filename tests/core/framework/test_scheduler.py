from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.model import Volume
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.coscheduling import CLASSIC, CURRENT, Edition, read_arguments
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling, PodGroupController
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.schedulers.v1_22.interface import POINTS
from scheduler_core.schedulers.v1_22.plugins.default_preemption import DefaultPreemption
from scheduler_core.schedulers.v1_22.profile import Scheduling
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.releases import RELEASES
from scheduler_core.schedulers.v1_22.scheduler import Framework, Pace
from tests.core.coscheduling.parts import group, node, pod

EPOCH = 1609459260.0  # a minute after the groups' creation


def framework(
    *objects: Any,
    edition: Edition = CLASSIC,
    coscheduling: bool = True,
    pace: Pace | None = None,
    **arguments: int,
) -> Framework:
    """Make a scheduler with default preemption and, if asked, Coscheduling and its controller."""
    plugin = Coscheduling(edition, read_arguments(edition, arguments), EPOCH)
    preemption = DefaultPreemption()
    plugins = (preemption, plugin, PodGroupController(edition)) if coscheduling else (preemption,)
    sort = plugin if coscheduling else None
    return Framework(objects, plugins, queue_sort=sort, pace=pace, release=RELEASES[edition.kubernetes])


def demo(room: int, edition: Edition = CLASSIC) -> list[Any]:
    """Return 6 pods of 3 CPU with minMember 4 and nodes for ``room`` of them."""
    members = [pod(f"nginx-{number}", "nginx", cpu=3000) for number in range(6)]
    return [
        group(4, "nginx", schedule_timeout_seconds=10),
        *(node(f"n{n}", 3000) for n in range(room)),
        *members,
    ]


def reported(scheduler: Framework, what: str) -> list[TimelineEvent]:
    """Return what happened of one kind."""
    return [one for one in scheduler.record if isinstance(one, TimelineEvent) and one.what == what]


def attempts(scheduler: Framework) -> list[Attempt]:
    """Return the scheduling cycles."""
    return [one for one in scheduler.record if isinstance(one, Attempt)]


@pytest.mark.parametrize("edition", [CLASSIC, CURRENT])
def test_the_demo_with_room_runs_four_and_leaves_two_pending(edition: Edition) -> None:
    """Three members wait, the fourth takes them along, and the two others find no room."""
    scheduler = framework(*demo(4), edition=edition)
    scheduler.run(60)
    assert list(scheduler.bound()) == [f"ns/nginx-{number}" for number in range(4)]
    results = [attempt.result for attempt in attempts(scheduler)]
    assert results == ["waiting"] * 3 + ["scheduled"] + ["unschedulable"] * 2


@pytest.mark.parametrize("edition", [CLASSIC, CURRENT])
def test_the_demo_without_room_runs_none(edition: Edition) -> None:
    """With room for three nobody is ever bound, however often it is tried."""
    scheduler = framework(*demo(3), edition=edition, pace=Pace(cycle=0.05))
    scheduler.run(100)
    assert scheduler.bound() == {}
    assert len(attempts(scheduler)) > 6


def test_the_phases_of_the_demo_over_time() -> None:
    """Classic: Pending, PreScheduling, Scheduling with the first bind, Scheduled, Running."""
    scheduler = framework(*demo(4))
    scheduler.run(60)
    phases = list(dict.fromkeys(one.text for one in reported(scheduler, "PodGroup")))
    assert phases == ["Pending", "PreScheduling", "Scheduling", "Scheduled", "Running"]
    assert scheduler.groups["ns/nginx"].status.running == 4


def deadlock() -> list[Any]:
    """Return two groups of five created in one second, and room for eight pods."""
    members = [pod(f"{number}-{name}", name, cpu=1000) for number in range(5) for name in "ab"]
    return [group(5, "a"), group(5, "b"), node("n1", 4000), node("n2", 4000), *members]


def test_two_groups_deadlock_without_coscheduling_only() -> None:
    """Without the plugin both get four of five for ever; with it one group runs whole, the other not."""
    alone = framework(*deadlock(), coscheduling=False)
    alone.run(200)
    assert sorted(key[-1] for key in alone.bound()) == ["a"] * 4 + ["b"] * 4
    together = framework(*deadlock())
    together.run(200)
    assert {key[-1] for key in together.bound()} == {"b"}
    assert len(together.bound()) == 5


def test_a_wait_that_times_out_frees_the_node_and_tells_why() -> None:
    """A group that stays a little too small waits its time, is rejected whole, and denied."""
    members = [pod(f"p{number}", cpu=1000) for number in range(10)]
    scheduler = framework(group(10, schedule_timeout_seconds=5), node("n", 9000), *members)
    scheduler.run(4)
    plugin = scheduler.plugins[1]
    assert isinstance(plugin, Coscheduling)
    assert (len(scheduler.waiting), len(plugin.state.waiting)) == (9, 9)
    assert int(scheduler.cluster.used[0, 0]) == 9000
    scheduler.run(5.02)
    assert (len(scheduler.waiting), len(plugin.state.waiting)) == (0, 0)
    assert int(scheduler.cluster.used[0, 0]) == 0
    messages = [one.text for one in reported(scheduler, "FailedScheduling")]
    timeout = "rejected due to timeout after waiting 5s at plugin Coscheduling"
    assert f'pod "p0" rejected while waiting on permit: {timeout}' in messages
    assert sum("rejection in Unreserve" in text for text in messages) == 8
    assert plugin.state.denied.until("ns/g", 6) == pytest.approx(25.0, abs=0.1)


def test_a_group_that_can_never_be_complete_still_evicts() -> None:
    """Preemption also runs for a pod that failed in PreFilter alone (classic); current spares the victim."""
    for edition, evicted in ((CLASSIC, ["ns/low"]), (CURRENT, [])):
        low = pod("low", "", cpu=2000, node_name="n", phase="Running")
        scheduler = framework(
            group(2), node("n", 2000), low, pod("high", cpu=1000, priority=9), edition=edition
        )
        scheduler.run(1)
        assert scheduler.deleted == evicted


def test_preemption_nominates_and_the_pod_is_bound_there_later() -> None:
    """The victim goes, the preemptor backs off a second and takes the node it was nominated to."""
    low = pod("low", "", cpu=2000, node_name="n", phase="Running")
    scheduler = framework(node("n", 2000), low, pod("high", "", cpu=2000, priority=9), coscheduling=False)
    scheduler.run(0.5)
    assert attempts(scheduler)[0].nominated == "n"
    assert [one.key for one in scheduler.queue.placed("backoff")] == ["ns/high"]
    scheduler.run(3)
    assert scheduler.bound() == {"ns/high": "n"}
    assert [attempt.time for attempt in attempts(scheduler)][1:] == [2.0]


@pytest.mark.parametrize(
    ("edition", "arguments", "bound_at"),
    [(CLASSIC, {"deniedPGExpirationTimeSeconds": 300}, 90.0), (CURRENT, {}, 6.0)],
)
def test_the_end_of_a_wait_wakes_nobody_in_1_22(
    edition: Edition, arguments: dict[str, Any], bound_at: float
) -> None:
    """A pod that failed beside waiting ones waits for the flush, though there is room; 1.35 wakes it."""
    members = [pod(f"p{number}", cpu=1000) for number in range(10)]
    objects = [group(10, schedule_timeout_seconds=5), node("n", 9000), *members, pod("single", "", cpu=500)]
    scheduler = framework(*objects, edition=edition, pace=Pace(cycle=0.01), **arguments)
    scheduler.run(bound_at - 1)
    assert "ns/single" not in scheduler.bound()
    scheduler.run(bound_at + 1)
    assert "ns/single" in scheduler.bound()


def test_goroutines_that_wait_for_idle_leave_nodes_held() -> None:
    """Whether a rejected group's room is free for the next pod depends on the binding cycles' turns."""
    members = [pod(f"p{number}", cpu=1000) for number in range(3)]
    objects = [group(3), node("n", 2000), *members, pod("single", "", cpu=500)]
    bound = {}
    for turns in ("between-cycles", "when-idle"):
        scheduler = framework(*objects, pace=Pace(turns=turns))
        scheduler.run(0.5)
        bound[turns] = list(scheduler.bound())
    assert bound == {"between-cycles": ["ns/single"], "when-idle": []}


def test_a_finished_pod_frees_its_node_and_wakes_who_needs_it() -> None:
    """The end of a pod is an event like a deletion; the controller still counts it."""
    scheduler = framework(group(1), node("n", 1000), pod("p0", cpu=1000), pod("single", "", cpu=1000))
    scheduler.run(1)
    assert list(scheduler.bound()) == ["ns/p0"]
    scheduler.finish_pod("ns/p0", "Succeeded")
    scheduler.run(5)
    assert scheduler.pods["ns/single"].node_name == "n"
    assert scheduler.groups["ns/g"].status.phase == "Finished"


def test_a_waiting_pod_that_is_deleted_takes_its_group_along() -> None:
    """Its node is free, the other waiting members are rejected, and it is not queued again."""
    members = [pod(f"p{number}", cpu=1000) for number in range(10)]
    scheduler = framework(group(10), node("n", 9000), *members)
    scheduler.run(1)
    scheduler.delete_pod("ns/p0")
    scheduler.run(1.5)
    assert (len(scheduler.waiting), int(scheduler.cluster.used[0, 0])) == (0, 0)
    assert "ns/p0" not in scheduler.queue.pods
    assert "ns/p1" in scheduler.queue.pods


def test_two_runs_of_one_scenario_are_equal() -> None:
    """Time, order and texts of everything that happens are the same every time."""

    def story() -> list[str]:
        scheduler = framework(*deadlock())
        scheduler.run(200)
        return [
            f"{one.time} {getattr(one, 'what', '')} {getattr(one, 'pod', '')}" for one in scheduler.record
        ]

    assert story() == story()


def test_idle_time_costs_nothing() -> None:
    """A day in which nothing can be scheduled takes two attempts a flush at most, and no steps in between."""
    scheduler = framework(node("n", 1000), pod("big", "", cpu=2000), coscheduling=False)
    assert scheduler.run(86_400)
    assert scheduler.clock.now == pytest.approx(86_400, abs=0.01)
    assert len(attempts(scheduler)) == 1 + 86_400 // 90


def test_a_scheduler_that_is_kept_busy_stops_at_the_given_number_of_attempts() -> None:
    """In the current edition the first waiting member of a hopeless group wakes all others for ever."""
    scheduler = framework(*demo(3), edition=CURRENT)
    assert not scheduler.run(60, attempts=500)
    assert len(attempts(scheduler)) == 500


def test_an_attempt_tells_the_numbers_behind_every_decision() -> None:
    """Permit's n of m, PostFilter's gap and PreFilter's counts come with the attempt."""
    scheduler = framework(*demo(3))
    scheduler.run(0.02)

    def detail(attempt: Attempt, point: str) -> Any:
        return next(s.detail for at, name, s in attempt.statuses if (at, name) == (point, "Coscheduling"))

    waiting, *_ = attempts(scheduler)
    permit = detail(waiting, "Permit")
    assert detail(waiting, "PreFilter").siblings == 6
    assert (permit.assigned, permit.min_member, permit.seconds) == (1, 4, 10)
    failed = next(one for one in attempts(scheduler) if one.result == "unschedulable")
    found = detail(failed, "PostFilter")
    assert (found.assigned, found.missing_percent, len(found.rejection.rejected)) == (3, 25.0, 3)


def test_a_new_node_wakes_the_pods_that_found_no_room() -> None:
    """The pod is still backing off when the node comes, and is bound at the next look."""
    scheduler = framework(node("n", 1000), pod("big", "", cpu=2000), coscheduling=False)
    scheduler.run(0.5)
    scheduler.put_object(node("large", 4000))
    scheduler.run(3)
    assert scheduler.bound() == {"ns/big": "large"}
    assert any("NodeAdd moved ns/big" in one.text for one in reported(scheduler, "Moved"))


def test_a_deleted_node_takes_no_more_pods() -> None:
    """What is created afterwards fails: no nodes are left."""
    scheduler = framework(node("n", 1000), coscheduling=False)
    scheduler.delete_object("Node", "n")
    scheduler.create_pod(pod("late", "", cpu=1))
    scheduler.run(1)
    assert attempts(scheduler)[0].message == "no nodes available to schedule pods"


def test_a_pod_group_that_comes_late_wakes_its_pods() -> None:
    """Pods of a missing group fail at Permit; the group's coming moves them."""
    scheduler = framework(node("n", 4000), pod("p0", cpu=1), pod("p1", cpu=1))
    scheduler.run(0.5)
    assert [attempt.message for attempt in attempts(scheduler)] == ["PodGroup not found"] * 2
    assert int(scheduler.cluster.used[0, 0]) == 0
    scheduler.put_group(group(2))
    scheduler.run(4)
    assert len(scheduler.bound()) == 2


def test_members_that_come_late_wait_for_the_denial_to_run_out() -> None:
    """In classic a group with too few pods denies itself; the pods that complete it have to wait for that."""
    scheduler = framework(group(2), node("n", 4000), pod("p0", cpu=1), deniedPGExpirationTimeSeconds=20)
    scheduler.run(1)
    scheduler.create_pod(pod("p1", cpu=1))
    scheduler.run(15)
    assert scheduler.bound() == {}
    assert "last failed in 3s, deny" in attempts(scheduler)[-1].message
    scheduler.run(120)
    assert len(scheduler.bound()) == 2


def test_a_missing_claim_is_unresolvable_and_preempts_nobody() -> None:
    """VolumeBinding refuses the pod at PreFilter, on all nodes and whoever would make room."""
    volume = Volume("data", claim="gone")
    low = pod("low", "", cpu=1000, node_name="n", phase="Running")
    high = replace(pod("high", "", cpu=1000, priority=9), volumes=(volume,))
    scheduler = framework(node("n", 1000), low, high, coscheduling=False)
    scheduler.run(1)
    attempt, *_ = attempts(scheduler)
    assert (attempt.result, scheduler.deleted) == ("unschedulable", [])
    assert (attempt.refused_by, attempt.unresolvable) == (("VolumeBinding",), True)
    message = '0/1 nodes are available: 1 persistentvolumeclaim "gone" not found.'
    assert attempt.message == message


def test_a_member_with_a_missing_claim_rejects_its_group() -> None:
    """PostFilter runs for it, so that those who wait for it do not hold their nodes any longer."""
    members = [pod(f"p{number}", cpu=1000) for number in range(3)]
    members[2] = replace(members[2], volumes=(Volume("data", claim="gone"),))
    scheduler = framework(group(3), node("n", 4000), *members)
    scheduler.run(0.5)
    assert [attempt.result for attempt in attempts(scheduler)] == ["waiting", "waiting", "unschedulable"]
    assert (len(scheduler.waiting), int(scheduler.cluster.used[0, 0])) == (0, 0)


def test_without_nodes_a_pod_is_unschedulable_and_no_plugin_is_asked() -> None:
    """It is no error, and neither PreFilter nor PostFilter runs (ErrNoNodesAvailable)."""
    scheduler = framework(group(1), pod("p0", cpu=1000))
    scheduler.run(0.5)
    attempt, *_ = attempts(scheduler)
    assert (attempt.result, attempt.statuses) == ("unschedulable", [])
    assert attempt.message == "no nodes available to schedule pods"


def with_points(*left_out: str) -> Framework:
    """Make a scheduler for a group of four with room for three and a single pod, without some points."""
    members = [pod(f"p{number}", cpu=1000) for number in range(4)]
    plugin = Coscheduling(CLASSIC, read_arguments(CLASSIC, {"permitWaitingTimeSeconds": 10}), EPOCH)
    names = ["VolumeBinding", "DefaultPreemption", "Coscheduling", "DefaultBinder"]
    points = {point: names for point in POINTS if point not in left_out}
    return Framework(
        [group(4), node("n", 3000), *members, pod("single", "", cpu=1000)],
        (DefaultPreemption(), plugin, PodGroupController(CLASSIC)),
        queue_sort=plugin,
        points=points,
    )


def test_without_post_filter_a_group_is_rejected_by_time_alone() -> None:
    """Its members hold their nodes until their time is up; with PostFilter they give way at once."""
    patient = with_points("postFilter")
    patient.run(9)
    assert (len(patient.waiting), patient.bound()) == (3, {})
    patient.run(11)
    assert len(patient.waiting) == 0
    quick = with_points()
    quick.run(9)
    assert list(quick.bound()) == ["ns/single"]


def test_without_permit_members_are_bound_one_by_one() -> None:
    """Nobody waits for the group, which is why Coscheduling cannot do without the point."""
    eager = with_points("permit")
    eager.run(1)
    assert list(eager.bound()) == ["ns/p0", "ns/p1", "ns/p2"]


def test_another_profile_filters_and_scores() -> None:
    """What filters and scores is exchanged as a whole; resource scores keep their own weights."""
    policy = compile_profile({"predicates": [{"name": "HostName"}], "priorities": []})
    crowded = Framework(
        [node("n", 1000), pod("big", "", cpu=9000)],
        (),
        scheduling=Scheduling(policy, 0, 0),
    )
    crowded.run(1)
    assert crowded.bound() == {"ns/big": "n"}
