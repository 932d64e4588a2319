"""CronJobs of a bundle under v1.37: the Jobs that they begin, how long they prolong a run, and bad ones."""

from __future__ import annotations

import time
from typing import Any

import pytest

from scheduler_core import load_documents, simulate
from scheduler_core.scenario.scenario import Scenario

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "creationTimestamp": "2026-07-01T10:00:00Z"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
}
SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
POD = {
    "metadata": {"annotations": {"podstep/run-seconds": "60"}},
    "spec": {"containers": [{"name": "c", "image": "c"}]},
}


def cron(schedule: str = "*/5 * * * *", **spec: Any) -> dict[str, Any]:
    """Return a CronJob whose Jobs take a minute."""
    made = {"schedule": schedule, "jobTemplate": {"spec": {"template": POD}}, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": made}


def scenario(*documents: dict[str, Any]) -> Scenario:
    """Return a scenario in virtual time, which begins a little after ten o'clock."""
    return load_documents([NODE, SETTINGS, *documents])


def bound(of: Scenario) -> list[str]:
    """Return at which time of day each pod is scheduled."""
    simulation = simulate(of)
    epoch = simulation.framework.manager.options.epoch  # type: ignore[attr-defined]
    return [time.strftime("%d %H:%M", time.gmtime(epoch + cycle.time)) for cycle in simulation]


@pytest.mark.parametrize(
    ("made", "times"),
    [
        (cron(), ["01 10:05", "01 10:10", "01 10:15"]),
        (cron("0 3 * * *"), ["02 03:00", "03 03:00", "04 03:00"]),
        (cron("0 3 * * *", timeZone="Europe/Berlin"), ["02 01:00", "03 01:00", "04 01:00"]),
        (cron("0 0 1 1 *"), []),
        (cron(suspend=True), []),
    ],
    ids=["minutes", "days", "zone", "years", "suspended"],
)
def test_a_cron_job_prolongs_a_run_for_three_jobs(made: dict[str, Any], times: list[str]) -> None:
    """They begin by the clock of the cluster; one that is far away, or suspended, prolongs nothing."""
    of = scenario(made)
    assert bound(of) == times
    assert not [one for one in of.warnings if "CronJob" in one.message]


def test_it_goes_on_as_long_as_something_else_is_to_come() -> None:
    """A pod that runs for half an hour sees six Jobs, all of which succeed."""
    long = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "long", "annotations": {"podstep/run-seconds": "1800"}},
        "spec": {"containers": [{"name": "c", "image": "c"}]},
    }
    assert len(bound(scenario(cron(), long))) == 7


def test_what_was_missed_since_the_last_schedule_begins_at_once() -> None:
    """A dump has the last schedule in the status: times since then count, others are over."""
    late = {**cron("0 * * * *"), "status": {"lastScheduleTime": "2026-07-01T09:00:00Z", "active": [{}]}}
    done = {**late, "status": {"lastScheduleTime": "2026-07-01T10:00:00Z"}}
    assert bound(scenario(late))[0] == "01 10:01"
    assert bound(scenario(done))[0] == "01 11:00"


WRONG = [
    ({"timeZone": "Europe/Berlinn"}, "spec.timeZone", "did you mean 'Europe/Berlin'?"),
    ({"timeZone": "Local"}, "spec.timeZone", "'Local' is no time zone: write one by name"),
    ({"timeZone": "../../etc/passwd"}, "spec.timeZone", "there is no time zone"),
    ({"schedule": "* * * *"}, "spec.schedule", "must have five fields): write five fields"),
    ({"schedule": "0-999999999999 * * * *"}, "spec.schedule", "is not between 0 and 59"),
    ({"schedule": "*/0 * * * *"}, "spec.schedule", "is no schedule"),
    ({"schedule": "TZ=Europe/Berlin 0 3 * * *"}, "spec.schedule", "write it into timeZone"),
    ({"schedule": None}, "spec.schedule", "schedule is missing"),
    ({"jobTemplate": {"spec": {}}}, "spec.jobTemplate.spec.template", "template is missing"),
    ({"concurrencyPolicy": "Deny"}, "spec.concurrencyPolicy", "allowed are Allow, Forbid, Replace"),
    ({"suspend": "yes"}, "spec.suspend", "must be true or false"),
    ({"failedJobsHistoryLimit": -1}, "spec.failedJobsHistoryLimit", "must be at least 0"),
]


@pytest.mark.parametrize(("spec", "path", "message"), WRONG, ids=[row[1] + str(row[0]) for row in WRONG])
def test_what_the_api_server_refuses_is_reported(spec: dict[str, Any], path: str, message: str) -> None:
    """With its place and a remedy; it begins no Job, and the rest of the bundle runs."""
    of = scenario({**cron(), "spec": {**cron()["spec"], **spec}})
    (warning,) = [one for one in of.warnings if "CronJob" in one.message]
    assert warning.path == path
    assert warning.message.startswith("the API server refuses this CronJob, which begins no Job: ")
    assert message in warning.message
    assert bound(of) == []


def test_a_long_name_has_no_room_for_the_time_of_a_job() -> None:
    """Jobs are called by the CronJob and the minute."""
    long = {**cron(), "metadata": {"name": "c" * 53}}
    (warning,) = [one for one in scenario(long).warnings if "CronJob" in one.message]
    assert (warning.path, "at most 52 characters" in warning.message) == ("metadata.name", True)


def test_without_controllers_it_is_reported_as_what_another_cluster_honors() -> None:
    """Alone it gives controllers nothing to do if its pods never end, and under v1.11 there are none."""
    instant, endless = {**SETTINGS, "time": "instant"}, {"spec": {"template": {"spec": POD["spec"]}}}
    for settings, made in ((instant, cron(jobTemplate=endless)), ({**instant, "scheduler": "v1.11"}, cron())):
        of = load_documents([NODE, settings, made])
        assert [one.unhonored for one in of.warnings if one.unhonored] == ["CronJob"]
        assert not of.cron_jobs
