"""Time and steps: when operations land, when pods end, what a step tells of what happened before it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.cli.day import day
from scheduler_core.kubernetes.model import Pod
from scheduler_core.run.plane.control_plane import ControlPlaneManager
from scheduler_core.run.simulation import TimedSimulation
from tests.core.timed.parts import VIRTUAL, coscheduling, ended, group, history, node, pod, simulation

CREATE = "createOperation: {{object: {manifest}}}"
IMPORTANT = (
    "createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: high}, spec: "
    "{priority: 100, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}"
)


def create(name: str, cpu: int = 1) -> str:
    """Return an operation's body that creates a pod."""
    spec = f"{{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}"
    return CREATE.format(manifest=f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {spec}}}")


def delete(kind: str, name: str) -> str:
    """Return an operation's body that deletes an object."""
    return f"deleteOperation: {{typeMeta: {{kind: {kind}}}, objectMeta: {{name: '{name}'}}}}"


def test_an_operation_with_a_time_lands_at_that_time() -> None:
    """The clock jumps there, the step is the next major, and the cycle names the operation."""
    _, cycles = ended(VIRTUAL, node("n"), pod("a"), history(f"time: 100, {create('b')}"))
    assert [(cycle.step, cycle.pod, cycle.operations) for cycle in cycles] == [
        ("1.1", "default/a", ()),
        ("2.1", "default/b", ("op0",)),
    ]
    assert cycles[1].time == pytest.approx(100)


def test_an_operation_lands_whose_time_is_finer_than_the_clock() -> None:
    """Times are kept to the microsecond; a finer one is rounded, and the run goes on."""
    made, cycles = ended(VIRTUAL, node("n"), history(f"time: 1.23456749, {create('b')}"))
    assert [cycle.time for cycle in cycles] == [1.234567]
    assert made.turns < 10


def test_an_operation_with_a_time_does_not_wait_for_the_queue() -> None:
    """At its second it lands between two cycles, whatever is still active."""
    pods = [pod(f"p{place}") for place in range(3)]
    _, cycles = ended(VIRTUAL, node("n"), *pods, history(f"time: 0.004, {create('late')}"))
    assert [cycle.step for cycle in cycles] == ["1.1", "2.1", "2.2", "2.3"]


def test_an_operation_with_a_step_waits_until_nothing_is_left_to_do_now() -> None:
    """Pods that back off or wait for an event do not hold it up; active ones do."""
    _, cycles = ended(VIRTUAL, node("n", 2), pod("big", 3), pod("a"), history(f"step: 1, {create('b')}"))
    assert [(cycle.step, cycle.pod, cycle.result) for cycle in cycles[:3]] == [
        ("1.1", "default/big", "unschedulable"),
        ("1.2", "default/a", "scheduled"),
        ("2.1", "default/b", "scheduled"),
    ]


def test_an_operation_lands_after_so_many_cycles_of_a_step() -> None:
    """``minor`` counts cycles, with others still active."""
    pods = [pod(f"p{place}") for place in range(3)]
    _, cycles = ended(
        VIRTUAL, node("n"), *pods, history(f"step: {{major: 1, minor: 2}}, {delete('Pod', 'p2')}")
    )
    assert [(cycle.step, cycle.pod) for cycle in cycles] == [("1.1", "default/p0"), ("1.2", "default/p1")]


def test_a_pod_runs_its_time_and_frees_its_node() -> None:
    """A pod that did not fit is scheduled when the one before it has succeeded."""
    made, cycles = ended(VIRTUAL, node("n", 1), pod("first", run="30"), pod("second", run="5"))
    assert [(cycle.pod, cycle.result) for cycle in cycles] == [
        ("default/first", "scheduled"),
        ("default/second", "unschedulable"),
        ("default/second", "scheduled"),
    ]
    assert 30 <= cycles[2].time < 41  # its end moves the pod to the queue, where it may back off
    assert [made.framework.pods[key].phase for key in ("default/first", "default/second")] == [
        "Succeeded"
    ] * 2
    assert "Succeeded" in [happening.what for happening in cycles[2].happenings]


def test_a_deleted_pod_of_a_controller_comes_back_and_is_scheduled_again() -> None:
    """Deletion, creation, a cycle for the new pod: with another name and the same owner."""
    workload = (
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec:\n  replicas: 2\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
    )
    first = next(iter(simulation(VIRTUAL, node("n"), workload).placement())).partition("/")[2]
    made, cycles = ended(VIRTUAL, node("n"), workload, history(f"time: 50, {delete('Pod', first)}"))
    assert len(cycles) == 3
    assert cycles[2].time >= 50
    assert cycles[2].pod != f"default/{first}"
    assert set(map(bool, made.placement().values())) == {True}
    assert len(made.placement()) == 2
    assert made.deleted == [f"default/{first}"]


