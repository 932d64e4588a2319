"""Events between attempts, and consequences of attempts, in virtual time."""

from __future__ import annotations

from msgspec import Struct

UNSETTLED = "NotSettled"  # the event of rules that undo each other's changes, or of a run that hit a limit


class TimelineEvent(Struct, frozen=True):
    """An event of virtual time: ``what`` in Kubernetes' terms, ``about`` an object's key, and a ``text``.

    ``moves`` lists the pods it moved as (pod, node), with "" for pending and ``None`` for deleted. ``detail``
    is defined by the component of the scheduler that recorded the event.
    """

    time: float
    what: str
    about: str = ""
    text: str = ""
    detail: object = None
    moves: tuple[tuple[str, str | None], ...] = ()
