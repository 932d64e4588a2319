"""What extenders were asked in a cycle."""

from __future__ import annotations

from typing import Any

import msgspec

from playground.courseware.facts.moment import ShownMoment
from scheduler_core.schedulers.extenders.record import ExtenderRecord


def asked_about(moment: ShownMoment, verb: str = "filter", at: str = "", of: str = "") -> list[str]:
    """The nodes that a cycle sent to extenders with a verb, ``filter`` or ``prioritize``."""
    found: dict[str, None] = {}
    for record in moment.decided(at, of).plugins:
        calls = record.calls if isinstance(record, ExtenderRecord) else ()
        for call in calls:
            if call.verb == verb:
                found.update(dict.fromkeys(_nodes(msgspec.json.decode(call.request))))
    return list(found)


def _nodes(request: Any) -> list[str]:
    names = request.get("NodeNames")
    if names is not None:
        return [str(name) for name in names]
    return [str(node["metadata"]["name"]) for node in (request.get("Nodes") or {}).get("items", [])]


def extender_calls(moment: ShownMoment, at: str = "", of: str = "") -> int:
    """How many calls of extenders a cycle made."""
    records = [one for one in moment.decided(at, of).plugins if isinstance(one, ExtenderRecord)]
    return sum(len(one.calls) for one in records)


FACTS = (asked_about, extender_calls)
