"""One session from its snapshot to its end (Scheduler.runOnce)."""

from __future__ import annotations

from msgspec import Struct

from scheduler_core.schedulers.kube_batch.actions import ACTIONS
from scheduler_core.schedulers.kube_batch.configuration import BatchConfiguration
from scheduler_core.schedulers.kube_batch.plugins import PLUGINS
from scheduler_core.schedulers.kube_batch.record import InvalidJob, LeftOutStep
from scheduler_core.schedulers.kube_batch.recorder import Recorder
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.session_end import Closing, close
from scheduler_core.schedulers.kube_batch.snapshot import Snapshot


class Finished(Struct, frozen=True):
    """A session that has ended, with what it wrote at its end."""

    session: Session
    closing: Closing


def open_session(
    snapshot: Snapshot, configuration: BatchConfiguration, recorder: Recorder | None = None
) -> Session:
    """Open the plugins over a snapshot (framework.OpenSession)."""
    session = Session(snapshot, configuration.tiers, recorder)
    if recorder is not None:
        for left_out in snapshot.left_out:
            recorder.note(LeftOutStep(recorder.action, left_out.kind, left_out.name, left_out.why))
    options = configuration.names()
    session.register({name: PLUGINS[name](session, option.arguments) for name, option in options.items()})
    if recorder is not None:
        for job in session.jobs.values():
            if why := session.job_invalid(job):
                recorder.note(InvalidJob(recorder.action, job.id, why))
    return session


def run_actions(session: Session, configuration: BatchConfiguration) -> Finished:
    """Run the actions in order, and close the session.

    Raises:
        InsufficientError: An account went below zero, which ends the original's process.
    """
    for name in configuration.actions:
        if session.recorder is not None:
            session.recorder.begin_action(name)
        ACTIONS[name](session)
    return Finished(session, close(session))


def run_session(
    snapshot: Snapshot, configuration: BatchConfiguration, recorder: Recorder | None = None
) -> Finished:
    """Open, run and close one session."""
    return run_actions(open_session(snapshot, configuration, recorder), configuration)
