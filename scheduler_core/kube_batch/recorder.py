"""The observer that records a session's steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.kube_batch import record
from scheduler_core.kube_batch.record import Amounts, FilledQueue, SessionRecord, Step, TierAnswer
from scheduler_core.kube_batch.session import Outcome

MOST_STEPS = 50_000
MOST_NODES = 200  # described for a task
FEW_NODES = 10  # once so many have been described that all would take too much
MANY_NODES = 100_000


class Recorder:
    """Records one session; steps beyond ``most`` are only counted."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.steps: list[Step] = []
        self.omitted = 0
        self.actions: list[str] = []
        self._most = most
        self._action = ""
        self._described = 0

    def result(self, number: int, time: float, outcome: Outcome) -> SessionRecord:
        """Return the record of the session, which has ended."""
        actions = tuple(name for name in self.actions if name != "close")
        bound, evicted = dict(outcome.bound), tuple(outcome.evicted)
        return SessionRecord(number, time, actions, tuple(self.steps), self.omitted, bound, evicted)

    def _add(self, make: Callable[..., Step], *values: Any) -> None:
        if len(self.steps) < self._most:
            self.steps.append(make(self._action, *values))
        else:
            self.omitted += 1

    def most_nodes(self) -> int:
        """Return how many nodes of each kind to describe for a task: fewer after many."""
        return MOST_NODES if self._described < MANY_NODES else FEW_NODES

    def begin_action(self, name: str) -> None:
        """Set the action of the steps that follow."""
        self._action = name
        self.actions.append(name)

    def left_out(self, kind: str, name: str, why: str) -> None:
        """Record an object that the session ignores."""
        self._add(record.LeftOutStep, kind, name, why)

    def invalid(self, job: str, why: str) -> None:
        """Record a job that is scheduled although it is not valid."""
        self._add(record.InvalidJob, job, why)

    def filled(
        self, number: int, weights: int, before: Amounts, queues: tuple[FilledQueue, ...], after: Amounts
    ) -> None:
        """Record a round of proportion."""
        self._add(record.ProportionRound, number, weights, before, queues, after)

    def queue_share(
        self, queue: str, deserved: Amounts, allocated: Amounts, request: Amounts, share: float
    ) -> None:
        """Record a queue's share."""
        self._add(record.QueueShares, queue, deserved, allocated, request, share)

    def job_share(self, job: str, allocated: Amounts, share: float, dominant: str) -> None:
        """Record a job's share."""
        self._add(record.JobShares, job, allocated, share, dominant)

    def popped(self, what: str, owner: str, size: int, before: tuple[str, ...], item: str) -> None:
        """Record a heap's pop."""
        self._add(record.HeapPop, what, owner, size, before, item)

    def queue_dropped(self, queue: str, why: str) -> None:
        """Record a queue's entry that is not served."""
        self._add(record.QueueDropped, queue, why)

    def job_dropped(self, job: str, task: str, why: str) -> None:
        """Record a job that is served no more."""
        self._add(record.JobDropped, job, task, why)

    def considered(
        self,
        task: str,
        counts: tuple[int, int, int],
        refused: Mapping[str, str],
        short: tuple[str, ...],
        candidates: tuple[tuple[str, float], ...],
        parts: Mapping[str, tuple[float, ...]],
        chosen: str,
    ) -> None:
        """Record the nodes for a task."""
        self._described += len(refused) + len(short) + len(candidates)
        self._add(record.NodesConsidered, task, counts, refused, short, candidates, parts, chosen)

    def placed(self, task: str, node: str, status: str) -> None:
        """Record a placement."""
        self._add(record.Placement, task, node, status)

    def failed(self, task: str, why: str) -> None:
        """Record a placement that a node refused."""
        self._add(record.PlacementFailed, task, why)

    def dispatched(self, job: str, task: str, node: str) -> None:
        """Record a bind request."""
        self._add(record.Dispatch, job, task, node)

    def victims(
        self,
        what: str,
        task: str,
        candidates: tuple[str, ...],
        answers: tuple[TierAnswer, ...],
        decided: int,
        chosen: tuple[str, ...],
    ) -> None:
        """Record who may be evicted."""
        self._add(record.VictimsChosen, what, task, candidates, answers, decided, chosen)

    def evicted(self, task: str, node: str, why: str) -> None:
        """Record an eviction."""
        self._add(record.Eviction, task, node, why)

    def statement(self, job: str, how: str, operations: tuple[tuple[str, str], ...]) -> None:
        """Record the end of a statement."""
        self._add(record.StatementEnd, job, how, operations)

    def forgotten(self, task: str, node: str, status: str) -> None:
        """Record a task for which nothing is sent."""
        self._add(record.Forgotten, task, node, status)

    def group_written(
        self, group: str, phase: str, running: int, succeeded: int, failed: int, message: str
    ) -> None:
        """Record a PodGroup's status."""
        self._add(record.GroupWritten, group, phase, running, succeeded, failed, message)

    def event(self, kind: str, reason: str, obj: str, message: str) -> None:
        """Record an Event."""
        self._add(record.SessionEvent, kind, reason, obj, message)
