"""The lesson at an address: one that is shipped, one of the operator's, or one that a visitor wrote.

The one door: pages, calls and rooms find lessons here. A lesson's ``slug`` is its address below ``/learn/``.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from playground.courseware import Lesson, Stop, lesson
from playground.lessons import checks, operator_lessons
from playground.models import AuthoredLesson
from playground.storage import visitor_lessons

KEPT = 32  # authored lessons that a process keeps as read


def lesson_at(address: str) -> Lesson | None:
    """Return the lesson at an address, None if there is none. Raises LessonError for an unsound preview."""
    given = lesson(address) or operator_lessons.lesson(address)
    if given is not None:
        return given
    found = visitor_lessons.at(address)
    if found is None:
        return None
    row, preview = found
    revision = row.revision if preview else row.published_revision
    return replace(_read(row.pk, revision, preview), slug=address)


def stop_at(address: str, key: str) -> tuple[Lesson, Stop] | None:
    """Return a lesson and one of its stops, None if there is no such one."""
    found = lesson_at(address)
    stop = next((one for one in found.stops if one.key == key), None) if found else None
    return None if found is None or stop is None else (found, stop)


def is_preview(address: str) -> bool:
    """Return whether an address is the one at which an author alone plays what is not published."""
    found = (
        None
        if (lesson(address) or operator_lessons.lesson(address)) is not None
        else visitor_lessons.at(address)
    )
    return found is not None and found[1]


def author_of(of: Lesson) -> AuthoredLesson | None:
    """Return the row of a lesson that a visitor wrote, None for any other."""
    found = (
        None
        if (lesson(of.slug) or operator_lessons.lesson(of.slug)) is not None
        else visitor_lessons.at(of.slug)
    )
    return found[0] if found is not None else None


@lru_cache(maxsize=KEPT)
def _read(name: str, revision: int, preview: bool) -> Lesson:
    """Return a revision of an authored lesson; ``revision`` tells apart what is kept."""
    del revision
    row = AuthoredLesson.objects.get(pk=name)
    files = visitor_lessons.files_of(row) if preview else visitor_lessons.published_files(row)
    return checks.read_apart(row.owner, row.folder, files)
