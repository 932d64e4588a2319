"""What a session tells an observer; without one nothing of this is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from scheduler_core.kube_batch.record import Amounts, FilledQueue, TierAnswer


class Observer(Protocol):
    """The methods are named for what has just happened; :mod:`scheduler_core.kube_batch.record` has the
    meaning of the arguments.
    """

    def most_nodes(self) -> int:
        """Return how many nodes of each kind :meth:`considered` should describe now."""
        ...

    def begin_action(self, name: str) -> None:
        """Begin an action, or ``close``."""
        ...

    def left_out(self, kind: str, name: str, why: str) -> None:
        """Note an object that the session ignores."""
        ...

    def invalid(self, job: str, why: str) -> None:
        """Note a job that would be rejected if the check came in time."""
        ...

    def filled(
        self, number: int, weights: int, before: Amounts, queues: tuple[FilledQueue, ...], after: Amounts
    ) -> None:
        """Note a round of proportion."""
        ...

    def queue_share(
        self, queue: str, deserved: Amounts, allocated: Amounts, request: Amounts, share: float
    ) -> None:
        """Note a queue's share."""
        ...

    def job_share(self, job: str, allocated: Amounts, share: float, dominant: str) -> None:
        """Note a job's share."""
        ...

    def popped(self, what: str, owner: str, size: int, before: tuple[str, ...], item: str) -> None:
        """Note a heap's pop."""
        ...

    def queue_dropped(self, queue: str, why: str) -> None:
        """Note a queue's entry that is not served."""
        ...

    def job_dropped(self, job: str, task: str, why: str) -> None:
        """Note a job that is served no more."""
        ...

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
        """Note the nodes for a task."""
        ...

    def placed(self, task: str, node: str, status: str) -> None:
        """Note a placement in the session."""
        ...

    def failed(self, task: str, why: str) -> None:
        """Note a placement that a node refused."""
        ...

    def dispatched(self, job: str, task: str, node: str) -> None:
        """Note a bind request."""
        ...

    def victims(
        self,
        what: str,
        task: str,
        candidates: tuple[str, ...],
        answers: tuple[TierAnswer, ...],
        decided: int,
        chosen: tuple[str, ...],
    ) -> None:
        """Note who may be evicted for a task."""
        ...

    def evicted(self, task: str, node: str, why: str) -> None:
        """Note an eviction in the session."""
        ...

    def statement(self, job: str, how: str, operations: tuple[tuple[str, str], ...]) -> None:
        """Note the end of a statement."""
        ...

    def forgotten(self, task: str, node: str, status: str) -> None:
        """Note a task for which nothing is sent."""
        ...

    def group_written(
        self, group: str, phase: str, running: int, succeeded: int, failed: int, message: str
    ) -> None:
        """Note a PodGroup's status."""
        ...

    def event(self, kind: str, reason: str, obj: str, message: str) -> None:
        """Note an Event, which is Normal or Warning."""
        ...
