"""Sentences of a step's story about the session of kube-batch that it is."""

from __future__ import annotations

from collections.abc import Sequence

from playground.panels.sentences import Sentence, SentencePart, counted, joined, listed
from playground.panels.session import record_of
from playground.panels.session_steps import of_type
from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.kube_batch.record import (
    Forgotten,
    GroupWritten,
    JobDropped,
    QueueDropped,
    SessionRecord,
    StatementEnd,
    VictimsChosen,
)

MOST = 2  # jobs that are named, each with its reason
TAB: SentencePart = {"tab": "Session"}


def decided(cycle: Cycle) -> list[Sentence]:
    """Describe a session: its actions, what was dropped and why, which tier decided, and its end."""
    record = record_of(cycle)
    if record is None:
        return []
    actions = joined([[{"strong": name}] for name in record.actions])
    return [
        ["It is ", TAB, f" {record.number:,} and runs ", *actions, "."],
        *_dropped(record),
        *_overused(record),
        *_tiers(record),
        *_discarded(record),
        *_forgotten(record),
        *_phases(record),
    ]


def _dropped(record: SessionRecord) -> list[Sentence]:
    last = {step.job: step for step in of_type(record, JobDropped)}
    sentences: list[Sentence] = [
        [{"job": step.job}, f" is dropped by {step.action} at ", {"pod": step.task}, f": {step.why}."]
        for step in list(last.values())[:MOST]
    ]
    if len(last) > MOST:
        sentences.append([f"{counted(len(last) - MOST, 'more job')} {_was(len(last) - MOST)} dropped."])
    return sentences


def _overused(record: SessionRecord) -> list[Sentence]:
    names = {step.queue: None for step in of_type(record, QueueDropped) if step.why == "overused"}
    if not names:
        return []
    has = "queue has" if len(names) == 1 else "queues have"
    return [[*listed("strong", list(names)), f": the {has} what it deserves, and is not served any more."]]


def _tiers(record: SessionRecord) -> list[Sentence]:
    found = of_type(record, VictimsChosen)
    by_tier: dict[int, dict[str, None]] = {}
    for step in found:
        if step.decided:
            plugins = by_tier.setdefault(step.decided, {})
            plugins |= {one.plugin: None for one in step.answers if one.tier == step.decided}
    sentences: list[Sentence] = [
        [f"Tier {tier} decides on victims: ", *joined([[name] for name in plugins]), "."]
        for tier, plugins in by_tier.items()
    ]
    if found and not by_tier:
        sentences.append(["Victims were looked for, and no tier accepts any."])
    return sentences


def _discarded(record: SessionRecord) -> list[Sentence]:
    found = [s for s in of_type(record, StatementEnd) if s.how == "discarded" and s.operations]
    if not found:
        return []
    jobs = list({step.job: None for step in found})
    sentence: Sentence = [f"{counted(len(found), 'statement').capitalize()} of ", *listed("job", jobs)]
    return [[*sentence, f" {_was(len(found))} discarded: the evictions in it are not sent."]]


def _forgotten(record: SessionRecord) -> list[Sentence]:
    pods = [step.task for step in of_type(record, Forgotten)]
    if not pods:
        return []
    sentence: Sentence = [
        *listed("pod", pods),
        f" {'holds' if len(pods) == 1 else 'hold'} resources until the ",
    ]
    return [
        [
            *sentence,
            "session closes, and nothing is sent for them."
            if len(pods) > 1
            else "session closes, and nothing is sent for it.",
        ]
    ]


def _phases(record: SessionRecord) -> list[Sentence]:
    by_phase: dict[str, list[str]] = {}
    for step in of_type(record, GroupWritten):
        by_phase.setdefault(step.phase, []).append(step.group)
    if not by_phase:
        return []
    parts: Sequence[Sentence] = [
        [*listed("job", groups), " " + ("is" if len(groups) == 1 else "are") + " ", {"strong": phase}]
        for phase, groups in by_phase.items()
    ]
    return [["In the end ", *joined(list(parts)), "."]]


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
