"""What a PodGroup waits for: its state in one sentence, and the next events, each with its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from playground.panels.sentences import Sentence, listed
from scheduler_core.schedulers.coscheduling.controller import FINAL
from scheduler_core.schedulers.coscheduling.editions import EDITIONS, Edition
from scheduler_core.schedulers.coscheduling.record import GroupMember, PodGroupRecord

ENDED = frozenset({"Succeeded", "Failed"})
NEXT_SHOWN = 12

Next = tuple[float | None, str, Sentence]  # the time, if a timer determines it; its kind; the sentence


class _Standing(Struct, frozen=True, dict=True):
    """A group as the outlook's input; ``scheduled``: the plugin Coscheduling runs."""

    record: PodGroupRecord
    edition: Edition
    scheduled: bool

    @cached_property
    def by_state(self) -> dict[str, list[GroupMember]]:
        found: dict[str, list[GroupMember]] = defaultdict(list)
        for member in self.record.members:
            found[member.state].append(member)
        return found

    @property
    def needed(self) -> int:
        return self.record.min_member or 0

    @property
    def living(self) -> int:
        """The number of members that the scheduler sees: it does not watch finished pods."""
        return self.record.count - sum(self.count(state) for state in ENDED)

    @property
    def missing(self) -> int:
        return max(0, self.needed - self.record.assigned)

    def count(self, state: str) -> int:
        return self.record.states.get(state, 0)

    def pods(self, *states: str) -> list[str]:
        return [member.pod for state in states for member in self.by_state[state]]


def outlook(record: PodGroupRecord, table: str, *, scheduled: bool) -> dict[str, Any]:
    """Return ``now``, a sentence, and ``next``: ``[at, kind, sentence]`` in chronological order.

    ``table`` is the edition; ``scheduled`` whether the plugin runs. Entries without a timer have no time and
    come last. The kinds: active, wait, denied, backed-off, permitted, backoff, flush, event.
    """
    standing = _Standing(record, EDITIONS[table], scheduled)
    coming = sorted(
        (entry for rule in NEXT for entry in rule(standing)),
        key=lambda entry: (entry[0] is None, entry[0] or 0.0),
    )
    return {"now": _now(standing), "next": [list(entry) for entry in coming[:NEXT_SHOWN]]}


def _now(standing: _Standing) -> Sentence:
    return next(sentence for rule in NOW if (sentence := rule(standing)) is not None)


# The current state: the first rule that applies


def _absent(standing: _Standing) -> Sentence | None:
    if standing.record.phase is not None:
        return None
    return ["There is no such PodGroup: its pods pass PreFilter and fail at Permit."]


def _final(standing: _Standing) -> Sentence | None:
    phase = standing.record.phase
    if phase not in FINAL:
        return None
    return [{"strong": str(phase)}, " is final: the controller no longer reconciles the group."]


def _alone(standing: _Standing) -> Sentence | None:
    if standing.scheduled:
        return None
    held = f"{standing.record.assigned} of {standing.needed}"
    return [f"{held} hold a node. Nobody waits for the others: each pod is bound by itself."]


def _denied(standing: _Standing) -> Sentence | None:
    record = standing.record
    if record.denied_until is not None:
        return [{"strong": "Denied"}, f": PreFilter turns its pods away; {_held(standing)}."]
    if record.backed_off_until is not None:
        return [{"strong": "Backed off"}, f": PreFilter turns its pods away; {_held(standing)}."]
    return None


def _waiting(standing: _Standing) -> Sentence | None:
    waiting = standing.count("waiting")
    if not waiting:
        return None
    who, each = (f"{waiting} wait", " each") if waiting > 1 else ("1 waits", "")
    return [
        {"strong": f"{who} at Permit"},
        f", holding room on a node{each}, for {standing.missing} more to have one: {_held(standing)}.",
    ]


def _too_few(standing: _Standing) -> Sentence | None:
    living = standing.living
    if living >= standing.needed or standing.record.assigned >= standing.needed:
        return None
    return [
        {"strong": "Too few members"},
        f": {living} of at least {standing.needed} exist, so PreFilter turns each of them away.",
    ]


