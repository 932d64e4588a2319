"""Documents that differ from one before them in words alone, as scripts write pods: read without parsing.

A shape is a document with holes: the words in which two documents differ that are equal otherwise. It is
learned from libyaml's reading of the document with a number in each hole, and used only if each number comes
back as a whole plain value. A document has the shape if it is equal up to such words; any other one is left
to the other readers, and so are all errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.scalars import resolve
from scheduler_core.formats.skipped_kinds import ValueTally

_FILL = "([A-Za-z0-9][A-Za-z0-9._-]{0,199})"
_WORDS = re.compile(rf"(?<![^\s{{\[,]){_FILL}(?![^\s}}\],])")
"""Words between blanks, commas and brackets: nothing that is quoted, a key or a part of a longer word."""

_FIRST_NUMBER = 918_273_645_000
_LONGEST = 20_000  # characters of a document
_MOST_HOLES = 50
_MOST_KINDS = 64  # numbers of lines with a shape of their own
_SHORTEST_WAIT = 8  # documents before an attempt to learn a shape, which costs as much as reading as many
_LONGEST_WAIT = 64  # documents between two attempts where none is found

Path = tuple[Any, ...]


class Shapes:
    """The shape that the last documents of each number of lines have in common."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[int, _ShapeCandidate] = {}

    def read(self, text: str) -> tuple[Any, int] | None:
        """Return a document and its number of values, None if it is left to the other readers."""
        if len(text) > _LONGEST:
            return None
        lines = text.count("\n")
        known = self._known.get(lines)
        if known is None:
            if len(self._known) < _MOST_KINDS:
                self._known[lines] = _ShapeCandidate(text)
            return None
        return known.read(text, self._limits)


class _ShapeCandidate:
    """The last document of a number of lines, and the shape that it has in common with one before it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._shape: DocumentShape | None = None
        self._wait = self._left = _SHORTEST_WAIT
        self._served = 0  # documents that the shape has read

    def read(self, text: str, limits: Limits) -> tuple[Any, int] | None:
        found = None if self._shape is None else self._shape.read(text)
        if found is None and self._learn(text, limits) and self._shape is not None:
            found = self._shape.read(text)
        self._served += found is not None
        return found

    def _learn(self, text: str, limits: Limits) -> bool:
        if self._left and self._served < _SHORTEST_WAIT:  # a shape that has paid is learned again at once
            self._left -= 1
            if not self._left:
                self._text = text  # the next one is compared with it
            return False
        made = shape_of(self._text, text, limits)
        self._text = text
        self._wait = _SHORTEST_WAIT if made is not None else min(_LONGEST_WAIT, 2 * self._wait)
        self._left, self._served = self._wait, 0
        self._shape = made or self._shape
        return made is not None


class DocumentShape:
    """A document with holes: what is around them, its number of values, and the holes' places in it.

    Pods share the lists and objects without a hole, as :class:`~scheduler_core.formats.interner.SharedParts`
    would make them do; each has metadata of its own. Documents of other kinds share nothing.
    """

    def __init__(self, pattern: str, value: dict[str, Any], values: int, paths: list[Path]) -> None:
        self._match = re.compile(pattern).fullmatch
        self._values = values
        self._root = value
        containers = [(), ("metadata",)] if _is_pod(value) else [path for path, _ in _containers(value, ())]
        containers += [path[:end] for path in paths for end in range(len(path))]
        copied = sorted(set(containers), key=len)
        places = {path: place for place, path in enumerate(copied)}
        self._copied = [(places[path[:-1]], path[-1]) for path in copied[1:]]
        """Holder and key of each list and object that is copied but the document, outer ones first."""

        self._holes = [(places[path[:-1]], path[-1]) for path in paths]

    def read(self, text: str) -> tuple[Any, int] | None:
        """Return a document of this shape and its number of values, None for any other text."""
        found = self._match(text)
        if found is None:
            return None
        copies: list[Any] = [self._root.copy()]
        for holder, key in self._copied:
            part = copies[holder][key] = copies[holder][key].copy()
            copies.append(part)
        try:
            for (holder, key), word in zip(self._holes, found.groups(), strict=True):
                copies[holder][key] = resolve(word)
        except FormatError:
            return None
        return copies[0], self._values


def _is_pod(value: dict[str, Any]) -> bool:
    return value.get("kind") == "Pod" and type(value.get("metadata")) is dict


def _containers(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield a value's lists and objects with their paths, itself included."""
    if isinstance(value, (dict, list)):
        yield path, value
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _containers(part, (*path, step))


def shape_of(before: str, text: str, limits: Limits) -> DocumentShape | None:
    """Return the shape that two documents have in common, None if they differ in more than words."""
    old, new = _WORDS.split(before), _WORDS.split(text)
    if len(old) != len(new) or old[::2] != new[::2]:
        return None
    holes = [place for place in range(1, len(new), 2) if old[place] != new[place]]
    if not 0 < len(holes) <= _MOST_HOLES:
        return None
    marks = {place: str(_FIRST_NUMBER + index) for index, place in enumerate(holes)}
    read = _object_in("".join(marks.get(place, part) for place, part in enumerate(new)), limits)
    own = _object_in(text, limits)
    if read is None or own is None or any(_numbers(own[0], ())):  # a number of its own is no hole
        return None
    places = list(_numbers(read[0], ()))
    if sorted(number for number, _ in places) != list(range(len(holes))):
        return None
    paths = [path for _, path in sorted(places)]
    if any(path[-1] == "kind" for path in paths):
        return None  # which decides what is kept of an object
    pattern = "".join(_FILL if place in marks else re.escape(part) for place, part in enumerate(new))
    return DocumentShape(pattern, read[0], read[1], paths)


def _object_in(text: str, limits: Limits) -> tuple[Any, int] | None:
    """Return the one object in a text and its number of values; None if some are only kept, or aliases."""
    from scheduler_core.formats.yaml_reader import read_yaml

    tally = ValueTally(limits)
    try:
        found = list(read_yaml(text, limits, tally))
    except FormatError:
        return None
    plain = len(found) == 1 and type(found[0][1]) is dict and not tally.kept and not tally.written
    return (found[0][1], tally.values) if plain else None


def _numbers(value: Any, path: Path) -> Iterator[tuple[int, Path]]:
    """Yield the holes' numbers that are values, with their paths."""
    if isinstance(value, (dict, list)):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(part, (*path, step))
    elif type(value) is int and 0 <= value - _FIRST_NUMBER < _MOST_HOLES:
        yield value - _FIRST_NUMBER, path
