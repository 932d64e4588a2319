"""The events between two cycles and the consequences of a cycle, in sentences whose nouns are links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from playground.panels.phases import rule_text
from playground.panels.sentences import Sentence, SentencePart, listed
from scheduler_core.cluster.controllers.kubelet import REFUSED
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.coscheduling.plugin import PhaseChange
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod

SENTENCES_SHOWN = 60
TEXT_SHOWN = 300
NO_PHASE = "without a phase"
GONE = " deleted"  # ends the text about a deleted object other than a pod

EVENTS: Mapping[str, str] = {
    "AssignedPodAdd": "a pod was bound",
    "AssignedPodUpdate": "a bound pod changed",
    "AssignedPodDelete": "a pod left its node",
    "UnscheduledPodAdd": "a pod was created",
    "NodeAdd": "a node was added",
    "NodeUpdate": "a node changed",
    "NodeDelete": "a node was deleted",
    "PodGroupAdd": "a PodGroup was created",
    "PodGroupUpdate": "a PodGroup changed",
    "PvAdd": "a volume was added",
    "PvUpdate": "a volume changed",
    "PvcAdd": "a claim was created",
    "PvcUpdate": "a claim changed",
    "StorageClassAdd": "a storage class was added",
    "ServiceAdd": "a service was created",
    "UnschedulableTimeout": "it had stayed there long enough: the unschedulable queue was flushed",
    "created": "it was created",
    "failed": "it could not be scheduled",
    "activated": "a member of its group began to wait at Permit and activated it",
    "backoff ended": "its backoff ended",
    "updated": "it was updated",
    "gates removed": "its scheduling gates were removed",
}
"""Why a pod is in its queue, by the event that moved it there."""


def timed_sentences(happenings: Sequence[TimelineEvent], tried: str) -> list[list[Any]]:
    """Return ``[time, sentence]`` of the events, truncated if there are many; ``tried`` is the cycle's pod.

    The same event of several pods is one sentence.
    """
    rows = [[entries[0].time, sentence_of(entries)] for entries, _ in alike(happenings, tried) if entries]
    more = len(rows) - SENTENCES_SHOWN
    if more > 0:
        rows = [*rows[:SENTENCES_SHOWN], [happenings[-1].time, [f"And {more:,} more."]]]
    return rows


def alike(
    happenings: Iterable[TimelineEvent], tried: str
) -> Iterator[tuple[list[TimelineEvent], list[TimelineEvent]]]:
    """Yield groups of events that share a sentence, in order, each with the skipped events after it.

    Skipped are events that the cycle itself describes, and duplicates: a sync, and its patch. The first list
    is empty only if events are skipped before the first sentence.
    """
    entries: list[TimelineEvent] = []
    silent: list[TimelineEvent] = []
    key: tuple[object, ...] = ()
    for happening, worth in _judged(happenings, tried):
        if not worth:
            silent.append(happening)
            continue
        if key != (key := _kind(happening)) and (entries or silent):
            yield entries, silent
            entries, silent = [], []
        entries.append(happening)
    if entries or silent:
        yield entries, silent


def _judged(happenings: Iterable[TimelineEvent], tried: str) -> Iterator[tuple[TimelineEvent, bool]]:
    """Yield events with whether each is shown."""
    synced: set[tuple[str, str]] = set()
    for happening in happenings:
        same = (happening.about, happening.text)
        if happening.what == "PodGroupSync":
            synced.add(same)
        patched = happening.what == "PodGroup" and same in synced
        if patched:
            synced.discard(same)
        own = happening.what == "FailedScheduling" and happening.about == tried and happening.detail is None
        yield happening, not (patched or own)


def _alike(happening: TimelineEvent) -> bool:
    """Return whether ALIKE has the text for an event of a pod; controllers delete other objects too."""
    return happening.what in ALIKE and not happening.text.endswith(GONE)


def deletes_pod(happening: TimelineEvent) -> bool:
    """Return whether an event is the deletion of the pod that it is about."""
    return happening.what in DELETED and _alike(happening)


def _kind(happening: TimelineEvent) -> tuple[object, ...]:
    """Return the key that is equal for events in one sentence."""
    if _alike(happening):
        return (happening.what, happening.time)
    waited = happening.detail
    if isinstance(waited, WaitingPod):
        return ("rejected", waited.message)
    return (id(happening),)


def sentence_of(entries: Sequence[TimelineEvent]) -> Sentence:
    """Return the sentence for events of the same kind."""
    first = entries[0]
    pods = listed("pod", [entry.about for entry in entries])
    one = len(entries) == 1
    if _alike(first):
        return [*pods, ALIKE[first.what][0 if one else 1]]
    if isinstance(first.detail, WaitingPod):
        verb = "is" if one else "are"
        return [
            *pods,
            f" {verb} rejected while waiting at Permit, and off the node: {_cut(first.detail.message)}.",
        ]
    return SENTENCES.get(first.what, _other)(first)


DELETED: Mapping[str, tuple[str, str]] = {
    "TaintManagerEviction": (" is evicted from its node.", " are evicted from their nodes."),
    "EvictionByEvictionAPI": (" is evicted.", " are evicted."),
    "Preempted": (" is preempted.", " are preempted."),
    "GarbageCollected": (" is deleted: its owner was deleted.", " are deleted: their owner was deleted."),
    "DeletingOrphanedPod": (" is deleted: its node was deleted.", " are deleted: their node was deleted."),
    "SuccessfulDelete": (" is deleted by its controller.", " are deleted by their controllers."),
    "RollingUpdate": (" is deleted for an update.", " are deleted for an update."),
}
"""The events that delete pods: the text for one pod, and for several at once."""

ALIKE: Mapping[str, tuple[str, str]] = {
    "Started": (" runs.", " run."),
    "Succeeded": (" has succeeded; its resources are free.", " have succeeded; their resources are free."),
    "Failed": (" has failed; its resources are free.", " have failed; their resources are free."),
    "SuccessfulCreate": (" is created by its controller.", " are created by their controllers."),
    **DELETED,
}
"""The text for one pod, and for several at once."""


def _bound(happening: TimelineEvent) -> Sentence:
    node = happening.text.rpartition(" to ")[2]
    return [{"pod": happening.about}, " is bound to ", {"node": node}, "."]


def _failed(happening: TimelineEvent) -> Sentence:
    return [{"pod": happening.about}, f" is unschedulable: {_cut(happening.text)}"]


def _phase(happening: TimelineEvent) -> Sentence:
    change = happening.detail
    why = ""
    if isinstance(change, PhaseChange):
        if change.before.phase == happening.text:
            return [
                _group(happening),
                " stays ",
                {"strong": happening.text or NO_PHASE},
                "; its counters changed.",
            ]
        why = f": {', then '.join(map(rule_text, change.sync.rules))}"
    return [_group(happening), " is ", {"strong": happening.text or NO_PHASE}, f" now{why}."]


def _group(happening: TimelineEvent) -> SentencePart:
    return {"group": happening.about}


def _moved(happening: TimelineEvent) -> Sentence:
    event = happening.text.partition(" ")[0]
    verb = "leaves" if len(_keys(happening)) == 1 else "leave"
    why = EVENTS.get(event, event)
    return [*listed("pod", _keys(happening)), f" {verb} the unschedulable queue: {why} ({event})."]


def _activated(happening: TimelineEvent) -> Sentence:
    verb = "goes" if len(_keys(happening)) == 1 else "go"
    return [
        *listed("pod", _keys(happening)),
        f" {verb} to the active queue at once: a member began to wait at Permit.",
    ]


def _keys(happening: TimelineEvent) -> list[str]:
    moved = happening.detail
    return [str(key) for key in moved] if isinstance(moved, list | tuple) else []


def _from_outside(happening: TimelineEvent) -> Sentence:
    return [f"From outside: {_cut(happening.text)}."]


def _warned(happening: TimelineEvent) -> Sentence:
    return [_group(happening), f": {_cut(happening.text)}."]


def _other(happening: TimelineEvent) -> Sentence:
    text = _cut(happening.text)
    if happening.text.endswith(GONE):
        why = " with its owner" if happening.what == "GarbageCollected" else f" ({happening.what})"
        return [f"{text.removesuffix(GONE)} is deleted{why}."]
    if happening.what.startswith(REFUSED):
        refused = f" is refused by the kubelet and Failed ({happening.what}): {text}."
        return [{"pod": happening.about}, refused]
    if "/" in happening.about:
        return [{"pod": happening.about}, f": {happening.what}, {text}."]
    return [f"{text or happening.what}."]


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_SHOWN else f"{text[: TEXT_SHOWN - 1]}…"


SENTENCES: Mapping[str, Callable[[TimelineEvent], Sentence]] = {
    "Scheduled": _bound,
    "FailedScheduling": _failed,
    "PodGroup": _phase,
    "PodGroupSync": _phase,
    "Moved": _moved,
    "Activated": _activated,
    "Operation": _from_outside,
    "Timeout": _warned,
}