def test_a_node_that_fails_loses_its_pods_to_another() -> None:
    """It is tainted, its pods are evicted when their toleration ends, and new ones placed elsewhere."""
    workload = (
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec:\n  replicas: 1\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
    )
    made, cycles = ended(VIRTUAL, node("a", 8, {"podstep/fails-at": "60"}), node("b", 1), workload)
    assert [cycle.node for cycle in cycles] == ["a", "b"]
    assert cycles[1].time >= 60 + 40 + 300
    assert [place for key, place in made.placement().items() if key not in made.terminating] == ["b"]


def test_a_cycle_tells_what_happened_since_the_one_before() -> None:
    """A time-out at Permit, its rejection and the moves it brings stand before the next cycle."""
    _, cycles = ended(
        coscheduling(permitWaitingTimeSeconds=10, podGroupRejectPercentage=100),
        node("n", 2),
        group("g", 3),
        *(pod(f"g-{place}", group="g") for place in range(3)),
    )
    assert [cycle.result for cycle in cycles[:3]] == ["waiting", "waiting", "unschedulable"]
    after = next(cycle for cycle in cycles if cycle.time > 3 and cycle.happenings)
    reported = [happening.text for happening in after.happenings if happening.what == "FailedScheduling"]
    assert reported[0] == (
        'pod "g-0" rejected while waiting on permit: '
        "rejected due to timeout after waiting 10s at plugin Coscheduling"
    )
    assert 'pod "g-1" rejected while waiting on permit: rejection in Unreserve' in reported


def test_the_run_ends_when_retries_change_nothing() -> None:
    """An unschedulable pod is tried again after the flush, and then the run is over."""
    made, cycles = ended(VIRTUAL, node("n", 1), pod("big", 2))
    assert [round(cycle.time) for cycle in cycles] == [0, 90]
    assert made.step() is None
    assert made.done


def test_until_ends_the_run_at_a_second() -> None:
    """Nothing happens after it, whatever is to come."""
    _, cycles = ended(VIRTUAL + "until: 60\n", node("n", 1), pod("big", 2), pod("a", run="70"))
    assert [cycle.pod for cycle in cycles] == ["default/big", "default/a"]


def test_idle_time_costs_nothing() -> None:
    """A year in which nothing happens is one jump: time is let pass a few times, whatever it is."""
    year = 365 * 86_400
    made, cycles = ended(VIRTUAL, node("n"), pod("a"), history(f"time: {year}, {create('b')}"))
    assert [cycle.pod for cycle in cycles] == ["default/a", "default/b"]
    assert made.time >= year
    assert made.turns < 20
    plain, _ = ended(VIRTUAL, node("n"), pod("a"), history(f"time: 60, {create('b')}"))
    assert made.turns == plain.turns


def test_ten_times_the_idle_time_takes_as_many_turns() -> None:
    """A day's pods that come ten times as far apart let time pass as often: nothing ticks in between."""
    scenario = day(10, 60)
    later = tuple(replace(one, time=10 * one.time) for one in scenario.operations)
    runs = [TimedSimulation(one, trace=False) for one in (scenario, replace(scenario, operations=later))]
    for run in runs:
        list(run)
    near, far = runs
    assert far.time > 5 * near.time
    assert abs(far.turns - near.turns) <= 1
    assert (far.index, far.happenings) == (near.index, near.happenings) == (60, 240)


def test_another_configuration_restarts_the_scheduler_and_keeps_the_cluster() -> None:
    """Bound pods stay, pending ones are tried again under the new profiles, and the cycle says so."""
    patch = "patchType: merge, patch: {podInitialBackoffSeconds: 2}"
    of = "typeMeta: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}"
    change = f"patchOperation: {{{of}, {patch}}}"
    configuration = (
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\nprofiles: [{}]\n"
    )
    made, cycles = ended(configuration, node("n", 1), pod("a"), pod("big", 2), history(f"time: 5, {change}"))
    assert [(cycle.pod, cycle.restart is not None) for cycle in cycles[:3]] == [
        ("default/a", False),
        ("default/big", False),
        ("default/big", True),
    ]
    assert made.placement()["default/a"] == "n"


