"""Why a Workload waits in Kueue: its place, what it asks, each flavor, whom it would preempt, what helps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.cycle import AdmissionCycle
from scheduler_core.cluster.kueue.entry import Entry
from scheduler_core.cluster.kueue.nomination import CycleRecord, Inadmissible, Nomination
from scheduler_core.cluster.kueue.workload import (
    ADMITTED,
    EVICTED,
    FINISHED,
    QUOTA_RESERVED,
    Workload,
)
from scheduler_core.explain.explanation import ExplainError
from scheduler_core.explain.kueue.change import KueueChange
from scheduler_core.explain.kueue.changes import changes_for
from scheduler_core.explain.kueue.position import (
    FlavorStanding,
    QueuePlace,
    flavors_of,
    place_of,
    request_sentence,
    targets_sentences,
)
from scheduler_core.explain.kueue.reasons import (
    DEACTIVATED,
    MEANINGS,
    MISCONFIGURED,
    PENDING_EVALUATION,
    SUSPENDED,
    WAITING_FOR_PREEMPTED,
    reason_of,
)
from scheduler_core.explain.kueue.surprises import surprises, unsimulated
from scheduler_core.explain.kueue.trials import course, outlook
from scheduler_core.explain.section import Section
from scheduler_core.kubernetes.names import did_you_mean


class KueueAnswer(Struct, frozen=True):
    """The answer about a Workload. ``state`` is finished, admitted, reserved, evicted or pending.

    ``reason`` is KEP-10852's, ``message`` that of its condition QuotaReserved; ``changes`` admit it, those
    that preempt nobody first.
    """

    workload: str
    owner: str
    state: str
    queue: str
    path: str
    summary: str
    reason: str = ""
    message: str = ""
    place: QueuePlace | None = None
    asks: tuple[str, ...] = ()
    flavors: tuple[FlavorStanding, ...] = ()
    targets: tuple[str, ...] = ()
    surprises: tuple[str, ...] = ()
    changes: tuple[KueueChange, ...] = ()

    @property
    def head(self) -> tuple[str, ...]:
        """What is said first."""
        return (self.summary,)

    @property
    def sections(self) -> Iterator[Section]:
        """The parts of the answer below the summary."""
        asked = [self.place.sentence] if self.place else []
        if asked or self.asks:
            yield Section("In the queue", (*asked, *self.asks))
        flavors = [text for one in self.flavors for text in one.sentences]
        if flavors:
            yield Section("Flavors", tuple(flavors))
        if self.targets:
            yield Section("It would preempt, in this order", self.targets)
        if self.surprises:
            yield Section("Note", self.surprises)
        for number, change in enumerate(self.changes):
            title = "Or" if number else "Smallest change that admits it"
            notes = [change.note] if change.note else []
            commands = [one.command for one in change.patches]
            yield Section(title, (change.words, *notes, *commands))

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON, of bounded size."""
        return {
            "workload": self.workload,
            "owner": self.owner,
            "state": self.state,
            "clusterQueue": self.queue,
            "path": self.path,
            "summary": self.summary,
            "reason": self.reason,
            "message": self.message,
            "sections": [section.as_dict() for section in self.sections],
            "changes": [change.as_dict() for change in self.changes],
        }


def answer(control: Control, key: str) -> KueueAnswer:
    """Explain a Workload by its key. Raises :class:`ExplainError` if there is none."""
    workload = control.workloads.get(key)
    if workload is None:
        hint = did_you_mean(key, list(control.workloads))
        raise ExplainError(f"there is no Workload {key!r}{hint}", "workload")
    state = _state(workload)
    if state != "pending":
        return _settled(control, workload, state)
    return _pending(control, workload)


def _state(workload: Workload) -> str:
    if workload.has(FINISHED):
        return "finished"
    if workload.is_reserving and workload.has(EVICTED):
        return "evicted"
    if workload.has(ADMITTED):
        return "admitted"
    return "reserved" if workload.is_reserving else "pending"


_SETTLED = {
    "finished": "has finished",
    "admitted": "is admitted",
    "reserved": "has its quota reserved, and waits for its admission checks",
    "evicted": "is evicted: its quota stays reserved until its job has stopped",
}


def _settled(control: Control, workload: Workload, state: str) -> KueueAnswer:
    """Explain a Workload that no queue holds."""
    queue = workload.admission.cluster_queue if workload.admission else ""
    flavors = _assigned(workload)
    waiting = [f"{name} is {one.state}" for name, one in workload.checks.items() if one.state != "Ready"]
    where = f" in ClusterQueue {queue}{f' with {flavors}' if flavors else ''}" if queue else ""
    checks = f" ({', '.join(waiting)})" if waiting and state == "reserved" else ""
    summary = f"Workload {workload.key} {_SETTLED[state]}{checks}{where}."
    surprises = tuple(unsimulated(control, workload))
    return KueueAnswer(
        workload.key, workload.owner, state, queue, _path(control, queue), summary, surprises=surprises
    )


