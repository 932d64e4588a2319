"""Evictions and pipelined tasks that are sent together or undone (framework.Statement)."""

from __future__ import annotations

from scheduler_core.schedulers.kube_batch.model import RUNNING, TaskInfo
from scheduler_core.schedulers.kube_batch.record import StatementEnd
from scheduler_core.schedulers.kube_batch.session import Session


class Statement:
    """A transaction within a session: its effects are visible at once, and sent or undone at its end."""

    def __init__(self, session: Session, job: str) -> None:
        self._session = session
        self._job = job
        self._operations: list[tuple[str, TaskInfo]] = []

    def evict(self, task: TaskInfo, why: str) -> None:
        """Release a task's resources; its deletion is sent on commit."""
        self._session.release(task, why)
        self._operations.append(("evict", task))

    def pipeline(self, task: TaskInfo, row: int) -> None:
        """Place a task on what is being released."""
        self._session.pipeline(task, row, in_statement=True)
        self._operations.append(("pipeline", task))

    def commit(self) -> None:
        """Send the evictions."""
        for name, task in self._operations:
            if name == "evict":
                self._session.send_eviction(task)
        self._record("committed")

    def discard(self) -> None:
        """Undo everything, the last operation first."""
        for name, task in reversed(self._operations):
            if name == "evict":
                self._session.unrelease(task, RUNNING)
            else:
                self._session.unpipeline(task)
        self._record("discarded")

    def _record(self, how: str) -> None:
        if (recorder := self._session.recorder) is not None:
            operations = tuple((name, task.key) for name, task in self._operations)
            recorder.note(StatementEnd(recorder.action, self._job, how, operations))
