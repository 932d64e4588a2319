"""CronJobs of a bundle: those that the API server takes begin Jobs where controllers of v1.37 run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.v1_37.cron import Schedule, time_zone
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.fields_common import META
from scheduler_core.kubernetes.fields_workload import JOB_TEMPLATE
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import At, Field, Report, boolean, enum, integer, record, show, text
from scheduler_core.kubernetes.support import part_of
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.scenario.unhonored_fields import is_reported

KIND = "CronJob"
LONGEST_NAME = 52
_COUNT = integer(0)


def taken(ignored: dict[str, list[BundleEntry]], report: Report) -> tuple[Document, ...]:
    """Take the CronJobs from the ignored documents; warn of those that the API server would refuse.

    Source: ``pkg/apis/batch/validation``. They have their defaults, and of their status the last schedule.
    """
    entries = [entry for entry in ignored.get(KIND, ()) if is_reported(entry)]
    if not entries:
        return ()
    others = [entry for entry in ignored.pop(KIND) if not is_reported(entry)]
    ignored |= {KIND: others} if others else {}
    found: dict[Key, Document] = {}
    for entry in entries:
        wrong = Report(limit=report.limit)
        read = _CRON_JOB(entry.value, At(wrong, None, entry))
        for at, message in wrong.errors:
            place = At(report, None, entry)
            for step in at.steps:
                place = place.child(step)
            place.warn(f"the API server refuses this CronJob, which begins no Job: {message}")
        if read is not None and not wrong.errors:
            found[document_key(entry.value)] = admitted(entry.value)
    return tuple(found.values())


def check(manifest: Document, at: At) -> None:
    """Report what is wrong with a CronJob that an operation creates or changes."""
    _CRON_JOB(manifest, at)


def admitted(manifest: Document) -> Document:
    """Return what the API server stores of a CronJob that has been read.

    Its pods end, as those of a Job without a restartPolicy do here.
    """
    meta, spec = _without_nulls(manifest["metadata"]), _without_nulls(manifest["spec"])
    namespace = meta.get("namespace") or "default"
    last = part_of(manifest, "status", "lastScheduleTime")
    job = _without_nulls(spec["jobTemplate"]["spec"])
    pod = {"restartPolicy": "Never", **_without_nulls(job["template"]["spec"])}
    job["template"] = {**_without_nulls(job["template"]), "spec": pod}
    return {
        "apiVersion": "batch/v1",
        "kind": KIND,
        "metadata": {"uid": uid_for(KIND, namespace, meta["name"]), **meta, "namespace": namespace},
        "spec": {**spec, "jobTemplate": {**_without_nulls(spec["jobTemplate"]), "spec": job}},
        "status": {} if seconds_of(last) is None else {"lastScheduleTime": last},
    }


def _without_nulls(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in manifest.items() if value is not None}


def _check_name(out: dict[str, Any], at: At) -> None:
    name = out["meta"].name
    if not name or len(name) > LONGEST_NAME:
        text = f"must have at most {LONGEST_NAME} characters, with room for the time of a Job"
        at.child("metadata").child("name").error(text if name else "name is missing")


def _time_zone(value: Any, at: At) -> str | None:
    name = text(value, at)
    if name is None:
        return None
    if not name or name.lower() == "local":
        at.error(f"{show(name)} is no time zone: write one by name, such as Europe/Berlin, or leave it out")
        return None
    try:
        time_zone(name)
    except ValueError:
        from zoneinfo import available_timezones

        hint = did_you_mean(name[:100], sorted(available_timezones())) or ": write Europe/Berlin, for example"
        at.error(f"there is no time zone {show(name)}{hint}")
        return None
    return name


def _schedule(value: Any, at: At) -> str | None:
    written = text(value, at)
    if written is None:
        return None
    if "TZ" in written:
        at.error("a schedule names no time zone: write it into timeZone")
        return None
    try:
        Schedule(written)
    except ValueError as error:
        at.error(f"{show(written)} is no schedule ({error}): write five fields, such as */5 * * * *")
        return None
    return written


_SPEC = record(
    dict,
    {
        "schedule": Field("schedule", _schedule, required=True),
        "timeZone": Field("zone", _time_zone),
        "jobTemplate": Field("template", JOB_TEMPLATE, required=True),
        "concurrencyPolicy": Field("concurrency", enum("Allow", "Forbid", "Replace")),
        "suspend": Field("suspended", boolean),
        "startingDeadlineSeconds": Field("deadline", _COUNT),
        "successfulJobsHistoryLimit": Field("succeeded", _COUNT),
        "failedJobsHistoryLimit": Field("failed", _COUNT),
    },
)
_CRON_JOB = record(
    dict,
    {"metadata": Field("meta", META, required=True), "spec": Field("spec", _SPEC, required=True)},
    unread="apiVersion kind status",
    check=_check_name,
)
