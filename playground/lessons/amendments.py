"""What an author changes of a lesson: one value at a time, each with what it was.

Two tabs may write the same lesson: a change applies if the value is still what its page showed, whatever else
has changed meanwhile. Otherwise it is a :class:`ConflictError`, with the value that is there now.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from playground.courseware import LessonError, folder
from playground.courseware.folder import HEAD, NOTES, Files
from playground.courseware.reader import LARGEST, is_file
from playground.models import AuthoredLesson
from playground.protocol.tabs import STEP_TABS
from playground.storage import visitor_lessons

Key = Annotated[str, Meta(max_length=60)]
MOST_KEYS = 6  # of the way to a value


class ConflictError(Exception):
    """A value was changed elsewhere meanwhile; ``current`` is what it is now."""

    def __init__(self, what: str, current: Any) -> None:
        self.current = current
        super().__init__(
            f"{what} was changed elsewhere meanwhile. Nothing of yours is lost: choose which stays."
        )


class ValueChange(Struct, tag="value", tag_field="kind", forbid_unknown_fields=True):
    """A field of ``lesson.yaml`` (without a stop), of a stop, its ``text``, or the notes; null removes it."""

    path: Annotated[list[Key | int], Meta(min_length=1, max_length=MOST_KEYS)]
    was: Any
    now: Any
    stop: Key = ""


class Order(Struct, tag="order", tag_field="kind", forbid_unknown_fields=True):
    """The stops in another order."""

    was: list[Key]
    now: list[Key]


class Removal(Struct, tag="remove", tag_field="kind", forbid_unknown_fields=True):
    """A stop less."""

    stop: Key


class Restoration(Struct, tag="restore", tag_field="kind", forbid_unknown_fields=True):
    """A stop again, at its place, with the files that went with it."""

    stop: Key
    place: int
    text: str
    files: dict[str, str] = field(default_factory=dict)


Change = ValueChange | Order | Removal | Restoration


def changed(row: AuthoredLesson, change: Change) -> AuthoredLesson:
    """Return the lesson after a change. Raises ConflictError, LessonError, and what storing raises."""
    row = visitor_lessons.change(row, lambda files: _bounded(_applied(files, change)))
    title = title_of(visitor_lessons.files_of(row))
    if title and title != row.title:
        visitor_lessons.rename(row, title)
    return row


def _applied(files: Files, change: Change) -> Files:
    if isinstance(change, Order):
        keys = [stop.key for stop in folder.stops(files)]
        if keys not in (change.was, change.now):
            raise ConflictError("The order of the stops", keys)
        return folder.ordered(files, change.now)
    if isinstance(change, Removal):
        return folder.without(files, change.stop)
    if isinstance(change, Restoration):
        return _restored(files, change)
    return _with_value(files, change)


def _bounded(files: Files) -> Files:
    long = next((name for name, text in files.items() if len(text) > LARGEST), None)
    if long is not None:
        raise LessonError(
            f"{long} has more than {LARGEST // 1024} KiB, the most that a file of a lesson has."
        )
    return files


def _restored(files: Files, change: Restoration) -> Files:
    keys = [stop.key for stop in folder.stops(files)]
    if change.stop in keys:
        raise ConflictError("That stop", change.stop)
    named = f"stops/01-{change.stop}.md"
    if not all(is_file(name) for name in (named, *change.files)):
        raise LessonError("A stop comes back with the files of a lesson, and with no others.")
    added = {f"stops/{len(keys) + 1:02}-{change.stop}.md": change.text}
    place = max(0, min(change.place, len(keys)))
    return folder.ordered({**change.files, **files, **added}, [*keys[:place], change.stop, *keys[place:]])


def _with_value(files: Files, change: ValueChange) -> Files:
    if change.path == [NOTES] and not change.stop:
        _check(change, files.get(NOTES, ""), "The notes")
        return {**files, NOTES: _text(change.now)}
    if not change.stop:
        head = _set(folder.head_of(files.get(HEAD, "")), change)
        return {**files, HEAD: folder.written(head)}
    stop = folder.named(files, change.stop)
    if stop.error:
        raise LessonError(f"{stop.name} cannot be read: {stop.error}")
    if change.path == ["text"]:
        _check(change, stop.text, "The text")
        return {**files, stop.name: folder.stop_file(stop.head, _text(change.now))}
    return {**files, stop.name: folder.stop_file(_set(stop.head, change), stop.text)}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise LessonError("A text is expected.")
    return value.replace("\r\n", "\n")


def _check(change: ValueChange, current: Any, what: str) -> None:
    if current not in (change.was, change.now):
        raise ConflictError(what, current)


def _set(head: Mapping[str, Any], change: ValueChange) -> dict[str, Any]:
    """Return fields with the value of one set. Raises ConflictError."""
    made: dict[str, Any] = copy.deepcopy(dict(head))
    at: Any = made
    for step in change.path[:-1]:
        at = _inside(at, step, make=True)
    last = change.path[-1]
    _check(change, _inside(at, last), f"“{last}”")
    if isinstance(at, list):
        at[int(last)] = change.now
    elif change.now is None:
        at.pop(last, None)
    else:
        at[last] = change.now
    return made


def _inside(value: Any, step: str | int, *, make: bool = False) -> Any:
    if isinstance(value, dict) and isinstance(step, str):
        return value.setdefault(step, {}) if make else value.get(step)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    raise LessonError("That part of the lesson is no longer there.")


# --- what the page shows


def title_of(files: Files) -> str:
    """Return what ``lesson.yaml`` calls the lesson, "" if it cannot be read."""
    try:
        title = folder.head_of(files.get(HEAD, "")).get("title")
    except LessonError:
        return ""
    return title if isinstance(title, str) else ""


def state(row: AuthoredLesson) -> dict[str, Any]:
    """Return a lesson as its author's page has it."""
    files = visitor_lessons.files_of(row)
    try:
        head, error = dict(folder.head_of(files.get(HEAD, ""))), ""
    except LessonError as found:
        head, error = {}, str(found)
    return {
        **visitor_lessons.wire(row),
        "folder": row.folder,
        "head": head,
        "error": error,
        "notes": files.get(NOTES, ""),
        "stops": [
            {
                "key": stop.key,
                "file": stop.name,
                "head": dict(stop.head),
                "text": stop.text,
                "error": stop.error,
                "preview": f"/learn/{visitor_lessons.preview_address(row)}/{stop.key}/",
            }
            for stop in folder.stops(files)
        ],
        "scenarios": sorted(name for name in files if name.startswith("scenario")),
    }


def removed(files: Files, key: str) -> Restoration:
    """Return the change that would undo the removal of a stop. Raises LessonError."""
    stop = folder.named(files, key)
    place = [one.key for one in folder.stops(files)].index(key)
    left = folder.without(files, key)
    gone = {name: text for name, text in files.items() if name not in left and not name.startswith("stops/")}
    return Restoration(key, place, files[stop.name], gone)


# --- what the workbench adds


def added(files: Files, scenario: str, head: Mapping[str, Any], text: str) -> tuple[Files, str]:
    """Return the files with a stop about a scenario's text, and its key. Raises LessonError."""
    with_it, name = folder.with_scenario(files, scenario)
    shown = {"title": head["title"], **({"scenario": name} if name != "scenario.yaml" else {})}
    shown |= {field: head[field] for field in ("step", "phase") if head.get(field)}
    shown |= {"views": [view for view in head.get("views", ()) if view in STEP_TABS]}
    if head.get("task"):
        shown["task"] = head["task"]
    made, key = folder.with_stop(with_it, shown, text)
    return _bounded(made), key
