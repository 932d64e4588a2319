"""The end of a run and the pods that still wait at Permit; runs that would not end by themselves."""

from __future__ import annotations

import pytest

from scheduler_core.run import run_end
from scheduler_core.run.simulation import TimedSimulation
from tests.core.timed.parts import VIRTUAL, coscheduling, ended, group, history, node, pod, simulation
from tests.core.timed.test_run_end import classic_pod, in_pool, other

STORM = (
    coscheduling(),
    node("n", 1),
    group("storm", 3),
    *(pod(f"storm-{place}", group="storm") for place in range(4)),
)
"""Members that wake each other for ever."""
CREATE = (
    "createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: late}, "
    "spec: {containers: [{name: c}]}}}"
)


def assert_nobody_waits(made: TimedSimulation) -> None:
    """The run is over, and no pod is at Permit."""
    assert made.done
    assert [waiting.key for waiting in made.framework.waiting] == []
    assert set(made.framework.binding) == set()


def test_a_try_that_a_late_wake_of_controllers_let_begin_is_waited_for() -> None:
    """A node that recovered long ago is looked at until then; a flush at 360 s tries the group again."""
    label = ("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")
    failing = {"podstep/fails-at": "20", "podstep/recovers-at": "90"}
    made, cycles = ended(
        coscheduling("v1beta2", permitWaitingTimeSeconds=5, deniedPGExpirationTimeSeconds=1),
        node("n", 1, pool="a"),
        node("m", 1, failing, pool="b"),
        group("g", 2),
        in_pool(classic_pod("g-0", "g"), "a"),
        other("g-1", "g").replace(*label),
        in_pool(pod("single"), "b"),
    )
    assert (cycles[-1].time, cycles[-1].result) == (360, "waiting")
    assert made.time >= 365
    assert_nobody_waits(made)


@pytest.mark.parametrize("members", [6, 7, 8])
def test_a_group_that_fails_for_ever_without_post_filter_ends_with_nobody_at_permit(members: int) -> None:
    """All but one wait until their time is up, back off and wait again; given up, they wait no more."""
    points = coscheduling(permitWaitingTimeSeconds=1).replace(
        "    postFilter: {enabled: [{name: Coscheduling}]}\n", ""
    )
    made, cycles = ended(
        points,
        node("n", members - 1),
        group("g", members),
        *(pod(f"g-{place}", group="g") for place in range(members)),
        trace=False,
    )
    assert len(cycles) < 300
    assert_nobody_waits(made)


def test_members_that_wake_each_other_end_the_run_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are tried only so often; the end says so and stays as it is."""
    monkeypatch.setattr(run_end, "MOST_TRIES", 30)
    monkeypatch.setattr(run_end, "TRIES", 5)
    made, cycles = ended(*STORM)
    assert len(cycles) == 30
    assert made.rest is not None
    texts = [one.text for one in made.rest.happenings if one.what == "NotSettled"]
    assert texts == ["The run was ended: 30 tries since the last operation are too many"]
    assert made.done
    assert made.step() is None
    again = simulation(*STORM)
    again.replay(made.decisions)
    assert again.fork(trace=True).rest == made.rest


def test_an_operation_begins_the_count_of_tries_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """It lands at its time and gives the run as many tries again; one that counts too many lands early."""
    monkeypatch.setattr(run_end, "MOST_TRIES", 30)
    monkeypatch.setattr(run_end, "TRIES", 5)
    for when, before in (("time: 0.02", 16), ("step: {major: 1, minor: 500}", 30)):
        _, cycles = ended(*STORM, history(f"{when}, {CREATE}"), trace=False)
        first = next(cycle.index for cycle in cycles if cycle.step == "2.1")
        assert abs(first - 1 - before) <= 1
        assert len(cycles) == first - 1 + 30


def test_a_run_with_many_pods_has_as_many_more_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is for runs without an end: each pod that waits is worth its own tries."""
    monkeypatch.setattr(run_end, "MOST_TRIES", 10)
    pods = [pod(f"p-{place}") for place in range(15)]
    made, cycles = ended(VIRTUAL, node("n", 100), *pods, trace=False)
    assert len(cycles) == 15
    assert set(made.placement().values()) == {"n"}
