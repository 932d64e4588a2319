"""What the controllers of Jobs and CronJobs of v1.37.1 do."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.cluster.v1_37.cron import Schedule
from tests.core.controllers.lives import Facts, live, node, seconds, template, workload

NODES = [node("n1"), node("n2")]
START = 946_684_860
"""2000-01-01 00:01:00 UTC in seconds since 1970."""


def job(**spec: Any) -> Facts:
    """Return a Job whose pods run for a minute."""
    return workload("Job", **{"template": template(policy="Never", run_seconds=60), **spec})


BY_LABEL: Facts = {"manualSelector": True, "selector": {"matchLabels": {"app": "a"}}}


def orphan(seconds: int) -> Facts:
    """Return a pod without controller that runs for so long and has the labels of a Job's pods."""
    made = template(policy="Never", run_seconds=seconds)
    return {"kind": "Pod", **made, "metadata": {"name": "early", "namespace": "default", **made["metadata"]}}


def cron(schedule: str, **spec: Any) -> Facts:
    """Return a CronJob whose Jobs run for ten minutes."""
    made = {"spec": {"template": template(policy="Never", run_seconds=600)}}
    return workload("CronJob", schedule=schedule, jobTemplate=made, **spec)


def test_a_smaller_job_loses_its_youngest_pods_whatever_they_cost() -> None:
    """ActivePods knows neither deletion costs nor logarithmic ages, unlike a ReplicaSet's order."""
    first = {"do": "scale", "kind": "Job", "name": "a", "replicas": 3}
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}}
    dear = {"do": "patchPods", "selector": {"app": "a"}, "node": "n1", "patch": cost}
    last = {**first, "replicas": 1}
    indexed = job(parallelism=1, completions=9, completionMode="Indexed")
    expect = live([*NODES, indexed], 16, dear, first, 10, last, 5)
    assert [one["index"] for one in expect["timeline"] if one["what"] == "deleting"] == [1, 2]


def test_a_job_of_another_controller_is_left_alone() -> None:
    """``managedBy`` keeps the Job controller from a Job (managedByExternalController)."""
    expect = live([*NODES, job(managedBy="example.com/queue")], 10)
    assert seconds(expect, "created") == []


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        ({"succeededCount": 2}, True),
        ({"succeededIndexes": "0-1"}, True),
        ({"succeededIndexes": "0,3", "succeededCount": 1}, True),
        ({"succeededIndexes": "2-3"}, False),
        ({"succeededIndexes": "7"}, False),
    ],
)
def test_success_policies(rule: Facts, met: bool) -> None:
    """A rule is met by all of its indexes, or as many as it counts (matchSuccessPolicy)."""
    spec = {
        "completions": 4,
        "parallelism": 2,
        "completionMode": "Indexed",
        "successPolicy": {"rules": [rule]},
    }
    expect = live([*NODES, job(**spec)], 70)
    assert bool(seconds(expect, "condition", reason="SuccessCriteriaMet=True SuccessPolicy")) is met


@pytest.mark.parametrize(
    ("text", "zone", "first"),
    [
        ("0 * * * *", "Asia/Kolkata", 29 * 60),
        ("TZ=Asia/Kolkata 0 * * * *", "", 29 * 60),
        ("@every 90s", "", 90),
        ("*/2 * * * *", "", 60),
    ],
)
def test_schedules(text: str, zone: str, first: int) -> None:
    """A schedule is one of its time zone."""
    assert Schedule(text, zone).next(START) == START + first


def test_a_new_schedule_waits_for_its_next_time() -> None:
    """A changed schedule does not catch up at once (updateCronJob)."""
    sooner = {"do": "patch", "kind": "CronJob", "name": "a", "patch": {"spec": {"schedule": "* * * * *"}}}
    expect = live([*NODES, cron("0 12 * * *")], 90, sooner, 60)
    assert seconds(expect, "job-created") == [120]


def test_a_resumed_cron_job_catches_up_within_its_deadline() -> None:
    """What was missed counts from startingDeadlineSeconds on (mostRecentScheduleTime)."""
    resumed = {"do": "patch", "kind": "CronJob", "name": "a", "patch": {"spec": {"suspend": False}}}
    for deadline, created in ((200, [130]), (5, [])):
        made = cron("* * * * *", suspend=True, startingDeadlineSeconds=deadline)
        assert seconds(live([*NODES, made], 130, resumed, 20), "job-created") == created


def test_an_adopted_pod_is_counted_when_it_ends() -> None:
    """A Job gives a pod that it adopts its finalizer, by which the pod's success is counted."""
    adopting = job(completions=2, parallelism=2, template=template(policy="Never", run_seconds=3), **BY_LABEL)
    expect = live([node("n"), orphan(8)], 3, {"do": "create", "object": adopting}, 30)
    assert seconds(expect, "condition", reason="Complete=True CompletionsReached") == [9]
    assert expect["final"]["workloads"]["Job/default/a"]["status"]["succeeded"] == 2


def test_a_job_adopts_a_pod_that_comes_later() -> None:
    """A Job looks after a second whether it adopts a pod without controller, which may be one too many."""
    steps = (3, {"do": "create", "object": orphan(60)}, 5)
    expect = live([node("n"), job(completions=2, parallelism=2, **BY_LABEL)], *steps)
    assert seconds(expect, "deleting") == [4]
    assert expect["final"]["workloads"]["Job/default/a"]["pods"] == 2
