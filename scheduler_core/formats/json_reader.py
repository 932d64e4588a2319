"""JSON text to plain documents: one value, JSON Lines, or concatenated values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.scalars import number
from scheduler_core.formats.skipped_kinds import CROWDED, Skipped, ValueTally, children, matters
from scheduler_core.progress import EVERY, Watch, unwatched

_BLANK = re.compile(r"\s*")
_SUSPECT = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")


def _constant(text: str) -> Any:
    raise FormatError(f"{text} is not a number that a manifest can hold")


def _integer(text: str) -> int:
    if len(text) > 40:
        raise FormatError(f"a number of {len(text)} digits is too long: at most 40 are read")
    return int(text)


def read_json(
    text: str, limits: Limits, tally: ValueTally, watch: Watch = unwatched
) -> Iterator[tuple[int, Any]]:
    """Yield the values of a JSON text, one or several, with their numbers (from 1).

    An object of a kind that scheduling does not read, and that exceeds a bound, becomes a Skipped.
    Raises FormatError.
    """
    doubled: list[str] = []  # keys that are twice in an object, as far as its manifest's kind is not known
    refused: list[str] = []  # those of manifests that scheduling reads
    closed, objects = 0, max(1, text.count("}"))  # braces in strings count too: affects only the progress

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal closed
        closed += 1
        if not closed % EVERY:
            watch("reading", len(text) * min(closed, objects) // objects, len(text))
        out = dict(pairs)
        if len(out) != len(pairs):
            seen: set[str] = set()
            doubled.extend(k for k, _ in pairs if k in seen or seen.add(k))  # type: ignore[func-returns-value]
        tally.provisionally(len(pairs) + 1)
        if _is_spared(out):
            doubled.clear()  # the last one counts, as for kubectl
            return _spared(out, limits, tally)
        if doubled and "metadata" in out and isinstance(out.get("kind"), str):
            refused.extend(doubled)
            doubled.clear()
        return out

    decoder = json.JSONDecoder(
        object_pairs_hook=unique, parse_constant=_constant, parse_int=_integer, parse_float=number
    )
    position = _BLANK.match(text).end()  # type: ignore[union-attr]
    ordinal = 0
    while position < len(text):
        ordinal += 1
        if ordinal > limits.documents:
            raise FormatError(f"more than {limits.documents:,} documents", document=ordinal)
        start = position
        try:
            value, position = decoder.raw_decode(text, position)
            tally(0)
        except json.JSONDecodeError as error:
            raise FormatError(f"not valid JSON: {error.msg}", error.lineno, document=ordinal) from None
        except RecursionError:
            line = text.count("\n", 0, start) + 1
            raise FormatError(f"nested deeper than {limits.depth} levels", line, document=ordinal) from None
        except FormatError as error:
            line = text.count("\n", 0, start) + 1
            raise FormatError(error.message, error.line or line, document=ordinal) from None
        for key in (*refused, *doubled)[:1]:
            line = _line_of_key(text, start, key)
            raise FormatError(f"duplicate key {key[:60]!r} in one object", line, document=ordinal)
        _check(value, limits, text, start, position, ordinal)
        if value is not None:
            yield ordinal, value
        position = _BLANK.match(text, position).end()  # type: ignore[union-attr]


def _is_spared(value: Any) -> bool:
    return isinstance(value, dict) and "metadata" in value and not matters(value.get("kind"))


def _spared(value: dict[str, Any], limits: Limits, tally: ValueTally) -> dict[str, Any]:
    """Return an object that scheduling does not read, or its Skipped; its values do not count."""
    size = depth = 0
    level: list[Any] = [value]
    own = level  # without nested objects that are spared themselves
    while level:
        size += sum(len(part) + 1 for part in own if isinstance(part, dict))
        depth += 1
        level, own = children(level), [part for part in children(own) if not _is_spared(part)]
    tally.values -= size
    if depth > limits.depth:
        return Skipped(value, f"nested deeper than {limits.depth} levels")
    return value if tally.keep(size) else Skipped(value, CROWDED)


def _line_of_key(text: str, start: int, key: str) -> int:
    first = text.find(json.dumps(key, ensure_ascii=False), start)
    again = text.find(json.dumps(key, ensure_ascii=False), first + 1) if first >= 0 else -1
    return text.count("\n", 0, max(again, first, start)) + 1


def _check(value: Any, limits: Limits, text: str, start: int, end: int, document: int) -> None:
    level: list[Any] = [[value]]
    depth = -1
    while level:
        # not children(): no alias shares a part here, and a dump has a hundred thousand of them
        parts = chain.from_iterable(part.values() if isinstance(part, dict) else part for part in level)
        level = [part for part in parts if isinstance(part, (dict, list))]
        depth += 1
        if depth > limits.depth + 1:
            line = text.count("\n", 0, start) + 1
            raise FormatError(f"nested deeper than {limits.depth} levels", line, document=document)
    if _SUSPECT.search(text, start, end):
        try:
            encoded = json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            line = text.count("\n", 0, start) + 1
            raise FormatError(
                "half of a surrogate pair is not a character", line, document=document
            ) from None
        if b"\\u0000" in encoded and _holds_nul(value):
            line = text.count("\n", 0, start) + 1
            raise FormatError("the character \\u0000 is not allowed", line, document=document)


def _holds_nul(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str) and "\0" in item:
            return True
        if isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False
