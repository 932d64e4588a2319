"""Incoming frames: parsed at a cost that depends on their length only."""

from __future__ import annotations

import json
import re
from typing import Any

from playground.limits import limit
from playground.live.commands import COMMANDS
from playground.live.errors import CommandError
from playground.serving.json_bodies import parsed

Frame = tuple[str, int, Any]

FIELDS = 10  # of a large frame; no command has more
_DECODER = json.JSONDecoder()
_SPACE = r"[ \t\r\n]*"
_BEGINNING = re.compile(rf'{_SPACE}\[{_SPACE}"([a-z.]{{1,40}})"{_SPACE},{_SPACE}(-?\d{{1,15}}){_SPACE}[,\]]')
_OPEN = re.compile(rf"{_SPACE}\{{")
_FIELD = re.compile(rf'{_SPACE}"([A-Za-z]{{1,40}})"{_SPACE}:{_SPACE}(?:(null)|(\d{{1,9}})(?=[,}}\s])|")')
_NEXT = re.compile(rf"{_SPACE}([,}}])")
_END = re.compile(rf"{_SPACE}\]{_SPACE}")


def size(text: str) -> int:
    """Return the length of a frame in bytes, as it was received."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def request_of(text: str) -> int | None:
    """Return the id of an unparsed frame, ``None`` if it does not start with a command and an id."""
    found = _BEGINNING.match(text[:200])
    return int(found[2]) if found else None


def parse(text: str, length: int) -> Frame:
    """Return command, id and payload of a frame of ``length`` bytes.

    Beyond ``SMALL_FRAME_BYTES`` only commands that carry a bundle are parsed, and of these only a flat
    payload of texts and whole numbers: a million nested lists take half a second in which the event loop is
    blocked. Raises ValueError for a malformed frame, and CommandError for one that is too large.
    """
    if length > limit("FRAME_BYTES"):
        raise CommandError("frame.too-large", f"A frame may have {limit('FRAME_BYTES'):,} bytes.")
    if length <= limit("SMALL_FRAME_BYTES"):
        return _small(text)
    found = _BEGINNING.match(text[:200])
    if not found or text[found.end() - 1] != ",":
        raise ValueError("A frame is a list [command, id, payload].")
    row = COMMANDS.get(found[1])
    if row is None or not row.large:
        most = limit("SMALL_FRAME_BYTES")
        raise CommandError("frame.too-large", f"A frame of {found[1]} may have {most:,} bytes.")
    return found[1], int(found[2]), _flat(text, found.end())


def _small(text: str) -> Frame:
    try:
        frame = parsed(text)
    except ValueError as error:
        raise ValueError("The frame is not valid JSON.") from error
    if not isinstance(frame, list) or len(frame) not in (2, 3):
        raise ValueError("A frame is a list [command, id, payload].")
    name, request = frame[0], frame[1]
    if not isinstance(name, str) or not isinstance(request, int) or isinstance(request, bool):
        raise ValueError("A frame begins with the command's name and an integer.")
    if not -(2**53) < request < 2**53:
        raise ValueError("The id must be below 2^53.")
    return name, request, frame[2] if len(frame) == 3 else {}


def _flat(text: str, at: int) -> dict[str, str | int | None]:
    """Return the object at ``at``, with texts, whole numbers and null, which ends the frame."""
    fields: dict[str, str | int | None] = {}
    step = _OPEN.match(text, at)
    while step and step[0][-1] != "}" and len(fields) < FIELDS:
        field = _FIELD.match(text, step.end())
        if not field:
            break
        # The decoded value starts with a quote, so it is a string.
        if field[2] or field[3]:
            fields[field[1]], at = int(field[3]) if field[3] else None, field.end()
        else:
            fields[field[1]], at = _DECODER.raw_decode(text, field.end() - 1)
        step = _NEXT.match(text, at)
        if step and step[1] == "}" and _END.fullmatch(text, step.end()):
            return fields
    raise ValueError("The payload of a frame this large is one object of texts and whole numbers.")