def _gated(standing: _Standing) -> Sentence | None:
    gated = standing.count("gated")
    if not standing.edition.counts_gated or not gated or standing.living - gated >= standing.needed:
        return None
    left = f"without them fewer than {standing.needed} are left"
    return [
        {"strong": "Gated"},
        f": {gated} of its {standing.living} members have scheduling gates, and {left}.",
    ]


def _placed(standing: _Standing) -> Sentence | None:
    if standing.missing or not standing.needed:
        return None
    extras = standing.living - standing.record.assigned
    text = f": {_held(standing)}."
    if extras > 0:
        text += f" {extras} more {'is an extra' if extras == 1 else 'are extras'}, bound where there is room."
    return [{"strong": "Complete"}, text]


def _pending(standing: _Standing) -> Sentence:
    return [{"strong": "Not scheduled"}, f": {_held(standing)}."]


def _held(standing: _Standing) -> str:
    assigned, needed = standing.record.assigned, standing.needed
    return f"{assigned or 'none'} of {needed} {'holds' if assigned < 2 else 'hold'} a node"


NOW: Sequence[Callable[[_Standing], Sentence | None]] = (
    _absent, _final, _alone, _denied, _waiting, _too_few, _gated, _placed, _pending
)  # fmt: skip


# The next events


def _tried(standing: _Standing) -> Iterator[Next]:
    pods = standing.pods("active")
    if pods:
        record = standing.record
        verb = "is" if len(pods) == 1 else "are"
        refused = record.denied_until is not None or record.backed_off_until is not None
        text = "tried in queue order, and rejected" if refused else "tried in queue order"
        yield record.time, "active", [*listed("pod", pods), f" {verb} in the active queue: {text}."]


def _time_out(standing: _Standing) -> Iterator[Next]:
    waiting = [member for member in standing.by_state["waiting"] if member.deadline is not None]
    if not waiting:
        return
    first = min(waiting, key=lambda member: member.deadline or 0.0)
    then = "all that wait are rejected with it" if len(waiting) > 1 else "it is rejected"
    if standing.edition.denies:
        then += ", and the group is denied for a while"
    elif standing.edition.failure_sorts:
        then += ", and the group goes behind younger ones in the queue"
    yield first.deadline, "wait", [{"pod": first.pod}, f" has waited long enough: {then}."]
    if standing.missing and standing.scheduled:
        more = "member has" if standing.missing == 1 else "members have"
        yield None, "event", [f"As soon as {standing.missing} more {more} a node, all that wait are bound."]


def _in_force(standing: _Standing) -> Iterator[Next]:
    record = standing.record
    if record.denied_until is not None:
        yield record.denied_until, "denied", ["The denial expires: PreFilter accepts its pods again."]
    if record.backed_off_until is not None:
        yield record.backed_off_until, "backed-off", ["The backoff ends: PreFilter accepts its pods again."]
    if record.permitted_until is not None and standing.missing:
        yield record.permitted_until, "permitted", ["Until then the resource check is skipped: it passed."]


def _retried(standing: _Standing) -> Iterator[Next]:
    for state, kind, text in RETRIED:
        by_time: dict[float, list[str]] = defaultdict(list)
        for member in standing.by_state[state]:
            if member.retry_at is not None:
                by_time[member.retry_at].append(member.pod)
        for at, pods in by_time.items():
            verb = "goes" if len(pods) == 1 else "go"
            yield at, kind, [*listed("pod", pods), f" {verb} to the active queue: {text}."]
    if standing.by_state["unschedulable"]:
        yield None, "event", ["An event may move the unschedulable ones sooner: see ", {"tab": "Queue"}, "."]


RETRIED = (
    ("backoff", "backoff", "the backoff is over"),
    ("unschedulable", "flush", "the unschedulable queue is flushed"),
)


def _opened(standing: _Standing) -> Iterator[Next]:
    pods = standing.pods("gated")
    if pods:
        yield None, "event", [*listed("pod", pods), " will be queued once the scheduling gates are removed."]


NEXT: Sequence[Callable[[_Standing], Iterator[Next]]] = (_tried, _time_out, _in_force, _retried, _opened)
