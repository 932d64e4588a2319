"""Who waits, where, and what woke whom."""

from __future__ import annotations

from playground.courseware.expression import FactError
from playground.courseware.facts.moment import ShownMoment, short
from scheduler_core.run.v1_37.record import ReleaseRecord, release_record


def waiting(moment: ShownMoment, queue: str = "active", at: str = "", of: str = "") -> list[str]:
    """The pods in a queue when the cycle began: active, backoff, unschedulable or gated."""
    found = moment.cycle(at, of).queue
    if found.timed is not None:
        return [short(one.pod) for one in found.timed.entries if one.place == queue]
    queues = {"active": found.active, "unschedulable": found.unschedulable}
    return [short(pod) for pod, _, _ in queues.get(queue, [])]


def woken(moment: ShownMoment, at: str = "", of: str = "") -> list[str]:
    """The pods that events since the cycle before moved out of the unschedulable pods, under v1.37."""
    moves = _release(moment, at, of).moves
    return list(dict.fromkeys(short(str(move["pod"])) for move in moves if move.get("to")))


def asked_hints(moment: ShownMoment, pod: str, at: str = "", of: str = "") -> list[str]:
    """What plugins said of events for a waiting pod since the cycle before: ``NodeAffinity: QueueSkip``."""
    moves = [move for move in _release(moment, at, of).moves if short(str(move["pod"])) == pod]
    return [f"{plugin}: {hint}" for move in moves for plugin, hint in dict(move.get("hints") or {}).items()]


def _release(moment: ShownMoment, at: str, of: str) -> ReleaseRecord:
    found = release_record(moment.decided(at, of))
    if found is None:
        raise FactError("only a cycle of v1.37 records its events and hints")
    return found


FACTS = (
    waiting,
    woken,
    asked_hints,
)
