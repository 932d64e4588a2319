"""A head of a cycle: what it was nominated with, and what became of it."""

from __future__ import annotations

from msgspec import Struct, field

from scheduler_core.cluster.kueue.assignment import Assignment
from scheduler_core.cluster.kueue.candidates import Considered, PreemptionTarget
from scheduler_core.cluster.kueue.entry import Entry
from scheduler_core.cluster.kueue.objects import Usage
from scheduler_core.cluster.kueue.topology.snapshot import UsageByFlavor

NOT_NOMINATED, ASSUMED, SKIPPED, EVICTED = "notNominated", "assumed", "skipped", "evicted"


class Nomination(Struct):
    """A head with the flavors found for it and the workloads it would preempt."""

    entry: Entry
    assignment: Assignment
    targets: list[PreemptionTarget]
    message: str = ""
    status: str = NOT_NOMINATED
    reason: str = ""  # of requeueing
    forgets: bool = False  # the positions of the search
    domains: UsageByFlavor = {}  # what its pods take of topologies
    considered: tuple[Considered, ...] = ()
    is_second_pass: bool = False

    @property
    def usage(self) -> Usage:
        """The quota that it needs on top of what it holds."""
        return {} if self.is_second_pass else self.assignment.usage

    @property
    def is_preempting(self) -> bool:
        """Whether it has issued preemptions."""
        return self.reason == "PendingPreemption"


class Inadmissible(Struct):
    """A head that failed a check before any flavor was looked at."""

    entry: Entry
    message: str
    reason: str = ""


class CycleRecord(Struct):
    """A scheduling cycle: its heads, the entries in the order of processing, and what was not admissible.

    ``crashes`` say where v0.17 crashes; the cycle goes on here as if nobody could be preempted.
    """

    time: float
    heads: list[str]
    entries: list[Nomination]
    inadmissible: list[Inadmissible]
    crashes: list[str] = field(default_factory=list)

    @property
    def decisions(self) -> list[Nomination | Inadmissible]:
        """All that was decided, in order."""
        return [*self.entries, *self.inadmissible]

    @property
    def is_fruitful(self) -> bool:
        """Whether it admitted a Workload or preempted for one."""
        return any(one.status == ASSUMED or one.is_preempting for one in self.entries)
