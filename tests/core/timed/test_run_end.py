"""When a run in virtual time is over: not before every wait is, but some time also for who waits for ever."""

from __future__ import annotations

import pytest

from scheduler_core.cluster.v1_37.loop import Work
from scheduler_core.cluster.v1_37.objects import spec_of, with_spec
from scheduler_core.cluster.v1_37.replicaset import ReplicaSets
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.plane import control_plane
from scheduler_core.run.simulation import TimedSimulation
from tests.core.timed.parts import VIRTUAL, coscheduling, ended, group, history, node, pod, simulation

LATE = (
    "time: 5, createOperation: {{object: "
    "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, {labels}}}, {spec}}}}}"
)
SPEC = "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}"
PATCH = (
    "patchOperation: {{typeMeta: {{apiVersion: kubescheduler.config.k8s.io/{version}, "
    "kind: KubeSchedulerConfiguration}}, patchType: merge, patch: {patch}}}"
)
ELSEWHERE = "spec: {schedulerName: another, "


def other(name: str, of: str) -> str:
    """Return a member of a group that another scheduler is responsible for, so that it never comes."""
    return pod(name, group=of).replace("spec: {", ELSEWHERE)


def created(name: str, of: str) -> str:
    """Return an operation that creates another member of a group after 5 s."""
    labels = f"labels: {{pod-group.scheduling.sigs.k8s.io: {of}}}"
    return LATE.format(name=name, labels=labels, spec=SPEC)


def classic_pod(name: str, of: str) -> str:
    """Return a member with the label of the classic edition."""
    return pod(name, group=of).replace("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")


def bound_at(cycles: list[Cycle], pod: str) -> float:
    """Return when the cycle began in which a pod was scheduled."""
    return next(cycle.time for cycle in cycles if cycle.pod == pod and cycle.result == "scheduled")


def assert_nobody_waits(made: TimedSimulation) -> None:
    """A run that has ended leaves no pod at Permit."""
    assert made.done
    assert len(made.framework.waiting) == 0


def test_a_run_goes_on_until_the_plugins_own_wait_at_permit_is_over() -> None:
    """A pod that waits ten minutes, as the plugin's argument says, is rejected then and its node is free."""
    made, cycles = ended(
        coscheduling(permitWaitingTimeSeconds=600),
        node("n", 1),
        group("g", 2),
        pod("g-0", group="g"),
        other("g-1", "g"),
        pod("single", 1),
    )
    assert 600 < bound_at(cycles, "default/single") < 640
    assert_nobody_waits(made)


def test_a_denied_group_that_is_complete_now_is_tried_when_its_denial_is_over() -> None:
    """The run waits for a denial of 400 s: the second member came while it was in force."""
    made, _ = ended(
        coscheduling("v1beta2", deniedPGExpirationTimeSeconds=400),
        node("n"),
        group("g", 2),
        classic_pod("g-0", "g"),
        history(created("g-1", "g")),
    )
    assert set(made.placement().values()) == {"n"}
    assert made.time > 400


def test_a_group_that_backs_off_long_is_tried_again() -> None:
    """The group's back-off is waited for: room came 5 s after the group had failed."""
    made, _ = ended(
        coscheduling(podGroupBackoffSeconds=700, podGroupRejectPercentage=0),
        node("n", 2),
        group("g", 2),
        pod("big", 1, priority=10),
        pod("g-0", group="g"),
        pod("g-1", group="g"),
        history("time: 5, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: big}}"),
    )
    assert set(made.placement().values()) == {"n"}
    assert made.time > 700


def test_a_pod_that_backs_off_long_is_tried_again() -> None:
    """After a first backoff of 500 s with free room is bound, not left in the queue."""
    configuration = coscheduling().replace(
        "profiles:", "podInitialBackoffSeconds: 500\npodMaxBackoffSeconds: 1000\nprofiles:"
    )
    made, _ = ended(
        configuration,
        node("n", 1),
        pod("a"),
        pod("b"),
        history("time: 3, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: a}}"),
    )
    assert made.placement() == {"default/b": "n"}


def test_waits_count_that_a_later_configuration_brings() -> None:
    """An operation that lengthens the wait at Permit makes the run wait as long."""
    enabled = "{enabled: [{name: Coscheduling}]}"
    points = ", ".join(f"{point}: {enabled}" for point in ("preFilter", "postFilter", "permit", "reserve"))
    sort = "queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}"
    args = "pluginConfig: [{name: Coscheduling, args: {permitWaitingTimeSeconds: 700}}]"
    change = PATCH.format(version="v1", patch=f"{{profiles: [{{plugins: {{{sort}, {points}}}, {args}}}]}}")
    made, cycles = ended(
        coscheduling(permitWaitingTimeSeconds=10),
        node("n", 1),
        group("g", 2),
        pod("g-0", group="g"),
        other("g-1", "g"),
        pod("single", 1),
        history(f"time: 2, {change}"),
    )
    assert bound_at(cycles, "default/single") > 700
    assert_nobody_waits(made)


