"""Hints: which event would wake each sleeping pod, and which plugin asked for it (kube-scheduler v1.37)."""

from __future__ import annotations

from typing import Any

from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.record import release_record

NOT_THERE = (
    "Queueing hints are part of kube-scheduler v1.37: its plugins say which event may help which pod. This "
    "was decided by another release, where any event of a kind wakes every pod."
)
MOVES_SHOWN = 50


def hints(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``hints`` part; ``{"why": text}`` under another release."""
    record = release_record(cycle)
    if record is None:
        return {"why": NOT_THERE}
    return {
        "release": record.release,
        "count": record.waiting_count,
        "pods": [
            {
                "pod": hint.pod,
                "queue": hint.queue,
                "attempts": hint.attempts,
                "gatedBy": hint.gated_by,
                "nominated": hint.nominated or None,
                "retryAt": hint.retry_at,
                "wakes": [
                    {"plugin": plugin, "events": list(events), "text": text}
                    for plugin, events, text in hint.events
                ],
            }
            for hint in record.waiting
        ],
        "moves": [
            [move["event"], move["pod"], sorted(move["hints"].items()), move["to"]]
            for move in record.moves[:MOVES_SHOWN]
        ],
        "moved": len(record.moves),
    }
