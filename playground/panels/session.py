"""A session of kube-batch: shares of queues and jobs, what became of each job, its steps, and its end."""

from __future__ import annotations

from typing import Any

from playground.panels.session_steps import JOBS, QUEUES, ROWS, job_of, of_type, page, round_of
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.schedulers.firmament.record import RoundRecord
from scheduler_core.schedulers.kube_batch.record import (
    Dispatch,
    Eviction,
    Forgotten,
    GroupWritten,
    InvalidJob,
    JobDropped,
    JobShares,
    LeftOutStep,
    Placement,
    ProportionRound,
    QueueShares,
    SessionEvent,
    SessionRecord,
    StatementEnd,
)

ROUNDS = 20
LISTED_ROWS = 50  # of what was left out, statements, groups and events

NO_SESSION = (
    "This step is a cycle of the default scheduler. A session of kube-batch binds several pods in one step."
)
ROUND = "This step is round {:,} of Firmament, which has no sessions: the story has its flow networks."
NOT_YET = "The session has not run yet at this moment."
OVER = "No session runs here: the run is over."


def record_of(cycle: Cycle) -> SessionRecord | None:
    """Return the session that a cycle is; ``None`` for any other."""
    return cycle.session if isinstance(cycle.session, SessionRecord) else None


def resting(_rest: FinalState) -> dict[str, Any]:
    """Return the part of the end of a run."""
    return {"why": OVER}


def session(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``session`` part of a cycle; ``{"why": text}`` if it is none."""
    record = record_of(cycle)
    if isinstance(cycle.session, RoundRecord):
        return {"why": ROUND.format(cycle.session.number)}
    if record is None:
        return {"why": NOT_YET if cycle.scheduler and cycle.result == "undecided" else NO_SESSION}
    rounds = of_type(record, ProportionRound)
    queues, jobs = _queues(record), _jobs(record)
    return {
        "number": record.number,
        "time": record.time,
        "actions": list(record.actions),
        "bound": len(record.bound),
        "evicted": len(record.evicted),
        "omitted": record.omitted,
        "rounds": [round_of(step) for step in rounds[:ROUNDS]],
        "roundCount": len(rounds),
        "queues": queues[:QUEUES],
        "queueCount": len(queues),
        "jobs": jobs[:JOBS],
        "jobCount": len(jobs),
        **_listed("leftOut", [[s.kind, s.name, s.why] for s in of_type(record, LeftOutStep)]),
        **_listed(
            "statements",
            [
                [s.action, s.job, s.how, len(s.operations)]
                for s in of_type(record, StatementEnd)
                if s.operations
            ],
        ),
        **_listed(
            "groups",
            [
                [s.group, s.phase, s.running, s.succeeded, s.failed, s.message]
                for s in of_type(record, GroupWritten)
            ],
        ),
        **_listed("events", [[s.type, s.reason, s.object, s.message] for s in of_type(record, SessionEvent)]),
        "steps": page(record, 0, ROWS),
    }


def _listed(name: str, rows: list[list[Any]]) -> dict[str, Any]:
    return {name: rows[:LISTED_ROWS], f"{name}Count": len(rows)}


def _queues(record: SessionRecord) -> list[dict[str, Any]]:
    """Return each queue with what it deserves and requests, and what it has before and after the session."""
    found: dict[str, dict[str, Any]] = {}
    for step in of_type(record, QueueShares):
        amounts, share = dict(step.allocated), step.share
        queue = found.setdefault(
            step.queue,
            {
                "queue": step.queue,
                "deserved": dict(step.deserved),
                "request": dict(step.request),
                "allocated": [amounts, amounts],
                "share": [share, share],
            },
        )
        queue["allocated"] = [queue["allocated"][0], amounts]
        queue["share"] = [queue["share"][0], share]
    return list(found.values())


COUNTED = {Placement: "placed", Dispatch: "bound", Eviction: "evicted", Forgotten: "forgotten"}


def _jobs(record: SessionRecord) -> list[dict[str, Any]]:
    """Return each job with its share before and after, and what became of it; those acted upon first."""
    found: dict[str, dict[str, Any]] = {}

    def row(job: str) -> dict[str, Any]:
        empty = dict.fromkeys(COUNTED.values(), 0)
        return found.setdefault(
            job,
            {"job": job, "share": None, "dominant": "", **empty, "dropped": [], "invalid": "", "phase": ""},
        )

    for step in record.steps:
        if not (job := job_of(step)):
            continue
        of = row(job)
        if isinstance(step, JobShares):
            of["share"] = [step.share if of["share"] is None else of["share"][0], step.share]
            of["dominant"] = step.dominant
        elif isinstance(step, JobDropped):
            of["dropped"] = [*of["dropped"], [step.action, step.task, step.why]][-3:]
        elif isinstance(step, InvalidJob):
            of["invalid"] = step.why
        elif isinstance(step, GroupWritten):
            of["phase"] = step.phase
        elif name := COUNTED.get(type(step)):
            of[name] += 1
    acted = ("placed", "bound", "evicted", "forgotten", "dropped")
    return sorted(found.values(), key=lambda of: not any(of[name] for name in acted))
