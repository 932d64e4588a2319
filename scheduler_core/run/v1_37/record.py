"""What a cycle of kube-scheduler v1.37 records beside the arrays that every release's cycle has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, UnsetType, field
from msgspec.structs import replace

from scheduler_core.record.cycle import Cycle
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.run.v1_37.pod_groups import NativePodGroup
from scheduler_core.schedulers.v1_37 import RELEASE
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.score_arrays import ScoredNodes
from scheduler_core.schedulers.v1_37.spread_counts import SpreadCounts
from scheduler_core.settings.release import row_of
from scheduler_core.settings.terms import Terms


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
    filtered, ``scored`` the feasible ones in order. ``moves`` are the waiting pods that events of this cycle,
    or before it, asked about. ``spread`` is what PodTopologySpread counted for the hard constraints.
    ``groups`` are the first of the ``group_count`` PodGroups, as they are after the cycle.
    """

    profile: str
    attempts: tuple[PodAttempt, ...] = ()
    group: Mapping[str, Any] | None = None
    entity: str = ""
    skipped: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    start: int = 0
    evaluated: int = 0
    hint: str | None = None
    scored: ScoredNodes | None = None
    spread: tuple[SpreadCounts, ...] = ()
    filed: str | None = None
    moves: tuple[Mapping[str, Any], ...] = ()
    waiting: tuple[Hint, ...] = ()
    waiting_count: int = 0
    groups: tuple[NativePodGroup, ...] = ()
    group_count: int = 0
    deleted: tuple[str, ...] = ()
    release: str = RELEASE
    phases: tuple[str, ...] = field(default_factory=tuple)

    def attempt_of(self, pod: str) -> PodAttempt | None:
        """Return the first attempt to place a pod, None if there was none or it is not known yet."""
        return next((one for one in self.attempts if one.pod.key == pod), None)

    @property
    def marks(self) -> tuple[TimelineMark, ...]:
        """None: a native PodGroup has no phases."""
        return ()

    def up_to(self, phases: Sequence[str]) -> ReleaseRecord:
        """Return the part that is known once ``phases`` of the attempt have run."""
        if tuple(phases) == self.phases:
            return self
        known = ReleaseRecord(
            self.profile, entity=self.entity, start=self.start, phases=self.phases, release=self.release
        )
        if "predicates" not in phases:
            return known
        known = replace(
            known, skipped=self.skipped, evaluated=self.evaluated, hint=self.hint, spread=self.spread
        )
        if "priorities" not in phases:
            return known
        return replace(known, unscored=self.unscored, scored=self.scored)

    def fields(self) -> dict[str, Any]:
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


def _only(kind: Any, text: str) -> Any:
    """Return the type of a field that only a cycle of v1.37 has."""
    return Annotated[kind | UnsetType, Meta(description=text)]


FIELDS: dict[str, Any] = {
    "release": _only(
        str, "Only in a cycle of v1.35 or later, as are profile, entity, attempts, group, hints and filed."
    ),
    "profile": _only(str, "The schedulerName of the profile."),
    "entity": _only(str, "What the queue handed out: a pod, or a PodGroup that is scheduled as a whole."),
    "attempts": _only(
        Sequence[dict[str, Any]],
        "Each attempt in the form of the recorded decisions: preFilter, evaluated (in the order of the "
        "walk), failed, feasible, preScore, scores with raw and normalized, totals, ties, postFilter, "
        "preemption, unschedulablePlugins, queue. With extenders also atRandom, the nodes of which "
        "kube-scheduler takes one at random, and scoredEmpty, if the nodes were scored without their pods.",
    ),
    "group": _only(
        dict[str, Any] | None,
        "What was decided about the PodGroup: feasible, placements, placementScores, postFilter, conditions.",
    ),
    "hints": _only(
        Sequence[dict[str, Any]],
        "What events since the previous cycle did to waiting pods: event, pod, hints (by plugin: Queue, "
        "QueueSkip or Error) and to, the queue that it moved to.",
    ),
    "filed": _only(str | None, "The queue that the pod went to afterwards."),
}
"""The fields that the record adds to the cycle's trace line, with their types; absent in other releases."""


def release_record(cycle: Cycle) -> ReleaseRecord | None:
    """Return the record of a cycle of v1.37, ``None`` for a cycle of another release."""
    return next((one for one in cycle.plugins if isinstance(one, ReleaseRecord)), None)


def terms_of(cycle: Cycle | None) -> Terms:
    """Return what the release that decided a cycle calls its rules; without one, predicates."""
    record = None if cycle is None else release_record(cycle)
    return row_of("" if record is None else record.release).terms