def _assigned(workload: Workload) -> str:
    rows = workload.admission.pod_sets if workload.admission else ()
    return "; ".join(
        f"{one.name}: " + ", ".join(f"{name} of {flavor}" for name, flavor in sorted(one.flavors.items()))
        for one in rows
        if one.flavors
    )


def _path(control: Control, queue: str) -> str:
    node = control.cache.tree.queues.get(queue)
    return node.path if node else ""


def _pending(control: Control, workload: Workload) -> KueueAnswer:
    queue = control.cache.queue_of(workload)
    pending = control.queues.get(queue)
    entry = pending.find(workload.key) if pending else None
    place = place_of(pending, control.cache.queues[queue].strategy, workload.key) if pending else None
    record = _attempt(control, entry)
    tried = next(iter(record.decisions), None) if record else None
    crashes = record.crashes if record else []
    reason, message = _reason(control, workload, place, tried)
    nomination = tried if isinstance(tried, Nomination) else None
    flavors = tuple(flavors_of(control.cache, entry, nomination)) if entry and nomination else ()
    ahead = place.ahead if place else ()
    alone = course(control, lambda _: None, workload.key)
    changes = [] if alone.admits(workload.key) else changes_for(control, workload, queue, flavors, ahead)
    return KueueAnswer(
        workload.key,
        workload.owner,
        "pending",
        queue,
        _path(control, queue),
        f"{_summary(workload, queue, reason, message)} {outlook(alone, workload.key)}",
        reason=reason,
        message=message,
        place=place,
        asks=tuple(map(request_sentence, entry.requests)) if entry else (),
        flavors=flavors,
        targets=tuple(targets_sentences(nomination.targets)) if nomination else (),
        surprises=(
            *crashes,
            *surprises(control, workload, queue, place, nomination),
            *unsimulated(control, workload),
        ),
        changes=tuple(changes),
    )


def _attempt(control: Control, entry: Entry | None) -> CycleRecord | None:
    """Return what a cycle finds for an entry that is its only head, with nothing carried out."""
    if entry is None:
        return None
    return AdmissionCycle(control.cache, control.configuration, control.now).run([entry])


def _fits(one: Nomination) -> bool:
    return one.assignment.mode == "Fit"


def _reason(
    control: Control,
    workload: Workload,
    place: QueuePlace | None,
    tried: Nomination | Inadmissible | None,
) -> tuple[str, str]:
    """Return KEP-10852's reason, and the message that Kueue writes or would write."""
    written = workload.conditions.get(QUOTA_RESERVED)
    message = written.message if written and not written.status else ""
    if not workload.active:
        return DEACTIVATED, message or "The workload is deactivated"
    closed = _closed(control, workload)
    if closed:
        return closed
    if isinstance(tried, Inadmissible):
        return MISCONFIGURED, tried.message
    if tried is None:
        return PENDING_EVALUATION, message
    if place is not None and place.is_sticky:
        return WAITING_FOR_PREEMPTED, tried.message
    if _fits(tried):
        return PENDING_EVALUATION, message
    return reason_of(tried.assignment), tried.assignment.message


def _closed(control: Control, workload: Workload) -> tuple[str, str] | None:
    """Return why a Workload does not get to the scheduler, ``None`` if it does."""
    cache = control.cache
    local = cache.local_queues.get(workload.queue_key)
    if local is None:
        return MISCONFIGURED, f"LocalQueue {workload.queue} doesn't exist"
    if local.stop_policy != "None":
        return SUSPENDED, f"LocalQueue {workload.queue} is inactive"
    if local.cluster_queue not in cache.queues:
        return MISCONFIGURED, f"ClusterQueue {local.cluster_queue} doesn't exist"
    if not cache.is_active(local.cluster_queue):
        activity = cache.activity(local.cluster_queue)
        reason = SUSPENDED if activity.reason == "Stopped" else MISCONFIGURED
        return reason, f"ClusterQueue {local.cluster_queue} is inactive: {activity.message}"
    return None


def _summary(workload: Workload, queue: str, reason: str, message: str) -> str:
    where = f" in ClusterQueue {queue}" if queue else ""
    text = f"Workload {workload.key}, priority {workload.rank}, is pending{where}: {reason}"
    text += f" ({MEANINGS[reason]})."
    return f"{text} Kueue says: {message}." if message else text
