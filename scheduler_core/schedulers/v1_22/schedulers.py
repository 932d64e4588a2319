"""Schedulers that run alongside the framework in virtual time. A new scheduler is a row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from scheduler_core.kubernetes.model import Pod, PodGroupStatus

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.interface import Handle
    from scheduler_core.schedulers.v1_22.record import Attempt


class CustomScheduler(Protocol):
    """A scheduler of its own process, responsible for the pods that name it in ``spec.schedulerName``.

    It is called only while such pods are pending. It reads the cluster through the framework's handle and
    changes nothing there: the simulation binds the pods that its attempt places, evicts its victims and
    stores the PodGroup statuses that it writes. It survives a restart of the framework, and is copied with
    the simulation.
    """

    def next_time(self, now: float) -> float:
        """Return the virtual time of its next attempt, at the earliest ``now``."""
        ...

    def attempt(self, framework: Handle, pending: Sequence[Pod]) -> Attempt:
        """Decide about at least one of the pending pods, which are in order of arrival."""
        ...


@runtime_checkable
class Configurable(Protocol):
    """A custom scheduler that reads a configuration file of its own."""

    def configure(self, text: str) -> None:
        """Use the text of the file instead of the default; it is valid."""
        ...


@runtime_checkable
class GroupWriter(Protocol):
    """A custom scheduler that writes PodGroup statuses also while no pod is pending for it."""

    def statuses(self, framework: Handle) -> Mapping[str, PodGroupStatus]:
        """Return the statuses by ``namespace/name``; called at its next time after a change of an object."""
        ...


SCHEDULERS: dict[str, Callable[[], CustomScheduler]] = {
    # schedulerName: the class, or a function that makes one
}
"""The factories by schedulerName. A profile of that name in the configuration takes precedence.

A package above this one adds its row where it declares its scheduler.
"""
