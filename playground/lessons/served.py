"""The operator's lessons: a folder of lessons beside the shipped ones, read when the process first asks.

Setting ``PLAYGROUND_LESSONS``. What is unsound is left out and logged; ``manage.py check_lessons`` says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import structlog
from django.conf import settings

from playground.lessons import checks
from playground.lessons.catalogue import Track
from scheduler_core.authoring.lessons import Lesson, LessonError
from scheduler_core.authoring.lessons import lesson as shipped
from scheduler_core.authoring.lessons.reading import LARGEST, MOST_FILES, is_file
from scheduler_core.formats.limits import FormatError
from scheduler_core.formats.text import decode

log = structlog.get_logger(__name__)

MOST = 200  # lessons


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return the operator's lessons in the order of their folders; none without the setting."""
    return tuple(_sound(Path(settings.LESSONS))) if settings.LESSONS else ()


def lesson(slug: str) -> Lesson | None:
    """Return the operator's lesson with that slug, None if there is none."""
    return next((one for one in lessons() if one.slug == slug), None)


def track() -> Track | None:
    """Return the operator's lessons as a track, None without any."""
    found = lessons()
    return Track("server", "From this server", "Written for those who learn here.", found) if found else None


def _sound(folder: Path) -> Iterator[Lesson]:
    known: set[str] = set()
    for one in folders(folder):
        try:
            found = checks.read(one.name, files_in(one))
            if shipped(found.slug) is not None or found.slug in known:
                raise LessonError(f"there is another lesson called {found.slug}")
        except LessonError as error:
            log.warning("a lesson was left out", folder=one.name, error=str(error)[:300])
            continue
        known.add(found.slug)
        yield found


def folders(folder: Path) -> list[Path]:
    """Return the folders of lessons in a folder, at most :data:`MOST`. Raises LessonError if it is none."""
    try:
        found = sorted(one for one in folder.iterdir() if one.is_dir() and one.name[:2].isdigit())
    except OSError as error:
        raise LessonError(f"{folder} cannot be read: {error.strerror}") from None
    return found[:MOST]


def files_in(folder: Path) -> dict[str, str]:
    """Return a lesson's files by their name in its folder. Raises LessonError."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name.startswith(".") or "/." in name:
            continue
        if path.is_symlink() or not is_file(name):
            raise LessonError(f"{name} is no file of a lesson")
        if path.stat().st_size > 4 * LARGEST or len(found) >= MOST_FILES:
            raise LessonError(f"a lesson has at most {MOST_FILES} files of {LARGEST // 1024} KiB")
        try:
            found[name] = decode(path.read_bytes()).replace("\r\n", "\n")
        except FormatError as error:
            raise LessonError(f"{name}: {error.message}") from None
    return found
