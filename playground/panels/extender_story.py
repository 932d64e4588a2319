"""The calls of extenders in the story of a cycle."""

from __future__ import annotations

from collections.abc import Collection

from playground.panels.sentences import Sentence, SentencePart
from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.extenders.configuration import is_extender
from scheduler_core.schedulers.extenders.record import CallRecord, extender_record

SHOWN = 6  # calls that are described individually
CHOOSING = ("filter", "prioritize")
SOURCES = {
    "declared": "as the scenario declares",
    "recorded": "as was recorded",
    "live": "called",
    "not called": "",
}
ASKED = {
    "filter": "is asked which of the nodes pass",
    "prioritize": "scores the nodes",
    "preempt": "is asked which victims may go",
    "bind": "is asked to bind",
}


def part_of(kind: str, name: str) -> SentencePart:
    """Return a rule's name in a sentence; an extender has no reference to link to."""
    return {"strong": name} if is_extender(name) else {kind: name}


def choosing(cycle: Cycle) -> list[Sentence]:
    """Describe the calls that decide about nodes."""
    return _calls(cycle, CHOOSING)


def ending(cycle: Cycle) -> list[Sentence]:
    """Describe the calls about victims and the binding."""
    return _calls(cycle, ("preempt", "bind"))


def _calls(cycle: Cycle, verbs: Collection[str]) -> list[Sentence]:
    record = extender_record(cycle)
    calls = [] if record is None else [call for call in record.calls if call.verb in verbs]
    sentences = [_sentence(call) for call in calls[:SHOWN]]
    if len(calls) > SHOWN:
        sentences.append([f"{len(calls) - SHOWN} more calls of extenders are in the trace."])
    return sentences


def _sentence(call: CallRecord) -> Sentence:
    who: SentencePart = {"strong": call.extender}
    if call.outcome == "not called":
        return [who, " is not called: its URL is not approved; declare its answers."]
    how = f" ({SOURCES[call.source]}, {call.seconds:.3g} s)"
    if call.outcome == "answered":
        notes = f": {'; '.join(call.notes)}." if call.notes else "."
        return [who, f" {ASKED[call.verb]}{how}{notes}"]
    passed = ", which is passed over" if call.outcome == "ignored" else ""
    return [who, f" {ASKED[call.verb]}{how} and fails{passed}: ", {"strong": call.error}]
