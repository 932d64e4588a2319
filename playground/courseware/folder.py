"""A lesson's files, changed one stop at a time: what authors do in the browser, on the format of the folder.

The files stay the truth: each function returns new ones, and :mod:`.reader` reads them like any lesson's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from playground.courseware.lesson_files import LIMITS
from playground.courseware.model import LessonError
from playground.courseware.reader import MOST_STOPS
from scheduler_core.formats.limits import FormatError
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_reader import read_yaml
from scheduler_core.formats.yaml_writer import write_yaml

Files = Mapping[str, str]
Head = Mapping[str, Any]

HEAD, NOTES = "lesson.yaml", "notes.md"
LONGEST_KEY = 40  # characters
_STOP = re.compile(r"stops/\d+-(.+)\.md")
_FRONT = re.compile(r"---\n(.*?\n)---\n?", re.DOTALL)
_UNFIT = re.compile(r"[^a-z0-9]+")
ORDER = ("title", "scenario", "step", "phase", "views", "task")
"""The fields of a stop, in the order in which they are written."""


class StopText(Struct, frozen=True):
    """A stop's file: its name, its fields as YAML has them, and the text below them.

    ``error`` says why the fields cannot be read; then there are none, and ``text`` is the whole file.
    """

    name: str
    key: str
    head: Head
    text: str
    error: str = ""


def blank(title: str) -> dict[str, str]:
    """Return the files of a lesson without stops."""
    head = {
        "title": title,
        "level": "beginner",
        "minutes": 5,
        "question": "What does the scheduler do?",
        "outcomes": ["Predict what the scheduler does with a pod, and say why."],
    }
    return {HEAD: written(head), NOTES: "# For the teacher\n\n**Say.** Let the class answer first.\n"}


def written(head: Head) -> str:
    """Return fields as YAML without the line that begins a document."""
    return write_yaml([dict(head)]).removeprefix("---\n")


def head_of(text: str) -> Head:
    """Return the fields of ``lesson.yaml`` or of a stop. Raises LessonError."""
    try:
        values = [value for _, value in read_yaml(text, LIMITS, ValueTally(LIMITS))]
    except FormatError as error:
        raise LessonError(f"line {error.line}: {error.message}" if error.line else error.message) from None
    if len(values) != 1 or not isinstance(values[0], dict):
        raise LessonError("fields are written as name: value")
    return values[0]


def slug(text: str, otherwise: str = "lesson") -> str:
    """Return a text as a folder or a stop is called: small letters, digits and hyphens."""
    return _UNFIT.sub("-", text.lower()).strip("-")[:LONGEST_KEY].strip("-") or otherwise


def stops(files: Files) -> list[StopText]:
    """Return the stops of a lesson in order, those that cannot be read included."""
    return list(_stops(files))


def _stops(files: Files) -> Iterator[StopText]:
    for name in sorted(name for name in files if _STOP.fullmatch(name)):
        match, front = _STOP.fullmatch(name), _FRONT.match(files[name])
        assert match is not None
        try:
            if front is None:
                raise LessonError("a stop begins with its fields between two lines ---")
            text = files[name][front.end() :].strip("\n")
            yield StopText(name, match[1], head_of(front[1]), text)
        except LessonError as error:
            yield StopText(name, match[1], {}, files[name], str(error))


def stop_file(head: Head, text: str) -> str:
    """Return a stop's file."""
    known = {name: head[name] for name in ORDER if name in head}
    body = text.strip("\n")
    return f"---\n{written({**known, **head})}---\n{body}\n"


def with_scenario(files: Files, text: str) -> tuple[dict[str, str], str]:
    """Return the files with a scenario, and its name in the lesson; the same text is there once."""
    for name, known in files.items():
        if name.startswith("scenario") and known == text:
            return dict(files), name
    number = 1
    while (name := "scenario.yaml" if number == 1 else f"scenario-{number}.yaml") in files:
        number += 1
    return {**files, name: text}, name


def with_stop(files: Files, head: Head, text: str) -> tuple[dict[str, str], str]:
    """Return the files with one more stop at the end, and its key. Raises LessonError."""
    found = stops(files)
    if len(found) >= MOST_STOPS:
        raise LessonError(f"A lesson has at most {MOST_STOPS} stops.")
    key = _free(slug(str(head.get("title", "")), "stop"), [stop.key for stop in found])
    return {**files, f"stops/{len(found) + 1:02}-{key}.md": stop_file(head, text)}, key


def _free(key: str, taken: Sequence[str]) -> str:
    number, made = 2, key
    while made in taken:
        made = f"{key}-{number}"
        number += 1
    return made


def named(files: Files, key: str) -> StopText:
    """Return a stop by its key. Raises LessonError."""
    for stop in stops(files):
        if stop.key == key:
            return stop
    raise LessonError("That stop is no longer there.")


def ordered(files: Files, keys: Sequence[str]) -> dict[str, str]:
    """Return the files with the stops in another order. Raises LessonError unless ``keys`` are all."""
    found = {stop.key: stop for stop in stops(files)}
    if len(found) != len(keys) or set(found) != set(keys):
        raise LessonError("Stops were added or removed elsewhere meanwhile.")
    rest = {name: text for name, text in files.items() if not _STOP.fullmatch(name)}
    moved = {f"stops/{place:02}-{key}.md": files[found[key].name] for place, key in enumerate(keys, 1)}
    return {**rest, **moved}


def without(files: Files, key: str) -> dict[str, str]:
    """Return the files without a stop, and without what it alone has used."""
    gone = named(files, key).name
    keys = [stop.key for stop in stops(files) if stop.key != key]
    return pruned(ordered({name: text for name, text in files.items() if name != gone}, keys))


def pruned(files: Files) -> dict[str, str]:
    """Return the files without scenarios, solutions and wrong edits that no other file names."""
    named_in = "\n".join(text for name, text in files.items() if name.startswith(("stops/", HEAD)))
    used = {str(stop.head.get("scenario") or "scenario.yaml") for stop in stops(files)}

    def stays(name: str) -> bool:
        return name.startswith("stops/") or name in (HEAD, NOTES) or name in used or name in named_in

    return {name: text for name, text in files.items() if stays(name)}
