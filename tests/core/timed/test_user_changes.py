"""What users write, and what it leaves as controllers and the scheduler have it: status and nominations."""

from __future__ import annotations

from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.coscheduling.observer import phases_of
from tests.core.timed.parts import VIRTUAL, coscheduling, ended, group, history, node, pod
from tests.core.timed.test_operation_effects import patch

THIEF = (
    "createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: thief}, "
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}"
)
LARGER = (
    "createOperation: {object: {apiVersion: v1, kind: Node, metadata: {name: large}, "
    "status: {allocatable: {cpu: '64', memory: 64Gi, pods: '110'}}}}"
)
SLOWER = (
    "patchOperation: {typeMeta: {kind: KubeSchedulerConfiguration}, patchType: merge, "
    "patch: {podMaxBackoffSeconds: 20}}"
)


def results(cycles: list[Cycle], name: str) -> list[tuple[str, str | None]]:
    """Return how a pod's cycles ended, and where."""
    return [(cycle.result, cycle.node) for cycle in cycles if cycle.pod == f"default/{name}"]


HIGH = THIEF.replace("thief", "high").replace("spec: {", "spec: {priority: 9, ", 1)


def test_a_patch_of_a_nominated_pod_does_not_end_its_nomination() -> None:
    """The room that was made for it is still kept: a pod that comes then does not get it."""
    made, cycles = ended(
        VIRTUAL,
        node("n", 1),
        pod("low"),
        history(
            f"time: 1, {HIGH}",
            f"time: 1.2, {patch('Pod', 'high', '{metadata: {labels: {colour: red}}}')}",
            f"time: 1.4, {THIEF}",
        ),
    )
    assert results(cycles, "high")[-1] == ("scheduled", "n")
    assert {result for result, _ in results(cycles, "thief")} == {"unschedulable"}
    assert made.deleted == ["default/low"]


def test_a_nomination_is_there_after_the_scheduler_has_started_anew() -> None:
    """It is in the API: the pod takes the node that was made free for it, though a larger one came."""
    for changes, taken in (((LARGER, SLOWER), "n"), ((LARGER,), "n")):
        _, cycles = ended(
            coscheduling(),
            node("n", 1),
            pod("low").replace("spec: {", "spec: {terminationGracePeriodSeconds: 0, "),
            history(f"time: 1, {HIGH}", *(f"time: 1.2, {change}" for change in changes)),
        )
        assert results(cycles, "high") == [("unschedulable", None), ("scheduled", taken)]


def test_a_user_does_not_write_a_pod_group_s_status() -> None:
    """Its phase and its counts are its controller's: the group goes on as it was."""
    finished = "{status: {phase: Finished, succeeded: 2}, spec: {minMember: 2}}"
    made, _ = ended(
        coscheduling(),
        node("n", 1),
        group("g", 2),
        pod("g-0", group="g"),
        history(f"time: 5, {patch('PodGroup', 'g', finished)}", f"time: 6, {THIEF}"),
    )
    stands = made.framework.groups["default/g"]
    assert (stands.min_member, stands.status.phase, stands.status.succeeded) == (2, "Pending", 0)
    assert "Finished" not in [phase for _, phase in phases_of(made.observers)["default/g"]]


def test_a_pod_that_is_over_stays_as_it_ended() -> None:
    """No operation revives it: it is on no node, in no queue, and what was written of it is not kept."""
    running = "{metadata: {labels: {colour: red}}, status: {phase: Running}}"
    made, cycles = ended(
        VIRTUAL,
        node("n", 1),
        pod("a", run="3"),
        history(f"time: 5, {patch('Pod', 'a', running)}", f"time: 6, {THIEF}"),
    )
    over = made.framework.pods["default/a"]
    assert (over.phase, dict(over.meta.labels)) == ("Succeeded", {})
    assert made.cluster.finished["default/a"] is over
    assert made.placement() == {"default/thief": "n"}
    assert results(cycles, "a") == [("scheduled", "n")]
