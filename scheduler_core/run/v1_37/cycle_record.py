"""Record a cycle of kube-scheduler v1.37 with the queue as it is after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.cycles import filtered, leading, skipped_filters, skipped_scores
from scheduler_core.run.v1_37.pod_groups import native_groups
from scheduler_core.run.v1_37.queues import EntryCache, hints_of
from scheduler_core.run.v1_37.record import ReleaseRecord
from scheduler_core.schedulers.v1_37.run import Ran, SchedulerRun
from scheduler_core.schedulers.v1_37.spread_counts import spread_counts


def record_of(
    run: SchedulerRun,
    cache: EntryCache,
    ran: Ran,
    cycle: Cycle,
    start: int,
    moves: Iterable[Mapping[str, Any]],
) -> ReleaseRecord:
    """Return what a cycle of v1.37 records beside the arrays that every release's cycle has.

    ``start`` is the index that its walk over the nodes began with, ``moves`` what events did to waiting pods.
    """
    attempt = leading(ran)
    hints, waiting = hints_of(run, cache)
    groups, group_count = native_groups(run.cluster, ran.entity)
    known: dict[str, Any] = {}
    if attempt is not None:
        known = {
            "skipped": skipped_filters(attempt),
            "unscored": skipped_scores(attempt),
            "evaluated": filtered(attempt),
            "hint": attempt.hint,
            "filed": attempt.queue,
            "scored": attempt.scored,
            "spread": () if attempt.context is None else spread_counts(attempt.context),
        }
    return ReleaseRecord(
        "" if attempt is None else attempt.profile.scheduler_name,
        attempts=tuple(replace(one, context=None, calls=None, candidates=[]) for one in ran.attempts),
        group=ran.group,
        entity=ran.entity,
        start=start,
        moves=tuple(moves),
        waiting=hints,
        waiting_count=waiting,
        groups=groups,
        group_count=group_count,
        phases=cycle.phases,
        release=run.configuration.dialect.name,
        **known,
    )