@pytest.mark.parametrize("version", ["v1beta2", "v1"])
def test_a_group_that_waits_for_ever_ends_with_nobody_at_permit(version: str) -> None:
    """It is given up after a few rounds, when its last wait is over and its node is free."""
    make = classic_pod if version == "v1beta2" else pod
    label = "pod-group.scheduling.sigs.k8s.io" if version == "v1beta2" else "scheduling.x-k8s.io/pod-group"
    made, cycles = ended(
        coscheduling(version, permitWaitingTimeSeconds=300),
        node("n", 1),
        group("g", 2),
        make("g-0", group="g") if make is pod else make("g-0", "g"),
        other("g-1", "g").replace("scheduling.x-k8s.io/pod-group", label),
    )
    assert len(cycles) < 20
    assert set(made.placement().values()) == {""}
    assert_nobody_waits(made)


def test_a_denial_for_ever_is_not_waited_for() -> None:
    """A negative expiration denies without end: the run is over all the same."""
    made, cycles = ended(
        coscheduling("v1beta2", deniedPGExpirationTimeSeconds=-1),
        node("n", 1),
        group("g", 2),
        classic_pod("g-0", "g"),
        classic_pod("g-1", "g"),
    )
    assert len(cycles) < 20
    assert made.time < 400


def in_pool(manifest: str, pool: str) -> str:
    """Let a pod run in a pool of nodes alone."""
    return manifest.replace("spec: {", f"spec: {{nodeSelector: {{pool: {pool}}}, ")


def test_a_scheduler_that_is_busy_without_end_still_waits_for_others() -> None:
    """Three members with room for one wake each other for ever; the pod that waits beside them times out."""
    made, cycles = ended(
        coscheduling(),
        node("a", 1, pool="a"),
        node("b", 1, pool="b"),
        group("storm", 3),
        *(in_pool(pod(f"storm-{place}", group="storm"), "a") for place in range(3)),
        group("w", 2, 300),
        in_pool(pod("w-0", group="w"), "b"),
        other("w-1", "w"),
        in_pool(pod("late"), "b"),
        trace=False,
    )
    assert made.placement()["default/late"] == "b"
    assert len(cycles) < 2_000


def test_an_operation_that_waits_for_calm_lands_in_a_storm() -> None:
    """Members that wake each other leave no moment without an active pod: its step lands all the same."""
    gone = "step: 1, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: storm-0}}"
    later = "time: 400, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: storm-1}}"
    made = simulation(
        coscheduling(),
        node("a", 1),
        group("storm", 3),
        *(pod(f"storm-{place}", group="storm") for place in range(4)),
        history(gone, later),
        trace=False,
    )
    cycles = [cycle for cycle, _ in zip(made, range(3_000), strict=False)]
    assert [one for cycle in cycles for one in cycle.operations] == ["op0", "op1"]
    assert made.done
    assert made.deleted == ["default/storm-0", "default/storm-1"]


def restless(self: ReplicaSets, key: str) -> Work:
    """Take back what was done."""
    owner = self.server.get("ReplicaSet", key)
    if owner is not None:
        yield self.client.patch(owner, lambda one: with_spec(one, replicas=1 - spec_of(one)["replicas"]))


@pytest.fixture
def fighting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the controller of ReplicaSets undo what it did."""
    monkeypatch.setattr(ReplicaSets, "sync", restless)
    monkeypatch.setattr(control_plane, "MOST_WRITES", 500)


WEB = (
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 1, "
    "selector: {matchLabels: {app: web}}, "
    "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}}}"
)
FOUGHT = (
    "replicasets default/web keeps changing while no virtual time passes: "
    "controllers undo each other's work. The run ends here"
)


@pytest.mark.usefixtures("fighting")
def test_controllers_that_fight_end_the_run_with_a_message() -> None:
    """The step in which they began tells of it, nothing raises, and a copy stands at the same end."""
    made = simulation(
        VIRTUAL,
        node("n"),
        pod("a"),
        pod("b"),
        pod("c"),
        history(f"step: {{major: 1, minor: 1}}, during: evaluation, createOperation: {{object: {WEB}}}"),
    )
    cycles = list(made)
    assert len(cycles) == 2
    assert [one.text for one in cycles[1].consequences if one.what == "NotSettled"] == [FOUGHT]
    assert made.done
    assert made.fork(trace=True).rest == made.rest is not None


@pytest.mark.usefixtures("fighting")
def test_controllers_that_fight_at_the_start_leave_a_run_without_cycles() -> None:
    """The scenario opens all the same, and its end says why nothing happens."""
    made, cycles = ended(VIRTUAL, node("n"), WEB + "\n", pod("a"))
    assert cycles == []
    assert made.rest is not None
    assert [one.text for one in made.rest.happenings if one.what == "NotSettled"] == [FOUGHT]


def test_a_run_that_until_ends_stands_at_that_second() -> None:
    """What was still to come is not waited for, and the end is the second that was asked for."""
    made, _ = ended(VIRTUAL + "until: 60\n", node("n", 1), pod("big", 2), pod("a", run="70"))
    assert made.rest is not None
    assert made.rest.time == 60
