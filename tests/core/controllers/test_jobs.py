from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.cluster.controllers.workloads import index_of
from scheduler_core.kubernetes.model import Pod
from tests.core.controllers.driver import World, node, workload
from tests.core.trials import trials

RUN = {"podstep/run-seconds": "30"}
FAIL = {**RUN, "podstep/outcome": "Failed"}


def job(**spec: Any) -> World:
    """Run a Job on a node for an hour."""
    world = World(node("n1"), workload("Job", "sum", **{"annotations": RUN, **spec}))
    world.run(3600)
    return world


def test_a_job_runs_as_many_at_a_time_as_it_may() -> None:
    """Five completions two at a time take three rounds."""
    world = job(completions=5, parallelism=2)
    assert [at for at, _ in world.told("Succeeded")] == [30, 30, 60, 60, 90]
    assert world.told("Completed") == [(90, "sum")]


def test_a_work_queue_starts_nobody_after_the_first_success() -> None:
    """Without completions the pods that run may finish, and the Job is complete."""
    world = job(parallelism=3)
    assert world.phases() == {"Succeeded": 3}
    assert world.get("Job", "sum").status.finished == "Complete"


# backoffLimit, how many pods failed and when; at last the Job fails
BACKOFF = [
    (0, [30]),
    (2, [30, 70, 120]),  # waiting 10 s, then 20 s
    (3, [30, 70, 120, 190]),
]


@pytest.mark.parametrize(("limit", "failures"), BACKOFF)
def test_a_job_gives_up_after_its_backoff_limit(limit: int, failures: list[float]) -> None:
    """The next pod waits 10 s, doubling; one failure more than the limit ends the Job."""
    world = job(completions=1, backoffLimit=limit, annotations=FAIL)
    assert [at for at, _ in world.told("Failed")] == failures
    assert world.told("BackoffLimitExceeded") == [(failures[-1], "sum")]
    assert world.get("Job", "sum").status.failed == len(failures)


def test_containers_that_restart_count_too() -> None:
    """With OnFailure the same pod runs again, and the Job gives up all the same, without the pod."""
    world = job(completions=1, backoffLimit=2, annotations=FAIL, restartPolicy="OnFailure")
    assert len(world.told("SuccessfulCreate")) == 1
    assert [at for at, _ in world.told("BackOff")] == [30, 60, 100]  # the second time 10 s later
    assert world.get("Job", "sum").status.finished == "Failed"
    assert world.pods() == []


def test_indexes_run_once_each_and_again_where_they_failed() -> None:
    """Names, annotation and label carry the index; a failed one is tried again."""
    world = World(node("n1"), workload("Job", "sum", completions=3, parallelism=3, completionMode="Indexed"))
    first = world.pods()
    assert [index_of(pod) for pod in first] == [0, 1, 2]
    assert [pod.meta.name.rpartition("-")[0] for pod in first] == ["sum-0", "sum-1", "sum-2"]
    world.change(first[1], phase="Failed")
    world.change(first[0], phase="Succeeded")
    world.run(60)
    assert sorted(index_of(pod) or 0 for pod in world.pods() if pod.phase == "Running") == [1, 2]
    for pod in world.pods():
        if pod.phase == "Running":
            world.change(pod, phase="Succeeded")
    status = world.get("Job", "sum").status
    assert (status.succeeded, status.failed, status.finished) == (3, 1, "Complete")


def test_a_suspended_job_runs_nothing_until_it_is_resumed() -> None:
    """Suspending deletes the pods that run."""
    world = World(node("n1"), workload("Job", "sum", completions=2, parallelism=2, annotations=RUN))
    assert len(world.names()) == 2
    world.apply(workload("Job", "sum", completions=2, parallelism=2, annotations=RUN, suspend=True))
    assert world.names() == []
    world.apply(workload("Job", "sum", completions=2, parallelism=2, annotations=RUN))
    world.run(100)
    assert world.get("Job", "sum").status.finished == "Complete"


def test_what_succeeded_before_the_scenario_counts() -> None:
    """A Job with four of five completions in its status runs one more pod."""
    document = workload("Job", "sum", completions=5, parallelism=3, annotations=RUN)
    world = World(node("n1"), {**document, "status": {"succeeded": 4}})
    world.run(100)
    assert world.phases() == {"Succeeded": 1}
    assert world.get("Job", "sum").status.succeeded == 5


def test_a_users_change_leaves_the_status_alone() -> None:
    """More parallelism on the way does not run again what is done."""
    world = World(node("n1"), workload("Job", "sum", completions=4, parallelism=1, annotations=RUN))
    world.run(40)
    world.apply(workload("Job", "sum", completions=4, parallelism=9, annotations=RUN))
    world.run(1000)
    assert world.phases() == {"Succeeded": 4}


@settings(max_examples=trials(40))
@given(
    completions=st.integers(1, 12),
    parallelism=st.integers(1, 15),
    outcomes=st.lists(st.sampled_from(["Succeeded", "Failed", "deleted"]), max_size=30),
    indexed=st.booleans(),
)
def test_a_job_finishes_with_exactly_its_completions(
    completions: int,
    parallelism: int,
    outcomes: list[str],
    indexed: bool,
) -> None:
    """Whoever fails or is evicted in between, so many succeed in the end, and never more run than may."""
    mode: dict[str, Any] = {"completionMode": "Indexed"} if indexed else {}
    document = workload(
        "Job", "sum", completions=completions, parallelism=parallelism, backoffLimit=99, **mode
    )
    world = World(node("n1"), document)
    for outcome in outcomes + ["Succeeded"] * (completions + 1):
        running: list[Pod] = [pod for pod in world.pods() if pod.phase == "Running"]
        assert len(running) <= min(parallelism, completions)
        if not running:
            continue
        if outcome == "deleted":
            world.delete(running[-1])
        else:
            world.change(running[0], phase=outcome)
        world.run(world.now + 400)
    succeeded = [pod for pod in world.pods() if pod.phase == "Succeeded"]
    assert len(succeeded) == completions
    assert world.get("Job", "sum").status.finished == "Complete"
    assert world.get("Job", "sum").status.succeeded == completions
    if indexed:
        assert sorted(index_of(pod) or 0 for pod in succeeded) == list(range(completions))
    assert not world.names()
