"""A partial cycle: its record up to a given phase, without what later phases decide.

The only place that defines which field is known after which phase. Every view of a moment within an attempt
reads the result of :func:`upto` just as it reads a complete cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.record.cache_record import CacheRecord, Counts
from scheduler_core.record.choice import NO_INDICES, NodeChoice
from scheduler_core.record.cycle import Cycle, Decision, QuirkChange, QuirkEffect
from scheduler_core.run.cycles import events_of

UNTRIED = ""
"""Before the first phase: no pod has been popped from the queue."""

FIRST_KNOWN: Mapping[str, tuple[str, Any]] = {
    "matrix": ("predicates", None),
    "unabridged": ("predicates", None),
    "nominated_passes": ("predicates", ()),
    "asked": ("predicates", 0),
    "priorities": ("priorities", []),
    "preemption": ("preemption", None),
}
"""For each field of a record, the phase that sets it and its value before that phase."""

QUIRKS: Mapping[QuirkChange, str | None] = {
    "predicates": "predicates",
    "priorities": "priorities",
    "preemption": "preemption",
    "decision": None,
}
"""The phase that reveals what a quirk changed; ``None`` for the last one."""

CHOOSING = ("select", "assume")
"""The node is chosen in the first of these that runs: a single feasible node is taken without scoring."""


def upto(cycle: Cycle, phase: str) -> Cycle:
    """Return the record of a cycle as of the end of ``phase``, or before the attempt for :data:`UNTRIED`.

    After the last phase the attempt is complete, but its effects have not taken place yet: ``consequences``,
    and the PodGroups, members, events and waiting pods that result from them.

    Raises:
        ValueError: The cycle did not reach that phase.
    """
    if phase != UNTRIED and phase not in cycle.phases:
        raise ValueError(f"cycle {cycle.index} has no phase {phase!r}")
    reached = cycle.phases[: cycle.phases.index(phase) + 1] if phase else ()
    over = bool(reached) and reached == cycle.phases
    hidden = {name: empty for name, (first, empty) in FIRST_KNOWN.items() if first not in reached}
    timed = cycle.moves is not None
    return replace(
        cycle,
        **hidden,
        choice=_choice(cycle, reached),
        phases=reached,
        decision=cycle.decision if over else _decision(cycle.decision, reached),
        message=cycle.message if over else None,
        quirks=tuple(quirk for quirk in cycle.quirks if _shown(quirk, reached, over=over)),
        cache=cycle.cache if over or cycle.cache is None else _cache(cycle.cache, reached),
        events=events_of(cycle.happenings) if timed else cycle.events if over else [],
        consequences=(),
        waiting=(),
        session=cycle.session if over else None,
        view=cycle.view if over else None,
        plugins=tuple(record.up_to(reached) for record in cycle.plugins),
    )


def _choice(cycle: Cycle, reached: Sequence[str]) -> NodeChoice:
    """Return the part of the choice that has been made by the phases reached."""
    return NodeChoice(
        cycle.feasible if "predicates" in reached else NO_INDICES,
        cycle.totals if "priorities" in reached else None,
        cycle.ties if "select" in reached else NO_INDICES,
    )


def _decision(decision: Decision, reached: Sequence[str]) -> Decision:
    """Return the part of a decision that has been made by the phases reached."""
    chosen = any(phase in reached for phase in CHOOSING)
    made = "preemption" in reached
    return Decision(
        decision.pod,
        "undecided",
        decision.node if chosen else None,
        nominated=decision.nominated if made else None,
        victims=decision.victims if made else (),
        cleared=decision.cleared if made else (),
        ranked=decision.ranked and chosen,
        further=decision.further if chosen else (),
    )


def _shown(quirk: QuirkEffect, reached: Sequence[str], *, over: bool) -> bool:
    return over or all(QUIRKS[part] in reached for part in quirk.changed)


def _cache(record: CacheRecord, reached: Sequence[str]) -> CacheRecord:
    """Return the cache record before any write: lookups once the predicates ran; invalidations come later."""
    looked = "predicates" in reached
    counts = replace(record.counts, writes=0, discarded=0, invalidated=0) if looked else Counts()
    totals = Counts(
        **{
            name: getattr(record.totals, name) - getattr(record.counts, name) + getattr(counts, name)
            for name in Counts.__struct_fields__
        }
    )
    head = CacheRecord(record.mode, record.definition, counts=counts, totals=totals, audited=record.audited)
    if not looked:
        return head
    return replace(
        head,
        hash=record.hash,
        name=record.name,
        members=record.members,
        bypass=record.bypass,
        hint=record.hint,
        sources=record.sources,
        stale=record.stale,
        causes=record.causes,
    )