def test_preemption_in_virtual_time_deletes_and_nominates() -> None:
    """The victim goes, the pod is nominated and bound in a later cycle, and both are in the record."""
    made, cycles = ended(
        VIRTUAL,
        node("n", 2),
        pod("low", 2),
        history(f"time: 5, {IMPORTANT}"),
    )
    assert cycles[1].decision.victims == ("default/low",)
    assert cycles[1].decision.nominated == "n"
    assert cycles[1].preemption is not None
    assert cycles[-1].node == "n"
    assert ("default/low", None) in (cycles[2].moves or ())  # its kubelet has ended it
    assert made.deleted == ["default/low"]


@pytest.mark.parametrize(
    ("change", "reasons"),
    [(IMPORTANT, ["PreemptionByScheduler"]), (delete("Pod", "low"), [])],
    ids=["a preemptor", "a user"],
)
def test_a_victim_says_that_the_scheduler_disrupts_it(change: str, reasons: list[str]) -> None:
    """While its kubelet ends it, a Job's failure policy may read so; not of a pod that a user deletes."""
    made = simulation(VIRTUAL, node("n", 2), pod("low", 2), history(f"time: 5, {change}"))
    plane = made.framework.manager
    assert isinstance(plane, ControlPlaneManager)
    found: list[str] = []
    while made.step() is not None:
        low = plane.server.get("Pod", "default/low") or {}
        rows = low.get("status", {}).get("conditions", ())
        found = [row["reason"] for row in rows if row["type"] == "DisruptionTarget"] or found
    assert found == reasons


def test_a_patched_pod_is_tried_again_at_once() -> None:
    """An update of an unschedulable pod moves it, and what it asks for now is what counts."""
    patch = "patch: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"
    of = "typeMeta: {kind: Pod}, objectMeta: {name: big}, patchType: strategic"
    change = f"patchOperation: {{{of}, {patch}}}"
    made, cycles = ended(VIRTUAL, node("n", 1), pod("big", 2), history(f"time: 20, {change}"))
    assert [(cycle.pod, cycle.result) for cycle in cycles] == [
        ("default/big", "unschedulable"),
        ("default/big", "scheduled"),
    ]
    assert cycles[1].time == pytest.approx(20)
    state = made.framework.pods["default/big"]
    assert isinstance(state, Pod)
    assert state.node_name == "n"


def test_a_deleted_node_takes_its_pods_along() -> None:
    """The pod collector deletes what the node ran, and the cluster has it no more."""
    made, _ = ended(VIRTUAL, node("n"), node("m"), pod("a"), history(f"time: 5, {delete('Node', 'n')}"))
    assert "n" not in made.cluster.nodes
    assert set(made.placement().values()) <= {"m"}


def test_in_a_recording_nobody_acts_but_the_scheduler() -> None:
    """With no controllers a deleted pod stays away, and a duration ends nothing: operations do."""
    listed = history(f"time: 50, {delete('Pod', 'a')}").replace("spec:\n", "spec:\n  controllers: []\n")
    made, cycles = ended(VIRTUAL, node("n"), pod("a"), pod("b", run="5"), listed)
    assert [cycle.pod for cycle in cycles] == ["default/a", "default/b"]
    assert made.framework.pods["default/b"].phase == "Running"
    assert made.placement() == {"default/b": "n"}


def test_a_group_that_is_too_old_is_warned_of_once_in_a_phase() -> None:
    """Every sync finds it too old; the warning is reported once, however many pods come and go."""
    old = (
        "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\n"
        "metadata: {name: g, creationTimestamp: '2024-01-01T00:00:00Z'}\nspec: {minMember: 9}\n"
        "status: {phase: Scheduling, scheduleStartTime: '2024-01-04T00:00:00Z'}\n"
    )
    made, cycles = ended(
        coscheduling(), node("n"), old, *(pod(f"g-{place}", group="g") for place in range(5))
    )
    assert made.rest is not None
    reported = [*made.rest.happenings, *(one for c in cycles for one in (*c.happenings, *c.consequences))]
    assert [one.text for one in reported if one.what == "Timeout"] == ["schedule time longer than 48 hours"]


def test_finished_pods_that_controllers_delete_are_forgotten() -> None:
    """A ReplicaSet's pods that have ended go with it, and the cluster keeps none of them."""
    workload = (
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec:\n  replicas: 1\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n"
        "    metadata: {labels: {app: web}, annotations: {podstep/run-seconds: '5'}}\n"
        "    spec: {restartPolicy: Never, containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
    )
    made, cycles = ended(VIRTUAL, node("n"), workload, history(f"time: 50, {delete('ReplicaSet', 'web')}"))
    assert len(cycles) > 5
    assert made.framework.pods == {}
    assert made.cluster.finished == {}
