"""The documents of a YAML text: parsed line by line where that is safe, else from libyaml's events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scheduler_core.formats.block_reader import Lines, read_block
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.skipped_kinds import ValueTally, spare
from scheduler_core.formats.yaml_shapes import Shapes
from scheduler_core.progress import EVERY, Watch, unwatched

# At the start of a line, `---` always ends a document, whatever is open in it; so does `...`, which is rare.
_MARK = re.compile(r"---(?:[ ]+#.*|[ ]*)")
_OTHER_MARKS = ("...", "%")
_NOTHING = re.compile(r"(?:[ ]*(?:#[^\n]*)?(?:\n|\Z))*")


def read_documents(
    text: str, limits: Limits, tally: ValueTally, watch: Watch = unwatched
) -> Iterator[tuple[int, Any]]:
    """Yield the same as :func:`read_yaml`, but faster. Raises FormatError with the same message."""
    before = tally.values, tally.kept
    done = 0
    try:
        for number, value in _documents(text, limits, tally, watch):
            done = number
            yield number, value
    except FormatError:
        tally.values, tally.kept = before  # read again with read_yaml, which reports the line
    else:
        return
    from scheduler_core.formats.yaml_reader import read_yaml

    for number, value in read_yaml(text, limits, tally):
        watch("reading", 0, len(text))
        if number > done:
            yield number, value


def _documents(text: str, limits: Limits, tally: ValueTally, watch: Watch) -> Iterator[tuple[int, Any]]:
    known, shapes = Lines(), Shapes(limits)
    for number, (start, end) in enumerate(_parts(text), 1):
        if number > limits.documents:
            raise FormatError(f"more than {limits.documents:,} documents")
        part = text[start:end]

        def tick(done: int, of: int, start: int = start, end: int = end) -> None:
            watch("reading", start + (end - start) * done // of, len(text))

        if not number % EVERY:
            tick(0, 1)
        if _NOTHING.fullmatch(part):
            tally(1)
            continue
        read = shapes.read(part)
        if read is not None:
            tally(read[1])
            yield number, read[0]
            continue
        read = read_block(part, limits, known, tick)
        if read is not None:
            value, spared = spare(read[0], tally)
            tally(read[1] - spared)
            yield number, value
            continue
        from scheduler_core.formats.yaml_reader import read_yaml

        for _, value in read_yaml(part, limits, tally):
            yield number, value


def _parts(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each document. Raises FormatError if the text can only be read whole."""
    if text.startswith(_OTHER_MARKS) or any(f"\n{mark}" in text for mark in _OTHER_MARKS):
        raise FormatError("markers of another kind")
    starts, ends = [], []
    for begin in _lines_with_marks(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if not _MARK.fullmatch(text, begin, end):
            raise FormatError("markers of another kind")
        starts.append(end)
        ends.append(begin)
    ends.append(len(text))
    parts = list(zip(starts, ends[1:], strict=True))
    if not _NOTHING.fullmatch(text, 0, ends[0]):
        parts.insert(0, (0, ends[0]))
    return parts


def _lines_with_marks(text: str) -> Iterator[int]:
    """Yield where the lines begin that ``---`` begins."""
    if text.startswith("---"):
        yield 0
    at = text.find("\n---")
    while at >= 0:
        yield at + 1
        at = text.find("\n---", at + 1)
