"""Who has how much of a whole: the accounts that drf keeps by job, and proportion by queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct, field

from scheduler_core.schedulers.kube_batch.model import TaskInfo
from scheduler_core.schedulers.kube_batch.record import JobShares, QueueShares
from scheduler_core.schedulers.kube_batch.recorder import Recorder
from scheduler_core.schedulers.kube_batch.resources import Resource, dominant_share


class DominantShare(Struct):
    """What one has, and the highest share of any resource of the ``whole`` that this is."""

    name: str
    whole: Resource
    allocated: Resource = field(default_factory=Resource)
    share: float = 0.0
    dominant: str = ""

    def update(self) -> None:
        """Compute the share again."""
        self.share, self.dominant = dominant_share(self.allocated, self.whole)


A = TypeVar("A", bound=DominantShare)
Shares = TypeVar("Shares", bound=JobShares | QueueShares)


class Accounts(Generic[A, Shares]):
    """Accounts by name, kept up to date as tasks are placed and released.

    ``of`` names a task's account; ``shares`` describes one during an action, for the record.
    """

    def __init__(
        self,
        accounts: Mapping[str, A],
        of: Callable[[TaskInfo], str],
        shares: Callable[[str, A], Shares],
        recorder: Recorder | None,
    ) -> None:
        self.accounts = accounts
        self._of = of
        self._shares = shares
        self._recorder = recorder

    def __getitem__(self, name: str) -> A:
        return self.accounts[name]

    def compare(self, left: str, right: str) -> int:
        """Compare two by their shares: the smaller one comes first."""
        mine, theirs = self[left].share, self[right].share
        return (mine > theirs) - (mine < theirs)

    def allocated(self, task: TaskInfo) -> None:
        """Count a task that was placed."""
        account = self[self._of(task)]
        account.allocated.add(task.request)
        account.update()
        self.note(account)

    def deallocated(self, task: TaskInfo) -> None:
        """Count a task no more."""
        account = self[self._of(task)]
        account.allocated.sub(task.request)
        account.update()
        self.note(account)

    def note(self, account: A) -> None:
        """Record an account as it is."""
        if self._recorder is not None:
            self._recorder.note(self._shares(self._recorder.action, account))

    def present(self) -> tuple[Shares, ...]:
        """Return every account as it is."""
        return tuple(self._shares("", account) for account in self.accounts.values())
