"""A node on which preemption would help, and who would have to go."""

from __future__ import annotations

from msgspec import Struct

from scheduler_core.schedulers.v1_37.disruption import Unit
from scheduler_core.schedulers.v1_37.pods import CompiledPod


class Candidate(Struct, frozen=True):
    """A node with the units that would have to go, most important first."""

    node: str
    units: tuple[Unit, ...]
    violations: int
    removed: tuple[CompiledPod, ...] = ()
    """All pods of lower priority on the node, in the order in which they were tried to be kept."""
    violating: frozenset[str] = frozenset()
    """Those whose deletion would violate a PodDisruptionBudget."""

    @property
    def victims(self) -> tuple[CompiledPod, ...]:
        """All pods of the units."""
        return tuple(pod for unit in self.units for pod in unit.pods)
