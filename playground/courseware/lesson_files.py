"""One file of a lesson: YAML and Markdown as they are read, with every finding at its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import msgspec

from playground.courseware.expression import FactError, parsed
from playground.courseware.facts import check_names
from playground.courseware.prose import excess, lines_of_facts, numerals
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.locate import DocumentPath, lines_of
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_reader import read_yaml
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.kubernetes.problems import Problem

T = TypeVar("T")

MOST_FINDINGS = 200  # of one lesson; further ones are not listed
LIMITS = Limits(size=64 * 1024, values=2_000, depth=12, line=20_000, documents=1)

_FRONT = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_PLACE = re.compile(r" - at `\$\.?([^`]*)`")
_STEPS = re.compile(r"([\w-]+)|\[(\d+)\]")


class FileReader:
    """One file: its text, and the findings so far."""

    def __init__(self, file: str, text: str, problems: list[Problem], line: int = 0, field: str = "") -> None:
        self.file, self.text, self.problems, self.line = file, text, problems, line
        self.field = field  # that all of the text is; "" for YAML, which has fields of its own

    def wrong(self, message: str, line: int | None = None, path: str = "") -> None:
        """Add a finding; ``line`` is 1-based within the text, ``path`` its field, else that of the line."""
        if len(self.problems) < MOST_FINDINGS:
            about = path or self.field or self._field_at(line or 1)
            self.problems.append(Problem(message, about, line=self.line + (line or 1), file=self.file))

    def at(self, message: str, *path: str | int) -> None:
        """Add a finding about a field."""
        self.wrong(message, self.lines(*path), ".".join(map(str, path)))

    def _field_at(self, line: int) -> str:
        """Return the field that a line belongs to, "" where the text is no YAML."""
        try:
            found = [(at, len(path), path) for path, at in self._lines.items() if at <= line]
        except FormatError:
            return ""
        return ".".join(map(str, max(found, key=lambda one: one[:2])[2])) if found else ""

    def convert(self, into: type[T]) -> T | None:
        """Return the YAML as a struct; None if it is not one."""
        try:
            values = [value for _, value in read_yaml(self.text, LIMITS, ValueTally(LIMITS))]
        except FormatError as error:
            self.wrong(error.message, error.line)
            return None
        try:
            return converted(values[0] if values else None, into)
        except msgspec.ValidationError as error:
            message = str(error)
            place = _PLACE.search(message)
            path = tuple(int(i) if i else key for key, i in _STEPS.findall(place[1])) if place else ()
            unknown = re.match(r"Object contains unknown field `([^`]*)`", message)
            shown = _PLACE.sub("", message)
            self.at(shown, *path, *([unknown[1]] if unknown else []))
            return None

    def prose(self, text: str, line: int, names: Sequence[str] = ()) -> None:
        """Check a text: it is of a bounded size, its facts can be read, and it has no other number."""
        if beyond := [*excess(text)]:
            for offset, message in beyond:
                self.wrong(message, line + offset)
            return
        for offset, digits in numerals(text):
            self.wrong(
                f"the number {digits} is written by hand: bind a fact, {{{{ … }}}}, or quote a name by `",
                line + offset,
            )
        for offset, fact in lines_of_facts(text):
            self.expression(fact, line + offset, names)

    def expression(self, text: str, line: int, names: Sequence[str] = ()) -> None:
        """Check that an expression can be read."""
        try:
            parsed(text)
            check_names(text, names)
        except FactError as error:
            self.wrong(str(error), line)

    def body(self) -> None:
        """Check the text of a stop."""
        if not self.text.strip():
            self.wrong("a stop has a text")
        self.prose(self.text, 1)

    def lines(self, *path: str | int) -> int:
        """Return the line of a field within the text."""
        known = ((1, path[:length]) for length in range(len(path), -1, -1))
        return next((self._lines[place] for place in known if place in self._lines), 1)

    @cached_property
    def _lines(self) -> dict[DocumentPath, int]:
        return lines_of(self.text, "yaml")


class StopParts(NamedTuple):
    """A stop's file in two: its fields, and its text without the empty lines around it."""

    head: FileReader
    body: FileReader


def stop_parts(file: str, whole: str, problems: list[Problem]) -> StopParts | None:
    """Return the two parts of a stop's file; None, with a finding, if the fields are missing."""
    front = _FRONT.match(whole)
    if front is None:
        problems.append(Problem("a stop begins with its fields between two lines ---", line=1, file=file))
        return None
    rest = whole[front.end() :]
    skipped = whole[: front.end()].count("\n") + len(rest) - len(rest.lstrip("\n"))
    head = FileReader(file, front[1], problems, line=1)
    return StopParts(head, FileReader(file, rest.strip("\n"), problems, line=skipped, field="text"))
