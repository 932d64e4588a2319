"""The line of a path, located in the text only when a problem needs it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_core.formats.limits import FormatError
from scheduler_core.kubernetes.readers import Steps

DocumentPath = tuple[int, Steps]  # document (1-based), path inside it
DEEPEST = 200  # lists and objects inside each other; no reader reads what is nested so deeply

_JSON = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)


def find_lines(text: str, syntax: str, wanted: Iterable[DocumentPath]) -> dict[DocumentPath, int]:
    """Return the 1-based line of each place, or of the nearest enclosing part that the text has."""
    needed: set[DocumentPath] = set()
    places = list(wanted)
    if syntax == "lines":
        return {place: place[0] for place in places}
    for document, steps in places:
        needed.update((document, steps[:length]) for length in range(len(steps) + 1))
    found: dict[DocumentPath, int] = {}
    for place, line in _places(text, syntax):
        if place in needed:
            found.setdefault(place, line)
            if len(found) == len(needed):
                break
    lines = {}
    for document, steps in places:
        for length in range(len(steps), -1, -1):
            if (document, steps[:length]) in found:
                lines[document, steps] = found[document, steps[:length]]
                break
    return lines


def lines_of(text: str, syntax: str) -> dict[DocumentPath, int]:
    """Return the 1-based line of every place of a text, of which many are asked about."""
    found: dict[DocumentPath, int] = {}
    for place, line in _places(text, syntax):
        found.setdefault(place, line)
    return found


def _places(text: str, syntax: str) -> Iterator[tuple[DocumentPath, int]]:
    """Yield places with their lines, of a text that is broken those before."""
    try:
        yield from _yaml_places(text) if syntax == "yaml" else _json_places(text)
    except (FormatError, IndexError):
        return


class _Walk:
    """The path of the next value, maintained while a text is traversed."""

    def __init__(self) -> None:
        self.document = 0
        self.path: list[Any] = []  # of each open list or object: its index or key
        self.lists: list[bool] = []

    def place(self) -> DocumentPath:
        return (self.document, tuple(self.path))

    def open(self, *, is_list: bool) -> None:
        if len(self.lists) == DEEPEST:
            raise FormatError("nested too deeply")
        self.lists.append(is_list)
        self.path.append(0 if is_list else None)

    def close(self) -> None:
        self.lists.pop()
        self.path.pop()

    def done(self) -> None:
        """Advance past a value."""
        if self.lists:
            self.path[-1] = self.path[-1] + 1 if self.lists[-1] else None


def _yaml_places(text: str) -> Iterator[tuple[DocumentPath, int]]:
    import yaml

    from scheduler_core.formats.yaml_reader import events, key_text

    walk = _Walk()
    for event in events(text):
        kind = type(event)
        line = event.start_mark.line + 1
        if kind is yaml.DocumentStartEvent:
            walk.document += 1
        elif kind in (yaml.MappingStartEvent, yaml.SequenceStartEvent):
            if not (walk.lists and not walk.lists[-1] and walk.path[-1] is not None):
                yield walk.place(), line
            walk.open(is_list=kind is yaml.SequenceStartEvent)
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            walk.close()
            walk.done()
        elif kind in (yaml.ScalarEvent, yaml.AliasEvent):
            if walk.lists and not walk.lists[-1] and walk.path[-1] is None:
                walk.path[-1] = key_text(event) if kind is yaml.ScalarEvent else ""
                yield walk.place(), line
            else:
                if not walk.lists or walk.lists[-1]:
                    yield walk.place(), line
                walk.done()


def _json_places(text: str) -> Iterator[tuple[DocumentPath, int]]:
    import json

    walk = _Walk()
    line, seen = 1, 0
    for match in _JSON.finditer(text):
        token = match.group()
        line += text.count("\n", seen, match.start())
        seen = match.start()
        if not walk.lists and token not in ":,":
            walk.document += 1
        in_object = bool(walk.lists) and not walk.lists[-1]
        if token in "]}" and len(token) == 1:
            walk.close()
            walk.done()
        elif token in ("{", "["):
            if not in_object:
                yield walk.place(), line
            walk.open(is_list=token == "[")
        elif token in (":", ","):
            continue
        elif in_object and walk.path[-1] is None:
            try:
                walk.path[-1] = json.loads(token)
            except ValueError:
                walk.path[-1] = token
            yield walk.place(), line
        else:
            if not in_object:
                yield walk.place(), line
            walk.done()
