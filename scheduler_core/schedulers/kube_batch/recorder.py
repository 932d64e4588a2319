"""Collects a session's steps; without a recorder nothing of them is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.schedulers.kube_batch.record import NodesConsidered, SessionRecord, Step

CLOSE = "close"  # what happens after the last action
MOST_STEPS = 50_000
MOST_NODES = 200  # described for a task
FEW_NODES = 10  # once so many have been described that all would take too much
MANY_NODES = 100_000


class Recorder:
    """Records one session; steps beyond ``most`` are only counted.

    ``action`` is the one that runs, which each step names: "" while the session opens.
    """

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.action = ""
        self.actions: list[str] = []
        self.steps: list[Step] = []
        self.omitted = 0
        self._most = most
        self._described = 0

    def begin_action(self, name: str) -> None:
        """Set the action of the steps that follow, or :data:`CLOSE`."""
        self.action = name
        self.actions.append(name)

    def note(self, step: Step) -> None:
        """Record what has just happened."""
        if isinstance(step, NodesConsidered):
            self._described += len(step.refused) + len(step.short) + len(step.candidates)
        if len(self.steps) < self._most:
            self.steps.append(step)
        else:
            self.omitted += 1

    def most_nodes(self) -> int:
        """Return how many nodes of each kind to describe for a task: fewer after many."""
        return MOST_NODES if self._described < MANY_NODES else FEW_NODES

    def result(
        self, number: int, time: float, bound: Mapping[str, str], evicted: Sequence[str]
    ) -> SessionRecord:
        """Return the record of the session, which has ended and sent these requests."""
        actions = tuple(name for name in self.actions if name != CLOSE)
        return SessionRecord(
            number, time, actions, tuple(self.steps), self.omitted, dict(bound), tuple(evicted)
        )
