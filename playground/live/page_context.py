"""What a connection's address says of its page: that it is in another page's frame, or in a room.

In a frame a page asks of its own scenario, and changes nothing.

Such a page connects to ``/ws/?frame=<scenario>``, with ``&lock=1&step=<step>`` where its step is locked: then
nothing that belongs to another step is answered either. With ``&veil=<cycle>`` nothing after that cycle is
answered, as to a viewer of a room whose question is open: a lesson asks for the next one. With
``&upto=<phase>`` neither is what that cycle decides after the phase; nothing of its attempt without a name.

The page of a room connects to ``/ws/?room=<room>``: nothing of a scenario is answered before it has joined.
Any other page asks without this.
"""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import parse_qs

from playground.playback.veil import CYCLE

LONGEST = 200  # characters of the query
STEP_LENGTH = 24
Framed = Literal["", "step", "window", "opening", "run"]
"""What a command that only reads is about; "": it is not for frames.

The step that its :data:`STEP_FIELDS` name, or what all steps have in common; a window of cycles; where a page
opens; or with "run" other steps as well, which a locked frame may not ask for.
"""
STEP_FIELDS = ("step", "cycle", "to")  # of commands, that name a step or a cycle
OTHER = "The page around this frame locked its step; open it in podstep to see others."
NO_CHANGE = "An embedded page cannot change anything; open it in podstep."
ONE_SOURCE = "An embedded page shows only its own scenario."


class Frame:
    """The scenario of a frame, and its locked step; ``index`` is its cycle, once that is known.

    ``last``: the last cycle that it may show, ``None`` if it may show all; of that no more than ``phase``,
    ``None`` for the whole.
    """

    __slots__ = ("index", "last", "locked", "phase", "scenario", "step")

    def __init__(
        self, scenario: str, step: str | None, last: int | None = None, phase: str | None = None
    ) -> None:
        self.scenario = scenario
        self.locked = step is not None
        self.step = step or ""
        self.last, self.phase = last, phase
        self.index: int | None = 0 if step == "" else None

    def refusal(self, framed: Framed, payload: Any) -> str:
        """Return why a command is not this frame's to ask, "" for one that is."""
        if not framed:
            return NO_CHANGE
        if not isinstance(payload, dict):
            return ""  # refused as it is
        source = payload.get("source")
        if source is not None and source != {"scenario": self.scenario}:
            return ONE_SOURCE
        return "" if not self.locked or self._about_its_step(framed, payload) else OTHER

    def _about_its_step(self, framed: Framed, payload: dict[str, Any]) -> bool:
        if framed == "opening":
            return payload.get("step") in (None, self.step)
        if framed == "run":
            return False
        if framed == "window":
            return payload.get("count") == 1 and payload.get("from") == self.index and bool(self.index)
        own = (self.index, str(self.index))
        return all(payload[field] in own for field in STEP_FIELDS if field in payload)


def frame_of(query: bytes) -> Frame | None:
    """Return the frame that the query of a connection names, ``None`` for a page that is none.

    Raises ValueError for a query that is not one of ours.
    """
    if not query:
        return None
    fields = _fields(query)
    if "room" in fields:
        return None
    scenario, step, veil = (fields.pop(name, [""])[0] for name in ("frame", "step", "veil"))
    phase = fields.pop("upto", [""])[0] if "upto" in fields else None
    locked = fields.pop("lock", [""])[0] == "1"
    if fields or not scenario or len(query) > LONGEST or (veil and (locked or not CYCLE.fullmatch(veil))):
        raise ValueError("the query of a connection names a frame, and its step and lock, or its veil")
    if phase is not None and not veil:
        raise ValueError("a phase belongs to a veil")
    return Frame(scenario, step[:STEP_LENGTH] if locked else None, int(veil) if veil else None, phase)


def room_of(query: bytes) -> str:
    """Return the room whose page connects, "" for a page that is in none.

    Raises ValueError for a query that is not one of ours.
    """
    fields = _fields(query)
    if "room" not in fields:
        return ""
    if len(fields) > 1 or not fields["room"][0] or len(query) > LONGEST:
        raise ValueError("the query of a connection names a room alone")
    return fields["room"][0]


def _fields(query: bytes) -> dict[str, list[str]]:
    return parse_qs(query[: LONGEST + 1].decode("latin-1"), keep_blank_values=True)
