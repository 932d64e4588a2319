"""What a cycle of kube-scheduler v1.37 records beside the arrays that every release's cycle has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.config.release import V1_37
from scheduler_core.scheduling.cycle import Cycle
from scheduler_core.scheduling.plugin_record import TimelineMark
from scheduler_core.v1_37.interface import Attempt


class Hint(Struct, frozen=True):
    """A waiting pod after the cycle: the plugins that it waits for and the events that would wake it.

    ``events`` has, for each rejecting plugin in order, the plugin, its registered events, and a sentence on
    what would have to happen. ``retry_at`` is when time alone moves the pod, in virtual seconds.
    """

    pod: str
    queue: str
    attempts: int
    gated_by: str | None
    pending: tuple[str, ...]
    events: tuple[tuple[str, tuple[str, ...], str], ...]
    retry_at: float | None
    nominated: str


class ReleaseRecord(Struct, frozen=True):
    """One cycle of v1.37. ``attempts`` have no context any more; ``group`` has the recorded form.

    ``skipped`` are the filter plugins whose PreFilter answered Skip, ``unscored`` the score plugins whose
    PreScore did. ``start`` is the index that the walk over the nodes began with, ``evaluated`` how many were
    filtered. ``moves`` are the waiting pods that events of this cycle, or before it, asked about.
    """

    profile: str
    attempts: tuple[Attempt, ...] = ()
    group: Mapping[str, Any] | None = None
    entity: str = ""
    skipped: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    start: int = 0
    evaluated: int = 0
    hint: str | None = None
    filed: str | None = None
    moves: tuple[Mapping[str, Any], ...] = ()
    waiting: tuple[Hint, ...] = ()
    waiting_count: int = 0
    deleted: tuple[str, ...] = ()
    release: str = V1_37
    phases: tuple[str, ...] = field(default_factory=tuple)

    @property
    def marks(self) -> tuple[TimelineMark, ...]:
        """None: a native PodGroup has no phases."""
        return ()

    def up_to(self, phases: Sequence[str]) -> ReleaseRecord:
        """Return the part that is known once ``phases`` of the attempt have run."""
        if tuple(phases) == self.phases:
            return self
        known = ReleaseRecord(self.profile, entity=self.entity, start=self.start, phases=self.phases)
        if "predicates" not in phases:
            return known
        known = replace(known, skipped=self.skipped, evaluated=self.evaluated, hint=self.hint)
        return replace(known, unscored=self.unscored) if "priorities" in phases else known

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that it adds to the cycle's trace line."""
        return {
            "release": self.release,
            "profile": self.profile,
            "entity": self.entity,
            "attempts": [attempt.document() for attempt in self.attempts],
            "group": self.group,
            "hints": list(self.moves),
            "filed": self.filed,
        }


def release_record(cycle: Cycle) -> ReleaseRecord | None:
    """Return the record of a cycle of v1.37, ``None`` for a cycle of another release."""
    return next((one for one in cycle.plugins if isinstance(one, ReleaseRecord)), None)
