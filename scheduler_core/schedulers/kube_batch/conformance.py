"""Conformance records of kube-batch: run the sessions of one record, and answer in the records' format."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

from msgspec.structs import replace

from scheduler_core.formats.manifest_list import read_manifests
from scheduler_core.kubernetes.model import PodGroupStatus
from scheduler_core.schedulers.kube_batch.configuration import (
    BatchConfiguration,
    ConfigurationError,
    parse_configuration,
)
from scheduler_core.schedulers.kube_batch.model import ALLOCATED, PIPELINED, JobInfo
from scheduler_core.schedulers.kube_batch.record import Amounts, JobShares, QueueShares
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.session_run import Finished, open_session, run_actions
from scheduler_core.schedulers.kube_batch.snapshot import (
    ServerOption,
    SnapshotCache,
    WatchedObjects,
    take_snapshot,
)

MOST_SESSIONS = 3
MILLION = 1_000_000  # shares have six digits in the records


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one record: ``{"id", "expect"}``.

    Raises:
        ValueError: The record does not have the format of ``kube-batch.jsonl.gz``.
        BundleError: The objects cannot be read.
    """
    config = record.get("config")
    if not isinstance(config, Mapping):
        raise ValueError("config must be an object")
    text = config.get("schedulerConf")
    if text is not None and not isinstance(text, str):
        raise ValueError("config.schedulerConf must be text or null")
    try:
        configuration = parse_configuration(text)
    except ConfigurationError as error:
        return {"id": record.get("id"), "expect": {"configError": str(error)}}
    objects = WatchedObjects.of(read_manifests(record.get("objects")))
    options = ServerOption(
        str(config.get("schedulerName") or "kube-batch"), str(config.get("defaultQueue") or "default")
    )
    return {"id": record.get("id"), "expect": {"sessions": run(objects, configuration, options)}}


def run(
    objects: WatchedObjects, configuration: BatchConfiguration, options: ServerOption
) -> list[dict[str, Any]]:
    """Run up to three sessions, with what happens to pods and groups in between."""
    kept, answers = SnapshotCache(), []
    for number in range(1, MOST_SESSIONS + 1):
        session = open_session(take_snapshot(objects, options, kept), configuration)
        before = _queue_shares(session), _job_shares(session)
        finished = run_actions(session, configuration)
        answers.append(_answer(finished, *before))
        outcome = session.outcome
        if number >= 2 and not outcome.bound and not outcome.evicted:
            break
        _pass_time(objects, finished)
    return answers


def _pass_time(objects: WatchedObjects, finished: Finished) -> None:
    """Remove pods that are being deleted and start bound ones; PodGroups keep their status."""
    outcome, groups = finished.session.outcome, finished.closing.groups
    gone = frozenset(outcome.evicted)
    left = [pod for pod in objects.pods if pod.meta.deletion_timestamp is None and pod.meta.key not in gone]
    objects.pods = [
        replace(pod, phase="Running", node_name=outcome.bound[pod.meta.key])
        if pod.meta.key in outcome.bound
        else pod
        for pod in left
    ]
    objects.groups = [
        replace(group, status=groups.get(group.meta.key, group.status)) for group in objects.groups
    ]


def _queue_shares(session: Session) -> dict[str, QueueShares]:
    registration = session.registered.get("proportion")
    accounts = None if registration is None else registration.queue_shares
    return {} if accounts is None else {of.queue: of for of in accounts()}


def _job_shares(session: Session) -> dict[str, JobShares]:
    registration = session.registered.get("drf")
    accounts = None if registration is None else registration.job_shares
    return {} if accounts is None else {of.job: of for of in accounts()}


def _answer(
    finished: Finished, queues: Mapping[str, QueueShares], jobs: Mapping[str, JobShares]
) -> dict[str, Any]:
    session = finished.session
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    found: dict[str, Any] = {
        "bound": session.outcome.bound,
        "pipelined": {task.key: task.node_name for task in tasks if task.status == PIPELINED},
        "heldNotDispatched": {task.key: task.node_name for task in tasks if task.status == ALLOCATED},
        "evicted": sorted(session.outcome.evicted),
        "jobs": {},
        "queues": {name: _queue(queues[name], after) for name, after in _queue_shares(session).items()},
        "podGroups": {name: _group(status) for name, status in finished.closing.groups.items()},
    }
    job_shares = _job_shares(session)
    for name, job in session.jobs.items():
        found["jobs"][name] = _job(job)
        if name in job_shares:
            found["jobs"][name] |= {
                "shareBefore": rounded(jobs[name].share),
                "shareAfter": rounded(job_shares[name].share),
            }
    return found


def _job(job: JobInfo) -> dict[str, Any]:
    return {
        "queue": job.queue,
        "priority": job.priority,
        "minAvailable": job.min_available,
        "ready": job.ready,
        "pipelined": job.pipelined,
        "tasks": {status: len(tasks) for status, tasks in sorted(job.by_status.items())},
        "allocated": _amounts(job.allocated.amounts()),
    }


def _queue(before: QueueShares, after: QueueShares) -> dict[str, Any]:
    return {
        "deserved": _amounts(after.deserved),
        "request": _amounts(after.request),
        "allocatedBefore": _amounts(before.allocated),
        "allocatedAfter": _amounts(after.allocated),
        "shareBefore": rounded(before.share),
        "shareAfter": rounded(after.share),
    }


def rounded(share: float) -> float:
    """Return a share with six digits, halves away from zero, as math.Round of Go has them."""
    millionths = share * MILLION
    whole = floor(millionths)
    return (whole + (millionths - whole >= 0.5)) / MILLION


def _amounts(amounts: Amounts) -> dict[str, float]:
    return {name: int(amount) if amount == int(amount) else amount for name, amount in amounts.items()}


def _group(status: PodGroupStatus) -> dict[str, Any]:
    found: dict[str, Any] = {
        "phase": status.phase,
        "running": status.running,
        "succeeded": status.succeeded,
        "failed": status.failed,
    }
    if status.conditions:
        one = status.conditions[-1]
        found["condition"] = {
            "type": one.type,
            "status": one.status,
            "reason": one.reason,
            "message": one.message,
        }
    return found
