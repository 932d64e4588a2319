"""SimKube's trace files, which are MessagePack, as JSON: what reads a trace then knows its lines.

The format: https://github.com/msgpack/msgpack/blob/master/spec.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler_core.formats.limits import FormatError, Limits, too_large

_MAPS = (*range(0x80, 0x90), 0xDE, 0xDF)
_FIXED = {
    0xCA: 4,
    0xCB: 8,
    0xCC: 1,
    0xCD: 2,
    0xCE: 4,
    0xCF: 8,
    0xD0: 1,
    0xD1: 2,
    0xD2: 4,
    0xD3: 8,
    0xD4: 2,
    0xD5: 3,
    0xD6: 5,
    0xD7: 9,
    0xD8: 17,
    0xDC: 2,
    0xDD: 4,
    0xDE: 2,
    0xDF: 4,
}  # bytes after the first of numbers, short extensions, and the lengths of lists and maps
_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}  # bytes of the length of a text


def is_packed(data: bytes) -> bool:
    """Return whether bytes are a trace as SimKube writes it: a map whose first key is ``version``."""
    return data[:1] != b"" and data[0] in _MAPS and b"\xa7version" in data[:16]


def text_of(data: bytes, limits: Limits) -> str:
    """Return a packed trace as JSON, an event a line. Raises FormatError."""
    _check_values(data, limits)
    try:
        value = msgspec.msgpack.decode(data)
        lives = value.get("pod_lifecycles")
        head = {"version": value.get("version"), "pod_lifecycles": list(_lives(lives))}
        events = value.get("events")
        listed = ",\n".join(json.dumps(event) for event in (events if isinstance(events, list) else [events]))
        text = f'{json.dumps(head)[:-1]}, "events": [\n{listed}\n]}}\n'
    except RecursionError:
        raise FormatError("a damaged trace of SimKube: nested too deep") from None
    except (ValueError, TypeError) as error:
        raise FormatError(f"a damaged trace of SimKube: {error}") from None
    if len(text) > limits.size:
        raise too_large(limits, "unpacked, ")
    return text


def _lives(lifecycles: Any) -> Iterator[dict[str, Any]]:
    """Yield how long pods ran by owner, whose key is a pair, which JSON has not."""
    for key, hashes in lifecycles.items() if isinstance(lifecycles, dict) else ():
        if isinstance(key, tuple) and len(key) == 2 and isinstance(hashes, dict):
            lives = [life for listed in hashes.values() if isinstance(listed, list) for life in listed]
            ended = [life["Finished"] for life in lives if isinstance(life, dict) and "Finished" in life]
            yield {"gvk": key[0], "owner": key[1], "finished": ended}


def _check_values(data: bytes, limits: Limits) -> None:
    """Refuse more values than a bundle may hold before any of them takes memory. Raises FormatError."""
    at = count = 0
    while at < len(data):
        byte, count = data[at], count + 1
        if count > limits.values:
            raise FormatError(f"a trace of SimKube with more than {limits.values:,} values")
        at += 1
        if 0xA0 <= byte < 0xC0:
            at += byte & 0x1F
        elif byte in _SIZED:
            size = _SIZED[byte]
            at += size + int.from_bytes(data[at : at + size])
        else:
            at += _FIXED.get(byte, 0)
