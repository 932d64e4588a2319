"""Convert an attempt of the framework into the Cycle record that every view reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler_core.cluster.controllers.kubelet import REFUSED
from scheduler_core.record.choice import NO_INDICES
from scheduler_core.record.cycle import (
    Cycle,
    Decision,
    KubernetesEvent,
    Result,
)
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.attempt import record_of_attempt
from scheduler_core.schedulers.v1_22.plugins.observers import STATUS_ENTRIES
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.scheduler import Framework

WARNINGS = frozenset(
    {"FailedScheduling", "Failed", "BackOff", "NodeNotReady", "BackoffLimitExceeded"}
    | {"EvictionRefused", "DrainFailed", "DescheduleFailed"}
)
NO_EVENTS = STATUS_ENTRIES | {"Moved", "Activated", "Operation"}
"""Timeline entries for which Kubernetes records no event."""


def decision_of(attempt: Attempt) -> Decision:
    """Return the decision of an attempt, the only part that a replay is checked against."""
    result: Result = attempt.result or "error"
    return Decision(
        attempt.pod,
        result,
        attempt.node if result in ("scheduled", "waiting") else None,
        nominated=attempt.nominated or None,
        victims=attempt.victims,
        cleared=attempt.cleared,
        ranked=attempt.ranked,
        further=attempt.further,
    )


def cycle_of(framework: Framework, profile: Profile | None, attempt: Attempt, counter: int) -> Cycle:
    """Return the record of an attempt, without the fields that only the run knows.

    These are index, step, queue and happenings. ``phases`` must be set again by :func:`phases_of` after the
    binding cycle has run. A custom scheduler has no ``profile``.
    """
    filtered, cluster = attempt.filtered, framework.cluster
    feasible = NO_INDICES
    if filtered is not None and not filtered.errors:
        if filtered.failed is None:
            feasible = cluster.columns.everything
        else:
            feasible = np.flatnonzero(filtered.failed == 0).astype(np.int32)
    cycle = record_of_attempt(
        cluster,
        () if profile is None else profile.order,
        decision_of(attempt),
        counter,
        phases_of(attempt),
        filtered,
        time=attempt.time,
        message=attempt.message or None,
        ranking=attempt.scored,
        feasible=feasible,
        preemption=attempt.preemption,
    )
    cycle.always_check_all = profile is not None and profile.always_check_all
    return cycle


def phases_of(attempt: Attempt) -> tuple[str, ...]:
    """Return the phases of an attempt that have run so far, in order; only those at which a plugin ran.

    A waiting pod's attempt ends at Permit, and its later binding is recorded by its event. The attempt of
    any other pod continues with its binding cycle.
    """
    return tuple(_phases(attempt))


AFTER_ASSUME = (
    ("Reserve", "reserve"),
    ("Permit", "permit"),
    ("PreBind", "preBind"),
    ("Bind", "bind"),
    ("PostBind", "postBind"),
)
"""The extension points that follow once a node is selected, with their phase names."""


def _phases(attempt: Attempt) -> Iterator[str]:
    said = {point for point, _, _ in attempt.statuses}
    yield "queue"
    if "PreFilter" in said:
        yield "preFilter"
    if attempt.filtered is not None:
        yield "predicates"
    if attempt.scored is not None:
        yield from ("priorities", "select")
    if attempt.node:
        yield "assume"
        yield from (phase for point, phase in AFTER_ASSUME if point in said)
        return
    if attempt.preemption is not None:
        yield "preemption"
    if "PostFilter" in said:
        yield "postFilter"


def events_of(timeline: Sequence[TimelineEvent]) -> list[KubernetesEvent]:
    """Return the timeline entries that are Kubernetes events, as ``kubectl get events`` prints them."""
    return [
        KubernetesEvent(
            "Warning" if h.what in WARNINGS or h.what.startswith(REFUSED) else "Normal",
            h.what,
            f"{_kind(h)}/{h.about}",
            h.text,
        )
        for h in timeline
        if h.what not in NO_EVENTS and h.about
    ]


def _kind(happening: TimelineEvent) -> str:
    if happening.what == "Timeout":
        return "podgroup"
    return "pod" if "/" in happening.about else "node"
