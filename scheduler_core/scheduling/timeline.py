"""What happens between and because of attempts in virtual time."""

from __future__ import annotations

from dataclasses import dataclass

UNSETTLED = "NotSettled"  # the event of rules that undo each other's work, or of a run that hit a bound


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event of virtual time: ``what`` in the field's words, ``about`` an object's key, and a ``text``.

    ``moves`` lists the pods it moved as (pod, node), "" for pending and ``None`` for gone. ``detail`` is
    whatever the part of the scheduler that recorded it adds.
    """

    time: float
    what: str
    about: str = ""
    text: str = ""
    detail: object = None
    moves: tuple[tuple[str, str | None], ...] = ()
